"""Human judgments: one schema for every study, and its files.

A judgment is one score that one rater gave to one output on one aspect. Judgments from published
studies and those collected on the annotation page share this schema, so that one function
computes agreement and one correlates metrics with people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from ...errors import InputError
from ...files import read_lines, write_jsonl
from ...records import Strict

_SCALE = re.compile(r"^(nominal|ordinal|interval) (-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)$")
_Name = Annotated[str, Field(min_length=1, max_length=100)]
_Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100)]


@dataclass(frozen=True)
class Scale:
    """What a score may be: ``ordinal 1-5`` whole numbers, ``interval 1-5`` anything between.

    Attributes:
        level: level of measurement (Stevens 1946), which decides how Krippendorff's alpha weighs
            a disagreement: ``nominal`` and ``ordinal`` are whole numbers, ``interval`` is not.
        low: smallest score.
        high: largest score.
    """

    level: str
    low: float
    high: float

    def holds(self, score: float) -> bool:
        """Whether this is a score of the scale.

        >>> [parse_scale("ordinal 1-5").holds(score) for score in (5, 4.5, 5.8)]
        [True, False, False]
        """
        whole = self.level == "interval" or float(score).is_integer()
        return whole and self.low <= score <= self.high


@lru_cache(maxsize=64)
def parse_scale(text: str) -> Scale:
    """Read ``<level> <low>-<high>``.

    Raises:
        InputError: unknown level, or empty range.
    """
    match = _SCALE.match(text)
    if match is None:
        message = "a scale is 'nominal', 'ordinal' or 'interval' and a range, as in 'ordinal 1-5'"
        raise InputError(f"{message}; got {text!r}")
    scale = Scale(match[1], float(match[2]), float(match[3]))
    if scale.low >= scale.high:
        raise InputError(f"the scale {text!r} is empty: its low end is not below its high end")
    return scale


class Judgment(Strict):
    """One score of one rater.

    Attributes:
        study: name of the study, the same in all its rows.
        dataset: name of the dataset.
        direction: in full, ``yelp/negative-to-positive``.
        system: who made the output.
        sample_id: id of the sentence in the dataset; null if the study did not publish it.
        source: the sentence given; null if it may not be shown or was not published.
        output: the system's rewrite; null in the same cases.
        aspect: what was judged, such as ``style``.
        scale: see :class:`Scale`.
        rater: a pseudonym, or the name of an average such as ``mean-of-3``.
        score: on the scale; null if the rater skipped the output.
        note: what the rater wrote, or why a score is missing.
    """

    study: _Name
    dataset: _Slug
    direction: Annotated[str, Field(pattern=r"^[a-z0-9_.-]+/[a-z0-9_.]+-to-[a-z0-9_.]+$")]
    system: _Name
    sample_id: _Name | None
    source: str | None
    output: str | None
    aspect: _Slug
    scale: str
    rater: _Slug
    score: Annotated[float, Field(strict=True)] | None
    note: Annotated[str, Field(max_length=2000)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Judgment:
        if self.direction.split("/")[0] != self.dataset:
            raise ValueError(f"direction {self.direction!r} is not in dataset {self.dataset!r}")
        scale = parse_scale(self.scale)
        if self.score is not None and not scale.holds(self.score):
            raise ValueError(f"score {self.score:g} is not on the scale {self.scale!r}")
        return self

    @property
    def key(self) -> tuple[str, ...] | None:
        """What must be unique; ``None`` if the study published no sample ids."""
        if self.sample_id is None:
            return None
        return (self.study, self.direction, self.system, self.sample_id, self.aspect, self.rater)


def read_judgments(path: Path | str) -> list[Judgment]:
    """Read a JSON Lines file of judgments.

    Raises:
        InputError: a line is not a judgment, or two lines score the same thing; the message names
            the line and the field.
    """
    judgments: list[Judgment] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            judgment = Judgment.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}: not JSON: {error}") from error
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {_first_problem(error)}") from error
        if judgment.key is not None:
            first = seen.setdefault(judgment.key, number)
            if first != number:
                what = f"{judgment.aspect} of {judgment.system}, sample {judgment.sample_id}"
                message = f"{judgment.rater} already scored {what} in line {first}"
                raise InputError(f"{path}, line {number}: {message}. Keep one of the two.")
        judgments.append(judgment)
    return judgments


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    what = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {what}" if where else what


def write_judgments(path: Path | str, judgments: Iterable[Judgment]) -> None:
    """Write judgments as JSON Lines, atomically."""
    write_jsonl(path, (judgment.model_dump(mode="json") for judgment in judgments))
