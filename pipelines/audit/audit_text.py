"""What an audit found, for a terminal of 80 columns, as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from .audit import Audit, Finding
from .protocol import Value

SHOWN = 8  # protocols of a list, unless all are asked for


def as_text(audit: Audit, *, every: bool = False) -> str:
    """Lines of at most 80 columns, unless a system's name is longer.

    Args:
        audit: what was found.
        every: show every protocol that reproduces a claim, and not only the first.
    """
    blocks = [f"{audit.system} on {' and '.join(audit.directions)}"]
    for finding in audit.findings:
        blocks.append("\n".join(_finding_lines(finding, every=every)))
    blocks += [fill(f"note: {note}", 80, subsequent_indent="  ") for note in audit.notes]
    return "\n\n".join(blocks)


def _finding_lines(finding: Finding, *, every: bool) -> Iterator[str]:
    met = finding.reproduced_by
    yield verdict(finding)
    shown = met or finding.values[:3]
    if not met:
        yield "  the nearest:"
    cut = shown if every else shown[:SHOWN]
    yield from _lines(cut)
    if len(cut) < len(shown):
        yield f"  and {len(shown) - len(cut)} more: --all, or --format csv"
    if tools := _tools(finding):
        several = any("over" in dict(one.choices) for one in finding.values)
        how = " (mean of directions/all as one corpus)" if several else ""
        yield f"  well-known tools on these files{how}:"
        yield from _aligned(tools)
    low, high = finding.lowest, finding.highest
    if low.value == high.value:
        return
    yield f"  spread over all protocols: {_number(low)} to {_number(high)}"
    yield f"    lowest   {_choices(low)}"
    yield f"    highest  {_choices(high)}"


def _choices(value: Value) -> str:
    return ", ".join(choice for _, choice in value.choices)


def verdict(finding: Finding) -> str:
    """One line: how many protocols reproduce the claim."""
    met, tried = len(finding.reproduced_by), len(finding.values)
    if met:
        return f"{finding.claim}: reproduced by {met} of {tried} protocols"
    nearest = finding.values[0]
    return (
        f"{finding.claim}: none of {tried} protocols gives it; the nearest gives {_number(nearest)}"
    )


def _lines(values: Sequence[Value]) -> Iterator[str]:
    """Protocols, one a line, one column a choice."""
    rows = [[name for name, _ in values[0].choices] + ["value", ""]]
    rows += [[choice for _, choice in one.choices] + [_number(one), one.known_as] for one in values]
    yield from _aligned([row[:-1] for row in rows])


def _tools(finding: Finding) -> list[list[str]]:
    """Well-known tools by the references that they were given: one line a tool."""
    columns: dict[str, None] = {}
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for value in finding.known:
        made = dict(value.choices)
        refs = made["refs"]
        if refs in ("source", "1") or refs.startswith("all"):
            columns[refs] = None
            cells.setdefault((value.known_as, refs), {})[made.get("over", "")] = _number(value)
    header = sorted(columns, reverse=True)
    tools = sorted({tool for tool, _ in cells}, key=str.lower)
    lines = []
    for tool in tools:
        values = [cells.get((tool, refs), {}) for refs in header]
        lines.append([tool, *("/".join(own[over] for over in sorted(own)) for own in values)])
    return [["", *(_REFERENCES.get(refs, refs) for refs in header)], *lines] if lines else []


_REFERENCES = {"1": "first ref", "source": "source"}


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()


def _number(value: Value) -> str:
    return f"{value.value:.3g}" if abs(value.value) < 1 else f"{value.value:.2f}"


def as_markdown(audits: Sequence[Audit]) -> str:
    """One table: a line a claim, with the spread and the first protocols that reproduce it."""
    lines = [
        "| system | directions | claim | reproduced by | protocols | nearest | spread |",
        "| --- | --- | --- | --- | ---: | ---: | ---: |",
    ]
    for audit in audits:
        for finding in audit.findings:
            met = finding.reproduced_by
            how = "; ".join(one.known_as or one.protocol for one in met[:2]) if met else "none"
            cells = (
                audit.system,
                ", ".join(audit.directions),
                str(finding.claim),
                how,
                f"{len(met)} of {len(finding.values)}",
                _number(finding.values[0]),
                f"{_number(finding.lowest)} to {_number(finding.highest)}",
            )
            lines.append(f"| {' | '.join(cell.replace('|', ', ') for cell in cells)} |")
    return "\n".join(lines)


def as_csv(audits: Sequence[Audit]) -> str:
    """Every protocol of every claim, one line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = (
        "system",
        "directions",
        "metric",
        "claim",
        "value",
        "reproduces",
        "protocol",
        "known_as",
    )
    writer.writerow(header)
    for record in records(audits):
        writer.writerow([_safe(record[name]) for name in header])
    return text.getvalue()


def records(audits: Sequence[Audit]) -> Iterator[Mapping[str, Any]]:
    """Every protocol of every claim, nearest first, as plain values."""
    for audit in audits:
        for finding in audit.findings:
            for one in finding.values:
                yield {
                    "system": audit.system,
                    "directions": ";".join(audit.directions),
                    "metric": finding.claim.metric,
                    "claim": finding.claim.text,
                    "value": one.value,
                    "reproduces": finding.claim.is_met_by(one.value),
                    "protocol": one.protocol,
                    "known_as": one.known_as,
                }


def _safe(cell: object) -> object:
    """A text that a spreadsheet would take for a formula has an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell
