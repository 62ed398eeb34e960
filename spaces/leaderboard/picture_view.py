"""The pictures of one direction, each with a caption.

Those that read every sentence are requested by the script when they come into sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from markupsafe import Markup

from ...errors import TSTBenchError
from ...pipelines.analysis.correlation import FEWEST
from ...pipelines.analysis.style_space import NEIGHBOURS
from .address import missing
from .correlation import correlate
from .data import Board, Entry, direction_title
from .figures import MOST_DOTS, MOST_POINTS, dots, lengths, style_cloud, trade_off
from .markup import join, ui
from .query import VIEWS, Query
from .ranking import Column, Ranking
from .ranks import RankCache
from .samples import load_samples
from .scene import Scene, View, open_scene
from .style_map import SEPARATED, StyleMap, style_map
from .window import listed

_MOST_LENGTHS = 12  # systems whose texts are read for their lengths
_CONTENT = ("multi_bleu", "r_bleu", "s_bleu", "multi_bert", "r_bert", "s_bert")
_LAYING_OUT = (
    "Embedding up to 450 sentences and laying them out with t-SNE: about half a minute the first "
    "time; the map is kept, and then there at once."
)
_NO_TEXTS = "The results hold no sentences of this direction."


def pictures_view(board: Board, query: Query, ranks: RankCache) -> View:
    """All pictures of one direction."""
    scene = open_scene(board, query, ranks)
    if scene is None:
        return View(ui.nothing_yet(board), VIEWS["pictures"])
    columns = {column.key: column for column in scene.ranking.columns if not column.human}
    main = columns.get(query.metric) or next(iter(columns.values()))
    contents = [c for c in columns.values() if c.aspect == "content"]
    content = columns.get(query.content)
    if content is None or content.aspect != "content":
        content = next((columns[key] for key in _CONTENT if key in columns), None)
    pickers = [
        *scene.pickers(),
        ui.select("metric", "Metric", _options(columns.values()), main.key),
    ]
    if content and len(contents) > 1:
        pickers.append(ui.select("content", "Content by", _options(contents), content.key))
    boxes = [
        *_trade_offs(scene.ranking, columns, content),
        *_dots(scene.ranking, main),
        _correlations(scene.ranking),
        _lengths_box(scene),
        _map_box(scene, query),
    ]
    unknown = missing("metric", query.metric, list(columns), main.title)
    html = join(
        [
            ui.bar(pickers),
            scene.notes,
            unknown,
            ui.problems(board),
            ui.tag("div", boxes, "gallery"),
        ]
    )
    return View(html, f"Pictures of {direction_title(scene.direction)}")


def lengths_picture(board: Board, query: Query, ranks: RankCache) -> Markup:
    """How long the sentences are: it reads those of all systems shown."""
    scene = open_scene(board, query, ranks)
    entries = _with_texts(scene)[:_MOST_LENGTHS] if scene else []
    return _drawn(lambda: _lengths(entries)) if entries else ui.quiet(_NO_TEXTS)


def map_picture(board: Board, query: Query, ranks: RankCache) -> Markup:
    """The map of styles: its first computation takes seconds."""
    scene = open_scene(board, query, ranks)
    entries = _with_texts(scene) if scene else []
    if scene is None or not entries:
        return ui.quiet(_NO_TEXTS)
    return _drawn(lambda: _map(scene, entries, query))


def _options(columns: Iterable[Column]) -> list[tuple[str, str]]:
    return [(column.key, column.title) for column in columns]


def _trade_offs(
    ranking: Ranking, columns: dict[str, Column], content: Column | None
) -> list[Markup]:
    """Style against content, and style against fluency, where they were measured."""
    style = next((c for c in columns.values() if c.aspect == "style"), None)
    fluency = next((c for c in columns.values() if c.aspect == "fluency"), None)
    boxes = []
    for key, other, loss in (("content", content, "meaning"), ("fluency", fluency, "fluency")):
        if style is None or other is None:
            continue
        caption = (
            f"Better is right and up. Far right and low: style was reached at the cost of {loss}. "
            "Lines are 95% intervals. Ringed: the Pareto front; a system left of and below its "
            "line is beaten on both. Where names have no room, point at a mark to read its name."
        )
        if len(ranking.systems) > MOST_POINTS:
            shown = f"the first {MOST_POINTS} of {len(ranking.systems):,} systems, and the front"
            caption += f" Shown: {shown}."
        picture = trade_off(ranking, style, other)
        boxes.append(ui.figure(key, f"Style against {key}", caption, picture))
    return boxes


def _dots(ranking: Ranking, column: Column) -> list[Markup]:
    i = ranking.columns.index(column)
    there = ~np.isnan(ranking.numbers[i].value)
    if not there.any():
        return []
    caption = "Best on top, with 95% intervals. Dashed lines lead to the bounds below."
    count = np.count_nonzero(there[: len(ranking.systems)])
    if count > MOST_DOTS:
        caption += f" Shown: the best {MOST_DOTS} of {count}."
    title = f"{column.title} of each system"
    return [ui.figure("systems", title, caption, dots(ranking, column))]


def _correlations(ranking: Ranking) -> Markup:
    title = "Do the metrics agree with people?"
    found = correlate(ranking)
    if found is None:
        human = any(column.human for column in ranking.columns)
        why = (
            f"Nothing can be said: fewer than {FEWEST} systems have human scores here, "
            "bounds left out."
            if human
            else "The results have no human scores for this direction."
        )
        return ui.no_picture(title, why)
    caption = (
        "Spearman correlation over systems, bounds left out; +1 means that the metric orders them "
        "as people do, whichever direction is better. Below it, its 95% interval (Fisher's z). "
        "Grey: the interval contains 0, so it may be chance. Several cells are seen at once: one "
        f"in 20 is coloured by chance alone. Below {FEWEST} systems nothing can be said."
    )
    return ui.figure("human", title, caption, ui.heat(found))


def _lengths_box(scene: Scene) -> Markup:
    title = "How long the sentences are"
    count = len(_with_texts(scene))
    if not count:
        return ui.no_picture(title, _NO_TEXTS)
    caption = (
        "Box: the middle half; its line and the number: the median; "
        "thin line: 5th to 95th percentile."
    )
    if count > _MOST_LENGTHS:
        caption += f" Shown: the first {_MOST_LENGTHS} systems of the ranking."
    return ui.lazy("lengths", title, caption)


def _map_box(scene: Scene, query: Query) -> Markup:
    title = "Where the two styles are"
    entries = _with_texts(scene)
    if not entries:
        return ui.no_picture(title, _NO_TEXTS)
    options = [("", "no system"), *((e.label, e.label) for e in listed(entries, [query.system]))]
    caption = (
        "t-SNE of sentence embeddings (all-MiniLM-L6-v2). Neighbours are similar; distances "
        "between distant points and the axes have no meaning. Point at a mark to read."
    )
    system = ui.select("system", "Also show the rewrites of", options, query.system)
    return ui.lazy("style_map", title, caption, system, waiting=_LAYING_OUT)


def _lengths(entries: Sequence[Entry]) -> Markup:
    first = list(load_samples(entries[0]).values())
    groups = {"Source": [_words(sample.source) for sample in first]}
    references = [_words(text) for sample in first for text in sample.references]
    if references:
        groups["Human rewrites"] = references
    for entry in entries:
        groups[entry.label] = [_words(s.prediction) for s in load_samples(entry).values()]
    return lengths(groups)


def _map(scene: Scene, entries: Sequence[Entry], query: Query) -> Markup:
    chosen = next((entry for entry in entries if entry.label == query.system), None)
    samples = [s for s in load_samples(chosen or entries[0]).values() if s.references]
    if not samples:
        return ui.quiet("There are no human rewrites here to compare the sources with.")
    direction = scene.direction
    found = style_map(
        (f"source: {direction.source_style}", [sample.source for sample in samples]),
        (f"human: {direction.target_style}", [sample.references[0] for sample in samples]),
        (chosen.label, [sample.prediction for sample in samples]) if chosen else None,
    )
    return join([ui.quiet(_separation_text(found)), _shown(found)])


def _shown(found: StyleMap) -> Markup | None:
    return style_cloud(found) if found.separated else None


def _separation_text(found: StyleMap) -> str:
    measured = (
        f"{found.separation:.0%} of the sentences lie among their own style (by majority of their "
        f"{NEIGHBOURS} nearest neighbours; by chance 50%)"
    )
    if found.separated:
        return f"On this map, {measured}."
    return (
        f"Not shown, because it would show topics and not style: on the map, {measured}; "
        f"maps are shown from {SEPARATED:.0%}."
    )


def _with_texts(scene: Scene) -> Sequence[Entry]:
    return [entry for entry in scene.ranking.entries if entry.has_samples]


def _drawn(make: Callable[[], Markup]) -> Markup:
    """A picture, or what the reader must know when it cannot be made."""
    try:
        return make()
    except TSTBenchError as error:
        return ui.quiet(str(error))


def _words(text: str) -> int:
    return len(text.split())
