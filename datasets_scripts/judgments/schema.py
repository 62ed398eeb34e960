"""Human judgments: the aspects that raters are asked about, one schema for every study, its files.

A judgment is one score that one rater gave to one output on one aspect. Judgments from published
studies and those collected on the annotation page share this schema, so that one function
computes agreement and one correlates metrics with people.

Source of the guidelines: the TSTBench paper, section 3.3.2; the other tasks are those of Mir et al.
(2019), "Evaluating Style Transfer for Text", sections 4.2 and 5.2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from ...errors import InputError
from ...files import write_jsonl
from ...records import Strict
from ...untrusted import read_json_lines
from ..catalog import DATASETS

_SCALE = re.compile(r"^(nominal|ordinal|interval) (-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)$")
_Name = Annotated[str, Field(min_length=1, max_length=100)]
_OPTIONAL = ("item", "model", "condition", "certain", "flag")
_Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100)]

_FORMS = {"direction": "dataset/source-to-target"}  # what a field's pattern asks for, in words


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
    "All in all, how good is the output? Usually the mean of the three; 0.6 times that if it only "
    "repeats its source.",
    "ordinal 1-5",
)
# Computed, not asked: no rater has said it.
DERIVED_OVERALL = Aspect(
    "derived_overall",
    "Derived overall",
    "Mean of the three, times 0.6 where the output equals the source.",
    "interval 0.6-5",
)
CONTENT_MASKED = replace(
    CONTENT,
    name="content_masked",
    title="Content, style masked",
    question="Style words are masked. How alike is the meaning of the two texts?",
)
NATURALNESS = Aspect(
    "naturalness_relative",
    "Output more natural than source",
    "Which text is more natural, that is, more likely to be written by a person?",
    "nominal 0-1",
    {0: "the source is more natural", 1: "the output is more natural"},
)
STYLE_DIFFERENCE = replace(
    STYLE,
    name="style_difference",
    title="Difference of style",
    question="How different are the styles of the two texts?",
    anchors={5: "completely different styles", 1: "identical styles"},
)
NATURALNESS_ABSOLUTE = Aspect(
    "naturalness",
    "Naturalness",
    "How natural is the text, that is, how likely to be written by a person?",
    "ordinal 1-5",
    {5: "surely written by a person", 1: "surely not"},
)
RATED = (STYLE, CONTENT, FLUENCY)
_OTHERS = (
    OVERALL,
    DERIVED_OVERALL,
    STYLE_DIFFERENCE,
    CONTENT_MASKED,
    NATURALNESS,
    NATURALNESS_ABSOLUTE,
)
ASPECTS: dict[str, Aspect] = {aspect.name: aspect for aspect in (*RATED, *_OTHERS)}


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
        score: on the scale, unless ``flag`` says that it is not; null if the rater skipped the
            output.
        note: what the rater wrote, or why a score is missing.
        item: the study's own number of the sentence where ``sample_id`` is null: it pairs the
            scores of several systems and aspects, but names no text.
        model: the model of which ``system`` is one setting, if the study compares settings.
        condition: what was varied when the output was made, in the study's own word.
        certain: whether the public output of this system is certainly the one that was rated;
            null if nothing is known.
        flag: ``impossible`` if the study published a score that its scale does not have. It is
            kept, because it is part of what was published, and no statistic uses it.
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
    item: _Name | None = None
    model: _Name | None = None
    condition: _Name | None = None
    certain: bool | None = None
    flag: Literal["impossible"] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Judgment:
        if self.direction.split("/")[0] != self.dataset:
            raise ValueError(f"direction {self.direction!r} is not in dataset {self.dataset!r}")
        scale = parse_scale(self.scale)
        possible = self.score is None or scale.holds(self.score)
        if not possible and self.flag is None:
            raise ValueError(f"score {self.score:g} is not on the scale {self.scale!r}")
        if possible and self.flag is not None:
            raise ValueError(f"flag is 'impossible', but nothing is wrong with {self.score}")
        return self

    @property
    def usable(self) -> float | None:
        """The score, or ``None`` where there is none or it is flagged."""
        return None if self.flag else self.score

    @property
    def key(self) -> tuple[str, ...] | None:
        """What must be unique; ``None`` if the study published neither sample ids nor items."""
        sentence = self.sample_id or self.item
        if sentence is None:
            return None
        return (self.study, self.direction, self.system, sentence, self.aspect, self.rater)


_NEEDED = tuple(name for name, about in Judgment.model_fields.items() if about.is_required())
_FORM = (
    "A file of judgments has one JSON object a line, as 'tstbench judgments' writes it; a table of "
    "scores ends in .csv or .tsv"
)


def read_judgments(path: Path | str) -> list[Judgment]:
    """Read a JSON Lines file of judgments.

    Raises:
        InputError: a line is not a judgment, or two lines score the same thing; the message names
            the line and the field.
    """
    judgments: list[Judgment] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, content in read_json_lines(path, hint=_FORM):
        try:
            judgment = Judgment.model_validate(content)
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {first_problem(error)}") from error
        if judgment.key is not None:
            first = seen.setdefault(judgment.key, number)
            if first != number:
                sentence = judgment.sample_id or judgment.item
                what = f"{judgment.aspect} of {judgment.system}, sample {sentence}"
                message = f"{judgment.rater} already scored {what} in line {first}"
                raise InputError(f"{path}, line {number}: {message}. Keep one of the two.")
        judgments.append(judgment)
    return judgments


def first_problem(error: ValidationError) -> str:
    """The first field that is wrong, and how."""
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    what = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "missing":
        what = f"it is missing. Each judgment has {', '.join(_NEEDED)}"
    if problem["type"] == "string_pattern_mismatch":
        form = _FORMS.get(where, "lower-case letters, digits, '_', '.' and '-'")
        what = f"{problem['input']!r} is not like {form}"
    return f"{where}: {what}" if where else what


def write_judgments(path: Path | str, judgments: Iterable[Judgment]) -> None:
    """Write judgments as JSON Lines, atomically; fields that not every study has only if set."""
    write_jsonl(path, map(judgment_record, judgments))


def judgment_record(judgment: Judgment) -> dict[str, Any]:
    """As a judgment is written: fields that not every study has only if set."""
    row = judgment.model_dump(mode="json")
    return {name: row[name] for name in row if row[name] is not None or name not in _OPTIONAL}


# What we write into a note ourselves: it says nothing of the sentence. A rater may quote it.
OUR_NOTES = frozenset(
    {
        "skipped",
        "flagged",
        "skipped flagged",
        "no majority of the raters",
        "published although the scale ends at 5",
    }
)


def without_licensed_text(row: Judgment) -> Judgment:
    """The judgment, without source, output and a rater's note if its dataset is licensed."""
    facts = DATASETS.get(row.dataset)  # people also judge what is no dataset here
    if facts is None or not facts.licensed:
        return row
    marks = (row.note or "").split(": ")[0]  # a rater's own words follow
    note = marks if marks in OUR_NOTES else None
    return row.model_copy(update={"source": None, "output": None, "note": note})
