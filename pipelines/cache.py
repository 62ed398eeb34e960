"""What lies in ``$TSTBENCH_HOME``: sizes, last use, and what nothing refers to any more.

A trained model is current while the index names it. One that was replaced, because its data or
settings changed, stays on disk, since reports may name its hash; it is what pruning removes.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ..chat.answers import answers_folder
from ..datasets_scripts import unchanged
from ..datasets_scripts.sources import pinned_names
from ..errors import InputError, TSTBenchError
from ..files import TEMPORARY, home, lock
from ..metrics.scorers.artefacts import SCORERS
from ..metrics.scorers.gguf import CONVERTED
from ..store import Store
from ..trainers.system import SYSTEM_STORE
from ..untrusted import MAX_LINE, read_json
from . import kept_scores
from .harness import lm_eval_files

CURRENT = "current"
_DAY = 86_400  # seconds; what is half-written for longer belongs to no running process


@dataclass(frozen=True)
class Entry:
    """One thing in the cache.

    Attributes:
        kind: ``scorer``, ``system``, ``training``, ``answers``, ``download``, ``model``,
            ``tasks``, ``fingerprint``, ``score``, ``board`` or ``temporary``.
        name: what it is, for people.
        path: a folder or file; a link is an entry of its own, and never followed.
        state: ``current``, or why it is not needed.
    """

    kind: str
    name: str
    path: Path
    state: str

    @property
    def size(self) -> int:
        """Bytes of its files; a link counts as itself."""
        return sum(one.st_size for one in _facts(self.path))

    @property
    def last_used(self) -> date:
        """When one of its files was last read or written, as far as the file system tells."""
        facts = _facts(self.path) or [self.path.lstat()]
        return date.fromtimestamp(max(max(one.st_atime, one.st_mtime) for one in facts))


def entries() -> list[Entry]:
    """Everything that TSTBench keeps, by kind and name; nobody else's files are listed."""
    found = [
        *_models(SCORERS),
        *_models(SYSTEM_STORE),
        *_trainings(),
        *_answers(),
        *_downloads(),
        *_converted(),
        *_task_files(),
        *_fingerprints(),
        *_scores(),
        *_boards(),
        *_temporary(),
    ]
    order = (
        "scorer", "system", "training", "answers", "download", "model", "tasks", "fingerprint",
        "score", "board", "temporary",
    )  # fmt: skip
    return sorted(found, key=lambda e: (order.index(e.kind), e.name, e.state))


def prunable(some: Iterable[Entry], *, systems: bool = False) -> list[Entry]:
    """What may be removed: nothing current; systems and their checkpoints only if asked for."""
    kept = () if systems else ("system", "training")
    return [e for e in some if e.state != CURRENT and e.kind not in kept]


def remove(entry: Entry) -> None:
    """Remove one entry; never anything outside the cache, whatever links lie in it.

    Raises:
        InputError: it lies elsewhere, or may not be removed.
    """
    if not entry.path.parent.resolve().is_relative_to(home()):
        raise InputError(f"{entry.path} lies outside {home()}: it is left alone")
    try:
        if entry.path.is_symlink() or entry.path.is_file():
            entry.path.unlink(missing_ok=True)
        elif entry.path.exists():  # else it was in another one
            shutil.rmtree(entry.path)
    except OSError as error:
        raise InputError(f"{entry.path} cannot be removed: {error.strerror}") from error


def readable(size: int) -> str:
    """A size for people.

    >>> readable(999), readable(1_500), readable(72_000_000)
    ('999 B', '1.5 kB', '72.0 MB')
    """
    amount, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"


def _models(store: Store[Any]) -> Iterator[Entry]:
    index = store.root / "index"
    named: dict[str, str] = {}
    for file in sorted(index.rglob("*.json")):
        digest = _json(file).get("artefact")
        key = (*file.relative_to(index).parts[:-1], file.stem)
        if isinstance(digest, str) and len(key) > 1:
            named[digest] = " ".join((key[1], key[0].replace("_", " "), *key[2:]))
    for folder in _children(store.root / "objects"):
        card = _json(folder / store.card_file)
        called = f"{card.get('dataset', '')} {card.get('role', '')} {card.get('name', '?')}"
        name = named.get(folder.name) or called.replace("_", " ").strip()
        state = CURRENT if folder.name in named else "replaced"
        yield Entry(store.what, f"{name} {folder.name[:8]}", folder, state)


