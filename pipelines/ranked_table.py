"""A table of systems and numbers as a thing of its own, which every format only has to write down.

What a table claims is decided here and nowhere else: which numbers share a column (those with
equal signatures), what is bold, how systems are ordered, what is said below.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from ..metrics.registry import METRICS, caution, is_neutral
from ..metrics.statistics import too_few
from ..metrics.units import DASH, between, number
from .ranking import Rank
from .report import Report, Score
from .seeds import MeanScore
from .standings import Column, Standings
from .tables import Cell, RankedTable, Row, csv_text

_GENERATOR = {b"generator": b"tstbench report"}  # in the metadata of Parquet
DOUBT = "§"  # behind the name of a system whose outputs look wrong
# The columns of CSV and Parquet, and what is in them.
COLUMNS = {
    "direction": str, "system": str, "bound": bool, "metric": str, "value": float, "low": float,
    "high": float, "unit": str, "higher_is_better": bool, "rank_low": int, "rank_high": int,
    "p_best": float, "bold": bool, "profile": str, "signature": str, "made_with": str,
    "sentences": int, "data": str, "outputs_sha256": str, "seeds": str, "seed_deviation": float,
    "warnings": str, "family": str, "date": str, "run_of": str, "seed": int,
}  # fmt: skip


@dataclass(frozen=True)
class _Column:
    """One score of one direction: all its numbers are comparable."""

    standings: Standings
    of: Column

    @property
    def metric(self) -> str:
        return self.of.metric

    @property
    def ranks(self) -> Sequence[Rank]:
        return self.standings.ranks.get(self.of.signature, ())

    def cell(self, system: str) -> Cell:
        for report in self.standings.reports:
            if report.system.name == system:
                best = not is_neutral(self.metric) and _is_bold(system, self.ranks)
                return _cell(self.of.score_of(report), bold=best)
        return Cell()

    def titled(self, title: str) -> str:
        """A title, numbered where the metric was computed in several ways."""
        if not self.of.number:
            return title
        name = _without_arrow(title)
        return f"{name} ({self.of.number}){title.removeprefix(name)}"


def direction_table(standings: Standings) -> RankedTable:
    """The systems of one direction x their scores, best first by the column that ranks them."""
    best = standings.ranking_column()
    # What ranks stands beside the rank.
    ordered = sorted(standings.columns, key=lambda column: column is not best)
    columns = [_Column(standings, column) for column in ordered]
    first = standings.reports[0]
    profiles = ", ".join(dict.fromkeys(report.profile for report in standings.reports))
    places = {rank.system: rank for rank in standings.ranking()}
    titles = tuple(c.titled(metric_title(c.metric, c.of.signature)) for c in columns)
    # The systems by the first column; those that it does not rank follow, by other columns.
    names = [rank.system for column in columns for rank in column.ranks]
    names += [r.system.name for r in standings.reports if not r.system.is_bound]
    doubts = _doubts([standings])
    order = "No metric has a value here."
    if places:
        order = f"Ranked by {_without_arrow(titles[0]).replace('†', '')}."
    elif columns:
        order = "No system is ranked."
    return RankedTable(
        name=first.direction,
        title=f"{first.direction}, {_count(first.data.sentences, 'sentence')}, profile {profiles}",
        titles=titles,
        rows=_rows(columns, dict.fromkeys(names), doubts, places),
        bounds=_rows(columns, _bounds([standings]), doubts),
        order=order,
        notes=(
            *_too_few([standings]),
            *_without_power(columns, titles),
            *_doubt_notes(doubts),
            *_seeds(standings.reports),
            *_differences(columns, titles),
            *_cautions(columns),
            *_unread([standings]),
        ),
    )


def metric_tables(standings: Sequence[Standings]) -> list[RankedTable]:
    """One table per metric: systems x directions, each direction ranked on its own."""
    by_metric: dict[str, list[_Column]] = {}
    for one in standings:
        for column in one.columns:
            by_metric.setdefault(column.metric, []).append(_Column(one, column))
    asked = dict.fromkeys([*(m for one in standings for m in one.metrics), *METRICS, *by_metric])
    tables = []
    for metric in (name for name in asked if name in by_metric):
        some = by_metric[metric]
        titles = tuple(column.titled(_stacked(column.standings.direction)) for column in some)
        title = f"{metric_title(metric, some[0].of.signature)} by direction"
        doubts = _doubts([column.standings for column in some])
        tables.append(
            RankedTable(
                name=metric,
                title=title,
                titles=titles,
                rows=_rows(some, _by_mean_place(some), doubts),
                bounds=_rows(some, _bounds([column.standings for column in some]), doubts),
                order="Each column is ranked on its own; the systems with most values come first, "
                "then those with the better mean place.",
                notes=(
                    *_too_few(column.standings for column in some),
                    *_without_power(some, [column.standings.direction for column in some]),
                    *_doubt_notes(doubts),
                    *_seeds((r for column in some for r in column.standings.reports), metric),
                    *_differences(some, titles),
                    *_cautions(some),
                    *_unread((column.standings for column in some), metric),
                ),
            )
        )
    return tables


def metric_title(metric: str, signature: str) -> str:
    """``CoLA† ↑``: a dagger refers to a note below, the arrow shows which way is better."""
    facts = METRICS.get(metric)
    if facts is None:
        return metric
    dagger = "†" if caution(metric, signature) else ""
    return f"{facts.title}{dagger} {facts.arrow}".rstrip()


def _by_mean_place(columns: Sequence[_Column]) -> list[str]:
    places: dict[str, list[int]] = {}
    for column in columns:
        for report in column.standings.reports:
            if not report.system.is_bound:
                places.setdefault(report.system.name, [])
        for place, rank in enumerate(column.ranks):
            places[rank.system].append(place)
    return sorted(places, key=lambda n: (-len(places[n]), sum(places[n]), n.casefold()))


def _bounds(standings: Iterable[Standings]) -> list[str]:
    found = (r.system.name for one in standings for r in one.reports if r.system.is_bound)
    return sorted(dict.fromkeys(found), key=str.casefold)


def _too_few(standings: Iterable[Standings]) -> list[str]:
    """The directions that have no intervals and no tests, and why."""
    found = {one.direction: one.reports[0].data.sentences for one in standings}
    return [f"{name}: {why}." for name, count in found.items() if (why := too_few(count))]


def no_power(marked: Sequence[tuple[str, bool]]) -> str | None:
    """What to say of systems marked as not different from the best, where better ones are not.

    Args:
        marked: each system, and whether it is marked, best first.

    >>> no_power([("a", True), ("b", True), ("c", False)])
    >>> no_power([("a", True), ("b", False), ("c", True)])
    'c varies so much between sentences that the test shows no difference from the best, though it \
does for better systems: the mark says uncertain, not good'
    """
    unmarked = next((i for i, (_, mark) in enumerate(marked) if not mark), len(marked))
    names = [name for name, mark in marked[unmarked:] if mark]
    if not names:
        return None
    return (
        f"{', '.join(names)} varies so much between sentences that the test shows no difference "
        "from the best, though it does for better systems: the mark says uncertain, not good"
    )


def _without_power(columns: Sequence[_Column], titles: Sequence[str]) -> list[str]:
    found = []
    for column, title in zip(columns, titles, strict=True):
        said = no_power([(r.system, r.ties_best) for r in column.ranks])
        if said and not is_neutral(column.metric):
            found.append(f"{_without_arrow(title)}: {said}.")
    return found


Doubts = Mapping[str, Sequence[str]]  # what looks wrong with a system's outputs, by its name


def warnings_of(report: Report, reports: Iterable[Report]) -> tuple[str, ...]:
    """What looks wrong with a system's outputs.

    Args:
        report: the system's.
        reports: those of all systems of the direction, which should not have the same outputs.
    """
    if report.system.is_bound:
        return report.warnings
    others = (r for r in reports if r.system.name != report.system.name)
    same = [r.system.name for r in others if r.outputs_sha256 == report.outputs_sha256]
    return (*report.warnings, *([f"every output is that of {', '.join(same)}"] if same else []))


def _doubts(standings: Iterable[Standings]) -> Doubts:
    by_direction = {one.direction: one for one in standings}
    found: dict[str, list[str]] = {}
    for direction, one in by_direction.items():
        where = f"{direction}: " if len(by_direction) > 1 else ""
        for report in one.reports:
            if said := warnings_of(report, one.reports):
                found.setdefault(report.system.name, []).append(f"{where}{'; '.join(said)}")
    return found


def _doubt_notes(doubts: Doubts) -> list[str]:
    return [f"{DOUBT} {name}: {'; '.join(said)}." for name, said in doubts.items()]


def _rows(
    columns: Sequence[_Column],
    names: Iterable[str],
    doubts: Doubts,
    places: Mapping[str, Rank] | None = None,
) -> tuple[Row, ...]:
    rows = []
    for name in names:
        place = (places or {}).get(name)
        rank = "" if not places else DASH if place is None else _range(place.low, place.high)
        mark = DOUBT if name in doubts else ""
        rows.append(Row(name, rank, tuple(column.cell(name) for column in columns), mark))
    return tuple(rows)


def _cell(score: Score | None, *, bold: bool) -> Cell:
    """The value, or a dash; behind a mean over seeds their standard deviation."""
    if score is None:
        return Cell(bold=bold)
    text, bounds = DASH, score.interval
    if score.value is not None:
        text = number(score.value, score.unit)
        if isinstance(score, MeanScore) and score.spread.deviation is not None:
            text += f" ±{number(score.spread.deviation, score.unit)}"
    interval = between(bounds.low, bounds.high, score.unit) if bounds else ""
    return Cell(text, interval, bold)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}{DASH}{high}"


def _is_bold(system: str, ranks: Sequence[Rank]) -> bool:
    """A lone system has nothing to be better than."""
    return len(ranks) > 1 and any(r.system == system and r.ties_best for r in ranks)


def _stacked(direction: str) -> str:
    """A direction as a narrow title of three lines."""
    return direction.replace("/", "\n", 1).replace("-to-", "\nto ", 1)


def _without_arrow(title: str) -> str:
    return title.rstrip(" ↑↓")


def _differences(columns: Sequence[_Column], titles: Sequence[str]) -> list[str]:
    """For each metric that was computed in several ways: in what they differ."""
    said: dict[str, None] = {}
    for column in columns:
        if not column.of.number:
            continue
        key = column.metric, column.standings.direction
        twins = [c for c in columns if (c.metric, c.standings.direction) == key]
        fields = [set(twin.of.signature.split("|")[1:]) for twin in twins]
        common = set.intersection(*fields)
        ways = []
        for twin in twins:
            own = [f for f in twin.of.signature.split("|")[1:] if f not in common]
            name = _without_arrow(titles[columns.index(twin)]).replace("\n", " ")
            ways.append(f"{name} {' '.join(own) or 'as the others'}")
        said["; ".join(ways) + ". Their numbers cannot be compared."] = None
    return list(said)


def _seeds(reports: Iterable[Report], metric: str | None = None) -> list[str]:
    """Of which systems several runs are there, with which seeds."""
    seeds: dict[str, dict[int, None]] = {}
    for report in reports:
        for score in report.scores:
            if isinstance(score, MeanScore) and metric in (None, score.metric):
                seeds.setdefault(report.system.name, {}).update(dict.fromkeys(score.spread.seeds))
    if not seeds:
        return []
    runs = (f"{name} n = {len(some)} ({', '.join(map(str, some))})" for name, some in seeds.items())
    return [
        f"±: standard deviation over training seeds, behind their mean: {'; '.join(runs)}. "
        "Interval and rank are those of the mean, over sentences."
    ]


def _cautions(columns: Sequence[_Column]) -> list[str]:
    found = (caution(column.metric, column.of.signature) for column in columns)
    return [f"† {note}" for note in dict.fromkeys(filter(None, found))]


def _unread(standings: Iterable[Standings], metric: str | None = None) -> list[str]:
    """Which answers of judges were no score, by system."""
    return [
        f"{_without_arrow(metric_title(score.metric, score.signature))} of {report.system.name}, "
        f"{one.direction}: {score.unread}."
        for one in {some.direction: some for some in standings}.values()
        for report in one.reports
        for score in report.scores
        if score.unread and metric in (None, score.metric)
    ]


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def csv_values(standings: Sequence[Standings]) -> str:
    """One line per direction, system and score; numbers in full, empty where there is none."""
    return csv_text(COLUMNS, (row for one in standings for row in values(one)), digits=None)


def parquet_values(standings: Sequence[Standings]) -> bytes:
    """The same as Parquet, for pandas, DuckDB or the Hub: empty cells are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    rows = [row for one in standings for row in values(one)]
    columns = [
        pa.array([row[place] for row in rows], kinds[kind])
        for place, kind in enumerate(COLUMNS.values())
    ]
    table = pa.table(columns, names=list(COLUMNS))
    stream = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(_GENERATOR), stream)
    return stream.getvalue()


