"""What was learned from files, remembered until one of them changes.

Reading and cleaning a corpus only to find that nothing is new takes longer than everything else a
repeated run does. So the answer is kept in ``$TSTBENCH_HOME/fingerprints``, with the state of
everything it depends on: each input file's place, size and times, those that are missing too, and
the code. If one of them differs, or if only reading can tell, the files are read again.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..files import home, keep_json
from ..store import canonical
from .catalog import parse_dataset
from .sources import SourceFile

FOLDER = "fingerprints"


@dataclass(frozen=True)
class Remembered:
    """One question, whose answer depends on files.

    Attributes:
        question: what is asked, as JSON values.
        files: the files that the answer depends on, read or missing.
        data_dir: the user's copy of a licensed corpus.
    """

    question: Mapping[str, Any]
    files: tuple[SourceFile, ...]
    data_dir: Path | str | None = None

    @property
    def path(self) -> Path:
        """Where the answer is kept."""
        return home() / FOLDER / f"{hashlib.sha256(canonical(self.question)).hexdigest()[:32]}.json"

    def state(self) -> list[str] | None:
        """The state of everything the answer depends on; ``None`` if only reading can tell."""
        states = [file.state(self.data_dir) for file in self.files]
        known = [state for state in states if state is not None]
        return [tools(), *known] if len(known) == len(states) else None

    def answer(self) -> str | None:
        """The answer, if nothing it depends on has changed."""
        try:
            there = json.loads(self.path.read_bytes())
            known = there["question"] == self.question and there["state"] == self.state()
            return str(there["answer"]) if known else None
        except (OSError, ValueError, KeyError, TypeError):  # none, or damaged: it is made again
            return None

    def keep(self, answer: str, before: list[str] | None) -> None:
        """Keep an answer.

        Args:
            answer: the answer.
            before: the state before the files were read. A file that changed meanwhile is not
                what was read; one that was downloaded meanwhile is.
        """
        state = self.state()
        if state is None:
            return
        pairs = zip(before or state, state, strict=True)
        if all(was == now or " absent" in was for was, now in pairs):
            entry = {"question": self.question, "state": state, "answer": answer}
            keep_json(self.path, entry)


def about_dataset(
    dataset: str,
    question: Mapping[str, Any],
    *,
    parts: Container[str] | None = None,
    cleaning: str | None = None,
    data_dir: Path | str | None = None,
) -> Remembered:
    """A question about a dataset's sentences: it depends on all files of its splits, or of some."""
    corpus = parse_dataset(dataset)
    facts = {
        "dataset": dataset,
        "version": corpus.version,
        "layout": corpus.layout,
        "cleaning": cleaning or corpus.cleaning,
    }
    files: Iterable[SourceFile] = (
        file for part in corpus.parts if parts is None or part.name in parts for file in part.files
    )
    return Remembered({**facts, **question}, tuple(dict.fromkeys(files)), data_dir)


@cache
def tools() -> str:
    """The code that reads, cleans and splits: this package's, a tokeniser's, and Python's own."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    rooms = [file.parent for file in package.glob("*/__init__.py")]
    for file in sorted([*package.glob("*.py"), *(f for room in rooms for f in room.rglob("*.py"))]):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    known = f"python {platform.python_version()}, sacrebleu {version('sacrebleu')}"
    return f"{known}, code {digest.hexdigest()[:32]}"


def code() -> str:
    """Eight hex digits for :func:`tools`, for names of files."""
    return hashlib.sha256(tools().encode()).hexdigest()[:8]
