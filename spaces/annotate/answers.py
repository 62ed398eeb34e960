"""One rater's answers, in an append-only file, so that no answer is ever lost."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Field, ValidationError, model_validator

from ...errors import InputError
from ...records import Strict


class Answer(Strict):
    """One rater's answer to one item.

    Attributes:
        task: one of :data:`.study.TASKS`.
        item: the item's id.
        scores: aspect to score; empty if the rater skipped the item.
        skipped: deliberately not scored.
        flagged: scored, but something is wrong with the item.
        comment: the rater's comment.
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
            raise ValueError("an answer either has scores or is skipped")
        return self


Answers = Mapping[tuple[str, str], Answer]  # by task and item


class AnswerLog:
    """The answers of one rater, kept in a JSON Lines file; the latest for an item counts."""

    def __init__(self, path: Path) -> None:
        """Read the file; a last line that breaks off was never confirmed and is ignored.

        Raises:
            InputError: a line is not a valid answer, or holds whole ones without ending in a
                newline; the message names the line.
        """
        self.path = path
        self.latest: dict[tuple[str, str], Answer] = {}
        content = path.read_bytes() if path.exists() else b""
        *lines, rest = content.split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                self._count(Answer.model_validate_json(line))
            except ValidationError as error:
                raise InputError(f"{path}, line {number}: not an answer: {error}") from error
        if rest and not _breaks_off(rest):
            raise InputError(
                f"{path}, line {len(lines) + 1}: it does not end in a newline, as every answer "
                "does: has an editor changed the file? Put each answer on a line of its own"
            )

    def _count(self, answer: Answer) -> None:
        self.latest[answer.task, answer.item] = answer

    def append(self, answer: Answer) -> None:
        """Add an answer; when this returns, it is completely on disk, otherwise not at all."""
        line = (answer.model_dump_json() + "\n").encode()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.path.open("a+b", buffering=0) as stream:
            before = _drop_torn_line(stream)
            try:
                written = stream.write(line)
                if written != len(line):
                    raise OSError(f"only {written} of {len(line)} bytes fit on the disk")
                os.fsync(stream.fileno())
            except OSError:
                os.truncate(self.path, before)
                raise
        self._count(answer)


def _breaks_off(rest: bytes) -> bool:
    """Whether this is the beginning of one answer, which is what a crash while writing leaves."""
    try:
        json.JSONDecoder().raw_decode(rest.decode(errors="replace"))
    except (ValueError, RecursionError):
        return rest.startswith(b"{")
    return False


def _drop_torn_line(stream: BinaryIO) -> int:
    """Cut off anything after the last newline; returns the remaining size."""
    size = stream.seek(0, os.SEEK_END)
    if size == 0:
        return 0
    stream.seek(size - 1)
    if stream.read(1) == b"\n":
        return size
    stream.seek(0)
    whole = stream.read().rfind(b"\n") + 1
    stream.truncate(whole)
    return whole
