"""The two tables with their controls and legends."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from .controls import bar, link, search, select
from .data import Board, direction_title
from .filters import filters
from .groups import protocol_key
from .markup import el, join
from .overview import Overview, build_overview
from .overview_table import overview_table
from .query import VIEWS, Query
from .ranks import RankCache
from .scene import Scene, View, figure_box, nothing_yet, open_scene, plain, problems
from .table import ranking_table
from .words import metric_title


def ranking_view(board: Board, query: Query, ranks: RankCache) -> View:
    """One direction: systems x metrics."""
    scene = open_scene(board, query, ranks)
    if scene is None:
        return View(nothing_yet(board), VIEWS["ranking"])
    rows = scene.ranking.rows
    html = join(
        [
            bar(*scene.pickers(), search("Find a system", "name")),
            scene.notes,
            problems(board),
            filters(scene.ranking),
            ranking_table(scene.ranking),
            _how_to_read(scene),
        ]
    )
    title = f"{direction_title(scene.direction)} \N{EN DASH} {len(rows)} systems"
    return View(html, title, pending=scene.pending)


def overview_view(board: Board, query: Query, ranks: RankCache) -> View:  # noqa: ARG001
    """All directions: systems x directions, for one metric."""
    overview = build_overview(board, query.metric, query.protocol)
    if overview is None:
        return View(nothing_yet(board), VIEWS["overview"])
    figures = {}
    picture: Markup | None = None
    if len(overview.columns) > 1:
        from .figures import MOST_ACROSS, across_directions  # plotly is slow to import

        figures["across"] = plain(across_directions(overview))
        picture = figure_box(
            "across",
            f"The first {min(MOST_ACROSS, len(overview.rows))} systems, side by side",
            "Click a name in the legend to hide it.",
        )
    html = join(
        [
            bar(*_overview_pickers(overview), search("Find a system", "name")),
            problems(board),
            el("p", _about_means(overview), class_="lead"),
            overview_table(overview),
            picture,
        ]
    )
    return View(html, f"{metric_title(overview.metric)} on all directions", figures)


def _overview_pickers(overview: Overview) -> list[Markup]:
    metrics = [(metric, metric_title(metric)) for metric in overview.metrics]
    found = [select("metric", "Metric", metrics, overview.metric)]
    if len(overview.protocols) > 1:
        labels = _differences(overview.protocols)
        options = [
            (protocol_key(p), label) for p, label in zip(overview.protocols, labels, strict=True)
        ]
        found.append(select("protocol", "Scored with", options, protocol_key(overview.protocol)))
    return found


def _differences(protocols: Sequence[str]) -> list[str]:
    """What tells protocols from one another: the fields that not all of them share.

    >>> _differences(["acc|classifier:linear|text:v1", "acc|classifier:roberta|text:v1"])
    ['classifier linear', 'classifier roberta']
    """
    fields = [protocol.split("|")[1:] for protocol in protocols]
    shared = set(fields[0]).intersection(*fields[1:])
    own = [[f.replace(":", " ", 1) for f in some if f not in shared] for some in fields]
    return [", ".join(some) or "the rest" for some in own]


def _about_means(overview: Overview) -> str:
    if overview.why_no_mean:
        return f"No mean is shown: {overview.why_no_mean}."
    return (
        f"The mean is over all {len(overview.columns)} directions, each counted once; a system "
        "that lacks one of them has none."
    )


def _how_to_read(scene: Scene) -> Markup:
    """The legend under the ranking: only what is on the page."""
    setting, ranking = scene.setting, scene.ranking
    tested = {column.tested for column in ranking.columns if not column.human}
    lines = [
        "Below each score is its 95% bootstrap interval. Bold: the best value, and every value "
        "that the test cannot tell from it.",
    ]
    if "tested" in tested:
        lines.append(
            "A rank such as 2\N{EN DASH}5 means: on these sentences, paired bootstrap at the 5% "
            "level leaves places 2 to 5 open."
        )
    if "untested" in tested:
        untested = [c.title for c in ranking.columns if c.tested == "untested" and not c.human]
        lines.append(
            f"Ranks by {', '.join(untested)} are by value alone; no significance test is at hand."
        )
    if len(scene.settings) > 1:
        lines.append(
            f"{len(scene.settings)} ways of scoring were used on this direction. Their numbers "
            "do not compare, so they are never in one table: choose above."
        )
    report = setting.entries[0].report
    facts = (
        f"Scored with profile {report.profile} on {report.data.sentences} sentences, "
        f"data {report.data.fingerprint[:12]}."
    )
    samples = link("Read the rewrites", view="samples", direction=scene.direction.name)
    return el("div", [el("p", line) for line in (*lines, facts)], el("p", samples), class_="legend")
