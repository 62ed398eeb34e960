"""The answers of a study's raters, kept by SQLite in its folder, and their export as judgments."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from ...datasets_scripts.catalog import parse_direction
from ...datasets_scripts.judgments.schema import (
    ASPECTS,
    Judgment,
    without_licensed_text,
    write_judgments,
)
from ...errors import InputError, MissingFileError
from ...pipelines.human import derived_overalls
from ...records import Strict
from .study import TASKS, Item, Study, load_study

ANSWERS_FILE = "answers.sqlite"


class Choices(Strict):
    """What a rater chose on a screen, as a browser sends it.

    Attributes:
        scores: aspect to score; empty if the rater skipped the item.
        skipped: deliberately not scored.
        flagged: scored, but something is wrong with the item.
        comment: the rater's comment.
    """

    scores: dict[str, Annotated[int, Field(strict=True)]] = Field(default_factory=dict)
    skipped: bool = False
    flagged: bool = False
    comment: Annotated[str, Field(max_length=1900)] = ""

    @model_validator(mode="after")
    def _scored_or_skipped(self) -> Choices:
        if self.skipped == bool(self.scores):
            raise ValueError("an answer either has scores or is skipped")
        return self


class Answer(Choices):
    """One rater's answer to one item.

    Attributes:
        task: one of :data:`.study.TASKS`.
        item: the item's id.
        at: when it was saved, UTC, ISO 8601.
    """

    task: str
    item: str
    at: str


Answers = Mapping[tuple[str, str], Answer]  # by task and item


class Ratings:
    """All answers to a study. One that was added is on disk whole; the latest to a question counts.

    Several processes may read and add at once.
    """

    def __init__(self, folder: Path, study: Study) -> None:
        """Read the answers once.

        Raises:
            MissingFileError: the folder has no file of answers.
            InputError: it is damaged, or has an answer to something that the study does not ask.
        """
        self.path = folder / ANSWERS_FILE
        self._study = study
        self._items = {item.id for item in study.items}
        if not self.path.exists():
            raise MissingFileError(f"{self.path} is missing: put it back, or make a new study")
        try:
            self.all()
        except OSError as error:
            raise InputError(f"{error}. Put it back, or make a new study") from error

    @staticmethod
    def create(folder: Path) -> None:
        """Begin a file without answers, which only its owner can read."""
        path = folder / ANSWERS_FILE
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with _opened(path) as database:
            database.execute(
                "CREATE TABLE answers (number INTEGER PRIMARY KEY, rater TEXT, answer TEXT)"
            )

    def check_writable(self) -> None:
        """Raise :class:`InputError` if no answer could be added, such as to a read-only folder."""
        try:
            with _opened(self.path) as database:
                database.execute("INSERT INTO answers (rater, answer) VALUES ('', '')")
                database.rollback()
        except OSError as error:
            raise InputError(f"{error}. Raters' answers would be lost: make it writable") from error

    def add(self, rater: str, answer: Answer) -> None:
        """Add an answer.

        Raises:
            OSError: nothing of it was kept: the disk is full, or the file cannot be written.
        """
        row = (rater, answer.model_dump_json())
        with _opened(self.path) as database:
            database.execute("INSERT INTO answers (rater, answer) VALUES (?, ?)", row)

    def of(self, rater: str) -> Answers:
        """The latest answers of a rater.

        Raises:
            OSError: the file cannot be read, or is damaged, or has an answer to something that is
                not asked.
        """
        query = "SELECT number, answer FROM answers WHERE rater = ? ORDER BY number"
        latest = {}
        with _opened(self.path) as database:
            for number, text in database.execute(query, (rater,)):
                answer = self._checked(f"{self.path}, answer {number}", text)
                latest[answer.task, answer.item] = answer
        return latest

    def all(self) -> dict[str, Answers]:
        """The latest answers of each rater, see :meth:`of`."""
        return {rater: self.of(rater) for rater in self._study.raters}

    def _checked(self, where: str, text: str) -> Answer:
        try:
            answer = Answer.model_validate_json(text)
        except ValidationError as error:
            raise OSError(f"{where} is none: {error.errors()[0]['msg']}") from error
        known = answer.task in self._study.tasks and answer.item in self._items
        asked = {aspect.name for aspect in TASKS[answer.task].aspects} if known else set()
        if not known or not (answer.skipped or answer.scores.keys() == asked):
            what = f"{answer.task} of {answer.item}, which is not part of this study"
            raise OSError(f"{where} is to {what}")
        return answer


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A transaction: all of it is kept, or nothing."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as database:
            database.execute("PRAGMA synchronous = EXTRA")  # what is confirmed survives a power cut
            with database:
                yield database
    except sqlite3.OperationalError as error:
        raise OSError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise OSError(f"{path} is damaged: {error}") from error


def judgments(study: Study, answers: Mapping[str, Answers]) -> list[Judgment]:
    """All judgments by direction, sample, system, aspect and rater.

    Where style, content and fluency are asked and no overall score, it is derived from them.
    An output that several systems share gives a row for each of them.
    """
    rows = [
        row
        for item in study.items
        for task in study.tasks
        for rater, latest in answers.items()
        if (answer := latest.get((task, item.id))) is not None
        for system in item.systems
        for row in _rows(study, item, answer, rater, system)
    ]
    rows += derived_overalls(rows)
    order = {name: number for number, name in enumerate(ASPECTS)}
    rows.sort(key=lambda r: (r.direction, r.sample_id, r.system, order[r.aspect], r.rater))
    return [without_licensed_text(row) for row in rows]  # an export may be published


def _rows(study: Study, item: Item, answer: Answer, rater: str, system: str) -> Iterator[Judgment]:
    marks = ["skipped"] * answer.skipped + ["flagged"] * answer.flagged
    note = ": ".join([" ".join(marks)] * bool(marks) + [answer.comment] * bool(answer.comment))
    for aspect in TASKS[answer.task].aspects:
        yield Judgment(
            study=study.name,
            dataset=parse_direction(item.direction).dataset,
            direction=item.direction,
            system=system,
            sample_id=item.sample_id,
            source=item.source,
            output=item.output,
            aspect=aspect.name,
            scale=aspect.scale,
            rater=rater,
            score=answer.scores.get(aspect.name),
            note=note or None,
        )


def export(study_folder: Path | str, path: Path | str) -> list[Judgment]:
    """Write the answers collected so far as judgments, with pseudonyms for raters.

    Texts of licensed datasets (GYAFC) are left out, raters' remarks too, which may quote them;
    their sample ids identify the sentences.

    Returns:
        The judgments written.
    """
    study = load_study(study_folder)
    rows = judgments(study, Ratings(Path(study_folder), study).all())
    write_judgments(path, rows)
    return rows
