"""Agreement of one cut of a study, sentence by sentence and system by system.

For pairwise accuracy with ties, two outputs of the same sentence are compared: people prefer one,
the other, or neither. A metric is right if it says the same. Real-valued metrics hardly ever say
"neither", so a difference of at most epsilon counts as a tie, and epsilon is the value that makes
the metric agree best.

Source: Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with
Pairwise Accuracy and Tie Calibration", sections 5 and 6. Their search over all differences is
done here by one sort: as epsilon grows past a pair's difference, that pair becomes tied, which is
right if people tied it and no longer right if it was ordered as people did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from ...metrics.statistics import too_few
from .coefficients import (
    COEFFICIENTS,
    SYSTEM_COEFFICIENTS,
    Pairs,
    Settings,
    bounds,
    correlate,
    draw,
    replicates,
)
from .columns import Column, RatedOutput
from .differences import sentence_differences, system_differences
from .result import MEAN_OF_MODELS, NATURAL, MetaDifference, MetaScore, rounded

FEWEST = 3  # outputs, or systems, below which no coefficient says anything

_draw = lru_cache(maxsize=4)(draw)


@dataclass(frozen=True, eq=False)
class Cut:
    """The outputs of a study that are compared together, with the scores of one aspect.

    Attributes:
        study, direction, model, aspect: see :class:`MetaScore`.
        outputs: those that people scored.
        human: shape (N,).
        columns: metrics, cut to the same outputs.
        settings: see :class:`Settings`.
    """

    study: str
    direction: str | None
    model: str | None
    aspect: str
    outputs: Sequence[RatedOutput]
    places: np.ndarray
    columns: Sequence[Column]
    settings: Settings = field(default_factory=Settings)

    @cached_property
    def human(self) -> np.ndarray:
        """Mean human scores: shape (N,)."""
        return np.array([one.scores[self.aspect] for one in self.outputs])

    @cached_property
    def items(self) -> np.ndarray:
        """The number of each output's source sentence: shape (N,)."""
        return numbered([one.item for one in self.outputs])

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names, in the order of first mention."""
        return tuple(dict.fromkeys(one.system for one in self.outputs))

    @cached_property
    def system_codes(self) -> np.ndarray:
        """The number of each output's system: shape (N,)."""
        return numbered([one.system for one in self.outputs])

    def counts(self, items: np.ndarray) -> np.ndarray:
        """How often each item is drawn in each replicate; no replicate of too few items."""
        size = int(items.max()) + 1
        return _draw(size, 0 if too_few(size) else self.settings.resamples, self.settings.seed)

    def where(self) -> dict[str, str | None]:
        """What every record of this cut says."""
        return {
            "study": self.study,
            "direction": self.direction,
            "model": self.model,
            "aspect": self.aspect,
        }


