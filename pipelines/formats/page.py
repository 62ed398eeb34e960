"""Tables in HTML: one for a notebook, or all as a page that stands alone."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..ranked_table import BOUNDS_TITLE, Cell, RankedTable, Row

GENERATOR = '<meta name="generator" content="tstbench">'
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
figure { margin: 0 0 3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { font-weight: 600; padding: .5rem 0; text-align: left; }
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 2rem); }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; }
th.system { text-align: left; position: sticky; left: 0; background: Canvas; }
thead th { border-bottom: 1px solid; font-weight: 500; }
tbody th { font-weight: 400; max-width: min(40rem, 50vw); }
tbody th { overflow: hidden; text-overflow: ellipsis; }
tbody + tbody tr:first-child > * { border-top: 1px solid; font-style: italic; }
td b { font-weight: 700; }
small { display: block; opacity: .75; }
p { font-size: .9rem; margin: .4rem 0; max-width: 48rem; opacity: .85; }
"""


def page(tables: Sequence[RankedTable], *, intervals: bool = False) -> str:
    """A page of its own, which asks no other machine for anything.

    Args:
        tables: what to write down.
        intervals: below each value its 95% interval.
    """
    title = html.escape(tables[0].title if len(tables) == 1 else "Text style transfer: results")
    figures = "".join(
        f"<figure><div class='wide'>{_table(table, intervals=intervals)}</div>"
        f"{_below(table, intervals=intervals)}</figure>\n"
        for table in tables
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{GENERATOR}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{figures}</body>\n"
        "</html>\n"
    )


def fragment(table: RankedTable) -> str:
    """A table for a notebook; its intervals are tooltips."""
    return _table(table, intervals=False) + _below(table, intervals=False)


def _table(table: RankedTable, *, intervals: bool) -> str:
    titles = (html.escape(title).replace("\n", "<br>") for title in table.titles)
    rank = "<th scope='col'>rank</th>" if table.has_ranks else ""
    head = rank + "<th scope='col' class='system'>system</th>"
    head += "".join(f"<th scope='col'>{title}</th>" for title in titles)
    ranks = table.has_ranks
    ranked = "".join(_row(row, ranks=ranks, intervals=intervals) for row in table.rows)
    bounds = "".join(_row(row, ranks=ranks, intervals=intervals) for row in table.bounds)
    if bounds:
        over = f"<th scope='rowgroup' class='system'>{BOUNDS_TITLE}</th>"
        over = f"{'<td></td>' * ranks}{over}<td colspan='{len(table.titles)}'></td>"
        bounds = f"<tbody><tr>{over}</tr>{bounds}</tbody>"
    return (
        f"<table><caption><span>{html.escape(table.title)}</span></caption>"
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{ranked}</tbody>{bounds}</table>"
    )


def _below(table: RankedTable, *, intervals: bool) -> str:
    notes = table.below("Bold", intervals=intervals)
    return "".join(f"<p>{html.escape(note)}</p>" for note in notes)


def _row(row: Row, *, ranks: bool, intervals: bool) -> str:
    rank = f"<td>{row.rank}</td>" if ranks else ""
    cells = "".join(_cell(cell, intervals=intervals) for cell in row.cells)
    name = html.escape(row.system + row.mark)
    return f"<tr>{rank}<th scope='row' class='system'>{name}</th>{cells}</tr>"


def _cell(cell: Cell, *, intervals: bool) -> str:
    text = f"<b>{cell.text}</b>" if cell.bold else cell.text
    if not cell.interval:
        return f"<td>{text}</td>"
    if intervals:
        return f"<td>{text}<small>{cell.interval}</small></td>"
    return f"<td title='95% interval {cell.interval}'>{text}</td>"
