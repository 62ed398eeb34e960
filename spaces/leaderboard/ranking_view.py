"""One direction: the ranking with its controls and legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from ...metrics.statistics import too_few
from ...pipelines.meta import known as agreement
from ...pipelines.meta.known import headline
from ...pipelines.meta.result import MetaScore
from ...pipelines.ranked_table import DOUBT, no_power
from .data import Board, direction_title
from .markup import SHOWN, render, ui
from .query import VIEWS, Query
from .ranking import Cell, Column, Ranking, Row
from .ranks import RankCache
from .runs import ABOUT
from .scene import Scene, View, open_scene
from .window import LONG, Window, window
from .words import (
    ASPECT_TITLES,
    BOLD,
    BOUNDS,
)


def ranking_view(board: Board, query: Query, ranks: RankCache) -> View:
    """One direction: systems x metrics, the best first by the first column."""
    scene = open_scene(board, query, ranks)
    if scene is None:
        return View(ui.nothing_yet(board), VIEWS["ranking"])
    ranking, whole = scene.ranking, query.rows == "all"
    cut = _window(ranking, query) if len(ranking.systems) > LONG else None
    overall = [column for column in ranking.columns if column.aspect == "overall"]
    html = render(
        "ranking.html",
        agreed=_agreed,
        agreement=agreement,
        board=board,
        columns=ranking.columns,
        dates=sorted({d for row in ranking.systems if (d := row.entry.facts.date)}),
        direction=scene.direction.name,
        groups=_groups(ranking.columns),
        kinds={entry.facts.family for entry in ranking.entries},
        line_of=_line,
        lines=_how_to_read(scene, _shown(ranking, None if whole else SHOWN, cut)),
        notes=scene.notes,
        overall=overall,
        parallel={row.entry.facts.needs_parallel for row in ranking.systems},
        pickers=scene.pickers(),
        ranking=ranking,
        reported=board.reported.of(scene.direction),
        reported_problem=board.reported.problem,
        whole=whole,
        why=_why(overall) if overall else "",
        window=cut,
    )
    count = len(ranking.systems)
    title = f"{direction_title(scene.direction)} \N{EN DASH} {count} system{'s' * (count != 1)}"
    return View(html, title, pending=scene.pending)


def _groups(columns: Sequence[Column]) -> list[tuple[str, bool, int]]:
    """Title, whether people scored, and size: consecutive columns of one aspect, or one study."""
    runs = []
    for (aspect, study), some in groupby(columns, key=lambda c: (c.aspect, c.study)):
        title = ASPECT_TITLES.get(aspect, aspect)
        runs.append((f"{title}: {study}" if study else title, study is not None, len([*some])))
    return runs


def _agreed(column: Column) -> MetaScore | None:
    """How people agree with a column, by the study that counts first."""
    return headline(agreement.measured(column.key, column.signature or ""))


def _line(cell: Cell, column: Column) -> str | None:
    """The interval as fractions of the column's range, drawn as a line by the style sheet."""
    width = column.high - column.low
    if cell.low is None or cell.high is None or width <= 0:
        return None
    start, part = (cell.low - column.low) / width, (cell.high - cell.low) / width
    return f"--from:{start:.2f};--part:{part:.2f}"


def _why(overall: Sequence[Column]) -> str:
    """Why the first column ranks: one sentence, with the study."""
    first = overall[0]
    main = _agreed(first)
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


def _window(ranking: Ranking, query: Query) -> Window[Row]:
    """The rows of a long table as the link sorts and filters them."""
    key, worst = query.sort.removeprefix("-"), query.sort.startswith("-")
    keys = [column.key for column in ranking.columns]
    if key in ("system", "date"):
        descending = worst
    else:
        i = keys.index(key) if key in keys else 0
        values = ranking.numbers[i].value.tolist()
        descending = ranking.columns[i].higher_is_better != (worst and key in keys)

    def value(row: Row) -> float | str | None:
        if key == "system":
            return row.entry.label.casefold()
        if key == "date":
            return row.entry.facts.date
        found: float = values[row.place]
        return None if math.isnan(found) else found

    return window(
        ranking.systems,
        ranking.bounds,
        query,
        lambda row: (row.entry.label, row.entry),
        value,
        descending=descending,
    )


def _shown(ranking: Ranking, most: int | None, cut: Window[Row] | None) -> list[Row]:
    """The rows on the page."""
    systems, bounds = (cut.rows, cut.bounds) if cut else (ranking.systems, ranking.bounds)
    return [*systems[:most], *bounds[:most]]


def _how_to_read(scene: Scene, rows: Sequence[Row]) -> list[str]:
    """The legend below the ranking, for what is on the page, such as the first rows."""
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
        if column.tested == "untested":
            continue
        best_first = sorted(
            (-value if column.higher_is_better else value, not row.cells[i].best, row.entry.label)
            for row in ranking.systems
            if (value := row.cells[i].value) is not None
        )
        if said := no_power([(name, not plain) for _, plain, name in best_first]):
            lines.append(f"{column.title}: {said}.")
    if any(entry.runs for entry in ranking.entries):
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
        for row in rows
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
    return [*lines, facts]
