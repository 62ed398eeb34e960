"""The sample browser: sentences in the order that says most, a few at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ...datasets_scripts.directions import DATASETS
from ...errors import InputError
from ...metrics.result import METRICS
from ...pipelines.report import Sample
from .controls import bar, empty, notice, search, select
from .data import Board, Entry, dataset_title, direction_title
from .markup import el, join
from .query import VIEWS, Query
from .ranks import RankCache
from .sample_view import sample_card
from .samples import ORDERS, Order, Side, arrange, load_samples, sentence_metrics, sides
from .scene import Scene, View, nothing_yet, open_scene, problems
from .words import metric_title

PER_PAGE = 5
MOST_SYSTEMS = 8  # shown unless the reader chooses others


def samples_view(board: Board, query: Query, ranks: RankCache) -> View:
    """One direction: sources, references and rewrites."""
    scene = open_scene(board, query, ranks)
    if scene is None:
        return View(nothing_yet(board), VIEWS["samples"])
    title = f"Samples of {direction_title(scene.direction)}"
    available = [row.entry for row in scene.ranking.rows if row.entry.has_samples]
    if not available:
        return View(join([bar(*scene.pickers()), scene.notes, _no_texts(scene)]), title)
    chosen = _chosen(available, query)
    try:
        systems = {entry.label: load_samples(entry) for entry in chosen}
    except InputError as error:
        warning = notice(str(error), kind="warning")
        return View(join([bar(*scene.pickers()), scene.notes, warning]), title)
    return View(_page(board, scene, query, available, chosen, systems), title)


def _page(
    board: Board,
    scene: Scene,
    query: Query,
    available: Sequence[Entry],
    chosen: Sequence[Entry],
    systems: Mapping[str, Mapping[str, Sample]],
) -> Markup:
    metrics = sentence_metrics(systems.values())
    metric = query.metric if query.metric in metrics else (metrics[0] if metrics else "")
    order: Order = query.order if query.order in ORDERS else "disagreement"  # type: ignore[assignment]
    higher = METRICS[metric].higher_is_better if metric in METRICS else True
    found = arrange(sides(systems, metric), order, higher_is_better=higher, text=query.text)
    pages = max(1, -(-len(found) // PER_PAGE))
    page = min(query.page_number, pages)
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    direction = scene.direction
    styles = (direction.source_style, direction.target_style)
    entries = {entry.label: entry for entry in chosen}
    cards = [sample_card(s, entries, metrics, metric=metric, styles=styles) for s in shown]
    controls = [
        *scene.pickers(),
        select("order", "Order", ORDERS.items(), order),
        select("metric", "By", [(m, metric_title(m)) for m in metrics], metric)
        if metrics
        else None,
        search("Find a text", "word or phrase", param="text", value=query.text),
    ]
    return join(
        [
            bar(*controls),
            scene.notes,
            problems(board),
            _system_menu(available, chosen),
            cards
            or empty(
                "No sentence matches",
                f"No source, reference or rewrite contains '{query.text}'.",
            ),
            _pager(page, pages, found),
        ]
    )


def _chosen(available: Sequence[Entry], query: Query) -> list[Entry]:
    """The systems of the link, else the first of the ranking."""
    wanted = query.systems.split("|") if query.systems else []
    picked = [entry for entry in available if entry.label in wanted]
    return (picked or list(available))[:MOST_SYSTEMS]


def _system_menu(available: Sequence[Entry], chosen: Sequence[Entry]) -> Markup | None:
    if len(available) < 2:
        return None
    labels = {entry.label for entry in chosen}
    boxes = [
        el(
            "label",
            el(
                "input",
                type="checkbox",
                checked=entry.label in labels,
                data_param_list="systems",
                value=entry.label,
            ),
            el("span", entry.label),
        )
        for entry in available
    ]
    summary = f"Systems: {len(chosen)} of {len(available)}"
    hint = f"Up to {MOST_SYSTEMS} at a time." if len(available) > MOST_SYSTEMS else None
    menu = el("div", el("p", hint) if hint else None, boxes, class_="menu")
    return el(
        "div", el("details", el("summary", summary), menu, class_="columns"), class_="filters"
    )


def _pager(page: int, pages: int, found: Sequence[Side]) -> Markup | None:
    if not found:
        return None

    def turn(text: str, to: int) -> Markup:
        off = not 1 <= to <= pages
        return el("button", text, type="button", class_="quiet", data_page=to, disabled=off)

    count = f"{len(found)} sentence{'s' * (len(found) != 1)}"
    return el(
        "nav",
        turn("Previous", page - 1),
        el("span", f"Page {page} of {pages}, {count}", role="status"),
        turn("Next", page + 1),
        class_="pager",
        aria_label="Pages of sentences",
    )


def _no_texts(scene: Scene) -> Markup:
    dataset = scene.direction.dataset
    if dataset in DATASETS and DATASETS[dataset].licensed:
        why = (
            f"{dataset_title(dataset)} is licensed: its sentences may not be shown. With your own "
            "copy, `tstbench leaderboard` on your machine shows them."
        )
    else:
        why = "The results of this direction hold scores only, no samples.jsonl."
    return empty("No sentences to show", why)
