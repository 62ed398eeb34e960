"""Head to head: two systems of one direction, and the sentences that make the difference."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ...datasets_scripts.known import language_of
from ...errors import InputError
from ...pipelines.comparison import Compared, Comparison, SentencePair
from .controls import bar, empty, link, notice, select
from .data import Board, direction_title
from .markup import el, join
from .query import VIEWS, Query
from .ranks import RankCache
from .sample_page import PER_PAGE, no_texts, pager, texts_select
from .sample_view import Reading, sample_card
from .samples import Side, load_samples
from .scene import Scene, View, nothing_yet, open_scene, problems
from .versus import Order, Pair, choose_pair, comparison, decisive
from .versus_table import verdict, versus_table
from .words import metric_title


def versus_view(board: Board, query: Query, ranks: RankCache) -> View:
    """Two systems: their numbers, and the sentences on which they differ most."""
    scene = open_scene(board, query, ranks, each_run=True)
    if scene is None:
        return View(nothing_yet(board), VIEWS["versus"])
    title = f"Head to head on {direction_title(scene.direction)}"
    pair = choose_pair(scene.ranking.rows, query)
    if pair is None:
        few = empty("One system only", "A comparison needs two systems that were scored alike.")
        return View(join([bar(*scene.pickers()), scene.notes, few]), title)
    labels = (pair.first.label, pair.second.label)
    title = f"{labels[0]} and {labels[1]} on {direction_title(scene.direction)}"
    try:
        found = comparison(pair)
        parts = [
            el("h2", *_names(pair)),
            el("p", verdict(found, labels), class_="lead"),
            versus_table(found, labels),
            _how_to_read(found, pair),
            _decisive(scene, pair, found, query),
        ]
    except InputError as error:
        parts = [notice(str(error), kind="warning")]
    controls = bar(*scene.pickers(), *_pickers(scene, pair))
    notes = [notice(f"{name} is not in this table.") for name in pair.unknown]
    if query.first and query.first == query.second and not pair.unknown:
        notes = [notice(f"{query.first} is compared with another: the link names it twice.")]
    return View(join([controls, scene.notes, notes, problems(board), parts]), title)


def _pickers(scene: Scene, pair: Pair) -> list[Markup]:
    labels = [row.entry.label for row in scene.ranking.rows]

    def others(than: str) -> list[tuple[str, str]]:
        return [(label, label) for label in labels if label != than]

    first, second = pair.first.label, pair.second.label
    return [
        select("first", "First system", others(second), first),
        select("second", "Second system", others(first), second),
    ]


def _names(pair: Pair) -> list[Markup | str]:
    first, second = (
        link(entry.label, view="system", system=entry.report.system.name)
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
    bounds = [e.label for e in (pair.first, pair.second) if e.report.system.is_bound]
    if bounds:
        lines.append(f"{' and '.join(bounds)}: a bound, which does not compete.")
    if found.not_compared:
        listed = "; ".join(f"{metric_title(n.metric)} ({n.why})" for n in found.not_compared)
        lines.append(f"Not compared: {listed}.")
    return el("div", [el("p", line) for line in lines], class_="legend")


def _decisive(scene: Scene, pair: Pair, found: Comparison, query: Query) -> Markup:
    """The sentences on which one system is worse than the other, a few at a time."""
    if not (pair.first.has_samples and pair.second.has_samples):
        return no_texts(scene)
    by_sentence = [one for one in found.metrics if one.sentences is not None]
    if not by_sentence:
        return empty("No sentences to compare", "No metric has a value for single sentences.")
    chosen = next((one for one in by_sentence if one.metric == query.metric), by_sentence[0])
    order: Order = "won" if query.order == "won" else "lost"
    sentences = decisive(pair, chosen, order)
    pages = max(1, -(-len(sentences) // PER_PAGE))
    page = min(query.page_number, pages)
    shown = sentences[(page - 1) * PER_PAGE : page * PER_PAGE]
    orders = [(key, f"where {pair.first.label} is {how}") for key, how in _ORDERS.items()]
    none = f"{pair.first.label} is {_ORDERS[order]} on no sentence by {metric_title(chosen.metric)}"
    return join(
        [
            el("h3", "The sentences that make the difference"),
            bar(
                select("order", "Show sentences", orders, order),
                select(
                    "metric",
                    "By",
                    [(m.metric, metric_title(m.metric)) for m in by_sentence],
                    chosen.metric,
                ),
                texts_select(query),
            ),
            _cards(scene, pair, by_sentence, chosen, shown, query)
            if shown
            else el("p", f"{none}.", class_="lead"),
            pager(page, pages, len(sentences)),
        ]
    )


_ORDERS: dict[Order, str] = {"lost": "worse", "won": "better"}


def _cards(
    scene: Scene,
    pair: Pair,
    metrics: Sequence[Compared],
    chosen: Compared,
    shown: Sequence[SentencePair],
    query: Query,
) -> list[Markup]:
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
    cards = []
    for one in shown:
        rewrites = {label: by_id[one.id] for label, by_id in samples.items()}
        side = Side(one.id, one.source, one.references, rewrites, mean=None, spread=0.0)
        cards.append(sample_card(side, entries, reading))
    return cards
