"""The meta-evaluation: judgments and scores in, coefficients with intervals and tests out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache

import numpy as np

from ...datasets_scripts.judgments.schema import Judgment
from ...datasets_scripts.judgments.studies import STUDIES
from ...errors import InputError
from ...metrics.statistics import SEED
from ...version import __version__
from .aspects import NATURAL
from .bounds import bounds
from .coefficients import COEFFICIENTS, Pairs, draw, replicates
from .columns import Column
from .differences import sentence_differences, system_differences
from .models import OfModel, means_of_models
from .rated import RatedOutput, rated_outputs
from .result import Left, MetaDifference, MetaReport, MetaScore, rounded
from .systems import SYSTEM_COEFFICIENTS, correlate
from .ties import tied_accuracy

FEWEST = 3  # outputs, or systems, below which no coefficient says anything
RESAMPLES = 1000

_draw = lru_cache(maxsize=4)(draw)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is computed.

    Attributes:
        resamples: bootstrap replicates and permutations.
        seed: of both.
        all_aspects: compare every metric with every aspect, not only with those it measures.
        differences: test pairs of metrics.
    """

    resamples: int = RESAMPLES
    seed: int = SEED
    all_aspects: bool = False
    differences: bool = True

    def __post_init__(self) -> None:
        """Check the number of resamples.

        Raises:
            InputError: too few for an interval, or too many for the memory.
        """
        if not 100 <= self.resamples <= 100_000:
            raise InputError(f"{self.resamples} resamples: from 100 to 100,000 make sense")


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
        """How often each item is drawn in each replicate."""
        return _draw(int(items.max()) + 1, self.settings.resamples, self.settings.seed)

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


Scored = Callable[[Sequence[RatedOutput]], tuple[list[Column], list[Left]]]


def meta_evaluate(
    judgments: Iterable[Judgment], score: Scored, settings: Settings | None = None
) -> MetaReport:
    """Measure how far metrics agree with people on every study, direction and aspect.

    Args:
        judgments: of one or more studies.
        score: from the outputs of a study to the metrics' scores of them, and what has none.
        settings: see :class:`Settings`.

    Raises:
        InputError: no judgment can be compared with anything.
    """
    settings = settings or Settings()
    studies: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        studies.setdefault(judgment.study, []).append(judgment)
    if not studies:
        raise InputError("no human judgments to compare with")
    scores: list[MetaScore] = []
    differences: list[MetaDifference] = []
    left: list[Left] = []
    signatures: dict[str, dict[str, str]] = {}
    for study, rows in studies.items():
        outputs = rated_outputs(rows)
        columns, missing = score(outputs)
        left += missing
        for column in columns:
            for direction, signature in column.signatures.items():
                signatures.setdefault(column.name, {})[f"{study} {direction}"] = signature
        models: list[OfModel] = []
        for cut in cuts(study, outputs, columns, settings):
            before = len(scores)
            for level_scores, level_differences in (_sentences(cut, models), _systems(cut)):
                scores += level_scores
                differences += level_differences
            left += _uncompared(cut, {score.metric for score in scores[before:]}, missing)
        scores += means_of_models(models)
    return MetaReport(
        made_with=f"tstbench {__version__}",
        date=datetime.now(UTC).date().isoformat(),
        resamples=settings.resamples,
        seed=settings.seed,
        terms={study: str(STUDIES[study]) for study in studies if study in STUDIES},
        signatures={name: found for name, found in signatures.items() if found},
        scores=tuple(scores),
        differences=tuple(differences),
        left_out=tuple(dict.fromkeys(left)),  # one reason for all aspects is said once
    )


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


def _uncompared(cut: Cut, compared: set[str], known: Sequence[Left]) -> list[Left]:
    """Metrics of which nothing can be said, and why, unless that is known of the direction."""
    said = {
        one.metric for one in known if one.study == cut.study and one.direction == cut.direction
    }
    found = []
    for column in cut.columns if cut.direction is not None else ():
        if column.name in said | compared:
            continue
        if column.systems:
            scored = [one for one in cut.systems if (cut.direction, one) in column.systems]
            why = f"{len(scored)} of its systems are scored: {FEWEST} are needed"
            found.append(
                Left(study=cut.study, direction=cut.direction, metric=column.name, why=why)
            )
            continue
        number = int(np.isfinite(column.sentence[cut.places]).sum())
        why = f"of the outputs with human {cut.aspect}, {number} have its score"
        if number >= FEWEST:
            why = (
                f"of these outputs with human {cut.aspect}, not {FEWEST} have every metric's score"
            )
        found.append(Left(study=cut.study, direction=cut.direction, metric=column.name, why=why))
    return found


def _sentences(cut: Cut, models: list[OfModel]) -> tuple[list[MetaScore], list[MetaDifference]]:
    """Sentence level: every output is a pair of scores; what is found of a model is kept."""
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
            low, high = _over_items(value, found[coefficient], once.size)
            scores.append(_score(cut, "sentence", name, coefficient, value, low, high, **size))
            if cut.model is not None:
                models.append(OfModel(scores[-1], found[coefficient], value))
        accuracy = tied_accuracy(values, human, items, counts)
        if accuracy is not None and accuracy.pairs >= FEWEST:  # one pair is 0 or 1
            low, high = _over_items(accuracy.value, accuracy.replicates, once.size)
            tied = {"epsilon": rounded(accuracy.epsilon, 9), "pairs": accuracy.pairs}
            value = accuracy.value
            scores.append(
                _score(cut, "sentence", name, "accuracy", value, low, high, **size, **tied)
            )
    if not cut.settings.differences or cut.model is not None:
        return scores, []
    return scores, sentence_differences(cut.where(), table, human, drawn, cut.settings)


def _systems(cut: Cut) -> tuple[list[MetaScore], list[MetaDifference]]:
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
        means[column.name] = (value, drawn)
        for coefficient in SYSTEM_COEFFICIENTS:
            point = float(correlate(coefficient, value[None], human[None])[0])
            low, high = _over_items(
                point, correlate(coefficient, drawn, human_drawn), counts.shape[1]
            )
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
    return Cut(
        cut.study,
        cut.direction,
        cut.model,
        cut.aspect,
        [cut.outputs[number] for number in keep],
        cut.places[keep],
        cut.columns,
        cut.settings,
    )


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


def _over_items(value: float, drawn: np.ndarray, items: int) -> tuple[float | None, float | None]:
    """The bounds over source sentences; none where too few are drawn: one is always the same."""
    return bounds(value, drawn) if items >= FEWEST else (None, None)


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
