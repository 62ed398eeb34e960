"""The report: the scores of one system on one direction, as a file that outlives us.

``report.json`` holds corpus values, intervals and signatures; ``samples.jsonl`` one line a
sentence. A report holds no time and no path, so that the same work gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import InputError
from ..files import read_lines, read_text, write_jsonl, write_text

SCHEMA_VERSION = 1
Family = Literal["fpft", "peft", "prompted", "rule", "human", "unknown"]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
MAX_NAME = 100  # characters of a system's name
# Neither control characters, which a terminal obeys, nor line breaks. An empty name is told apart.
NAME_PATTERN = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"


class Strict(BaseModel):
    """No unknown fields, no NaN, no change after the fact."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SystemInfo(Strict):
    """Who made the predictions."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=NAME_PATTERN)]
    family: Family = "unknown"
    needs_parallel: bool | None = None
    date: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")] | None = None
    origin: str | None = None  # where the outputs come from, for a person to follow
    outputs_url: Annotated[str, Field(pattern="^https://")] | None = None


class DataInfo(Strict):
    """What the system was measured against."""

    fingerprint: Sha256
    cleaning: str
    sentences: Annotated[int, Field(ge=1)]
    references_min: Annotated[int, Field(ge=0)]
    references_max: Annotated[int, Field(ge=0)]


class IntervalInfo(Strict):
    """A percentile bootstrap interval."""

    low: float
    high: float
    level: float
    resamples: int
    seed: int


class Score(Strict):
    """One metric's corpus value."""

    metric: str
    value: float | None  # null where it is infinite or undefined
    unit: str
    higher_is_better: bool
    interval: IntervalInfo | None
    signature: str


class Omission(Strict):
    """A metric that has no meaning here, and why."""

    metric: str
    why: str


class Report(Strict):
    """Everything one evaluation says."""

    schema_version: Literal[1] = 1
    tstbench: str
    direction: str
    profile: str
    system: SystemInfo
    data: DataInfo
    recipe: Sha256 | None = None  # over all that determined the scores: same recipe, same scores
    outputs_sha256: Sha256  # over the predictions as JSON lines: two people scored the same text
    scores: tuple[Score, ...]
    left_out: tuple[Omission, ...] = ()

    def score(self, metric: str) -> Score | None:
        """The score of that metric, if it was computed."""
        return next((s for s in self.scores if s.metric == metric), None)


class Sample(Strict):
    """One sentence: what went in, what came out, what each metric says."""

    id: str
    source: str
    references: tuple[str, ...]
    prediction: str
    scores: dict[str, float | None]


def predictions_sha256(predictions: Sequence[str]) -> str:
    """SHA-256 over the predictions, one JSON string a line, in test-set order."""
    lines = "".join(json.dumps(text, ensure_ascii=False) + "\n" for text in predictions)
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def write_report(folder: Path, report: Report, samples: list[Sample]) -> None:
    """Write ``report.json`` and ``samples.jsonl``; the report last, so that it marks completion."""
    write_jsonl(folder / "samples.jsonl", (sample.model_dump(mode="json") for sample in samples))
    write_text(folder / "report.json", report.model_dump_json(indent=2) + "\n")


def read_report(path: Path) -> Report:
    """Read ``report.json`` (or the folder that holds it).

    Raises:
        InputError: not a report of a schema we know; the message names the field.
    """
    path = path / "report.json" if path.is_dir() else path
    text = read_text(path)
    try:
        return Report.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path} is no report: {where}: {first['msg']}") from error


def read_samples(folder: Path) -> list[Sample]:
    """Read ``samples.jsonl`` of a report folder; a bad line is named."""
    path = folder / "samples.jsonl"
    samples = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            samples.append(Sample.model_validate(json.loads(line)))
        except (ValidationError, json.JSONDecodeError) as error:
            raise InputError(f"{path}, line {number}: not a sample: {error}") from error
    return samples
