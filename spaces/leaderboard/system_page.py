"""The page of one system: who made it, its scores on all directions, and its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from markupsafe import Markup

from ...datasets_scripts.catalog import DATASETS
from ...errors import InputError, unknown_name
from ...pipelines.growth import Earlier, read_history
from ...pipelines.ranked_table import DOUBT
from ...pipelines.report import Report, SystemInfo
from .data import Board, Entry, direction_title
from .groups import Setting, settings
from .markup import Child, el, join, ui
from .query import Query
from .ranking import Cell, Column
from .ranks import RankCache
from .runs import ABOUT, together
from .scene import View, open_scene
from .words import DASH, interval_text, metric_title, number, parallel_text, rank_text, unit_text


@dataclass(frozen=True)
class Standing:
    """One report of a system, in one setting of its direction.

    Attributes:
        entry: with the label that it has in this setting.
        setting: the setting's key, for links.
        way: the setting's label, where its direction has several; otherwise empty.
        cells: by metric; human scores are left out.
        ranked: by metric: how many systems have a rank.
        pending: whether ranks are still being computed.
    """

    entry: Entry
    setting: str
    way: str
    cells: dict[str, tuple[Column, Cell]]
    ranked: dict[str, int]
    pending: bool


def systems(board: Board) -> dict[str, int]:
    """The names of all systems, and on how many directions each was scored."""
    directions: dict[str, set[str]] = {}
    for direction in board.directions:
        for setting in settings(board.of(direction.name)):
            for entry in (*setting.entries, *together(setting.entries)):  # runs, and their systems
                directions.setdefault(entry.report.system.name, set()).add(direction.name)
    return {name: len(directions[name]) for name in sorted(directions, key=str.casefold)}


def standings(board: Board, name: str, ranks: RankCache) -> Iterator[Standing]:
    """The rows of the system with that name, by direction, then by setting."""
    wanted: list[tuple[Query, Setting, bool]] = []
    for direction in board.directions:
        for runs in settings(board.of(direction.name)):
            setting = replace(runs, entries=together(runs.entries))
            # A run has no row in the ranking, where its system has one: it is ranked for itself.
            alone = _has(runs.entries, name) and not _has(setting.entries, name)
            if alone or _has(setting.entries, name):
                query = replace(Query(), direction=direction.name, setting=setting.key)
                wanted.append((query, runs if alone else setting, alone))
    ranks.ask(board, [setting for _, setting, _ in wanted])
    for query, setting, alone in wanted:
        scene = open_scene(board, query, ranks, each_run=alone)
        if scene is None:  # cannot be: the direction has entries
            continue
        columns = scene.ranking.columns
        for row in scene.ranking.rows:
            if row.entry.report.system.name != name:
                continue
            yield Standing(
                entry=row.entry,
                setting=setting.key,
                way=setting.label if len(scene.settings) > 1 else "",
                cells={
                    column.key: (column, cell)
                    for column, cell in zip(columns, row.cells, strict=True)
                    if not column.human
                },
                ranked={
                    column.key: sum(r.cells[i].ranks is not None for r in scene.ranking.rows)
                    for i, column in enumerate(columns)
                },
                pending=scene.pending,
            )


def _has(entries: Iterable[Entry], name: str) -> bool:
    return any(entry.report.system.name == name for entry in entries)


BOUND = (
    "This is a bound, not a competitor: it shows what a system could reach, so it has no rank "
    "and is never bold."
)


def system_view(board: Board, query: Query, ranks: RankCache) -> View:
    """The page of the system in the link; without one, the list of all systems."""
    if not board.entries:
        return View(ui.nothing_yet(board), "Systems")
    names = systems(board)
    if query.system not in names:
        return _no_such_system(names, query.system)
    found = list(standings(board, query.system, ranks))
    info = found[0].entry.report.system
    html = join(
        [
            _heading(info),
            ui.notice(BOUND) if info.is_bound else None,
            _card(found),
            el("h3", "Scores"),
            _scores(found),
            _about_scores(info, found),
            el("h3", "Outputs and reports"),
            _reports(found),
            _history(found),
        ]
    )
    pending = any(one.pending for one in found)
    return View(el("div", html, class_="system-page"), query.system, pending=pending)


def _no_such_system(names: dict[str, int], wanted: str) -> View:
    warning = None
    if wanted:
        hint = str(unknown_name("system", wanted, names)).partition(" Known:")[0]
        text = f"There is no page for this {hint.removeprefix('unknown ')}"
        warning = ui.notice(f"{text.rstrip('.')}." if "?" not in text else text, kind="warning")
    items = [
        el("li", ui.link(name, view="system", system=name), " ", el("small", _directions(count)))
        for name, count in names.items()
    ]
    listed = el("ul", items, class_="all-systems")
    return View(
        join([el("h2", "No such system" if wanted else "All systems"), warning, listed]),
        "No such system" if wanted else "All systems",
        status=404 if wanted else 200,
    )


def _directions(count: int) -> str:
    return f"{count} direction{'s' * (count != 1)}"


def _heading(info: SystemInfo) -> Markup:
    back = el("p", ui.link("All systems", view="system"), class_="back")
    facts = ui.system_facts(info.model_copy(update={"origin": None}))  # the card has it in full
    return join([back, el("h2", info.name), facts])


def _card(found: Sequence[Standing]) -> Markup:
    """What the reports say of the system; of several answers, all."""
    infos = list(dict.fromkeys(one.entry.report.system for one in found))
    count = len({one.entry.direction.name for one in found})

    def told(values: Sequence[Child]) -> list[Markup]:
        given = list(dict.fromkeys(value for value in values if value))
        return [el("dd", value) for value in given] or [el("dd", "not stated", class_="none")]

    processed = [", ".join(info.post_processing) for info in infos]
    hashes = [el("code", info.system_hash) for info in infos if info.system_hash]
    facts = {
        "Directions": told([str(count)]),
        "Training data": told([parallel_text(info.needs_parallel) for info in infos]),
        "Date": told([info.date for info in infos]),
        "Origin": told([info.origin for info in infos]),
        **({"Run of": told([_run_of(info) for info in infos])} if _is_run(infos) else {}),
        **({"Post-processing": told(processed)} if any(processed) else {}),
        "System SHA-256": told(hashes),
    }
    return el("dl", [(el("dt", name), values) for name, values in facts.items()], class_="card")


def _is_run(infos: Sequence[SystemInfo]) -> bool:
    return any(info.seed_run is not None for info in infos)


def _run_of(info: SystemInfo) -> str | None:
    run = info.seed_run
    return None if run is None else f"{run.system}, seed {run.seed}"


def _scores(found: Sequence[Standing]) -> Markup:
    metrics = _metrics(found)
    head = [
        el("th", "Direction", scope="col"),
        [
            el("th", metric_title(m), el("small", _unit(found, m)), scope="col", class_="value")
            for m in metrics
        ],
    ]
    rows = [el("tr", _where(one), [_score(one, metric) for metric in metrics]) for one in found]
    table = el(
        "table",
        el("caption", "Scores by direction", class_="unseen"),
        el("thead", el("tr", head)),
        el("tbody", rows),
        class_="plain standing",
    )
    return ui.scrolling("Scores by direction", caller=lambda: table)


def _metrics(found: Sequence[Standing]) -> list[str]:
    """All metrics that are in a row, in the rankings' order."""
    longest_first = sorted(found, key=lambda one: -len(one.cells))
    return list(dict.fromkeys(metric for one in longest_first for metric in one.cells))


