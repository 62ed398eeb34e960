"""The pictures, as plotly figures: pure functions from rankings to figures.

Colours of text and grid are left to the style sheet, which knows light from dark. Plotly reads
some HTML in its labels, so every name is escaped on its way in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from .correlation import Correlations
from .overview import Overview
from .ranking import Cell, Column, Ranking, Row
from .words import ASPECT_TITLES, FAMILIES, metric_title, number, styles_text, unit_text

# Okabe and Ito (2008), darkened or lightened until each stands 3:1 from white and from our dark
# background; a symbol says the same for those who do not tell colours apart.
COLOURS = {
    "fpft": ("#3c7cc4", "circle"),
    "peft": ("#8f6bc9", "diamond"),
    "prompted": ("#c9732b", "square"),
    "rule": ("#2f9476", "triangle-up"),
    "human": ("#c45590", "star"),
    "unknown": ("#80858d", "x"),
}
_SERIES = ("#3c7cc4", "#c9732b", "#2f9476", "#8f6bc9", "#c45590", "#80858d")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MOST_BARS = 25
MOST_ACROSS = len(_SERIES)
_LABELLED = 10  # systems; of more, only those at the frontier are named


def trade_off(ranking: Ranking, across: Column, up: Column) -> go.Figure:
    """Two metrics against each other, with both intervals; better is right and up."""
    i, j = ranking.columns.index(across), ranking.columns.index(up)
    rows = [
        r for r in ranking.rows if r.cells[i].value is not None and r.cells[j].value is not None
    ]
    rows.sort(key=lambda row: list(FAMILIES).index(row.entry.report.system.family))
    figure = _figure(height=420)
    labelled = (
        set(map(id, rows)) if len(rows) <= _LABELLED else _undominated(rows, across, up, i, j)
    )
    for family, some in groupby(rows, key=lambda row: row.entry.report.system.family):
        own = list(some)
        colour, symbol = COLOURS[family]
        figure.add_scatter(
            x=[row.cells[i].value for row in own],
            y=[row.cells[j].value for row in own],
            error_x=_errors([row.cells[i] for row in own], colour),
            error_y=_errors([row.cells[j] for row in own], colour),
            text=[_short(row.entry.label) if id(row) in labelled else "" for row in own],
            customdata=[_hover(row, (i, j), ranking.columns) for row in own],
            hovertemplate="%{customdata}<extra></extra>",
            mode="markers+text",
            textposition="top center",
            marker={"color": colour, "symbol": symbol, "size": 10},
            name=FAMILIES[family][0],
        )
    figure.update_xaxes(**_axis(across))
    figure.update_yaxes(**_axis(up))
    return figure


def _undominated(rows: Sequence[Row], across: Column, up: Column, i: int, j: int) -> set[int]:
    """The systems that no other beats on both metrics at once, by ``id``."""

    def place(row: Row) -> tuple[float, float]:
        x, y = row.cells[i].value or 0.0, row.cells[j].value or 0.0
        return x if across.higher_is_better else -x, y if up.higher_is_better else -y

    best, found = float("-inf"), set()
    for row in sorted(rows, key=place, reverse=True):
        if place(row)[1] > best:
            best = place(row)[1]
            found.add(id(row))
    return found


def bars(ranking: Ranking, column: Column) -> go.Figure:
    """One metric of each system with its interval, best on top."""
    i = ranking.columns.index(column)
    rows = [row for row in ranking.rows if row.cells[i].value is not None]
    sign = -1 if column.higher_is_better else 1
    rows = sorted(rows, key=lambda row: sign * (row.cells[i].value or 0.0))[:MOST_BARS]
    cells = [row.cells[i] for row in rows]
    figure = _figure(height=90 + 26 * len(rows))
    figure.add_bar(
        x=[cell.value for cell in cells],
        y=list(range(len(rows))),
        orientation="h",
        marker={"color": [COLOURS[row.entry.report.system.family][0] for row in rows]},
        error_x=_errors(cells, "#80858d"),
        customdata=[_hover(row, (i,), ranking.columns) for row in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )
    figure.update_xaxes(**{**_axis(column), "autorange": True, "type": "linear"})
    figure.update_yaxes(_names_axis([row.entry.label for row in rows]))
    figure.update_layout(bargap=0.45, showlegend=False)
    return figure


def across_directions(overview: Overview) -> go.Figure:
    """One metric of the first systems of the overview, side by side on each direction."""
    names = [_wrapped(c.direction.dataset, styles_text(c.direction)) for c in overview.columns]
    figure = _figure(height=400)
    for colour, row in zip(_SERIES, overview.rows, strict=False):  # the first MOST_ACROSS
        figure.add_bar(
            x=list(range(len(names))),
            y=list(row.values),
            name=_short(row.system),
            marker={"color": colour},
            customdata=[
                escape(f"{row.system}: {number(value, overview.unit)}") if value is not None else ""
                for value in row.values
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    figure.update_xaxes(tickvals=list(range(len(names))), ticktext=names, tickangle=0)
    title = f"{metric_title(overview.metric)} ({unit_text(overview.unit)})"
    figure.update_yaxes(title=escape(title), rangemode="tozero")
    figure.update_layout(barmode="group", bargap=0.3)
    return figure


def heat_map(correlations: Correlations) -> go.Figure:
    """Spearman correlation of each metric with each human aspect over systems."""
    shown = [[f"{c.value:+.2f}" if c else "\N{EN DASH}" for c in row] for row in correlations.cells]
    hover = [
        [
            escape(f"{metric} and {aspect}: {c.value:+.2f} over {c.systems} systems")
            if c
            else "too few systems have both scores"
            for c, aspect in zip(row, correlations.aspects, strict=True)
        ]
        for row, metric in zip(correlations.cells, correlations.metrics, strict=True)
    ]
    figure = _figure(height=130 + 34 * len(correlations.metrics))
    figure.add_heatmap(
        z=[[c.value if c else None for c in row] for row in correlations.cells],
        x=[_short(aspect, 34) for aspect in correlations.aspects],
        y=[escape(metric) for metric in correlations.metrics],
        text=shown,
        texttemplate="%{text}",
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=[[0, "#b5563b"], [0.5, "#f1efe8"], [1, "#2b7a78"]],
        zmin=-1,
        zmax=1,
        xgap=3,
        ygap=3,
        colorbar={"thickness": 10, "len": 0.9, "outlinewidth": 0, "tickvals": [-1, 0, 1]},
    )
    figure.update_yaxes(autorange="reversed", ticks="", automargin=True, showgrid=False)
    figure.update_xaxes(side="top", ticks="", automargin=True, showgrid=False)
    return figure


def lengths(groups: Mapping[str, Sequence[int]]) -> go.Figure:
    """Words a sentence: quartiles, 5th and 95th percentile of each group, in the order given."""
    figure = _figure(height=90 + 30 * len(groups))
    quantiles = np.array(
        [np.percentile(list(words), [5, 25, 50, 75, 95]) for words in groups.values()]
    )
    figure.add_box(
        y=list(range(len(groups))),
        orientation="h",
        lowerfence=quantiles[:, 0].tolist(),
        q1=quantiles[:, 1].tolist(),
        median=quantiles[:, 2].tolist(),
        q3=quantiles[:, 3].tolist(),
        upperfence=quantiles[:, 4].tolist(),
        marker={"color": _SERIES[0]},
        line={"width": 1.5},
        fillcolor="rgba(60,124,196,0.25)",
        hoverinfo="x",
        showlegend=False,
    )
    figure.update_xaxes(title="words a sentence", rangemode="tozero")
    figure.update_yaxes(_names_axis(list(groups)))
    return figure


def scatter_of_styles(points: np.ndarray, groups: Sequence[str], texts: Sequence[str]) -> go.Figure:
    """t-SNE positions (N, 2), coloured by group, with the sentence on hover."""
    figure = _figure(height=460)
    for colour, symbol, group in zip(
        _SERIES, ("circle", "diamond", "x"), dict.fromkeys(groups), strict=False
    ):
        own = [i for i, g in enumerate(groups) if g == group]
        figure.add_scatter(
            x=points[own, 0].round(2).tolist(),
            y=points[own, 1].round(2).tolist(),
            mode="markers",
            name=escape(group),
            marker={"color": colour, "symbol": symbol, "size": 6, "opacity": 0.75},
            customdata=[_wrap(texts[i]) for i in own],
            hovertemplate="%{customdata}<extra></extra>",
        )
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(**bare)
    figure.update_yaxes(**bare, scaleanchor="x")
    return figure


# -- parts -----------------------------------------------------------------------------------------


def _figure(height: int) -> go.Figure:
    return go.Figure(
        layout={
            "height": height,
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": _FONT, "size": 12},
            "margin": {"l": 60, "r": 16, "t": 34, "b": 52},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "hoverlabel": {"align": "left", "font": {"family": _FONT, "size": 12}},
            "xaxis": {"automargin": True, "zeroline": False},
            "yaxis": {"automargin": True, "zeroline": False},
        }
    )


def _axis(column: Column) -> dict[str, object]:
    """A metric's axis: better is always further right or up; perplexity is logarithmic."""
    aspect = ASPECT_TITLES.get(column.aspect, column.aspect)
    study = f" ({column.study})" if column.study else ""
    logarithmic = column.unit == "perplexity" and column.low > 0
    return {
        "title": escape(f"{aspect}{study}: {column.title} ({unit_text(column.unit)})"),
        "autorange": True if column.higher_is_better else "reversed",
        "type": "log" if logarithmic else "linear",
    }


