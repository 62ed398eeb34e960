"""Head to head: two systems of one direction, and the sentences that make the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from ...datasets_scripts.catalog import language_of
from ...errors import InputError
from ...metrics.registry import METRICS
from ...metrics.statistics import too_few
from ...pipelines.comparison import Compared, Comparison, SentencePair, compare, sentence_pairs
from ...pipelines.report import Report
from ...pipelines.results import Stored
from .data import Board, Entry, direction_title
from .markup import join, render, ui
from .query import VIEWS, Query
from .ranks import RankCache
from .sample_page import PER_PAGE, no_texts, texts_select
from .sample_view import Reading, sentences
from .samples import Side, load_samples
from .scene import Scene, View, open_scene
from .window import listed
from .words import metric_title, number

Order = Literal["lost", "won"]


@dataclass(frozen=True)
class Pair:
    """The two systems that are compared.

    Attributes:
        unknown: names in the link that are not there.
    """

    first: Entry
    second: Entry
    unknown: tuple[str, ...] = ()


def choose_pair(entries: Sequence[Entry], query: Query) -> Pair | None:
    """The systems of the link, otherwise the best that have a rank; ``None`` if there is one only.

    Args:
        entries: of the ranking, best first, systems before bounds.
        query: names systems by label.
    """
    if len(entries) < 2:
        return None
    by_label = {entry.label: entry for entry in entries}
    unknown = tuple(n for n in (query.first, query.second) if n and n not in by_label)
    second = by_label.get(query.second)
    first = by_label.get(query.first) or next(e for e in entries if e is not second)
    if second is None or second is first:
        second = next(entry for entry in entries if entry is not first)
    return Pair(first, second, unknown)


def comparison(pair: Pair) -> Comparison:
    """Every number that both have.

    Raises:
        InputError: a file is damaged.
    """
    return _compared(*_stored(pair.first), *_stored(pair.second))


def decisive(pair: Pair, compared: Compared, order: Order) -> list[SentencePair]:
    """The sentences on which the first system is worse, or better: by how much, most first."""
    found = _pairs(*_stored(pair.first), *_stored(pair.second), compared)
    if order == "lost":
        return [one for one in found if one.gain < 0]
    return [one for one in reversed(found) if one.gain > 0]


def _stored(entry: Entry) -> tuple[Path, Report]:
    """What a comparison is computed from; the report has the hashes of the files beside it."""
    return entry.folder, entry.report


@lru_cache(maxsize=32)
def _compared(one: Path, report: Report, other: Path, its_report: Report) -> Comparison:
    return compare(Stored(one, report), Stored(other, its_report))


@lru_cache(maxsize=32)
def _pairs(
    one: Path, report: Report, other: Path, its_report: Report, compared: Compared
) -> list[SentencePair]:
    return sentence_pairs(Stored(one, report), Stored(other, its_report), compared)


MINUS = "\N{MINUS SIGN}"


def versus_table(found: Comparison, labels: tuple[str, str]) -> Markup:
    """Values, difference, interval, p-values, effect and sentences of every metric."""
    return render(
        "versus.html",
        labels=labels,
        meaning=lambda metric: METRICS[metric].meaning if metric in METRICS else None,
        metrics=sorted(found.metrics, key=lambda one: not _is_overall(one.metric)),
        signed=_signed,
    )


def verdict(found: Comparison, labels: tuple[str, str]) -> str:
    """The comparison in one sentence."""
    if found.same_outputs:
        return "Both systems wrote exactly the same."
    tested = [one for one in found.metrics if one.p_holm is not None]
    if not tested:
        why = too_few(found.count) or "the reports have no replicates"
        return f"No metric could be tested: {why}."
    won = [sum(one.winner == side for one in tested) for side in (0, 1)]
    open_ = len(tested) - sum(won)
    parts = [
        f"{label} is better on {count}" for label, count in zip(labels, won, strict=True) if count
    ]
    if open_:
        parts.append(f"{open_} {'is' if open_ == 1 else 'are'} undecided")
    count = f"Of {len(tested)} metric{'s' * (len(tested) != 1)}"
    return f"{count}: {'; '.join(parts)}."


def _is_overall(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].aspect == "overall"


def _signed(value: float, unit: str) -> str:
    """With a sign, unless it is shown as zero."""
    shown = number(abs(value), unit)
    if not shown.strip("0."):
        return shown
    return f"{'+' if value > 0 else MINUS}{shown}"


def versus_view(board: Board, query: Query, ranks: RankCache) -> View:
    """Two systems: their numbers, and the sentences on which they differ most."""
    scene = open_scene(board, query, ranks, each_run=True)
    if scene is None:
        return View(ui.nothing_yet(board), VIEWS["versus"])
    title = f"Head to head on {direction_title(scene.direction)}"
    pair = choose_pair(scene.ranking.entries, query)
    if pair is None:
        few = ui.empty("One system only", "A comparison needs two systems that were scored alike.")
        return View(join([ui.bar(scene.pickers()), scene.notes, few]), title)
    labels = (pair.first.label, pair.second.label)
    title = f"{labels[0]} and {labels[1]} on {direction_title(scene.direction)}"
    try:
        found = comparison(pair)
        parts = [
            ui.tag("h2", _names(pair)),
            ui.tag("p", [verdict(found, labels)], "lead"),
            versus_table(found, labels),
            _how_to_read(found, pair),
            _decisive(scene, pair, found, query),
        ]
    except InputError as error:
        parts = [ui.notice(str(error), kind="warning")]
    controls = ui.bar([*scene.pickers(), *_pickers(scene, pair)])
    notes = [ui.notice(f"{name} is not in this table.") for name in pair.unknown]
    if query.first and query.first == query.second and not pair.unknown:
        notes = [ui.notice(f"{query.first} is compared with another: the link names it twice.")]
    return View(join([controls, scene.notes, notes, ui.problems(board), parts]), title)


def _pickers(scene: Scene, pair: Pair) -> list[Markup]:
    first, second = pair.first.label, pair.second.label
    labels = [entry.label for entry in listed(scene.ranking.entries, [first, second])]

    def others(than: str) -> list[tuple[str, str]]:
        return [(label, label) for label in labels if label != than]

    return [
        ui.select("first", "First system", others(second), first),
        ui.select("second", "Second system", others(first), second),
    ]


def _names(pair: Pair) -> list[Markup | str]:
    first, second = (
        ui.link(entry.label, view="system", system=entry.facts.name)
        for entry in (pair.first, pair.second)
    )
    return [first, " and ", second]


def _how_to_read(found: Comparison, pair: Pair) -> Markup:
    lines = [f"Differences are {pair.first.label} minus {pair.second.label}."]
    if found.tests:
        lines += [
            "The interval and p come from the paired bootstrap on the same sentences; the first p "
            f"is corrected for the number of tests in this table, {found.tests} (Holm), the small "
            "one is not. Better: p after correction below 0.05.",
            "Effect: the difference in standard deviations of one sentence (0.2 is small, 0.5 "
            "medium, 0.8 large).",
        ]
    bounds = [e.label for e in (pair.first, pair.second) if e.facts.is_bound]
    if bounds:
        lines.append(f"{' and '.join(bounds)}: a bound, which does not compete.")
    if found.not_compared:
        listed = "; ".join(f"{metric_title(n.metric)} ({n.why})" for n in found.not_compared)
        lines.append(f"Not compared: {listed}.")
    return ui.legend(lines)


def _decisive(scene: Scene, pair: Pair, found: Comparison, query: Query) -> Markup:
    """The sentences on which one system is worse than the other, a few at a time."""
    if not (pair.first.has_samples and pair.second.has_samples):
        return no_texts(scene)
    by_sentence = [one for one in found.metrics if one.sentences is not None]
    if not by_sentence:
        return ui.empty("No sentences to compare", "No metric has a value for single sentences.")
    chosen = next((one for one in by_sentence if one.metric == query.metric), by_sentence[0])
    order: Order = "won" if query.order == "won" else "lost"
    found_on = decisive(pair, chosen, order)
    pages = max(1, -(-len(found_on) // PER_PAGE))
    page = min(query.page_number, pages)
    shown = found_on[(page - 1) * PER_PAGE : page * PER_PAGE]
    orders = [(key, f"where {pair.first.label} is {how}") for key, how in _ORDERS.items()]
    metrics = [(one.metric, metric_title(one.metric)) for one in by_sentence]
    none = f"{pair.first.label} is {_ORDERS[order]} on no sentence by {metric_title(chosen.metric)}"
    return join(
        [
            ui.tag("h3", ["The sentences that make the difference"]),
            ui.bar(
                [
                    ui.select("order", "Show sentences", orders, order),
                    ui.select("metric", "By", metrics, chosen.metric),
                    texts_select(query),
                ]
            ),
            _sentences(scene, pair, by_sentence, chosen, shown, query, (page, pages, len(found_on)))
            if shown
            else ui.tag("p", [f"{none}."], "lead"),
        ]
    )


_ORDERS: dict[Order, str] = {"lost": "worse", "won": "better"}


def _sentences(
    scene: Scene,
    pair: Pair,
    metrics: Sequence[Compared],
    chosen: Compared,
    shown: Sequence[SentencePair],
    query: Query,
    page: tuple[int, int, int],
) -> Markup:
    entries = {entry.label: entry for entry in (pair.first, pair.second)}
    samples = {label: load_samples(entry) for label, entry in entries.items()}
    direction = scene.direction
    reading = Reading(
        [one.metric for one in metrics],
        chosen.metric,
        (direction.source_style, direction.target_style),
        language_of(direction),
        plain=query.texts == "plain",
    )
    sides = []
    for one in shown:
        rewrites = {label: by_id[one.id] for label, by_id in samples.items()}
        sides.append(Side(one.id, one.source, one.references, rewrites, mean=None, spread=0.0))
    return sentences(sides, entries, reading, page)
