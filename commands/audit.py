r"""Say which protocol a published number used: outputs are scored under all of them.

BLEU of one file can be 24 or 55: references, tokenisation, case, cleaning, smoothing and how two
directions become one number are seldom stated. Every combination is computed, and those that
round to the claimed number are shown, with well-known tools and the whole spread.

OUTPUTS is a file of predictions (see 'tstbench evaluate'), or published:NAME for outputs that
others have published. With two directions, give two files and --direction twice. Other metrics
are computed with the scorers that exist here (see 'tstbench prepare'); those of the paper that
made the claim were others.

TABLE is a CSV file with the columns system, outputs and direction, and a column for each metric.

Examples:
  tstbench audit ours.txt --direction yelp/negative-to-positive --claim bleu=24.0
  tstbench audit published:chatgpt --direction yelp/negative-to-positive --claim bleu=26.2
  tstbench audit neg.txt pos.txt --direction yelp/negative-to-positive \
      --direction yelp/positive-to-negative --claim bleu=55.2 --claim acc=85.6
  tstbench audit --table published.csv --format markdown
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..console import show, show_data, shown
from ..errors import InputError, TSTBenchError
from .arguments import Arguments, Parser, add_data_dir

if TYPE_CHECKING:
    from ..pipelines.audit.audit import Audit


def add_arguments(parser: Parser) -> None:
    """Add outputs, directions, claims and format."""
    parser.add_argument("outputs", nargs="*", metavar="OUTPUTS", help="one for each direction")
    parser.add_argument(
        "--direction", action="append", default=[], help="such as yelp/negative-to-positive"
    )
    parser.repeatable(
        "--claim", "METRIC=NUMBER", "a number as it was printed, such as bleu=55.2; repeatable"
    )
    parser.path("--table", "TABLE", "a published table as CSV")
    parser.add_argument("--profile", default="embedded", help="embedded (default), lm or paper")
    add_data_dir(parser)
    parser.switch("--all", "show all protocols that give the number", dest="every")
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "csv", "json"),
        default="text",
        help="text (default), a table in Markdown, or every protocol's value as CSV or JSON",
    )


def run(arguments: Arguments) -> None:
    """Audit what was asked for, and print it."""
    from ..pipelines.audit.audit import as_csv, as_markdown, as_text, records

    audits = _audits(arguments)
    if arguments.format == "json":
        print(json.dumps(list(records(audits)), indent=1))  # noqa: T201 - ASCII on any terminal
    elif arguments.format == "csv":
        show_data(as_csv(audits), end="")
    elif arguments.format == "markdown":
        show_data(as_markdown(audits))
    else:
        show("\n\n\n".join(as_text(one, every=arguments.every) for one in audits))


def _audits(arguments: Arguments) -> list[Audit]:
    from ..pipelines.audit.audit import audit
    from ..pipelines.audit.claims import parse_claim, read_table

    more = {"profile": arguments.profile, "data_dir": arguments.data_dir}
    if arguments.table is None:
        claims = [parse_claim(text) for text in arguments.claim]
        return [audit(arguments.outputs, arguments.direction, claims, **more)]
    if arguments.outputs or arguments.direction or arguments.claim:
        raise InputError("--table says which outputs, directions and claims: leave out the others")
    audits, rows = [], list(read_table(arguments.table))
    for row in shown(rows, "systems", len(rows), unit="system"):
        if not row.claims:
            continue
        try:
            found = audit(row.outputs, row.directions, row.claims, system=row.system, **more)
        except TSTBenchError as error:
            raise InputError(f"{arguments.table}, line {row.line}: {error}") from error
        audits.append(found)
    if not audits:
        raise InputError(f"{arguments.table}: no line has a claimed number")
    return audits
