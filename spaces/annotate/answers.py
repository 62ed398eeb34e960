"""One rater's answers: a file that only grows, so that nothing said is ever lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from ...errors import InputError
from ...files import read_lines
from ...pipelines.report import Strict


class Answer(Strict):
    """What a rater said about one item.

    Attributes:
        task: of :data:`.study.TASKS`.
        item: id of the item.
        scores: aspect to score; empty where the rater skipped the item.
        skipped: no scores, on purpose.
        flagged: scored, but something is odd with the item.
        comment: in the rater's words.
        at: when it was saved, UTC, ISO 8601.
    """

    task: str
    item: str
    scores: dict[str, Annotated[int, Field(strict=True)]]
    skipped: bool = False
    flagged: bool = False
    comment: Annotated[str, Field(max_length=1900)] = ""
    at: str

    @model_validator(mode="after")
    def _scored_or_skipped(self) -> Answer:
        if self.skipped == bool(self.scores):
            raise ValueError("an answer has scores or is skipped, and not both")
        return self


class AnswerLog:
    """The answers of one rater, kept in a JSON Lines file; the latest for an item counts."""

    def __init__(self, path: Path) -> None:
        """Read what is there; an append that a crash cut short was never confirmed and is dropped.

        Raises:
            InputError: a whole line is no answer; the message names it.
        """
        self.path = path
        self.latest: dict[tuple[str, str], Answer] = {}
        if not path.exists():
            return
        content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            os.truncate(path, content.rfind(b"\n") + 1)
        for number, line in enumerate(read_lines(path), start=1):
            try:
                self._count(Answer.model_validate(json.loads(line)))
            except (ValidationError, json.JSONDecodeError) as error:
                raise InputError(f"{path}, line {number}: not an answer: {error}") from error

    def _count(self, answer: Answer) -> None:
        self.latest[answer.task, answer.item] = answer

    def append(self, answer: Answer) -> None:
        """Add an answer; it is on the disk, whole, when this returns, or not there at all."""
        line = (answer.model_dump_json() + "\n").encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as stream:
            before = stream.seek(0, os.SEEK_END)
            try:
                written = stream.write(line)
                if written != len(line):
                    raise OSError(f"only {written} of {len(line)} bytes fit on the disk")
                os.fsync(stream.fileno())
            except OSError:
                os.truncate(self.path, before)
                raise
        self._count(answer)
