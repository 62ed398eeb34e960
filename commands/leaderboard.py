"""Open the leaderboard on a folder of results, or on the published ones.

Examples:
  tstbench leaderboard demo
  tstbench leaderboard tstbench/results
"""

from __future__ import annotations

from pathlib import Path

from ..errors import require_installed
from .arguments import Arguments, Parser, add_address

PUBLISHED = "tstbench/results"


def add_arguments(parser: Parser) -> None:
    """Add results, host and port."""
    parser.add_argument(
        "results",
        nargs="?",
        help="folder that 'evaluate --out' or 'run' wrote, or a Hub dataset; default: ./results or "
        "./demo if they exist, otherwise tstbench/results",
    )
    parser.add_argument(
        "--reported",
        metavar="hub|FOLDER",
        help="show what models report on the Hub: ask it now, or read a folder with "
        "<user>/<model>/.eval_results/*.yaml, such as the models of a hub folder",
    )
    add_address(parser, 7860)


def run(arguments: Arguments) -> None:
    """Serve until Ctrl-C."""
    from ..pipelines.standings import check_results_folder

    require_installed("gradio", "space")  # imported below: it takes seconds, a wrong folder none
    results = arguments.results or _default()
    if Path(results).expanduser().exists():  # otherwise it is the name of a dataset
        check_results_folder(Path(results).expanduser())
    from ..pipelines.submission import score_submission
    from ..spaces.leaderboard.launch import launch

    launch(
        results,
        host=arguments.host,
        port=arguments.port,
        allowed_hosts=arguments.allow_host,
        score=score_submission,
        reported=arguments.reported,
    )


def _default() -> str:
    """Results in the current folder, otherwise the published ones."""
    here = (name for name in ("results", "demo") if any(Path(name).glob("*/*/*/report.json")))
    return next(here, PUBLISHED)