def numbered(names: Sequence[object]) -> np.ndarray:
    """Numbers of names in the order of first mention: shape (N,).

    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    number: dict[object, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in names])


def cuts(
    study: str, outputs: Sequence[RatedOutput], columns: Sequence[Column], settings: Settings
) -> Iterator[Cut]:
    """The whole study, its directions and its models, by aspect.

    Directions are pooled only where every system rewrote all of them: otherwise a difference
    between directions would look like one between systems.
    """
    directions = tuple(dict.fromkeys(one.direction for one in outputs))
    of = {d: {one.system for one in outputs if one.direction == d} for d in directions}
    pooled = len(directions) > 1 and len({frozenset(some) for some in of.values()}) == 1
    models = tuple(dict.fromkeys(one.model for one in outputs if one.model is not None))
    parts: list[tuple[str | None, str | None]] = [(None, None)] if pooled else []
    parts += [(direction, None) for direction in directions]
    parts += [(None, model) for model in models]
    for aspect in dict.fromkeys(aspect for one in outputs for aspect in one.scores):
        natural = NATURAL.get(aspect)
        some = [
            column
            for column in columns
            if settings.all_aspects or natural is None or column.aspect in (natural, "other")
        ]
        for direction, model in parts:
            places = np.array(
                [
                    number
                    for number, one in enumerate(outputs)
                    if aspect in one.scores
                    and direction in (None, one.direction)
                    and model in (None, one.model)
                ],
                dtype=int,
            )
            if len(places) and some:
                chosen = [outputs[i] for i in places]
                yield Cut(study, direction, model, aspect, chosen, places, some, settings)


@dataclass(frozen=True, eq=False)
class OfModel:
    """One coefficient of one model's outputs, sentence level.

    Attributes:
        score: the record.
        replicates: shape (R,).
        value: of the record, not rounded; NaN if undefined.
    """

    score: MetaScore
    replicates: np.ndarray
    value: float


def means_of_models(found: Iterable[OfModel]) -> list[MetaScore]:
    """The mean over models of each study, aspect, metric and coefficient, with its interval.

    A replicate draws the same sentences for all models, so their replicates are averaged one by
    one. Left out where models have different numbers of sentences, since no draw is then common to
    them, and where there is one model only.
    """
    groups: dict[tuple[str, str, str, str], list[OfModel]] = {}
    for one in found:
        score = one.score
        key = (score.study, score.aspect, score.metric, score.coefficient)
        groups.setdefault(key, []).append(one)
    means = []
    for some in groups.values():
        if len(some) < 2 or len({one.score.items for one in some}) > 1:
            continue
        value = float(np.mean([one.value for one in some]))
        low, high = bounds(value, np.mean([one.replicates for one in some], axis=0))
        changed = {
            "model": MEAN_OF_MODELS,
            "value": rounded(value),
            "low": low,
            "high": high,
            "outputs": sum(one.score.outputs for one in some),
            "systems": sum(one.score.systems for one in some),
        }
        means.append(some[0].score.model_copy(update=changed))
    return means


_CANDIDATES = 256  # thresholds among which each replicate chooses again


@dataclass(frozen=True, eq=False)
class TiedAccuracy:
    """Pairwise accuracy at the best threshold.

    Attributes:
        value: the accuracy, averaged over items (the "group by item" of WMT), 0 to 1.
        epsilon: the smallest threshold that gives it.
        pairs: the number of pairs compared.
        replicates: shape (R,), with the threshold chosen again in each.
    """

    value: float
    epsilon: float
    pairs: int
    replicates: np.ndarray


def tied_accuracy(
    metric: np.ndarray, human: np.ndarray, items: np.ndarray, counts: np.ndarray | None = None
) -> TiedAccuracy | None:
    """Pairwise accuracy with ties calibrated; ``None`` if people prefer no output of any item.

    Where they have no preference, the threshold that ties everything would be right of any metric.

    Args:
        metric: shape (N,); higher is better.
        human: shape (N,).
        items: shape (N,), the number of the sentence that an output belongs to.
        counts: shape (R, I), how often each item is drawn in each replicate; ``None`` for none.
    """
    first, second = _pairs(items)
    people = human[first] - human[second]
    if not people.any():
        return None
    owner = items[first]
    gap = metric[first] - metric[second]
    distance = np.abs(gap)
    size = int(items.max()) + 1
    per_item = np.bincount(owner, minlength=size).astype(np.float64)
    share = 1 / per_item[owner]
    used = int((per_item > 0).sum())
    ordered = (people != 0) & (np.sign(gap) == np.sign(people))
    gain = (people == 0).astype(np.float64) - ordered
    order = np.argsort(distance, kind="stable")
    curve = (ordered * share).sum() + np.cumsum((gain * share)[order])
    steps = distance[order]
    last = np.append(steps[1:] != steps[:-1], True)  # all pairs of one distance become tied at once
    thresholds, accuracies = steps[last], curve[last]
    if thresholds[0] > 0:  # no two scores are equal: epsilon 0 ties nothing
        thresholds = np.append(0.0, thresholds)
        accuracies = np.append((ordered * share).sum(), accuracies)
    best = int(np.argmax(accuracies > accuracies.max() - 1e-9))
    drawn = np.empty(0)
    if counts is not None:
        chosen = _candidates(thresholds, best)
        # A pair adds its gain from the first chosen threshold on that reaches its distance.
        since = np.searchsorted(chosen, distance)
        cells = owner * (len(chosen) + 1) + since
        flat = np.bincount(cells, weights=gain * share, minlength=size * (len(chosen) + 1))
        gains = np.cumsum(flat.reshape(size, -1)[:, :-1], axis=1)
        right = gains + np.bincount(owner, weights=ordered * share, minlength=size)[:, None]
        with np.errstate(invalid="ignore"):
            drawn = (counts @ right).max(axis=1) / (counts @ (per_item > 0).astype(np.float64))
        drawn[counts @ np.bincount(owner, weights=people != 0, minlength=size) == 0] = np.nan
    return TiedAccuracy(
        value=float(accuracies[best] / used),
        epsilon=float(thresholds[best]),
        pairs=len(first),
        replicates=drawn,
    )


def _candidates(thresholds: np.ndarray, best: int) -> np.ndarray:
    """Some thresholds, ascending and evenly among all, and the best one."""
    some = np.linspace(0, len(thresholds) - 1, min(_CANDIDATES, len(thresholds))).astype(int)
    return thresholds[np.unique(np.append(some, best))]


def _pairs(items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of positions with the same item, each once."""
    order = np.argsort(items, kind="stable")
    cuts = np.flatnonzero(np.diff(items[order])) + 1
    first, second = [], []
    for members in np.split(order, cuts):
        a, b = np.triu_indices(len(members), k=1)
        first.append(members[a])
        second.append(members[b])
    if not first:
        return np.empty(0, dtype=int), np.empty(0, dtype=int)
    return np.concatenate(first), np.concatenate(second)


