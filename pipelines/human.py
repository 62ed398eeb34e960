"""Human judgments: one schema for every study, its files, and the protocol's own guidelines.

A judgment is one score that one rater gave to one output on one aspect. Judgments of published
studies and those collected on the annotation page share this schema, so that one function
computes agreement and one correlates metrics with people.

Source of the guidelines: the TSTBench paper, section 3.3.2; the relative tasks are those of Mir
et al. (2019), "Evaluating Style Transfer for Text", section 4.2.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from ..errors import InputError
from ..files import read_lines, write_jsonl
from .report import Strict

COPY_PENALTY = 0.6

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
        InputError: no such level, or an empty range.
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
        sample_id: id of the sentence in the dataset; null where the study did not publish it.
        source: the sentence given; null where it may not be shown or was not published.
        output: the system's rewrite; null likewise.
        aspect: what was judged, such as ``style``.
        scale: see :class:`Scale`.
        rater: a pseudonym, or the name of an average such as ``mean-of-3``.
        score: on the scale; null where the rater skipped the output.
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
            raise ValueError(f"direction {self.direction!r} is not of dataset {self.dataset!r}")
        scale = parse_scale(self.scale)
        if self.score is not None and not scale.holds(self.score):
            raise ValueError(f"score {self.score:g} is not on the scale {self.scale!r}")
        return self

    @property
    def key(self) -> tuple[str, ...] | None:
        """What may be there once only; ``None`` where the study published no sample ids."""
        if self.sample_id is None:
            return None
        return (self.study, self.direction, self.system, self.sample_id, self.aspect, self.rater)


def read_judgments(path: Path | str) -> list[Judgment]:
    """Read a JSON Lines file of judgments.

    Raises:
        InputError: a line is no judgment, or two lines score the same thing; the message names
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
                message = f"{judgment.rater} scored {what} before, in line {first}"
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


def pseudonyms(names: Collection[str], salt: str) -> dict[str, str]:
    """``rater-1`` to ``rater-n`` in the order of the names' keyed hashes.

    The same names and salt give the same pseudonyms; without the salt, which is never exported,
    neither the order of invitation nor a list of likely names says who is who.

    Args:
        names: unique names of the raters.
        salt: secret; at least 16 characters.

    Raises:
        InputError: a name twice or empty, or a salt that could be guessed.
    """
    if len(set(names)) != len(names):
        raise InputError(f"a rater is named twice: {', '.join(sorted(names))}")
    if not all(name.strip() for name in names):
        raise InputError("a rater's name is empty")
    if len(salt) < 16:
        raise InputError("the salt for pseudonyms needs 16 characters or more")

    def digest(name: str) -> str:
        return hmac.new(salt.encode(), name.encode(), hashlib.sha256).hexdigest()

    return {name: f"rater-{i}" for i, name in enumerate(sorted(names, key=digest), start=1)}


@dataclass(frozen=True)
class Aspect:
    """One question that raters answer, and the anchors that keep them on one scale."""

    name: str
    title: str
    question: str
    scale: str
    anchors: dict[int, str] = field(default_factory=dict)

    def choices(self) -> range:
        """The whole numbers of the scale, lowest first."""
        scale = parse_scale(self.scale)
        return range(math.ceil(scale.low), math.floor(scale.high) + 1)


STYLE = Aspect(
    "style",
    "Style",
    "How far is the output in the target style?",
    "ordinal 1-5",
    {5: "fully in the target style", 3: "partly transformed", 1: "style unchanged"},
)
CONTENT = Aspect(
    "content",
    "Content",
    "How much of the source's meaning, style aside, is kept?",
    "ordinal 1-5",
    {5: "same meaning", 3: "same meaning, put differently", 1: "entirely different meaning"},
)
FLUENCY = Aspect(
    "fluency",
    "Fluency",
    "Does the output read as a correct sentence?",
    "ordinal 1-5",
    {5: "no grammatical error", 3: "minor errors, still understood", 1: "incoherent"},
)
OVERALL = Aspect(
    "overall",
    "Overall",
    "Mean of the three, times 0.6 where the output equals the source.",
    "interval 0.6-5",
)
CONTENT_MASKED = Aspect(
    "content_masked",
    "Content",
    "Style words are masked. How alike is the meaning of the two texts?",
    "ordinal 1-5",
    {5: "same meaning", 3: "same meaning, put differently", 1: "entirely different meaning"},
)
NATURALNESS = Aspect(
    "naturalness_relative",
    "Naturalness",
    "Which text is more natural, that is, more likely to be written by a person?",
    "nominal 0-1",
    {0: "the source is more natural", 1: "the output is more natural"},
)
RATED = (STYLE, CONTENT, FLUENCY)
ASPECTS: dict[str, Aspect] = {a.name: a for a in (*RATED, OVERALL, CONTENT_MASKED, NATURALNESS)}


def is_copy(source: str, output: str) -> bool:
    """Whether the output is the source again; runs of spaces count as one, case counts.

    >>> is_copy("it was cold .", " it was  cold ."), is_copy("it was cold .", "It was cold .")
    (True, False)
    """
    return source.split() == output.split()


def overall_score(style: float, content: float, fluency: float, *, copied: bool) -> float:
    """The protocol's overall score: the mean of the three, times 0.6 for a copied source.

    A copy scores high on content and fluency although nothing was transferred, hence the penalty.

    >>> overall_score(5, 4, 3, copied=False), round(overall_score(1, 5, 5, copied=True), 2)
    (4.0, 2.2)
    """
    mean = (style + content + fluency) / 3
    return mean * COPY_PENALTY if copied else mean


def overall_judgments(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The overall judgment of every output that one rater scored on all three aspects.

    Args:
        judgments: of any aspects; outputs without a sample id, source or text are passed over,
            because whether they are copies cannot be known.

    Returns:
        One :data:`OVERALL` judgment for each rater and output, in the order of first mention.
    """
    grouped: dict[tuple[str, ...], dict[str, Judgment]] = {}
    names = {aspect.name for aspect in RATED}
    for judgment in judgments:
        if judgment.key is not None and judgment.aspect in names and judgment.score is not None:
            *of, aspect, rater = judgment.key
            grouped.setdefault((*of, rater), {})[aspect] = judgment
    rows = []
    for group in grouped.values():
        one = next(iter(group.values()))
        if names - group.keys() or one.source is None or one.output is None:
            continue
        scores: dict[str, Any] = {name: group[name].score for name in names}
        overall = overall_score(**scores, copied=is_copy(one.source, one.output))
        changes = {"aspect": OVERALL.name, "scale": OVERALL.scale, "score": overall, "note": None}
        rows.append(Judgment.model_validate(one.model_dump() | changes))
    return rows
