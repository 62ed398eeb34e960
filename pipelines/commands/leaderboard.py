"""Open the leaderboard on a folder of results, or on the published ones.

For example::
  tstbench leaderboard demo
  tstbench leaderboard tstbench/results
"""

from __future__ import annotations

import argparse
from pathlib import Path

PUBLISHED = "tstbench/results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Results, host, port."""
    parser.add_argument(
        "results",
        nargs="?",
        help="folder that 'evaluate --out' or 'run' wrote, or a Hub dataset; default: ./results or "
        "./demo where they are, else tstbench/results",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7860)


def run(arguments: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    from importlib import import_module

    from ...errors import require
    from ..submission import score_submission

    for module in ("gradio", "plotly"):
        require(module, "space")
    # The page is a room above this one: the command line only opens its door.
    launch = import_module("tstbench.spaces.leaderboard.launch").launch
    launch(
        arguments.results or _default(),
        host=arguments.host,
        port=arguments.port,
        score=score_submission,
    )


def _default() -> str:
    """Results that lie here, else the published ones."""
    here = (name for name in ("results", "demo") if any(Path(name).glob("*/*/*/report.json")))
    return next(here, PUBLISHED)
