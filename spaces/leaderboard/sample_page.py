"""The sample browser: a few sentences at a time, in the most informative order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ...datasets_scripts.catalog import DATASETS, language_of
from ...errors import InputError
from ...metrics.registry import METRICS
from ...pipelines.report import Sample
from .data import Board, Entry, dataset_title, direction_title
from .markup import join, ui
from .query import VIEWS, Query
from .ranks import RankCache
from .sample_view import Reading, sentences
from .samples import ORDERS, Order, arrange, load_samples, sentence_metrics, sides
from .scene import Scene, View, open_scene
from .window import listed
from .words import metric_title

PER_PAGE = 5
MOST_SYSTEMS = 8  # shown unless the reader chooses others


def samples_view(board: Board, query: Query, ranks: RankCache) -> View:
    """One direction: sources, references and rewrites."""
    scene = open_scene(board, query, ranks, each_run=True)
    if scene is None:
        return View(ui.nothing_yet(board), VIEWS["samples"])
    title = f"Samples of {direction_title(scene.direction)}"
    available = [entry for entry in scene.ranking.entries if entry.has_samples]
    if not available:
        return View(join([ui.bar(scene.pickers()), scene.notes, no_texts(scene)]), title)
    chosen = _chosen(available, query)
    note = _nobody(available, query)
    try:
        systems = {entry.label: load_samples(entry) for entry in chosen}
    except InputError as error:
        warning = ui.notice(str(error), kind="warning")
        return View(join([ui.bar(scene.pickers()), scene.notes, warning]), title)
    return View(join([note, _page(board, scene, query, available, chosen, systems)]), title)


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
    reading = Reading(
        metrics,
        metric,
        (direction.source_style, direction.target_style),
        language_of(direction),
        plain=query.texts == "plain",
    )
    entries = {entry.label: entry for entry in chosen}
    controls = [
        *scene.pickers(),
        ui.select("order", "Order", ORDERS.items(), order),
        ui.select("metric", "By", [(m, metric_title(m)) for m in metrics], metric)
        if metrics
        else None,
        texts_select(query),
        ui.search("Find a text", "word or phrase", param="text", value=query.text),
    ]
    return join(
        [
            ui.bar(controls),
            scene.notes,
            ui.problems(board),
            _system_menu(scene, available, chosen),
            sentences(shown, entries, reading, (page, pages, len(found)))
            if shown
            else ui.empty(
                "No sentence matches",
                f"No source, reference or rewrite contains '{query.text}'.",
            ),
        ]
    )


def texts_select(query: Query) -> Markup:
    """The choice between rewrites with their changes marked and plain ones."""
    options = [("", "changes marked"), ("plain", "plain text")]
    return ui.select("texts", "Rewrites", options, query.texts)


def _chosen(available: Sequence[Entry], query: Query) -> list[Entry]:
    """The systems of the link, otherwise the first of the ranking."""
    wanted = f"|{query.systems}|"
    picked = [entry for entry in available if f"|{entry.label}|" in wanted]
    return (picked or list(available))[:MOST_SYSTEMS]


def _nobody(available: Sequence[Entry], query: Query) -> Markup | None:
    """A notice if the link's systems are all unknown."""
    wanted = f"|{query.systems}|"
    if not query.systems or any(f"|{entry.label}|" in wanted for entry in available):
        return None
    names = ", ".join(filter(None, query.systems.split("|")))
    return ui.notice(f"No texts of {names} are here. Showing the first systems of the ranking.")


def _system_menu(
    scene: Scene, available: Sequence[Entry], chosen: Sequence[Entry]
) -> Markup | None:
    if len(available) < 2:
        return None
    first, second = (*chosen, *(e for e in available if e not in chosen))[:2]
    versus = ui.link(
        f"{first.label} and {second.label} head to head",
        view="versus",
        direction=scene.direction.name,
        setting=scene.setting.key,
        first=first.label,
        second=second.label,
    )
    hint = f"Up to {MOST_SYSTEMS} at a time." if len(available) > MOST_SYSTEMS else None
    named = [entry.label for entry in chosen]
    labels = [entry.label for entry in listed(available, named)], named
    return ui.systems_menu(*labels, hint, versus)


def no_texts(scene: Scene) -> Markup:
    """Why there are no sentences."""
    dataset = scene.direction.dataset
    if dataset in DATASETS and DATASETS[dataset].licensed:
        why = (
            f"{dataset_title(dataset)} is licensed: its sentences must not be shown. With your own "
            "copy, `tstbench leaderboard` on your machine shows them."
        )
    else:
        why = "The results of this direction have scores only, no samples.jsonl."
    return ui.empty("No sentences to show", why)
