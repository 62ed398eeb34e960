"""A user's mistake is one message: its class, the values it must name, and its wording, to read."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT
from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.amber import AmberDataSerializer, AmberSnapshotExtension


class _Lines(AmberDataSerializer):
    """One line a message, where syrupy's own format has three."""

    @classmethod
    def read_file(cls, filepath: str) -> SnapshotCollection:
        collection, path = SnapshotCollection(filepath), Path(filepath)
        for name, message in (json.loads(path.read_text()) if path.exists() else {}).items():
            collection.add(Snapshot(name, message))
        return collection

    @classmethod
    def write_file(cls, snapshot_collection: SnapshotCollection, merge=False, *_, **__) -> None:
        location = snapshot_collection.location
        collection = cls.read_file(location) if merge else SnapshotCollection(location)
        collection.merge(snapshot_collection)
        messages = {snapshot.name: snapshot.data for snapshot in collection}
        text = json.dumps(messages, indent=0, sort_keys=True, ensure_ascii=False)
        Path(location).write_text(f"{text}\n")


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
    """Parametrise ``error``, ``named`` and ``act``; what is named first is the row's own name."""
    first = [row[1] if isinstance(row[1], str) else row[1][0] for row in table]
    return pytest.mark.parametrize(("error", "named", "act"), table, ids=first)


def refused(
    act: Callable,
    error: type[Exception],
    named: str | tuple,
    folder: Path,
    snapshot: SnapshotAssertion,
) -> None:
    """``act(folder)`` raises this very class, names the values and says what is on record.

    Paths of this machine, and what Python's own parsers say, which differs by version, are left
    out of the record.
    """
    with pytest.raises(error) as caught:
        act(folder)
    assert type(caught.value) is error
    message = str(caught.value)
    for value in (named,) if isinstance(named, str) else named:
        assert value in message
    message = message.replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT")
    message = re.sub(r"(not (?:TOML|JSON)[^:]*: )(?:Expect|Extra|Invalid|Unterm).*", r"\1", message)
    assert message == snapshot.use_extension(_Messages)