def _unit(found: Sequence[Standing], metric: str) -> str:
    column = next(one.cells[metric][0] for one in found if metric in one.cells)
    arrow = "\N{UPWARDS ARROW}" if column.higher_is_better else "\N{DOWNWARDS ARROW}"
    return f"{unit_text(column.unit)} {arrow}"


def _where(one: Standing) -> Markup:
    entry = one.entry
    ranking = ui.link(
        direction_title(entry.direction),
        view="ranking",
        direction=entry.direction.name,
        setting=one.setting,
    )
    name = entry.label if entry.label != entry.report.system.name else None
    details = [el("small", text) for text in (name, one.way) if text]
    return el("th", ranking, details, scope="row")


def _score(one: Standing, metric: str) -> Markup:
    column, cell = one.cells.get(metric, (None, None))
    if column is None or cell is None or cell.value is None:
        note = cell.note if cell else "Not measured in this setting."
        return el("td", el("span", DASH, title=note, class_="none"), class_="value")
    interval = None
    if cell.low is not None and cell.high is not None:
        interval = el("small", interval_text(cell.low, cell.high, column.unit))
    rank = None
    if cell.ranks:
        star = "*" if column.tested == "untested" else ""
        of = f"{rank_text(cell.ranks)} of {one.ranked[metric]}{star}"
        rank = el("small", f"rank {of}", class_="rank-of")
    shown = el("b" if cell.best else "span", number(cell.value, column.unit))
    spread = ui.deviation(cell.deviation, column.unit)
    return el("td", shown, spread, interval, rank, class_="value")


def _about_scores(info: SystemInfo, found: Sequence[Standing]) -> Markup:
    lines = ["Below each score: its 95% bootstrap interval, and its rank on that direction."]
    if not info.is_bound:
        lines.append(
            "Bold: best on that direction, or not significantly different from the best (paired "
            "bootstrap, p \N{GREATER-THAN OR EQUAL TO} 0.05)."
        )
    if any(one.entry.runs for one in found):
        lines.append(ABOUT)
    if any(
        column.tested == "untested" and cell.ranks
        for one in found
        for column, cell in one.cells.values()
    ):
        lines.append("* A rank by value alone, without a significance test.")
    return el("div", [el("p", line) for line in lines], class_="legend")


