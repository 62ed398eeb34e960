"""One direction: the ranking with its controls and legend."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ...metrics.statistics import too_few
from ...pipelines.meta import in_words as agreement
from ...pipelines.meta.known import headline
from ...pipelines.ranked_table import DOUBT, no_power
from .controls import bar, link, search
from .data import Board, direction_title
from .filters import filters
from .markup import el, join
from .query import VIEWS, Query
from .ranking import Column, Ranking
from .ranks import RankCache
from .reported_view import reported_block
from .runs import ABOUT
from .scene import Scene, View, nothing_yet, open_scene, problems
from .table import ranking_table
from .words import BOLD, BOUNDS


def ranking_view(board: Board, query: Query, ranks: RankCache) -> View:
    """One direction: systems x metrics."""
    scene = open_scene(board, query, ranks)
    if scene is None:
        return View(nothing_yet(board), VIEWS["ranking"])
    count = len(scene.ranking.systems)
    html = join(
        [
            bar(*scene.pickers(), search("Find a system", "name")),
            scene.notes,
            problems(board),
            filters(scene.ranking),
            _order(scene.ranking),
            ranking_table(scene.ranking, whole=query.rows == "all"),
            _how_to_read(scene),
            reported_block(board.reported, scene.direction),
        ]
    )
    title = f"{direction_title(scene.direction)} \N{EN DASH} {count} system{'s' * (count != 1)}"
    return View(html, title, pending=scene.pending)


def _order(ranking: Ranking) -> Markup | None:
    """What may rank the systems, the first does unless told otherwise, and how people agree."""
    overall = [c for c in ranking.columns if c.aspect == "overall"]
    if not overall:
        return None
    choices = []
    for column in overall:
        main = headline(agreement.measured(column.key, column.signature or ""))
        told = agreement.with_interval(main) if main else ""
        button = el(
            "button",
            column.title,
            el("small", f" {agreement.RHO} {told}") if told else None,
            type="button",
            class_="chip",
            data_action="rank",
            value=column.key,
            aria_pressed="false",
        )
        choices.append(button)
    return el("p", "Rank by ", choices, _why(overall), class_="order")


def _why(overall: Sequence[Column]) -> str:
    """Why the first column ranks: one sentence, with the study."""
    first = overall[0]
    main = headline(agreement.measured(first.key, first.signature or ""))
    if main is None:
        return " How far people agree with it was not measured on this task."
    who = f"people's {main.aspect.replace('_', ' ')} scores of {agreement.of_how_many(main)}"
    said = f" {agreement.RHO}: agreement with {who} ({agreement.study_title(main.study)})."
    better = headline(agreement.measured("joint_calibrated"))
    if first.key == "joint" and better is not None:
        said += (
            " Calibrated Joint agrees better, but not every system has it: evaluate with "
            "--metrics joint_calibrated."
        )
    return said


def _how_to_read(scene: Scene) -> Markup:
    """The legend below the ranking, for what is on the page."""
    setting, ranking = scene.setting, scene.ranking
    tested = {column.tested for column in ranking.columns if not column.human}
    report = setting.entries[0].report
    why = too_few(report.data.sentences)
    lines = [f"{why}." if why else "Below each score is its 95% bootstrap interval.", BOLD]
    if "tested" in tested:
        lines.append(
            "A rank such as 2\N{EN DASH}5 means that, on these sentences, the paired bootstrap "
            "at the 5% level cannot decide between ranks 2 to 5."
        )
    if "untested" in tested:
        untested = [c.title for c in ranking.columns if c.tested == "untested" and not c.human]
        lines.append(
            f"Ranks by {', '.join(untested)} are by value alone, without a significance test, "
            "and only the best value is bold there."
        )
    if any(column.human for column in ranking.columns):
        lines.append(
            "Systems are ranked by the means of human scores without a significance test, and only "
            "the best mean is bold there."
        )
    for i, column in enumerate(ranking.columns):
        sign = -1 if column.higher_is_better else 1
        best_first = sorted(
            (sign * value, not row.cells[i].best, row.entry.label)
            for row in ranking.systems
            if (value := row.cells[i].value) is not None
        )
        if said := no_power([(name, not plain) for _, plain, name in best_first]):
            lines.append(f"{column.title}: {said}.")
    if any(row.entry.runs for row in ranking.rows):
        lines.append(ABOUT)
    if ranking.bounds:
        lines.append(BOUNDS)
    shown = [agreement.beside(c.key, c.signature or "") for c in ranking.columns]
    if any(shown):
        lines.append(f"{agreement.WHAT} All studies: hold the pointer over a title, or see About.")
    if any(agreement.MARK in text for text in shown):
        lines.append(f"{agreement.DOUBT}.")
    lines += (f"† {note}." for note in dict.fromkeys(c.caution for c in ranking.columns) if note)
    lines += (
        f"{DOUBT} {row.entry.label}: {'; '.join(row.entry.report.warnings)}."
        for row in ranking.rows
        if row.entry.report.warnings
    )
    if len(scene.settings) > 1:
        lines.append(
            f"{len(scene.settings)} ways of scoring were used on this direction. Their numbers "
            "cannot be compared, so each has its own table: choose one above."
        )
    facts = (
        f"Scored with profile {report.profile} on {report.data.sentences} sentences, "
        f"data {report.data.fingerprint[:12]}."
    )
    samples = link("Read the rewrites", view="samples", direction=scene.direction.name)
    versus = link("compare two systems head to head", view="versus", direction=scene.direction.name)
    more = el("p", samples, " or ", versus, ".")
    return el("div", [el("p", line) for line in (*lines, facts)], more, class_="legend")
