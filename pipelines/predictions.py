"""Predictions on disk: saved one by one, resumed where they stopped, never requested twice.

Two files belong together: ``<name>.jsonl``, one ``{"id", "prediction"}`` per line in the test
set's order, which ``tstbench evaluate`` reads (a system can add fields, such as its raw answer);
and ``<name>.card.json``, which records the
question: the system, the test set, the seed and the settings. The same question resumes where it
stopped, even after ``kill -9``; a different question starts over. Neither file contains a time or
a path, so the same work gives the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue, ValidationError

from ..console import say
from ..datasets_scripts.load import TestSet
from ..errors import InputError, TSTBenchError, naming
from ..files import lock, write_json
from ..records import Strict
from ..trainers.postprocess import post_processed
from ..trainers.system import Answer
from ..untrusted import parse_json, read_json
from .outputs import Outputs
from .report import Sha256, SystemInfo, predictions_sha256

# The last step of all, see trainers.postprocess for those before it. A named step is never changed
# once released: a better one gets a new name.
ONE_LINE = "one-line-v1"
_BREAKS = re.compile("[\0\r\n]+")  # what no prediction may hold


class Question(Strict):
    """What was asked: equal questions have equal answers."""

    system: str  # its name
    identity: Sha256  # of the system: the hash of its folder, or the recipe it is made by
    direction: str
    test_set: Sha256  # fingerprint
    cleaning: str
    sentences: Annotated[int, Field(ge=1)]
    seed: int = 0
    generation: dict[str, JsonValue] = {}
    post_processing: tuple[str, ...] = (ONE_LINE,)

    @property
    def steps(self) -> tuple[str, ...]:
        """The post-processing that was asked for."""
        return tuple(name for name in self.post_processing if name != ONE_LINE)


class PredictionsCard(Strict):
    """The question, and how many of its answers are complete."""

    schema_version: Literal[1] = 1
    question: Question
    system_hash: Sha256  # of the system that answered
    about: SystemInfo  # what a report says of the system
    versions: dict[str, str] = {}  # of the libraries that it ran with, for people
    counts: dict[str, int] = {}  # of what systems keep beside predictions, see Answer.aside
    finished: bool = False
    sha256: Sha256 | None = None  # of the finished predictions, as a report's outputs_sha256


@dataclass(frozen=True)
class Answering:
    """A system that is ready to answer.

    Attributes:
        hash: the hash of its folder.
        about: what a report says of it.
        versions: versions of the libraries it runs with.
        answer: takes the indices of sentences and yields their predictions, in order.
    """

    hash: str
    about: SystemInfo
    versions: dict[str, str]
    answer: Callable[[Sequence[int]], Iterable[str]]


class Predictions:
    """The predictions of one system on one test set, under one name.

    Args:
        path: ``<name>.jsonl``; the card is beside it.
        test_set: what is rewritten.
        question: what is asked.
    """

    def __init__(self, path: Path, test_set: TestSet, question: Question) -> None:
        self.path = path
        self.test_set = test_set
        self.question = question

    @property
    def card_path(self) -> Path:
        """``<name>.card.json``"""
        return card_path(self.path)

    def finished(self) -> tuple[str, ...] | None:
        """The predictions if all of them answer this question; ``None`` otherwise."""
        card = self._card()
        if card is None or card.question != self.question or not card.finished:
            return None
        done, _ = self._read()
        whole = len(done) == len(self.test_set) and predictions_sha256(done) == card.sha256
        return tuple(done) if whole else None

    def complete(self, ready: Callable[[], Answering]) -> tuple[str, ...]:
        """All predictions; missing ones are requested and saved one by one.

        Args:
            ready: makes the system ready; not called if nothing is missing.

        Raises:
            InputError: a file of that name exists that TSTBench did not write.
        """
        if (there := self.finished()) is not None:  # also in a folder that takes nothing
            return there
        with lock(self.path):
            if (there := self.finished()) is not None:
                return there
            kept, size = self._kept()
            system = ready()
            if kept and read_card(self.path).system_hash != system.hash:  # made again
                say(f"{self.path}: starting over, because {self.question.system} has changed")
                kept, size = [], 0
            card = PredictionsCard(
                question=self.question,
                system_hash=system.hash,
                about=system.about,
                versions=system.versions,
            )
            rest = range(len(kept), len(self.test_set))
            answers = system.answer(rest)  # refuses what it cannot do before anything is replaced
            if not kept:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.unlink(missing_ok=True)  # first: old answers never get a new card
            write_json(self.card_path, card.model_dump(mode="json"))
            done = [*kept, *self._append(size, rest, answers)]
            last = {
                "counts": self._counts(),
                "finished": True,
                "sha256": predictions_sha256(done),
            }
            write_json(self.card_path, card.model_copy(update=last).model_dump(mode="json"))
            return tuple(done)

    def _append(self, size: int, rest: Iterable[int], answers: Iterable[str]) -> list[str]:
        """Write predictions after the first ``size`` bytes, each as soon as it is available."""
        written = []
        with naming(self.path), self.path.open("ab") as stream:
            stream.truncate(size)
            for i, text in zip(rest, answers, strict=True):
                aside = text.aside if isinstance(text, Answer) else {}
                text = one_line(post_processed(text, self.question.steps))
                row = {"id": self.test_set.ids[i], "prediction": text, **aside}
                stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n")
                stream.flush()
                written.append(text)
            os.fsync(stream.fileno())
        return written

    def _counts(self) -> dict[str, int]:
        """How often each rule changed an answer, and the tokens of all of them."""
        counts: Counter[str] = Counter()
        for line in self.path.read_bytes().splitlines():
            row = parse_json(line.decode("utf-8"), str(self.path))
            counts.update(row.get("rules", ()))
            counts.update(row.get("tokens", {}))
        return dict(sorted(counts.items()))

    def _kept(self) -> tuple[list[str], int]:
        """The existing answers to this question, and how many bytes of the file they take."""
        if not self.path.exists():
            return [], 0
        card = self._card()
        if card is None:
            raise InputError(
                f"{self.path} was not written by 'tstbench transfer': {self.card_path.name} is "
                "missing or damaged. Choose another file, or move this one away"
            )
        changed = [name for name, value in self.question if getattr(card.question, name) != value]
        if changed:
            say(f"{self.path}: starting over, for another {', '.join(map(_in_words, changed))}")
            return [], 0
        done, size = self._read()
        if card.finished:
            say(f"{self.path}: starting over, because it was changed after it was finished")
            return [], 0
        if done:
            say(f"{self.path}: {len(done)} of {len(self.test_set)} predictions already exist")
        return done, size

    def _read(self) -> tuple[list[str], int]:
        """The complete predictions from the top of the file, and their size in bytes."""
        done: list[str] = []
        size = 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            text = _prediction(line, self.test_set.ids, len(done))
            if text is None:
                break
            done.append(text)
            size += len(line)
        return done, size

    def _card(self) -> PredictionsCard | None:
        try:
            return read_card(self.path)
        except TSTBenchError:
            return None


def one_line(text: str) -> str:
    r"""``one-line-v1``: a prediction on one line; nothing else is changed.

    >>> one_line(" So good!\n\nReally. "), one_line(" as it  is ")
    ('So good! Really.', ' as it  is ')
    """
    text = text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair
    return _BREAKS.sub(" ", text).strip() if _BREAKS.search(text) else text


def card_path(path: Path) -> Path:
    """The card beside a file of predictions."""
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.card.json")


def read_card(path: Path) -> PredictionsCard:
    """Read the card beside a file of predictions.

    Raises:
        MissingFileError: there is no card.
        InputError: the card is not valid; the message names the field.
    """
    file = card_path(path)
    try:
        return PredictionsCard.model_validate(read_json(file))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{file} is not a card of predictions: {where}: {first['msg']}") from error


def made_by(path: Path, outputs: Outputs) -> SystemInfo | None:
    """What the card beside a file of predictions says of their system, if it is of these."""
    if not card_path(path).is_file():
        return None
    card = read_card(path)
    if card.sha256 != outputs.sha256:
        return None
    return card.about.model_copy(update={"name": outputs.system, "system_hash": card.system_hash})


def _prediction(line: bytes, ids: Sequence[str], index: int) -> str | None:
    """The prediction on a line, if it is complete and belongs to that index."""
    if not line.endswith(b"\n") or index >= len(ids):
        return None
    try:
        row = parse_json(line.decode("utf-8"), "a prediction")
        text = row["prediction"] if row["id"] == ids[index] else None
    except (ValueError, KeyError, TypeError):
        return None
    return text if isinstance(text, str) else None


def _in_words(field: str) -> str:
    return {"identity": "version of the system", "test_set": "test set"}.get(
        field, field.replace("_", " ")
    )