def sentence_level(cut: Cut, models: list[OfModel]) -> tuple[list[MetaScore], list[MetaDifference]]:
    """Sentence level: every output is a pair of scores; what is found of a model is kept."""
    parts = [column for column in cut.columns if column.is_part]
    if parts and len(cut.columns) > 1:  # what a wording lacks takes no output from the others
        alone = replace(cut.settings, differences=False)
        whole = [column for column in cut.columns if not column.is_part]
        scores, differences = sentence_level(replace(cut, columns=whole), models)
        for column in parts:
            scores += sentence_level(replace(cut, columns=[column], settings=alone), models)[0]
        return scores, differences
    table = {c.name: c.sign * c.sentence[cut.places] for c in cut.columns}
    table = {n: values for n, values in table.items() if np.isfinite(values).sum() >= FEWEST}
    if not table:
        return [], []
    defined = np.isfinite(np.stack(list(table.values()))).all(axis=0)  # all on the same outputs
    if defined.sum() < FEWEST:
        return [], []
    human, items = cut.human[defined], numbered(list(cut.items[defined]))
    table = {name: values[defined] for name, values in table.items()}
    counts = cut.counts(items)
    pairs = Pairs(human, items, counts)
    once = Pairs(human, items, np.ones((1, counts.shape[1])))
    size: dict[str, int] = {
        "outputs": len(human),
        "items": once.size,
        "systems": len(set(cut.system_codes[defined].tolist())),
    }
    scores, drawn = [], {}
    for name, values in table.items():
        point = replicates(COEFFICIENTS, values, once)
        found = replicates(COEFFICIENTS, values, pairs)
        drawn[name] = (float(point["pearson"][0]), found["pearson"])
        for coefficient in COEFFICIENTS:
            value = float(point[coefficient][0])
            low, high = bounds(value, found[coefficient])
            scores.append(_score(cut, "sentence", name, coefficient, value, low, high, **size))
            if cut.model is not None:
                models.append(OfModel(scores[-1], found[coefficient], value))
        accuracy = tied_accuracy(values, human, items, counts)
        if accuracy is not None and accuracy.pairs >= FEWEST:  # one pair is 0 or 1
            low, high = bounds(accuracy.value, accuracy.replicates)
            tied = {"epsilon": rounded(accuracy.epsilon, 9), "pairs": accuracy.pairs}
            value = accuracy.value
            scores.append(
                _score(cut, "sentence", name, "accuracy", value, low, high, **size, **tied)
            )
    if not cut.settings.differences or cut.model is not None:
        return scores, []
    return scores, sentence_differences(cut.where(), table, human, drawn, cut.settings)


