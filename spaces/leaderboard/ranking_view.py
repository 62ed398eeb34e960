"""One direction: the ranking with its controls and legend."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlencode

from markupsafe import Markup

from ...datasets_scripts.directions import Direction
from ...metrics.statistics import too_few
from ...metrics.units import DASH
from ...pipelines.meta import known as agreement
from ...pipelines.meta.known import headline
from ...pipelines.ranked_table import DOUBT, no_power
from .controls import bar, copy_link, link, search
from .data import Board, Entry, direction_title
from .download import download_buttons
from .markup import el, https_link, join
from .query import VIEWS, Query
from .ranking import Cell, Column, Ranking, Row
from .ranks import RankCache
from .reported import FromHub, ReportedScore
from .runs import ABOUT, deviation_text, run_links
from .scene import Scene, View, nothing_yet, open_scene, problems
from .table_parts import SHOWN, doubt, framed, parallel_key, scrolling, sort_header, system_facts
from .words import (
    ASPECT_TITLES,
    BOLD,
    BOUNDS,
    FAMILIES,
    interval_text,
    number,
    rank_text,
    unit_text,
)


def ranking_table(ranking: Ranking, *, whole: bool = True) -> Markup:
    """Systems x metrics, in the order of the first column."""
    columns = ranking.columns
    groups = [
        el("th", _group_title(title, list(some)), colspan=size, scope="colgroup", class_="group")
        for title, some, size in _groups(columns)
    ]
    head = el(
        "thead",
        el("tr", el("td", colspan=2, class_="corner"), groups, el("td"), class_="groups"),
        el(
            "tr",
            el("th", "Rank", el("small", data_ranked_by=True), scope="col", class_="rank"),
            sort_header("System", "system", "text", class_="system"),
            [_metric_header(i, column) for i, column in enumerate(columns)],
            sort_header("Date", "date", "text", class_="date"),
        ),
    )
    return framed(
        "Systems by metric, best first",
        head,
        lambda i, row: _ranking_row(i, row, columns),
        ranking.systems,
        ranking.bounds,
        width=3 + len(columns),
        whole=whole,
    )


def _groups(columns: tuple[Column, ...]) -> list[tuple[str, list[Column], int]]:
    """Consecutive columns of one aspect; human scores by study."""
    runs = []
    for (aspect, study), some in groupby(columns, key=lambda c: (c.aspect, c.study)):
        run = list(some)
        title = ASPECT_TITLES.get(aspect, aspect)
        runs.append((f"{title}: {study}" if study else title, run, len(run)))
    return runs


def _group_title(title: str, columns: list[Column]) -> Markup:
    return el("span", title, class_="study" if columns[0].human else None)


def _metric_header(index: int, column: Column) -> Markup:
    told = (column.meaning, column.caution, agreement.in_full(column.key, column.signature or ""))
    meaning = ". ".join(part for part in told if part)
    return sort_header(
        f"{column.title}†" if column.caution else column.title,
        column.key,
        "number",
        higher=column.higher_is_better,
        small=f"{unit_text(column.unit)} {'↑' if column.higher_is_better else '↓'}",
        beside=agreement.beside(column.key, column.signature or "") or None,
        hint=f"{column.title}: {meaning}",
        class_="value human" if column.human else "value",
        data_column=index,
        data_tested=column.tested,
        data_signature=column.signature,
        data_made_with="\n".join(column.made_with) or None,
        data_meaning=meaning,
    )


def _ranking_row(index: int, row: Row, columns: tuple[Column, ...]) -> Markup:
    system = row.entry.report.system
    first = row.cells[0].ranks if row.cells else None
    return el(
        "tr",
        el("td", rank_text(first) if first else "\N{EN DASH}", class_="rank"),
        _system_cell(row.entry),
        [_value_cell(cell, column) for cell, column in zip(row.cells, columns, strict=True)],
        el("td", system.date or "\N{EN DASH}", class_="date", data_value=system.date),
        data_name=row.entry.label.casefold(),
        data_family=system.family,
        data_parallel=parallel_key(system),
        data_bound=system.is_bound,
        hidden=index >= SHOWN,
    )


def _system_cell(entry: Entry) -> Markup:
    system = entry.report.system
    outputs = https_link(
        system.outputs_url,
        "\N{NORTH EAST ARROW}",
        class_="out",
        title="outputs",
        aria_label=f"Outputs of {entry.label}",
    )
    return el(
        "th",
        el("span", link(entry.label, view="system", system=system.name), class_="name"),
        system_facts(system, outputs, run_links(entry.runs) or _versus(entry), doubt(entry.report)),
        scope="row",
        class_="system",
    )


def _versus(entry: Entry) -> Markup:
    return el(
        "a",
        "\N{RIGHTWARDS ARROW OVER LEFTWARDS ARROW}",
        href="?"
        + urlencode({"view": "versus", "direction": entry.direction.name, "first": entry.label}),
        data_link=True,
        class_="out",
        title="head to head",
        aria_label=f"{entry.label} head to head",
    )


def _value_cell(cell: Cell, column: Column) -> Markup:
    if cell.value is None:
        return el("td", el("span", "\N{EN DASH}", title=cell.note, class_="none"), class_="value")
    bounds = None
    if cell.low is not None and cell.high is not None:
        bounds = el("small", interval_text(cell.low, cell.high, column.unit))
    return el(
        "td",
        el("b" if cell.best else "span", number(cell.value, column.unit)),
        deviation_text(cell.deviation, column.unit),
        bounds,
        class_="value human" if column.human else "value",
        data_value=f"{cell.value:.6g}",
        data_rank=rank_text(cell.ranks) if cell.ranks else None,
        title=cell.note,
        style=_bar(cell, column),
    )


def _bar(cell: Cell, column: Column) -> str | None:
    """The interval as fractions of the column's range, drawn as a line by the style sheet."""
    width = column.high - column.low
    if cell.low is None or cell.high is None or width <= 0:
        return None
    start, part = (cell.low - column.low) / width, (cell.high - cell.low) / width
    return f"--from:{start:.2f};--part:{part:.2f}"


