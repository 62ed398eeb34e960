"""The command line: ``tstbench <command>``.

Standard output is data, standard error is talk. Exit code 2 is a mistake the user can mend, told
in one message without a traceback; 130 is Ctrl-C. Each command lives in ``commands/`` and is
imported only when it is called, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .. import __version__
from ..errors import TSTBenchError, unknown_name

COMMANDS = {
    "evaluate": "score files of rewritten sentences and rank the systems",
    "run": "evaluate a whole suite, systems x directions, from one TOML file",
    "transfer": "rewrite a test set with a baseline system",
    "prepare": "train the scorers that a dataset's metrics need",
    "train": "train one scorer: a style classifier or the acceptability classifier",
    "build": "write datasets as folders that load_dataset reads",
    "hub": "build, serve or push everything as Hub repositories",
    "leaderboard": "open the leaderboard on a folder of results",
    "annotate": "open the human-evaluation page for your raters",
    "judgments": "write a published study's human ratings, for the leaderboard",
    "directions": "list the directions",
    "metrics": "list the metrics",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no arrow may end a run on an ASCII terminal
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(arguments)
    except TSTBenchError as error:
        print(f"tstbench: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print("\ntstbench: interrupted; what was finished is kept", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:  # `tstbench ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # no right to read, disk full, a folder where a file should be
        print(f"tstbench: {error}", file=sys.stderr)  # noqa: T201
        return 2


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())  # noqa: T201
        return 0
    if arguments[0] in ("-V", "--version"):
        print(f"tstbench {__version__}")  # noqa: T201
        return 0
    name = arguments[0]
    if name not in COMMANDS:
        raise unknown_name("command", name, COMMANDS)
    command = import_module(f"tstbench.pipelines.commands.{name}")
    parser = argparse.ArgumentParser(
        prog=f"tstbench {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    return int(command.run(parser.parse_args(arguments[1:])) or 0)


def _overview() -> str:
    rows = "\n".join(f"  {name:<12} {text}" for name, text in COMMANDS.items())
    return (
        f"TSTBench {__version__}: the benchmark for text style transfer\n\n"
        f"usage: tstbench COMMAND ...\n\n{rows}\n\n"
        "tstbench COMMAND --help says more, with examples."
    )
