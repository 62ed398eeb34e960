"""The pictures of one direction, with what each of them says in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ...errors import InputError, TSTBenchError
from .controls import bar, empty, notice, select
from .correlation import FEWEST_SYSTEMS, correlate
from .data import Board, Entry, direction_title
from .figures import MOST_BARS, bars, heat_map, lengths, scatter_of_styles, trade_off
from .markup import el, join
from .query import VIEWS, Query
from .ranking import Column, Ranking
from .ranks import RankCache
from .samples import load_samples
from .scene import Scene, View, figure_box, nothing_yet, open_scene, plain, problems
from .style_map import style_map

_MOST_LENGTHS = 12  # systems whose texts are read for their lengths
_CONTENT = ("multi_bleu", "r_bleu", "s_bleu", "multi_bert", "r_bert", "s_bert")


def pictures_view(board: Board, query: Query, ranks: RankCache) -> View:
    """All pictures of one direction."""
    scene = open_scene(board, query, ranks)
    if scene is None:
        return View(nothing_yet(board), VIEWS["pictures"])
    columns = {column.key: column for column in scene.ranking.columns if not column.human}
    main = columns.get(query.metric) or next(iter(columns.values()))
    contents = [c for c in columns.values() if c.aspect == "content"]
    content = columns.get(query.content)
    if content is None or content.aspect != "content":
        content = next((columns[key] for key in _CONTENT if key in columns), None)
    pickers = [*scene.pickers(), select("metric", "Metric", _options(columns.values()), main.key)]
    if content and len(contents) > 1:
        pickers.append(select("content", "Content by", _options(contents), content.key))
    figures: dict[str, Any] = {}
    boxes = [
        *_trade_offs(scene.ranking, columns, content, figures),
        *_bars(scene.ranking, main, figures),
        _correlations(scene.ranking, figures),
        _lengths(scene, figures),
        _map_box(scene, query),
    ]
    html = join([bar(*pickers), scene.notes, problems(board), el("div", boxes, class_="gallery")])
    return View(html, f"Pictures of {direction_title(scene.direction)}", figures)


def map_view(board: Board, query: Query, ranks: RankCache) -> View:
    """The map of styles alone: it takes seconds, so it is asked for on its own."""
    scene = open_scene(board, query, ranks)
    entry = _map_entry(scene, query) if scene else None
    if scene is None or entry is None:
        return View(empty("No texts", "The results hold no sentences of this direction."), "Map")
    try:
        samples = load_samples(entry).values()
        direction = scene.direction
        groups = [
            (f"source: {direction.source_style}", [sample.source for sample in samples]),
            (
                f"human: {direction.target_style}",
                [s.references[0] for s in samples if s.references],
            ),
        ]
        if query.system:
            groups.append((entry.label, [sample.prediction for sample in samples]))
        laid_out = style_map([group for group in groups if group[1]])
    except TSTBenchError as error:
        return View(notice(str(error), kind="warning"), "Map")
    figure = scatter_of_styles(laid_out.points, laid_out.groups, laid_out.texts)
    return View(Markup(""), "Map", {"map": plain(figure)})


def _options(columns: Any) -> list[tuple[str, str]]:
    return [(column.key, column.title) for column in columns]


def _trade_offs(
    ranking: Ranking, columns: dict[str, Column], content: Column | None, figures: dict[str, Any]
) -> list[Markup]:
    """Style against content, and style against fluency, where they were measured."""
    style = next((c for c in columns.values() if c.aspect == "style"), None)
    fluency = next((c for c in columns.values() if c.aspect == "fluency"), None)
    boxes = []
    for key, other, loss in (("content", content, "meaning"), ("fluency", fluency, "fluency")):
        if style is None or other is None:
            continue
        figures[key] = plain(trade_off(ranking, other, style))
        title = f"Style against {key}"
        caption = (
            f"Better is right and up. Far up and left: style was reached at the cost of {loss}. "
            "Lines are 95% intervals; of many systems, those at the frontier are named."
        )
        boxes.append(figure_box(key, title, caption))
    return boxes


def _bars(ranking: Ranking, column: Column, figures: dict[str, Any]) -> list[Markup]:
    count = sum(row.cells[ranking.columns.index(column)].value is not None for row in ranking.rows)
    if not count:
        return []
    figures["bars"] = plain(bars(ranking, column))
    caption = "Best on top, with 95% intervals; colours are the kinds of system."
    if count > MOST_BARS:
        caption += f" The best {MOST_BARS} of {count}."
    return [figure_box("bars", f"{column.title} of each system", caption)]


def _correlations(ranking: Ranking, figures: dict[str, Any]) -> Markup:
    title = "Do the metrics agree with people?"
    found = correlate(ranking)
    if found is None:
        human = any(column.human for column in ranking.columns)
        why = (
            f"Fewer than {FEWEST_SYSTEMS} systems have human scores here."
            if human
            else "No human scores of this direction are in the results."
        )
        return _missing(title, why)
    figures["human"] = plain(heat_map(found))
    caption = (
        "Spearman correlation over systems; +1 means that the metric orders them as people do, "
        "whichever way its numbers run. Few systems make it uncertain: the number is on hover."
    )
    return figure_box("human", title, caption)


def _lengths(scene: Scene, figures: dict[str, Any]) -> Markup:
    title = "How long the sentences are"
    entries = _with_texts(scene)[:_MOST_LENGTHS]
    if not entries:
        return _missing(title, "The results hold no sentences of this direction.")
    groups: dict[str, list[int]] = {}
    try:
        first = list(load_samples(entries[0]).values())
        groups["Source"] = [_words(sample.source) for sample in first]
        references = [_words(text) for sample in first for text in sample.references]
        if references:
            groups["Human rewrites"] = references
        for entry in entries:
            own = load_samples(entry).values()
            groups[entry.label] = [_words(sample.prediction) for sample in own]
    except InputError as error:
        return _missing(title, str(error))
    figures["lengths"] = plain(lengths(groups))
    caption = "Box: the middle half, with the median; whiskers: 5th to 95th percentile."
    if len(_with_texts(scene)) > _MOST_LENGTHS:
        caption += f" The first {_MOST_LENGTHS} systems of the ranking."
    return figure_box("lengths", title, caption)


def _map_box(scene: Scene, query: Query) -> Markup:
    title = "Where the two styles lie"
    entries = _with_texts(scene)
    if not entries:
        return _missing(title, "The results hold no sentences of this direction.")
    options = [("", "no system"), *((entry.label, entry.label) for entry in entries)]
    caption = (
        "t-SNE of word and word-pair vectors (TF-IDF): neighbours are alike, distances between far "
        "points and the axes mean nothing. Hover to read."
    )
    return el(
        "figure",
        el("figcaption", el("h3", title), el("p", caption)),
        select("system", "Beside them, the rewrites of", options, query.system),
        el(
            "div",
            el("p", "Laying out the sentences\N{HORIZONTAL ELLIPSIS}", class_="quiet-text"),
            data_figure="map",
            data_lazy="map",
            class_="plot",
            role="img",
            aria_label=title,
        ),
    )


def _map_entry(scene: Scene, query: Query) -> Entry | None:
    entries = _with_texts(scene)
    return next((e for e in entries if e.label == query.system), entries[0] if entries else None)


def _with_texts(scene: Scene) -> Sequence[Entry]:
    return [row.entry for row in scene.ranking.rows if row.entry.has_samples]


def _missing(title: str, why: str) -> Markup:
    caption = el("figcaption", el("h3", title))
    return el("figure", caption, el("p", why, class_="quiet-text"), class_="missing")


def _words(text: str) -> int:
    return len(text.split())
