"""What a calibration is fitted on: rated outputs with a metric's value, and means of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from ...datasets_scripts.judgments.schema import Judgment, parse_scale
from ...errors import InputError
from ...metrics.statistics import LEVEL
from ..meta.columns import RatedOutput

ASPECTS = ("style", "content", "fluency")

# Other studies' questions that the protocol's anchors also describe: its lowest style score is
# "style unchanged", and a natural text is what it calls fluent.
_SAME: Mapping[str, str] = {
    "style_difference": "style",
    "content_masked": "content",
    "naturalness": "fluency",
}
# The raters saw texts without their style words: the order of these scores says something, but
# their level is not that of the texts that a metric reads.
_OTHER_TEXTS = ("content_masked",)


def as_protocol(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The judgments by the protocol's three aspects and ``overall``; other questions are left out.

    A question of another name is taken for an aspect only in a study that did not ask for it.
    """
    rows = list(judgments)
    asked = {(row.study, row.aspect) for row in rows}
    found = []
    for row in rows:
        aspect = _SAME.get(row.aspect, row.aspect)
        if aspect != row.aspect and (row.study, aspect) in asked:
            continue
        if aspect in (*ASPECTS, "overall"):
            found.append(row if aspect == row.aspect else row.model_copy(update={"aspect": aspect}))
    return found


def rated_as_they_are(judgments: Iterable[Judgment]) -> set[tuple[str, str]]:
    """(study, aspect) where raters saw the texts that metrics read."""
    return {
        (row.study, _SAME.get(row.aspect, row.aspect))
        for row in judgments
        if row.aspect not in _OTHER_TEXTS
    }


