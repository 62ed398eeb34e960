"""What an analysis found, in a few lines of a terminal, never wider than 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from ...metrics.statistics import too_few
from ...metrics.units import between, number
from ..standings import Column
from .correlation import CorrelationMatrix, over_systems
from .data import DirectionResults, HumanAspect, score_of
from .sentences import text_statistics
from .trade_off import axis_of, trade_off

WIDTH = 80
_MOST_NAMES = 5


def summary(
    directions: Sequence[DirectionResults], aspects: Sequence[Sequence[HumanAspect]]
) -> str:
    """One block for each direction."""
    blocks = [
        "\n".join(_block(results, some)) for results, some in zip(directions, aspects, strict=True)
    ]
    return "\n\n".join(blocks)


def _block(results: DirectionResults, aspects: Sequence[HumanAspect]) -> list[str]:
    ranked = [r for r in results.reports if not r.system.is_bound]
    systems = "1 system" if len(ranked) == 1 else f"{len(ranked)} systems"
    count = results.reports[0].data.sentences
    lines = [f"{results.name}: {systems}, {count} sentences"]
    column = results.ranking
    best = _best(results, column)
    if best:
        lines.append(_line("best", too_few(count) or f"{best} by {column.title}"))
    style = results.column(aspect="style")
    for name in ("content", "fluency"):
        other = results.column(aspect=name)
        if name == "content":
            other = results.column(("multi_bleu", "r_bleu"), "content")
        plane = (
            trade_off(results, axis_of(results, style), axis_of(results, other))
            if style and other
            else None
        )
        if plane and len(plane.front) > 0:
            lines.append(_line(f"front, {name}", _names(plane.front)))
    matrix = over_systems(results, aspects)
    if any(matrix.human) and matrix.says_something:
        lines.append(_line("with people", _with_people(matrix)))
    copies = [t for t in text_statistics(results) if t.kind == "system"]
    if copies:
        most = max(copies, key=lambda t: (t.copied.value, t.name))
        if most.copied.value > 0:
            text = f"{most.name}, {most.copied.value:.1f}% of its outputs"
            lines.append(_line("most copies", text))
    return lines


def _best(results: DirectionResults, column: Column) -> str:
    ranks = results.standings.ranks.get(column.signature, ())
    for report in results.reports:
        score = score_of(report, column)
        if ranks and report.system.name == ranks[0].system and score and score.value is not None:
            text = f"{report.system.name} {number(score.value, column.unit)}"
            if score.interval:
                text += f" ({between(score.interval.low, score.interval.high, column.unit)})"
            ties = sum(r.ties_best for r in ranks) - 1
            more = f", {ties} not significantly worse" if ties > 0 else ""
            return text + more
    return ""


def _with_people(matrix: CorrelationMatrix) -> str:
    """Per human aspect the metric that correlates most strongly over systems."""
    found = []
    for j, human in enumerate(matrix.human):
        if not human:
            continue
        cells = [
            (abs(cell.value), matrix.titles[i], cell.value)
            for i, cell in enumerate(matrix.cells[j])
            if not matrix.human[i] and cell.value is not None
        ]
        if cells:
            _, title, r = max(cells)
            found.append(f"{matrix.titles[j]}: {title} r = {r:+.2f}")
    return "; ".join(found) or "too few systems"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _line(what: str, text: str) -> str:
    return fill(
        f"  {what:<15} {text}", WIDTH, subsequent_indent=" " * 18, break_on_hyphens=False,
        break_long_words=True,
    )  # fmt: skip
