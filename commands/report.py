"""Print or write tables of the results that are there; nothing is computed or scored.

RESULTS is the folder that 'evaluate --out' or 'run' wrote; default: ./results or ./demo. Without
--format, the ending of FILE says which: .tex, .md, .html, .csv, .parquet or .txt.

A terminal's table is as wide as the terminal: what does not fit follows in a second block. In a
pipe it is as wide as needed, unless COLUMNS is set; for other programs there is --format csv,
and Parquet for pandas and DuckDB: a row for each number, and with --each-seed for each run.

Examples:
  tstbench report results
  tstbench report results --directions yelp --metrics acc multi_bleu ppl joint --out table.tex
  tstbench report results --layout metrics --metrics joint --format markdown --intervals
  tstbench report results --out numbers.csv
  tstbench report results --each-seed --out scores.parquet
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import say
from ..errors import InputError
from .arguments import Arguments, Parser

if TYPE_CHECKING:
    from ..pipelines.rankings import FileForm

LISTS = ("directions", "metrics", "systems")


def add_arguments(parser: Parser) -> None:
    """Add folder, selection and format."""
    parser.add_argument("results", nargs="?", metavar="RESULTS", help="a results folder")
    parser.several(
        "--directions",
        "NAME",
        "directions or datasets, such as yelp/negative-to-positive or yelp; default: all",
    )
    parser.several(
        "--metrics", "METRIC", "metrics or families, in the order to be shown; default: all"
    )
    parser.several("--systems", "NAME", "systems, ranked among one another; default: all")
    parser.add_argument(
        "--format",
        choices=("table", "markdown", "latex", "html", "csv", "parquet"),
        help="default: table",
    )
    parser.add_argument(
        "--layout",
        choices=("directions", "metrics"),
        default="directions",
        help="one table per direction, systems x metrics (default), or one per metric, systems x "
        "directions",
    )
    parser.switch(
        "--each-seed",
        "runs of one system that differ in their seed have a row each, instead of their mean",
    )
    parser.switch("--intervals", "show the 95%% intervals")
    parser.path(
        "--out", "FILE", "write to a file; only one that 'tstbench report' wrote is replaced"
    )


def run(arguments: Arguments) -> None:
    """Read, choose, and print or write."""
    from ..pipelines.ranked_table import parquet_values
    from ..pipelines.rankings import (
        ENDINGS,
        print_standings,
        standings_text,
        write_standings,
    )
    from ..pipelines.standings import default_results, read_standings

    if arguments.results is None:
        for name in LISTS:
            last = (getattr(arguments, name) or [""])[-1]
            if last and Path(last).is_dir() and any(Path(last).glob("*/*/*/report.json")):
                raise InputError(f"{last!r} is read as one of --{name}: put RESULTS before it")
    root = Path(arguments.results) if arguments.results else default_results()
    out: Path | None = arguments.out
    form: FileForm | None = arguments.format
    form = form or (ENDINGS.get(out.suffix.lower()) if out else "table")
    if form is None:
        raise InputError(
            f"{out}: its ending does not say which format; add --format, or use one of "
            f"{', '.join(ENDINGS)}"
        )
    standings = read_standings(
        root,
        arguments.directions,
        arguments.metrics,
        arguments.systems,
        each_seed=arguments.each_seed,
    )
    how: dict[str, Any] = {"layout": arguments.layout, "intervals": arguments.intervals}
    if out is None:
        if form == "parquet":
            raise InputError("Parquet is a file: give its name, --out scores.parquet")
        print_standings(standings, form, **how)
        return
    if form == "parquet":
        write_standings(out, parquet_values(standings))
    else:
        write_standings(out, standings_text(standings, form, **how), form)
    say(f"wrote {out}")