def is_ours(content: bytes) -> bool:
    """Whether Parquet is of :func:`parquet_values`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(pa.BufferReader(content)).metadata or {}
    except pa.ArrowException:
        return False
    return _GENERATOR.items() <= found.items()


def values(standings: Standings) -> Iterator[tuple[object, ...]]:
    """One row per number, see :data:`COLUMNS`."""
    for report in standings.reports:
        system, data = report.system, report.data
        for score in report.scores:
            ranks = standings.ranks.get(score.signature, ())
            place = next((rank for rank in ranks if rank.system == system.name), None)
            bounds = score.interval
            spread = score.spread if isinstance(score, MeanScore) else None
            yield (
                report.direction,
                system.name,
                system.is_bound,
                score.metric,
                score.value,
                bounds.low if bounds else None,
                bounds.high if bounds else None,
                score.unit,
                score.higher_is_better,
                place.low if place else None,
                place.high if place else None,
                place.p_best if place and isfinite(place.p_best) else None,
                bool(place and place.ties_best and len(ranks) > 1),
                score.profile,
                score.signature,
                score.made_with,
                data.sentences,
                data.fingerprint,
                report.outputs_sha256,
                " ".join(map(str, spread.seeds)) if spread else None,
                spread.deviation if spread else None,
                "; ".join(warnings_of(report, standings.reports)) or None,
                system.family,
                system.date,
                system.seed_run.system if system.seed_run else None,
                system.seed_run.seed if system.seed_run else None,
            )
