"""Show how trained systems learned: losses and validation scores over the steps.

SYSTEM is the folder that 'train' wrote, a Hub id, or the folder of a training that goes on (in
$TSTBENCH_HOME/runs). The table says each loss and score at the start, at the step whose weights
were kept, and at the end; losses are means over about a hundredth of the steps. The picture (SVG)
has a row for each system, and follows the reader's light or dark colours.

Examples:
  tstbench curve my-folder
  tstbench curve models/* --out curves.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..console import say
from .arguments import Parser


def add_arguments(parser: Parser) -> None:
    """Add systems and file."""
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="folders or Hub ids")
    parser.add_argument("--out", type=Path, metavar="FILE.svg", help="write a picture")


def run(arguments: argparse.Namespace) -> None:
    """Print the table; write the picture."""
    from ..errors import InputError
    from ..files import write_text
    from ..pipelines.curves import curve_rows, learning_curve
    from ..pipelines.tables import print_rows
    from ..trainers.learning.picture import curve_picture

    out: Path | None = arguments.out
    if out is not None and (out.suffix.lower() != ".svg" or out.is_dir()):
        raise InputError(f"--out {out}: the picture is an SVG; name the file {out.stem}.svg")
    curves = [learning_curve(system) for system in arguments.systems]
    print_rows(("system", "", "start", "chosen", "end"), curve_rows(curves))
    if out is not None:
        write_text(out, curve_picture(curves))
        say(f"wrote {out}")