_LEAD = (
    "These numbers stand in model repositories of the Hub. Nobody has checked them here: they have "
    "no rank, and may have been measured differently from the table above. The notes say how."
)
_HUB = "https://huggingface.co"


def reported_block(found: FromHub, direction: Direction) -> Markup | None:
    """The block of one direction; ``None`` if there is nothing to show."""
    scores = found.of(direction)
    if not scores and not found.problem:
        return None
    return el(
        "section",
        el("h2", "Reported on the Hub", el("span", "not verified", class_="tag")),
        el("p", _LEAD, class_="lead") if scores else None,
        el("p", found.problem, class_="lead") if found.problem else None,
        _table(scores) if scores else None,
        class_="reported",
        aria_label="Reported on the Hub, not verified",
    )


def _table(scores: list[ReportedScore]) -> Markup:
    titles = ("Model", "Metric", "Value", "Reported by", "Source", "Notes")
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    body = el("tbody", [_row(one) for one in scores])
    return scrolling(el("table", head, body, class_="plain"), "Reported on the Hub")


def _row(one: ReportedScore) -> Markup:
    entry, model = one.reported.entry, one.reported.model
    source = entry.source
    who = (source.user or source.org) if source else None
    url = source.url if source else None
    unit = unit_text(one.metric.unit)
    return el(
        "tr",
        el("th", https_link(f"{_HUB}/{model}", model), scope="row"),
        el("td", one.metric.title),
        el("td", number(entry.value, one.metric.unit), el("small", f" {unit}"), class_="number"),
        el("td", who or model.split("/")[0], el("small", f" {entry.date}") if entry.date else None),
        el("td", https_link(url, (source.name if source else None) or "source")),
        el("td", _notes(entry.notes)),
    )


def _notes(notes: str | None) -> Markup | None:
    if not notes:
        return None
    return el("details", el("summary", "notes"), el("p", notes))


def filters(ranking: Ranking) -> Markup:
    """Family chips, the parallel-data choice, the column menu and the number of rows shown."""
    return el(
        "div",
        _families(ranking),
        _parallel(ranking),
        _columns(ranking),
        _dates(ranking),
        copy_link(),
        download_buttons(),
        el("output", class_="count", role="status", aria_live="polite"),
        class_="filters",
    )


def _families(ranking: Ranking) -> Markup | None:
    present = {row.entry.report.system.family for row in ranking.rows}
    if len(present) < 2:
        return None
    chips = [
        el(
            "button",
            el("span", class_=f"dot {family}"),
            title,
            type="button",
            class_="chip",
            title=meaning,
            aria_pressed="false",
            data_local="family",
            value=family,
        )
        for family, (title, meaning) in FAMILIES.items()
        if family in present
    ]
    return el("div", chips, role="group", aria_label="Only these kinds of system", class_="chips")


def _parallel(ranking: Ranking) -> Markup | None:
    present = {row.entry.report.system.needs_parallel for row in ranking.systems}
    if len(present) < 2:
        return None
    options = [
        el("option", "Any training data", value=""),
        el("option", "No parallel data", value="no"),
        el("option", "Needs parallel data", value="yes"),
    ]
    return el("select", options, data_local="parallel", aria_label="Training data", class_="small")


def _dates(ranking: Ranking) -> Markup | None:
    """From and to, as a year or a month; offered are the dates that occur."""
    present = sorted({d for row in ranking.systems if (d := row.entry.report.system.date)})
    if len(present) < 2:
        return None
    fields = [
        el(
            "input",
            type="text",
            inputmode="numeric",
            pattern=r"\d{4}(-\d{2}){0,2}",
            placeholder=shown,
            size=7,
            maxlength=10,
            list="dates",
            data_local=name,
            aria_label=f"Dated {label}",
            title=f"Only systems dated {label}: a year such as 2018, or a month such as 2018-03",
            autocomplete="off",
        )
        for name, label, shown in (("from", "from", present[0]), ("to", "up to", present[-1]))
    ]
    offered = el("datalist", [el("option", value=date) for date in present], id="dates")
    return el("span", "Dated ", fields[0], DASH, fields[1], offered, class_="dates")


def _columns(ranking: Ranking) -> Markup:
    boxes = [
        el(
            "label",
            el("input", type="checkbox", checked=True, data_local="columns", value=column.key),
            el("span", column.title),
            el("small", column.study or ASPECT_TITLES.get(column.aspect, column.aspect)),
        )
        for column in ranking.columns
    ]
    return el(
        "details",
        el("summary", "Columns"),
        el("div", boxes, class_="menu"),
        class_="columns",
    )


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
            _how_to_read(scene, None if query.rows == "all" else SHOWN),
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


def _how_to_read(scene: Scene, rows: int | None) -> Markup:
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
        for row in (*ranking.systems[:rows], *ranking.bounds[:rows])
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