def _names_axis(names: Sequence[str]) -> dict[str, object]:
    """Names on an axis by place, so that two that look alike stay two."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [_short(name, 28) for name in names],
        "autorange": "reversed",
        "showgrid": False,
        "automargin": True,
    }


def _errors(cells: Sequence[Cell], colour: str) -> dict[str, object]:
    upper = [0 if c.high is None else c.high - (c.value or 0) for c in cells]
    lower = [0 if c.low is None else (c.value or 0) - c.low for c in cells]
    style = {"color": colour, "thickness": 1, "width": 0}
    return {"type": "data", "symmetric": False, "array": upper, "arrayminus": lower, **style}


def _hover(row: Row, which: Sequence[int], columns: Sequence[Column]) -> str:
    lines = [f"<b>{escape(row.entry.label)}</b>"]
    for i in which:
        cell, column = row.cells[i], columns[i]
        if cell.value is None:
            continue
        line = f"{column.title} {number(cell.value, column.unit)}"
        if cell.low is not None and cell.high is not None:
            line += f" ({number(cell.low, column.unit)} to {number(cell.high, column.unit)})"
        lines.append(escape(line))
    return "<br>".join(lines)


def _short(name: str, most: int = 22) -> str:
    return escape(name if len(name) <= most else name[: most - 1] + "\N{HORIZONTAL ELLIPSIS}")


def _wrapped(first: str, second: str) -> str:
    return f"{escape(first)}<br>{'<br>'.join(escape(word) for word in second.split(' ', 1))}"


def _wrap(text: str, width: int = 60) -> str:
    lines, line = [], ""
    for word in text.split()[:80]:
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "<br>".join(escape(part) for part in [*lines, line])