def _reports(found: Sequence[Standing]) -> Markup:
    """Each report once: the texts, and what they were measured with."""
    by_folder = {one.entry.folder: one for one in reversed(found)}
    head = ("Direction", "Outputs", "Test set", "Scored with", "Software")
    rows = [
        el(
            "tr",
            _where(one),
            el("td", _outputs(one)),
            el("td", *_test_set(one)),
            el("td", f"{one.entry.report.profile} profile", *_unread(one.entry.report)),
            el("td", _software(one)),
        )
        for one in reversed(by_folder.values())
    ]
    table = el(
        "table",
        el("caption", "Reports of this system", class_="unseen"),
        el("thead", el("tr", [el("th", text, scope="col") for text in head])),
        el("tbody", rows),
        class_="plain reports",
    )
    return ui.scrolling("Reports of this system", caller=lambda: table)


def _history(found: Sequence[Standing]) -> list[Markup] | None:
    """What newer outputs replaced, the latest first."""
    folders = {one.entry.folder: one for one in found if not one.entry.runs}
    rows = []
    for folder, one in folders.items():
        try:
            history = read_history(folder)
        except InputError as error:
            rows.append(el("tr", _where(one), el("td", str(error), colspan="4")))
            continue
        rows += [_earlier(one, before) for before in reversed(history)]
    if not rows:
        return None
    head = ("Direction", "Until", "Because", "Outputs", "Scores")
    table = el(
        "table",
        el("caption", "Earlier results", class_="unseen"),
        el("thead", el("tr", [el("th", text, scope="col") for text in head])),
        el("tbody", rows),
        class_="plain reports",
    )
    return [el("h3", "Earlier results"), ui.scrolling("Earlier results", caller=lambda: table)]


def _earlier(one: Standing, before: Earlier) -> Markup:
    scores = [
        el(
            "li",
            f"{metric_title(score.metric)} ",
            DASH if score.value is None else number(score.value, score.unit),
            title=score.signature,
        )
        for score in before.scores
    ]
    short = el("code", before.outputs_sha256[:12], title=f"SHA-256 {before.outputs_sha256}")
    return el(
        "tr",
        _where(one),
        el("td", before.until),
        el("td", before.why),
        el("td", short),
        el("td", el("details", el("summary", f"{len(scores)} scores"), el("ul", scores))),
    )


def _outputs(one: Standing) -> Markup:
    entry = one.entry
    if entry.runs:
        return join([ui.run_links(entry.runs)])
    direction, report = entry.direction.name, entry.report
    short = el("code", report.outputs_sha256[:12], title=f"SHA-256 {report.outputs_sha256}")
    place = {"direction": direction, "setting": one.setting}
    rival = ui.link("Head to head", view="versus", first=entry.label, **place)
    published = ui.https(report.system.outputs_url, "Published here")
    doubts = el("small", f"{DOUBT} {'; '.join(report.warnings)}.") if report.warnings else None
    short = join([short, doubts])
    others = el("small", rival, (" \N{MIDDLE DOT} ", published) if published else None)
    if not entry.has_samples:
        dataset = DATASETS.get(entry.direction.dataset)
        licensed = dataset is not None and dataset.licensed
        why = "licensed, not shown" if licensed else "texts not present"
        return join([short, el("small", why), others])
    samples = ui.link("Read", view="samples", systems=entry.label, **place)
    query = urlencode({"download": "outputs", "direction": direction, "system": entry.folder.name})
    download = el("a", "Download", href=f"?{query}", download=True)
    return join([short, el("small", samples, " \N{MIDDLE DOT} ", download), others])


def _test_set(one: Standing) -> tuple[Child, ...]:
    data = one.entry.report.data
    return (
        f"{data.sentences} sentences",
        el("small", el("code", data.fingerprint[:12]), f", cleaning {data.cleaning}"),
    )


def _unread(report: Report) -> list[Markup]:
    """Which answers of judges were no score."""
    return [
        el("small", f"{metric_title(score.metric)}: {score.unread}.")
        for score in report.scores
        if score.unread
    ]


def _software(one: Standing) -> Markup:
    """The package and the libraries that computed the scores; several if it grew over time."""
    report = one.entry.report
    versions = dict.fromkeys(
        part for score in report.scores for part in score.made_with.split("|") if part
    )
    items = [el("li", part.replace(":", " ", 1)) for part in versions]
    return el("details", el("summary", f"tstbench {report.tstbench}"), el("ul", items))
