"""Lengths and copies of every system, of the sources and of people's rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...pipelines.analysis.data import DirectionResults
from ...pipelines.analysis.sentences import TextStatistics, text_statistics
from ...pipelines.tables import DataTable, csv_text
from ...plots.canvas import name_rows, new_figure, plain, short
from ...plots.colours import colour
from ...plots.rows import LONGEST_NAME
from .items import Item

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lengths_item(results: DirectionResults) -> Item:
    """How long the texts of each system are, and how many are copies."""
    found = text_statistics(results)
    rows, data = [], []
    for r in found:
        data.append(
            (results.name, r.name, r.kind, r.sentences, r.words.value, r.words.low, r.words.high,
             *r.quartiles, r.over_source, r.over_references, r.copied.value, r.copied.low,
             r.copied.high, r.as_reference, r.empty, r.distinct)
        )  # fmt: skip
        rows.append(
            (
                r.name,
                f"{r.words.value:.2f}",
                f"{r.over_source:+.1f}%".replace("-", "\N{MINUS SIGN}"),
                "" if r.over_references is None
                else f"{r.over_references:+.1f}%".replace("-", "\N{MINUS SIGN}"),
                f"{r.copied.value:.1f}",
                "" if r.as_reference is None else f"{r.as_reference:.1f}",
                f"{r.empty:.1f}",
                f"{r.distinct:.1f}",
            )
        )  # fmt: skip
    header = (
        "direction", "name", "kind", "sentences", "words", "words_low", "words_high", "words_p5",
        "words_p25", "words_p50", "words_p75", "words_p95", "over_source_percent",
        "over_references_percent", "copied_percent", "copied_low", "copied_high",
        "as_reference_percent", "empty_percent", "distinct_percent",
    )  # fmt: skip
    table = DataTable(
        name=f"lengths {results.name}",
        title=f"Lengths and copies on {results.name}",
        header=("", "words", "to source", "to references", "copied %", "= reference %", "empty %",
                "distinct %"),
        rows=tuple(rows),
        notes=(
            "Words: mean number per sentence. To source, to references: how much longer that is. "
            "Copied: outputs that equal their source, ignoring case and spaces. = reference: "
            "outputs that equal one of their references. Distinct: different outputs.",
        ),
    )  # fmt: skip
    return Item(
        table=table,
        name="lengths",
        title="Lengths and copies",
        says="What many metrics are sensitive to: long outputs, and copies of the source.",
        alt=f"Words per sentence and share of copies for {len(rows)} sets of texts.",
        csv=csv_text(header, data),
        draw=lambda: draw_lengths(found),
    )


def draw_lengths(rows: Sequence[TextStatistics]) -> Figure:
    """Quartiles and mean of the number of words, and beside them the share of copies."""
    figure = new_figure(6.6, 0.27 * len(rows))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.6, 1))
    plain(left, grid="x")
    plain(right, grid="x")
    people = [r.words.value for r in rows if r.kind == "references"]
    if people:
        left.axvline(people[0], color=colour("accent"), lw=1.1, ls="--", zorder=1)
    for n, row in enumerate(rows):
        ink = colour("fpft") if row.kind == "system" else colour("muted")
        low, lower, median, upper, high = row.quartiles
        left.plot([low, high], [n, n], color=ink, lw=1.0)
        left.barh(
            n, upper - lower, left=lower, height=0.52, color=colour("surface"), ec=ink, lw=1.2
        )
        left.plot([median, median], [n - 0.26, n + 0.26], color=ink, lw=2.2)
        left.plot(row.words.value, n, "D", color=colour("prompted"), ms=5, zorder=3)
        if row.kind in ("source", "references"):
            continue
        right.barh(
            n, row.copied.value, height=0.52, color=ink if row.kind == "system" else "none",
            ec=ink, hatch=None,
        )  # fmt: skip
        if row.copied.low is not None:
            right.plot([row.copied.low, row.copied.high], [n, n], color=colour("ink"), lw=1.1)
        right.annotate(
            f"{row.copied.value:.1f}", (1.0, n), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    left.set_xlim(left=0)
    outputs = [r for r in rows if r.kind not in ("source", "references")]
    right.set_xlim(0, max([5.0, *(r.copied.high or r.copied.value for r in outputs)]) * 1.05)
    name_rows(left, [short(r.name, LONGEST_NAME) for r in rows])
    right.tick_params(labelleft=False)
    left.set_title("Words per sentence", loc="left")
    right.set_title("Copies of the source (%)", loc="left")
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.06)
    said = "box: middle half of the sentences, with the median; whiskers: 5th and 95th percentile"
    said += "\ndiamond: mean" + ("; dashed: mean of the references" if people else "")
    left.annotate(
        said, (0, 0), xycoords="axes fraction", xytext=(0, -24), textcoords="offset points",
        fontsize=8, color=colour("muted"), va="top",
    )  # fmt: skip
    return figure
