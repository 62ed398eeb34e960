"""A user's mistake is one message: its class, the values it must name, and its wording, to read."""

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub.constants import HF_HUB_CACHE
from places import ROOT
from prepared import refusal
from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.amber import AmberDataSerializer, AmberSnapshotExtension


class _Lines(AmberDataSerializer):
    """One line a message, where syrupy's own format has three."""

    @classmethod
    def read_file(cls, filepath: str) -> SnapshotCollection:
        collection, path = SnapshotCollection(filepath), Path(filepath)
        for name, message in (json.loads(path.read_text("utf-8")) if path.exists() else {}).items():
            collection.add(Snapshot(name, message))
        return collection

    @classmethod
    def write_file(cls, snapshot_collection: SnapshotCollection, merge=False, *_, **__) -> None:
        location = snapshot_collection.location
        collection = cls.read_file(location) if merge else SnapshotCollection(location)
        collection.merge(snapshot_collection)
        messages = {snapshot.name: snapshot.data for snapshot in collection}
        text = json.dumps(messages, indent=0, sort_keys=True, ensure_ascii=False)
        Path(location).write_text(f"{text}\n", "utf-8")


class _Messages(AmberSnapshotExtension):
    file_extension = "json"
    serializer_class = _Lines

    def serialize(self, data: str, **_) -> str:
        return data

    def delete_snapshots(self, snapshot_location: str, snapshot_names: set[str]) -> None:
        kept = self.read_snapshot_collection(snapshot_location)
        for name in snapshot_names:
            kept.remove(name)
        _Lines.write_file(kept)


def rows(*table: tuple) -> pytest.MarkDecorator:
    """Parametrise ``error``, ``named`` and ``act``; what is named first is the row's own name.

    As ASCII without backslashes: pytest escapes these once more in a second run of one process.
    """
    first = [row[1] if isinstance(row[1], str) else row[1][0] for row in table]
    ids = [re.sub(r"[^ -\[\]-~]", "_", name) for name in first]
    return pytest.mark.parametrize(("error", "named", "act"), table, ids=ids)


def refused(
    act: Callable,
    error: type[Exception],
    named: str | tuple,
    folder: Path,
    snapshot: SnapshotAssertion,
) -> None:
    """``act(folder)`` raises this very class, names the values and says what is on record.

    Left out of the record: paths of this machine, what Python's own parsers say, which differs by
    version, and the end of a long list of names, which grows.
    """
    with pytest.raises(error) as caught:
        act(folder)
    assert type(caught.value) is error
    _compare(str(caught.value), named, folder, snapshot)


def _compare(message: str, named: str | tuple, folder: Path, snapshot: SnapshotAssertion) -> None:
    for value in (named,) if isinstance(named, str) else named:
        assert value in message
    for place, name in ((folder, "FOLDER"), (ROOT, "ROOT"), (HF_HUB_CACHE, "HF_HUB_CACHE")):
        message = message.replace(str(place), name)
    message = re.sub(r"(not (?:TOML|JSON)[^:]*: )(?:Expect|Extra|Invalid|Unterm).*", r"\1", message)
    names = r"(Known: (?:\S+, ){2})(?:\S+, )+\S+( and \d+ more)?\.(?= |$)"
    message = re.sub(names, r"\1...", message)
    assert message == snapshot.use_extension(_Messages)


def calls(*table: tuple) -> pytest.MarkDecorator:
    """Parametrise ``call`` and ``named``; the call is the row's own name."""
    cases = [(call, named) for call, *named in table]
    return pytest.mark.parametrize(("call", "named"), cases, ids=[call for call, _ in cases])


def refuses(capsys, call: str, named: list[str], snapshot: SnapshotAssertion) -> None:
    """``tstbench CALL`` ends with exit code 2 and one message, and writes nothing at all."""
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    message = refusal(capsys, *shlex.split(call))
    _compare(message, named, Path.cwd(), snapshot)
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before
    assert not Path(os.environ["TSTBENCH_HOME"]).exists()
