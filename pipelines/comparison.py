"""Two systems of one direction, head to head: every number that both have, and every sentence.

Both systems were resampled with the same draws, so the difference of their replicates is the
paired bootstrap of the difference. Scores are matched by signature; what does not match is listed
with what differs. Pure functions: results in, numbers out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from ..metrics.registry import caution, is_neutral
from ..metrics.statistics import p_value, percentile_interval, too_few
from ..metrics.units import DASH, number
from .ranked_table import metric_title
from .ranking import ALPHA, Bootstrapped
from .report import Report, Sample, Score, SystemInfo
from .results import Stored
from .seeds import MeanOfRuns
from .tables import foreign
from .terminal_table import columns_table, fitting, notes, print_group, width_here

Result = Stored | MeanOfRuns


@dataclass(frozen=True)
class Sentences:
    """How many sentences the first system has a better, an equal, a worse value on."""

    won: int
    tied: int
    lost: int


@dataclass(frozen=True)
class Compared:
    """One score of two systems, computed in the same way.

    Differences are first minus second, in the metric's unit: where lower is better, a negative one
    speaks for the first.

    Attributes:
        first, second: the values; ``None`` if infinite or undefined.
        low, high: 95% interval of the difference; ``None`` without replicates, as is ``p``, and
            with :func:`~..metrics.statistics.too_few` sentences.
        p: two-sided, paired bootstrap.
        p_holm: the same, corrected for the number of tests in this comparison (Holm).
        effect: the difference in standard deviations of one sentence's share in it: difference /
            (standard deviation of its replicates x sqrt(sentences)). For a mean over sentences this
            is Cohen's d of paired samples (0.2 is small, 0.5 medium, 0.8 large).
        sentences: ``None`` if the metric has no values for single sentences, neither way is better,
            or the texts are not present.
    """

    metric: str
    signature: str
    unit: str
    higher_is_better: bool
    first: float | None
    second: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    effect: float | None = None
    sentences: Sentences | None = None

    @property
    def difference(self) -> float | None:
        """First minus second."""
        return None if self.first is None or self.second is None else self.first - self.second

    @property
    def winner(self) -> int | None:
        """0 or 1: the system that is significantly better after correction; otherwise ``None``.

        Of a metric of which neither way is better, none.
        """
        if self.p_holm is None or not self.p_holm < ALPHA or not self.difference:
            return None
        if is_neutral(self.metric):
            return None
        return 0 if (self.difference > 0) == self.higher_is_better else 1


@dataclass(frozen=True)
class NotCompared:
    """A metric of which the two systems have no common number, and why."""

    metric: str
    why: str


@dataclass(frozen=True)
class SentencePair:
    """One sentence, as both systems rewrote it.

    Attributes:
        scores: of the first and the second system, by one metric.
        gain: by how much the first is better; negative where it is worse.
    """

    id: str
    source: str
    references: tuple[str, ...]
    predictions: tuple[str, str]
    scores: tuple[float, float]
    gain: float


@dataclass(frozen=True)
class Comparison:
    """Two systems on one direction.

    Attributes:
        count: sentences of the test set.
        same_outputs: whether both systems wrote exactly the same.
        metrics: in the order of the first system's scores.
        seeds: of the runs that a system is the mean of; empty for a single one.
        warnings: what looks wrong with each system's outputs.
    """

    direction: str
    systems: tuple[SystemInfo, SystemInfo]
    count: int
    same_outputs: bool
    metrics: tuple[Compared, ...]
    not_compared: tuple[NotCompared, ...]
    seeds: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    warnings: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def tests(self) -> int:
        """How many p-values were corrected for one another."""
        return sum(one.p is not None for one in self.metrics)

    def metric(self, name: str) -> Compared:
        """The first comparison by that metric, which both systems have."""
        return next(one for one in self.metrics if one.metric == name)


def compare(first: Result, second: Result, metrics: Sequence[str] | None = None) -> Comparison:
    """Compare two systems by every score with a common signature.

    Args:
        first: results of one system; of several seeds, their mean.
        second: results of another, of the same direction and test set.
        metrics: only these; their number is what p-values are corrected for.

    Raises:
        InputError: other directions or test sets, or a damaged file.
    """
    one, other = first.report, second.report
    _check_same_data(one, other)
    wanted = [s for s in one.scores if metrics is None or s.metric in metrics]
    by_signature = {score.signature: score for score in other.scores}
    replicates = first.bootstrapped(), second.bootstrapped()
    texts = _texts(first, second)
    found = []
    for score in wanted:
        twin = by_signature.get(score.signature)
        if twin is None:
            continue
        compared = _tested(
            score,
            twin,
            replicates[0].get(score.key),
            replicates[1].get(twin.key),
            one.data.sentences,
        )
        pairs = [] if is_neutral(score.metric) else _pairs(texts, score, twin)
        found.append(replace(compared, sentences=_count(pairs) if pairs else None))
    return Comparison(
        direction=one.direction,
        systems=(one.system, other.system),
        count=one.data.sentences,
        same_outputs=one.outputs_sha256 == other.outputs_sha256,
        metrics=_corrected(found),
        not_compared=_not_compared(one, other, metrics),
        seeds=(_seeds(first), _seeds(second)),
        warnings=(one.warnings, other.warnings),
    )


def _seeds(result: Result) -> tuple[int, ...]:
    return result.seeds if isinstance(result, MeanOfRuns) else ()


def sentence_pairs(first: Result, second: Result, compared: Compared) -> list[SentencePair]:
    """The sentences by one metric, those where the first system loses most first.

    Sentences that have no value for one of the systems are left out; the list is empty if the
    metric has no values for single sentences, or the texts are not present.
    """
    one, other = (
        next(score for score in found.report.scores if score.signature == compared.signature)
        for found in (first, second)
    )
    return sorted(_pairs(_texts(first, second), one, other), key=lambda pair: pair.gain)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for their number, in the order given.

    Source: Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure".

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[i]))
        corrected[i] = largest
    return corrected


def differing_fields(first: str, second: str) -> str:
    """What distinguishes two signatures of one metric: ``protocol: tstbench, 13a``."""
    fields = [
        dict(field.partition(":")[::2] for field in text.split("|")[1:]) for text in (first, second)
    ]
    names = [
        n for n in dict.fromkeys([*fields[0], *fields[1]]) if fields[0].get(n) != fields[1].get(n)
    ]
    return "; ".join(f"{n}: {fields[0].get(n, 'none')}, {fields[1].get(n, 'none')}" for n in names)


def _check_same_data(one: Report, other: Report) -> None:
    if one.direction != other.direction:
        raise InputError(
            f"{one.system.name} is on {one.direction}, {other.system.name} on {other.direction}: "
            "only systems of one direction can be compared"
        )
    if one.data.fingerprint != other.data.fingerprint:
        both = " and ".join(
            f"{r.system.name} on {r.data.fingerprint[:12]} ({r.data.sentences} sentences, "
            f"cleaning {r.data.cleaning})"
            for r in (one, other)
        )
        raise InputError(
            f"{one.direction}: the test sets differ, {both}. Evaluate both systems again on the "
            "same test set"
        )


def _tested(
    score: Score, twin: Score, first: Bootstrapped | None, second: Bootstrapped | None, count: int
) -> Compared:
    """Values and differences; without replicates, values alone."""
    compared = Compared(
        score.metric, score.signature, score.unit, score.higher_is_better, score.value, twin.value
    )
    if first is None or second is None or compared.difference is None:
        return compared
    observed = first.value - second.value
    differences = first.replicates - second.replicates
    p, found = p_value(observed, differences), percentile_interval(observed, differences)
    if not np.isfinite(p) or found is None:  # in some draws a system has no value
        return compared
    spread = float(differences.std(ddof=1)) * count**0.5
    effect = observed / spread if spread > 1e-12 else None if observed else 0.0
    return replace(compared, low=found.low, high=found.high, p=p, effect=effect)


def _corrected(found: Sequence[Compared]) -> tuple[Compared, ...]:
    tested = [one.p for one in found if one.p is not None]
    corrected = iter(holm(tested))
    return tuple(one if one.p is None else replace(one, p_holm=next(corrected)) for one in found)


def _texts(first: Result, second: Result) -> list[tuple[Sample, Sample]]:
    """The sentences of both systems, side by side.

    None where a licence keeps them away, or a system is the mean of runs.
    """
    if not (isinstance(first, Stored) and isinstance(second, Stored)):
        return []
    if not (first.has_samples and second.has_samples):
        return []
    return list(zip(first.samples(), second.samples(), strict=True))


def _pairs(texts: Sequence[tuple[Sample, Sample]], score: Score, twin: Score) -> list[SentencePair]:
    sign = 1 if score.higher_is_better else -1
    pairs = []
    for one, other in texts:
        a, b = one.scores.get(score.key), other.scores.get(twin.key)
        if a is not None and b is not None:
            outputs = one.prediction, other.prediction
            gain = sign * (a - b)
            pairs.append(SentencePair(one.id, one.source, one.references, outputs, (a, b), gain))
    return pairs


def _count(pairs: Sequence[SentencePair]) -> Sentences:
    won = sum(pair.gain > 0 for pair in pairs)
    lost = sum(pair.gain < 0 for pair in pairs)
    return Sentences(won, len(pairs) - won - lost, lost)


def _not_compared(
    one: Report, other: Report, metrics: Sequence[str] | None
) -> tuple[NotCompared, ...]:
    """The metrics without a common signature, in the order of the reports."""
    names = dict.fromkeys(s.metric for r in (one, other) for s in r.scores)
    found = []
    for metric in names:
        if metrics is not None and metric not in metrics:
            continue
        mine, theirs = one.scores_of(metric), other.scores_of(metric)
        if {s.signature for s in mine} & {s.signature for s in theirs}:
            continue
        if mine and theirs:
            options = (differing_fields(a.signature, b.signature) for a in mine for b in theirs)
            why = min(options, key=len)
        else:
            has = one if mine else other
            why = f"only {has.system.name} has it"
        found.append(NotCompared(metric, why))
    return tuple(found)


_SYSTEMS = ("A", "B")
_COLUMNS = (
    "A", "B", "A - B", "95% interval", "better", "p", "p (Holm)", "effect", "won/tied/lost",
)  # fmt: skip


def print_comparison(comparison: Comparison) -> None:
    """Print the numbers: one line per metric, in blocks if the terminal is narrow."""
    width = width_here()
    shown: list[RenderableType] = [foreign(f"{comparison.direction}, {comparison.count} sentences")]
    for letter, system in zip(_SYSTEMS, comparison.systems, strict=True):
        shown.append(foreign(f"{letter}: {system.name}"))
    rows = [_cells(one) for one in comparison.metrics]
    titles = [_title(one) for one in comparison.metrics]
    needed = [max(map(cell_len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    fixed = max(map(cell_len, [*titles, "metric"]))
    for block in fitting(needed, fixed, width) if rows else ():
        table = columns_table()
        table.add_column("metric", no_wrap=True)
        for i in block:
            table.add_column(_COLUMNS[i], justify="right", no_wrap=True)
        for title, row in zip(titles, rows, strict=True):
            table.add_row(foreign(title), *(Text(row[i]) for i in block))
        shown += [Text(""), table]
    print_group(Group(*shown, Text(""), notes(notes_on(comparison), width)), width)


def notes_on(comparison: Comparison) -> list[str]:
    """What has to be said below the numbers."""
    why = too_few(comparison.count)
    said = [f"{why}."] if why else []
    if comparison.tests:
        said.append(
            f"better: p (Holm) < {ALPHA}; p: paired bootstrap, two-sided; Holm: corrected for "
            f"{comparison.tests} test{'s' * (comparison.tests != 1)}; effect: A - B in standard "
            "deviations of one sentence; won/tied/lost: sentences, seen from A."
        )
    said += [
        f"{letter} is the mean of {len(seeds)} runs, with the seeds {', '.join(map(str, seeds))}: "
        "name a run to compare it alone, and by sentence."
        for letter, seeds in zip(_SYSTEMS, comparison.seeds, strict=True)
        if seeds
    ]
    for letter, warnings in zip(_SYSTEMS, comparison.warnings, strict=True):
        said += [f"careful: {letter}: {warning}." for warning in warnings]
    if comparison.same_outputs:
        said.append("A and B wrote exactly the same.")
    cautions = (caution(one.metric, one.signature) for one in comparison.metrics)
    said += [f"† {note}" for note in dict.fromkeys(filter(None, cautions))]
    said += [f"{_title(one)} not compared: {one.why}" for one in comparison.not_compared]
    return said


def print_pairs(by: Compared, pairs: Sequence[SentencePair]) -> None:
    """Print sentences with both outputs."""
    found = f"Where A loses most by {_title(by)}:" if pairs else f"A never loses by {_title(by)}."
    shown: list[RenderableType] = [Text(""), Text(found)]
    for pair in pairs:
        scores = (number(score, by.unit) for score in pair.scores)
        values = ", ".join(f"{letter} {s}" for letter, s in zip(_SYSTEMS, scores, strict=True))
        table = Table.grid(padding=(0, 2))
        for what, text in (
            ("source", pair.source),
            *zip(_SYSTEMS, pair.predictions, strict=True),
            *(("reference", text) for text in pair.references),
        ):
            table.add_row(Text(what), foreign(text))
        shown += [Text(""), foreign(f"{pair.id}: {values}"), table]
    print_group(Group(*shown), width_here())


def comparison_record(comparison: Comparison, pairs: Sequence[SentencePair]) -> dict[str, Any]:
    """Everything as plain values: what ``--json`` prints."""
    return {
        "direction": comparison.direction,
        "systems": [system.model_dump(mode="json") for system in comparison.systems],
        "sentences": comparison.count,
        "same_outputs": comparison.same_outputs,
        "seeds": [list(seeds) for seeds in comparison.seeds],
        "warnings": [list(warnings) for warnings in comparison.warnings],
        "tests": comparison.tests,
        "metrics": [
            {**asdict(one), "difference": one.difference, "winner": one.winner}
            for one in comparison.metrics
        ],
        "not_compared": [asdict(one) for one in comparison.not_compared],
        "worst": [asdict(pair) for pair in pairs],
    }


def _title(one: Compared | NotCompared) -> str:
    signature = one.signature if isinstance(one, Compared) else ""
    return metric_title(one.metric, signature)


def _cells(one: Compared) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return DASH if value is None else number(value, one.unit)

    def signed(value: float | None) -> str:
        return DASH if value is None else f"{'+' if value > 0 else ''}{number(value, one.unit)}"

    bounds = DASH if one.low is None else f"{signed(one.low)} to {signed(one.high)}"
    counts = one.sentences
    return (
        shown(one.first),
        shown(one.second),
        signed(one.difference),
        bounds,
        DASH if one.winner is None else _SYSTEMS[one.winner],
        _p(one.p),
        _p(one.p_holm),
        DASH if one.effect is None else f"{one.effect:+.2f}",
        f"{counts.won}/{counts.tied}/{counts.lost}" if counts else DASH,
    )


def _p(value: float | None) -> str:
    return DASH if value is None else f"{value:.3f}"