def system_level(cut: Cut) -> tuple[list[MetaScore], list[MetaDifference]]:
    """System level: every system is a pair of scores."""
    cut = _of_scored_systems(cut)
    if cut.direction is None or len(cut.systems) < FEWEST:
        return [], []
    counts = cut.counts(cut.items)
    human, human_drawn = _means(cut.human, cut, counts)
    chosen = np.random.RandomState(cut.settings.seed).randint(
        0, len(human), size=(cut.settings.resamples, len(human))
    )
    scores: list[MetaScore] = []
    means: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for column in cut.columns:
        found = _system_scores(column, cut, counts)
        if found is None:
            continue
        value, drawn = column.sign * found[0], column.sign * found[1]
        if not column.is_part:
            means[column.name] = (value, drawn)
        for coefficient in SYSTEM_COEFFICIENTS:
            point = float(correlate(coefficient, value[None], human[None])[0])
            low, high = bounds(point, correlate(coefficient, drawn, human_drawn))
            over = correlate(coefficient, value[chosen], human[chosen])
            low_systems, high_systems = bounds(point, over)
            scores.append(
                _score(
                    cut,
                    "system",
                    column.name,
                    coefficient,
                    point,
                    low,
                    high,
                    low_systems=low_systems,
                    high_systems=high_systems,
                    outputs=len(cut.outputs),
                    items=counts.shape[1],
                    systems=len(human),
                )
            )
    if not cut.settings.differences:
        return scores, []
    sentence = {
        c.name: c.sign * c.sentence[cut.places]
        for c in cut.columns
        if np.isfinite(c.sentence[cut.places]).all()
    }
    return scores, system_differences(
        cut.where(),
        means,
        (human, human_drawn),
        sentence,
        cut.system_codes,
        cut.settings,
    )


def _of_scored_systems(cut: Cut) -> Cut:
    """The systems that a table of systems scores in every column; all, without such a table.

    A column with hardly any of them does not silence the others.
    """
    tables = [
        {name for direction, name in column.systems if direction == cut.direction}
        & set(cut.systems)
        for column in cut.columns
    ]
    scored = set(cut.systems).intersection(*(some for some in tables if len(some) >= FEWEST))
    if len(scored) == len(cut.systems):
        return cut
    keep = [number for number, one in enumerate(cut.outputs) if one.system in scored]
    return replace(cut, outputs=[cut.outputs[number] for number in keep], places=cut.places[keep])


def _system_scores(
    column: Column, cut: Cut, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """A metric's score of each system, and its replicates; ``None`` if a system has none."""
    keys = [(cut.direction or "", system) for system in cut.systems]
    if all(key in column.corpus for key in keys):
        values, drawn = [], []
        for key in keys:
            statistics, places = column.corpus[key]
            rated = np.isin(places, cut.places)
            rows = statistics.rows[rated]
            of = cut.items[np.searchsorted(cut.places, places[rated])]
            sums = np.zeros((counts.shape[1], rows.shape[1]))
            np.add.at(sums, of, rows)
            values.append(float(statistics.aggregate(rows.sum(axis=0))))
            drawn.append(statistics.aggregate(counts @ sums))
        both = np.array(values), np.stack(drawn, axis=1)
        return both if np.isfinite(both[0]).all() else None
    if all(key in column.systems for key in keys):
        values_of = np.array([column.systems[key] for key in keys])
        return values_of, np.broadcast_to(values_of, (len(counts), len(keys)))
    sentence = column.sentence[cut.places]
    return _means(sentence, cut, counts) if np.isfinite(sentence).all() else None


def _means(values: np.ndarray, cut: Cut, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of systems, (S,), and of their replicates, (R, S)."""
    sums = np.zeros((counts.shape[1], len(cut.systems)))
    members = np.zeros_like(sums)
    np.add.at(sums, (cut.items, cut.system_codes), values)
    np.add.at(members, (cut.items, cut.system_codes), 1.0)
    drawn = counts @ members
    means = np.divide(counts @ sums, drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0)
    return sums.sum(axis=0) / members.sum(axis=0), means


def _score(
    cut: Cut,
    level: str,
    metric: str,
    coefficient: str,
    value: float,
    low: float | None,
    high: float | None,
    **more: float | int | None,
) -> MetaScore:
    record: Mapping[str, object] = {
        **cut.where(),
        "level": level,
        "metric": metric,
        "coefficient": coefficient,
        "value": rounded(value),
        "low": low,
        "high": high,
        **more,
    }
    return MetaScore.model_validate(record)
