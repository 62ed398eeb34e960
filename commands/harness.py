"""Evaluate in Inspect AI or lm-evaluation-harness: their task files, and predictions in their logs.

Without LOG, writes the task files of lm-evaluation-harness to TSTBENCH_HOME and prints the folder,
for 'lm_eval --include_path'. With logs, writes their predictions as 'tstbench evaluate' reads them:
DIR/<dataset>/<direction>/<name>.jsonl.

Examples:
  lm_eval --include_path "$(tstbench harness)" --tasks tstbench_yelp ...
  inspect eval tstbench/yelp --model ...
  tstbench harness logs/2026-11-22_yelp.eval --out predictions --name my-model
"""

from __future__ import annotations

from pathlib import Path

from ..console import say
from ..errors import InputError
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """Logs, and where their predictions go."""
    parser.add_argument("logs", nargs="*", type=Path, metavar="LOG", help="of a harness")
    parser.path("--out", "DIR", "write predictions here")
    parser.add_argument("--name", default="model", help="name of the system; default: model")


def run(arguments: Arguments) -> None:
    """Read all logs first, then write."""
    from ..pipelines.harness.lm_eval_files import write_task_files
    from ..pipelines.harness.logs import read_log, write_predictions
    from ..pipelines.results import check_names

    if not arguments.logs:
        if arguments.out:
            raise InputError("--out: say which LOG the predictions are in")
        print(write_task_files())  # noqa: T201
        return
    if not arguments.out:
        raise InputError("where to? Give a folder with --out")
    check_names([arguments.name])
    taken: dict[str, Path] = {}
    several = [(path, read_log(path)) for path in arguments.logs]
    for path, found in several:
        for direction in found:
            if direction in taken:
                raise InputError(
                    f"{taken[direction]} and {path} both have predictions for {direction}: give "
                    "them one by one, with different names"
                )
            taken[direction] = path
    for _, found in several:
        for file in write_predictions(found, arguments.out, arguments.name):
            say(f"wrote {file}")