@dataclass(frozen=True, eq=False)
class Sample:
    """N outputs with a metric's value and people's rating on one aspect.

    Attributes:
        study, direction, system, item: names, each of shape (N,).
        level: whether the raters saw the text as it is, shape (N,), bool.
        values: of the metric, shape (N,), no NaN.
        ratings: mean rating of each output, 0 (lowest of the scale) to 1, shape (N,).
    """

    study: np.ndarray
    direction: np.ndarray
    system: np.ndarray
    item: np.ndarray
    level: np.ndarray
    values: np.ndarray
    ratings: np.ndarray

    def only(self, keep: np.ndarray) -> Sample:
        """The outputs where ``keep``, shape (N,), is true."""
        return replace(self, **{one.name: getattr(self, one.name)[keep] for one in fields(self)})

    @property
    def best(self) -> Sample:
        """What a curve is fitted on: outputs rated as they are, or all if none was."""
        return self.only(self.level) if self.level.any() else self

    @classmethod
    def joined(cls, parts: Sequence[Sample]) -> Sample:
        """The outputs of all of them; an empty sample of none."""
        if not parts:
            no = np.array([], dtype=str)
            return cls(no, no, no, no, np.zeros(0, dtype=bool), np.zeros(0), np.zeros(0))
        columns = {one.name: [getattr(part, one.name) for part in parts] for one in fields(cls)}
        return cls(**{name: np.concatenate(some) for name, some in columns.items()})

    @cached_property
    def weights(self) -> np.ndarray:
        """Shape (N,), sum 1: studies weigh the same, and in each the systems of each direction."""
        whole = np.zeros(len(self.values))
        for study in np.unique(self.study):
            here = self.study == study
            _, of, sizes = grouped(self.direction[here], self.system[here])
            whole[here] = 1 / (sizes[of] * len(sizes))
        return np.asarray(whole / max(float(whole.sum()), 1e-300))

    @cached_property
    def clusters(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each output's source sentence, and of each sentence its stratum.

        Sentences are drawn with all their outputs; strata are the directions of a study.
        """
        first, codes, _ = grouped(self.study, self.direction, self.item)
        _, strata, _ = grouped(self.study[first], self.direction[first])
        return codes, strata


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """S systems, each of one direction, with their mean ratings, 0 to 1.

    Attributes:
        study, direction, system: names, each of shape (S,).
        aspects: style, content and fluency, shape (S, 3).
        overall: shape (S,).
    """

    study: np.ndarray
    direction: np.ndarray
    system: np.ndarray
    aspects: np.ndarray
    overall: np.ndarray

    def only(self, keep: np.ndarray) -> SystemMeans:
        """The systems where ``keep``, shape (S,), is true."""
        return replace(self, **{one.name: getattr(self, one.name)[keep] for one in fields(self)})

    @property
    def dataset(self) -> np.ndarray:
        """The datasets of the directions, shape (S,)."""
        return np.array([name.split("/")[0] for name in self.direction], dtype=str)


def grouped(*names: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equal rows of name columns: first place of each group, group of each row, sizes."""
    number: dict[tuple[str, ...], int] = {}
    rows = zip(*(some.tolist() for some in names), strict=True)
    of = np.array([number.setdefault(row, len(number)) for row in rows], dtype=int)
    _, first, sizes = np.unique(of, return_index=True, return_counts=True)
    return first, of, sizes


def sample(
    outputs: Sequence[RatedOutput],
    aspect: str,
    values: np.ndarray,
    scales: Mapping[tuple[str, str], tuple[float, float]],
    level: bool = True,
) -> Sample:
    """The outputs that have both a rating and a value.

    Args:
        outputs: of one study or more.
        aspect: style, content or fluency.
        values: of the metric for all outputs, shape (len(outputs),).
        scales: (study, aspect) to the lowest and the highest score.
        level: whether the raters saw the texts as they are.
    """
    rows = [
        (
            one.study, one.direction, one.system, " ".join(one.item), value,
            _unit(one.scores[aspect], scales[one.study, aspect]),
        )
        for one, value in zip(outputs, values, strict=True)
        if aspect in one.scores and np.isfinite(value)
    ]  # fmt: skip
    names = [np.array([row[place] for row in rows], dtype=str) for place in range(4)]
    values, ratings = (np.array([row[place] for row in rows], dtype=float) for place in (4, 5))
    return Sample(
        study=names[0],
        direction=names[1],
        system=names[2],
        item=names[3],
        level=np.full(len(rows), level),
        values=values,
        ratings=ratings,
    )


def scales_of(judgments: Iterable[Judgment]) -> dict[tuple[str, str], tuple[float, float]]:
    """(study, aspect) to the lowest and the highest score of its scale.

    Raises:
        InputError: a study has two scales for one aspect.
    """
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for row in judgments:
        scale = parse_scale(row.scale)
        both = (scale.low, scale.high)
        if found.setdefault((row.study, row.aspect), both) != both:
            raise InputError(f"{row.study} has scores of {row.aspect} on two scales: give one")
    return found


def system_means(judgments: Iterable[Judgment]) -> SystemMeans:
    """The systems of the studies whose raters gave style, content, fluency and an overall score.

    A derived overall score says nothing about weights: studies that did not ask for one have no
    systems here.
    """
    rows = list(judgments)
    scales = scales_of(rows)
    given: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in rows:
        if row.usable is not None:
            aspects = given.setdefault((row.study, row.direction, row.system), {})
            score = _unit(row.usable, scales[row.study, row.aspect])
            aspects.setdefault(row.aspect, []).append(score)
    whole = {k: v for k, v in given.items() if {*ASPECTS, "overall"} <= v.keys()}
    names = [np.array([key[place] for key in whole], dtype=str) for place in range(3)]
    table = [[float(np.mean(v[name])) for name in ASPECTS] for v in whole.values()]
    return SystemMeans(
        study=names[0],
        direction=names[1],
        system=names[2],
        aspects=np.array(table, dtype=float).reshape(-1, len(ASPECTS)),
        overall=np.array([float(np.mean(v["overall"])) for v in whole.values()], dtype=float),
    )


def draw_within(strata: np.ndarray, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Bootstrap replicates: how often each of M things is drawn, as many per stratum as it has.

    Args:
        strata: the stratum of each thing, shape (M,).
        resamples: number of replicates.
        seed: of the draws.

    Yields:
        Counts, shape (M,), float64.
    """
    groups = [np.flatnonzero(strata == one) for one in np.unique(strata)]
    stream = np.random.RandomState(seed)
    for _ in range(resamples):
        counts = np.zeros(len(strata))
        for group in groups:
            drawn = stream.randint(0, len(group), size=len(group))
            counts[group] = np.bincount(drawn, minlength=len(group))
        yield counts


def percentiles(names: Sequence[str], drawn: np.ndarray) -> dict[str, tuple[float, float]]:
    """95% percentile interval of each column of the replicates, shape (R, len(names))."""
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail], axis=0)
    return {name: (float(a), float(b)) for name, a, b in zip(names, low, high, strict=True)}


def _unit(score: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return (score - low) / (high - low)
