"""The ranking in every form: for the terminal, for a paper (LaTeX, booktabs), for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ..metrics.facts import METRICS
from .ranking import Rank
from .report import Report, Score
from .tables import DECIMALS, ordered, print_table, ranking_table

Form = Literal["markdown", "latex"]
AnyForm = Literal["table", "markdown", "latex"]
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_MARKDOWN = {c: f"\\{c}" for c in "\\|*_`<>[]"}


def print_ranking(
    reports: Sequence[Report], ranks: Mapping[str, Sequence[Rank]], form: AnyForm
) -> None:
    """Print the ranking of one direction on standard output, in the form asked for."""
    if form == "table":
        print_table(ranking_table(reports, ranks))
    else:
        print(f"{reports[0].direction}\n\n{paper_table(reports, ranks, form)}\n")  # noqa: T201


def paper_table(reports: Sequence[Report], ranks: Mapping[str, Sequence[Rank]], form: Form) -> str:
    """The systems of one direction, best first; bold: best or not significantly different from it.

    Args:
        reports: one a system, of the same direction.
        ranks: the ranking by each metric.
        form: ``markdown`` or ``latex`` (needs the booktabs package).
    """
    metrics = [name for name in METRICS if any(r.score(name) for r in reports)]
    places = {metric: {r.system: r for r in some} for metric, some in ranks.items()}
    arrows = (
        {True: "↑", False: "↓"}
        if form == "markdown"
        else {True: r"$\uparrow$", False: r"$\downarrow$"}
    )
    header = [
        "system",
        *(f"{METRICS[m].title} {arrows[METRICS[m].higher_is_better]}" for m in metrics),
    ]
    escapes = str.maketrans(_MARKDOWN if form == "markdown" else _LATEX)
    rows = [
        [
            report.system.name.translate(escapes),
            *(
                _cell(report.score(m), places.get(m, {}).get(report.system.name), form)
                for m in metrics
            ),
        ]
        for report in ordered(reports, ranks)
    ]
    return _markdown(header, rows) if form == "markdown" else _latex(header, rows)


def _cell(score: Score | None, place: Rank | None, form: Form) -> str:
    if score is None or score.value is None:
        return "–" if form == "markdown" else "--"
    text = f"{score.value:.{DECIMALS[score.unit]}f}"
    if place is None or not place.ties_best:
        return text
    return f"**{text}**" if form == "markdown" else rf"\textbf{{{text}}}"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def _latex(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = [f"{' & '.join(row)} \\\\" for row in rows]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            f"{' & '.join(header)} \\\\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