def _trainings() -> Iterator[Entry]:
    """Checkpoints: of a training that is under way, or was interrupted and can go on."""
    for folder in _children(home() / "runs"):
        with lock(folder, "training", wait=False) as free:
            yield Entry("training", folder.name, folder, "interrupted" if free else CURRENT)


def _answers() -> Iterator[Entry]:
    """What chat models answered: it was paid for, and is never out of date."""
    for file in _children(answers_folder()):
        if file.suffix == ".jsonl":
            about = _first_row(file)
            name = f"{about.get('model', '?')} at {about.get('server', '?')}"
            yield Entry("answers", name, file, CURRENT)


def _downloads() -> Iterator[Entry]:
    pinned = pinned_names()
    for file in _files(home() / "downloads"):
        if file.name.startswith("."):  # a lock
            continue
        name = file.relative_to(home() / "downloads").as_posix()
        state = CURRENT if name in pinned else "no longer used"
        yield Entry("download", name, file, state)


def _converted() -> Iterator[Entry]:
    for folder in _children(home() / CONVERTED):
        yield Entry("model", f"GGUF file {folder.name}, as read", folder, CURRENT)


def _task_files() -> Iterator[Entry]:
    if _children(folder := home() / lm_eval_files.FOLDER):
        yield Entry("tasks", "of lm-evaluation-harness", folder, CURRENT)


def _fingerprints() -> Iterator[Entry]:
    for file in _children(home() / unchanged.FOLDER):
        about = _json(file)
        asked, state = about.get("question"), about.get("state")
        what = asked if isinstance(asked, dict) else {}
        name = " ".join(what.get("scorer") or [str(what.get("system", "?"))])
        known = isinstance(state, list) and state[:1] == [unchanged.tools()]
        yield Entry("fingerprint", name, file, CURRENT if known else "of other code")


def _scores() -> Iterator[Entry]:
    for file in _children(home() / kept_scores.FOLDER):
        what = kept_scores.about(file)
        name = f"{what.get('metric', '?')} {what.get('direction', '')}".strip()
        known = what.get("tools") == unchanged.tools()
        yield Entry("score", f"{name} {file.name[:8]}", file, CURRENT if known else "of other code")


def _boards() -> Iterator[Entry]:
    """What leaderboards keep of large results."""
    for path in _children(home() / "boards"):
        known = path.stem.endswith(unchanged.code())
        yield Entry("board", path.stem, path, CURRENT if known else "of other code")


def _temporary() -> Iterator[Entry]:
    """What killed processes left; those of processes at work come and go meanwhile."""
    for place, names, _ in os.walk(home()):
        for folder in (Path(place, name) for name in names if name.startswith(TEMPORARY)):
            with suppress(FileNotFoundError):
                if time.time() - folder.lstat().st_mtime > _DAY:
                    name = folder.relative_to(home()).as_posix()
                    yield Entry("temporary", name, folder, "unfinished")


def _children(folder: Path) -> list[Path]:
    """What lies in a folder of the cache, without locks and what is unfinished.

    A link in its place leads elsewhere: it is left alone.
    """
    found = [] if folder.is_symlink() or not folder.is_dir() else sorted(folder.iterdir())
    return [path for path in found if not path.name.startswith(".")]


def _files(path: Path) -> list[Path]:
    """The files below a folder, links as themselves; or the file."""
    if path.is_symlink() or path.is_file():
        return [path]
    return [Path(folder, name) for folder, _, names in os.walk(path) for name in names]


def _facts(path: Path) -> list[os.stat_result]:
    """Of the files below a folder, without those that another process takes away meanwhile."""
    found = []
    for file in _files(path):
        with suppress(FileNotFoundError):
            found.append(file.lstat())
    return found


def _first_row(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            content = json.loads(stream.readline(MAX_LINE))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _json(file: Path) -> dict[str, Any]:
    try:
        content = read_json(file)
    except TSTBenchError:
        return {}
    return content if isinstance(content, dict) else {}
