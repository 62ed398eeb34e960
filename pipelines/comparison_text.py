"""A comparison of two systems for the terminal, and as a record for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..metrics.registry import caution
from ..metrics.statistics import too_few
from ..metrics.units import DASH, number
from .comparison import Compared, Comparison, NotCompared, SentencePair
from .ranked_table import metric_title
from .ranking import ALPHA
from .tables import foreign
from .terminal_table import columns_table, fitting, notes, print_group, width_here

_SYSTEMS = ("A", "B")
_COLUMNS = (
    "A", "B", "A - B", "95% interval", "better", "p", "p (Holm)", "effect", "won/tied/lost",
)  # fmt: skip


def print_comparison(comparison: Comparison) -> None:
    """Print the numbers: one line per metric, in blocks if the terminal is narrow."""
    width = width_here()
    shown: list[RenderableType] = [foreign(f"{comparison.direction}, {comparison.count} sentences")]
    for letter, system in zip(_SYSTEMS, comparison.systems, strict=True):
        shown.append(foreign(f"{letter}: {system.name}"))
    rows = [_cells(one) for one in comparison.metrics]
    titles = [_title(one) for one in comparison.metrics]
    needed = [max(map(cell_len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    fixed = max(map(cell_len, [*titles, "metric"]))
    for block in fitting(needed, fixed, width) if rows else ():
        table = columns_table()
        table.add_column("metric", no_wrap=True)
        for i in block:
            table.add_column(_COLUMNS[i], justify="right", no_wrap=True)
        for title, row in zip(titles, rows, strict=True):
            table.add_row(foreign(title), *(Text(row[i]) for i in block))
        shown += [Text(""), table]
    print_group(Group(*shown, Text(""), notes(notes_on(comparison), width)), width)


def notes_on(comparison: Comparison) -> list[str]:
    """What has to be said below the numbers."""
    why = too_few(comparison.count)
    said = [f"{why}."] if why else []
    if comparison.tests:
        said.append(
            f"better: p (Holm) < {ALPHA}; p: paired bootstrap, two-sided; Holm: corrected for "
            f"{comparison.tests} test{'s' * (comparison.tests != 1)}; effect: A - B in standard "
            "deviations of one sentence; won/tied/lost: sentences, seen from A."
        )
    said += [
        f"{letter} is the mean of {len(seeds)} runs, with the seeds {', '.join(map(str, seeds))}: "
        "name a run to compare it alone, and by sentence."
        for letter, seeds in zip(_SYSTEMS, comparison.seeds, strict=True)
        if seeds
    ]
    for letter, warnings in zip(_SYSTEMS, comparison.warnings, strict=True):
        said += [f"careful: {letter}: {warning}." for warning in warnings]
    if comparison.same_outputs:
        said.append("A and B wrote exactly the same.")
    cautions = (caution(one.metric, one.signature) for one in comparison.metrics)
    said += [f"† {note}" for note in dict.fromkeys(filter(None, cautions))]
    said += [f"{_title(one)} not compared: {one.why}" for one in comparison.not_compared]
    return said


def print_pairs(by: Compared, pairs: Sequence[SentencePair]) -> None:
    """Print sentences with both outputs."""
    found = f"Where A loses most by {_title(by)}:" if pairs else f"A never loses by {_title(by)}."
    shown: list[RenderableType] = [Text(""), Text(found)]
    for pair in pairs:
        scores = (number(score, by.unit) for score in pair.scores)
        values = ", ".join(f"{letter} {s}" for letter, s in zip(_SYSTEMS, scores, strict=True))
        table = Table.grid(padding=(0, 2, 0, 0))
        for what, text in (
            ("source", pair.source),
            *zip(_SYSTEMS, pair.predictions, strict=True),
            *(("reference", text) for text in pair.references),
        ):
            table.add_row(Text(what), foreign(text))
        shown += [Text(""), foreign(f"{pair.id}: {values}"), table]
    print_group(Group(*shown), width_here())


def comparison_record(comparison: Comparison, pairs: Sequence[SentencePair]) -> dict[str, Any]:
    """Everything as plain values: what ``--json`` prints."""
    return {
        "direction": comparison.direction,
        "systems": [system.model_dump(mode="json") for system in comparison.systems],
        "sentences": comparison.count,
        "same_outputs": comparison.same_outputs,
        "seeds": [list(seeds) for seeds in comparison.seeds],
        "warnings": [list(warnings) for warnings in comparison.warnings],
        "tests": comparison.tests,
        "metrics": [
            {**asdict(one), "difference": one.difference, "winner": one.winner}
            for one in comparison.metrics
        ],
        "not_compared": [asdict(one) for one in comparison.not_compared],
        "worst": [asdict(pair) for pair in pairs],
    }


def _title(one: Compared | NotCompared) -> str:
    signature = one.signature if isinstance(one, Compared) else ""
    return metric_title(one.metric, signature)


def _cells(one: Compared) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return DASH if value is None else number(value, one.unit)

    def signed(value: float | None) -> str:
        return DASH if value is None else f"{'+' if value > 0 else ''}{number(value, one.unit)}"

    bounds = DASH if one.low is None else f"{signed(one.low)} to {signed(one.high)}"
    counts = one.sentences
    return (
        shown(one.first),
        shown(one.second),
        signed(one.difference),
        bounds,
        DASH if one.winner is None else _SYSTEMS[one.winner],
        _p(one.p),
        _p(one.p_holm),
        DASH if one.effect is None else f"{one.effect:+.2f}",
        f"{counts.won}/{counts.tied}/{counts.lost}" if counts else DASH,
    )


def _p(value: float | None) -> str:
    return DASH if value is None else f"{value:.3f}"
