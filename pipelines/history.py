"""What a system's results were before its predictions, or the test set, changed.

Scores of other predictions are dropped when the new ones are scored: a report has one set of
outputs. What they were is kept beside it, one line each in ``history.jsonl``, oldest first.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ..errors import InputError
from ..files import read_lines
from ..records import Strict
from .report import Report

HISTORY_FILE = "history.jsonl"


class EarlierScore(Strict):
    """One number that was dropped."""

    metric: str
    value: float | None
    unit: str
    signature: str


class Earlier(Strict):
    """Results that newer ones replaced.

    Attributes:
        until: the day on which they were replaced, UTC.
        why: ``its predictions changed``.
        outputs_sha256, data: of the outputs and of the test set.
        tstbench: the version that wrote them.
    """

    until: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    why: str
    outputs_sha256: str
    data: str
    tstbench: str
    scores: tuple[EarlierScore, ...]


def earlier(report: Report, why: str) -> Earlier:
    """A report as it goes into the history, today."""
    return Earlier(
        until=datetime.now(UTC).strftime("%Y-%m-%d"),
        why=why,
        outputs_sha256=report.outputs_sha256,
        data=report.data.fingerprint,
        tstbench=report.tstbench,
        scores=tuple(
            EarlierScore(metric=s.metric, value=s.value, unit=s.unit, signature=s.signature)
            for s in report.scores
        ),
    )


def history_content(folder: Path, new: Earlier | None = None) -> bytes:
    """The content of a folder's ``history.jsonl``, with one more line; empty if there is none.

    Lines that are there are taken as they are: a damaged one must not stop an evaluation.
    """
    path = folder / HISTORY_FILE
    known = path.read_bytes() if path.is_file() else b""
    line = json.dumps(new.model_dump(mode="json"), ensure_ascii=False) + "\n" if new else ""
    return known + line.encode()


def read_history(folder: Path) -> tuple[Earlier, ...]:
    """The earlier results of a system's folder, oldest first; none if it has no history.

    Raises:
        InputError: a line is not one that was written here.
    """
    path = folder / HISTORY_FILE
    if not path.is_file():
        return ()
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            found.append(Earlier.model_validate_json(line))
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: not an earlier result: {error}") from error
    return tuple(found)
