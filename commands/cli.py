"""The command line: ``tstbench <command>``.

Data goes to standard output, messages to standard error. Exit code 2 is an error that the user can
fix, reported in one message without a traceback; 1 says that a part was left out, and the rest is
done; 130 is Ctrl-C. Each command is a module beside
this one, imported only when it is called, so that ``--help`` answers at once.
"""

from __future__ import annotations

import _thread
import argparse
import errno
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import groupby
from textwrap import fill

from ..console import say
from ..errors import ELSEWHERE, NO_ROOM, IncompleteError, TSTBenchError, unknown_name
from ..version import __version__
from .arguments import Parser

DATA_VARIABLE = "TSTBENCH_DATA"
_DATA_HELP = (
    "a dataset of your own, treated like the built-in ones; repeatable. See docs/your_data.md. "
    f"Default: the files in {DATA_VARIABLE}, separated by {os.pathsep!r}"
)
GROUPS = {
    "Score outputs": {
        "evaluate": "score files of rewritten sentences and rank the systems",
        "run": "evaluate a whole suite, systems x directions, from one TOML file",
        "harness": "evaluate in Inspect AI or lm-evaluation-harness",
        "metrics": "list the metrics",
        "directions": "list the directions",
    },
    "Read results": {
        "report": "print or write tables of results that are there",
        "compare": "compare two systems head to head",
        "analyze": "draw and write what a folder of results shows, as one page",
        "leaderboard": "open the leaderboard on a folder of results",
        "audit": "say which protocol a published number used",
    },
    "Make systems": {
        "train": "train a system, or one scorer",
        "transfer": "have a system rewrite a test set",
        "rewrite": "open a page where systems rewrite your sentence side by side",
        "merge": "add a trained adapter to its language model",
        "curve": "show how trained systems learned",
    },
    "Data and scorers": {
        "data": "check the data file of your own dataset",
        "sources": "print or write a direction's test sources",
        "prepare": "train the scorers that a dataset's metrics need",
        "cache": "show what is kept in TSTBENCH_HOME, and remove what is no longer needed",
    },
    "Ask people": {
        "annotate": "open the human-evaluation page for your raters",
        "agreement": "print how far raters agree",
        "judgments": "write a study's human ratings in one schema",
        "meta-evaluate": "measure how far metrics agree with people",
        "calibrate": "fit a Joint that agrees with people",
        "style-invariance": "measure how far an embedding keeps style out",
    },
    "Publish": {
        "build": "write datasets as folders that load_dataset reads",
        "hub": "build, serve or push Hub repositories; report scores to a model",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}


def _interrupt_again() -> None:
    time.sleep(0.05)  # until the hook is over, which would drop it too
    if hasattr(signal, "pthread_kill"):  # which also ends a sleep
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


@contextmanager
def _interrupts_come_again() -> Iterator[None]:
    """Ctrl-C in a ``__del__``, such as of a regular expression's parts, is dropped by Python."""
    before = sys.unraisablehook

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            _thread.start_new_thread(_interrupt_again, ())  # a Timer would be waited for
        else:
            before(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # No arrow may end a run on an ASCII terminal; what is no terminal's is data: UTF-8.
            data = stream is sys.stdout and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if data else None, errors="backslashreplace")
    try:
        with _interrupts_come_again():
            return _run(arguments)
    except TSTBenchError as error:
        say(f"tstbench: {error}")
        return 1 if isinstance(error, IncompleteError) else 2
    except KeyboardInterrupt as error:
        said = str(error) or "interrupted; completed work is kept"
        say(f"\ntstbench: {said}")
        # An interrupt that passed through an exec, as of a dataclass while a library is imported,
        # makes Python end by the signal whatever is returned here; the next exec takes that back.
        exec("")  # noqa: S102
        return 130
    except BrokenPipeError:  # `tstbench ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # no right to read, disk full, a folder where a file should be
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        if error.errno in NO_ROOM:
            what += ". Make room on that disk, or point TSTBENCH_HOME and TMPDIR to another one"
        elif isinstance(error, PermissionError) or error.errno == errno.EROFS:
            what += f". {ELSEWHERE}"
        say(f"tstbench: {what}")
        return 2
    except Exception as error:
        from ..hub import environment_fault

        fault = environment_fault()
        if isinstance(error, ValueError) and "embedded null" in str(error):
            fault = "a path contains a NUL character, which no file name may: remove it"
        if not fault:
            raise
        say(f"tstbench: {fault}")
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
    command = import_module(f".{name.replace('-', '_')}", __package__)
    parser = Parser(
        prog=f"tstbench {name}",
        description=command.__doc__,
        formatter_class=_Help,
    )
    command.add_arguments(parser)
    parser.add_argument("--data", action="append", metavar="FILE", help=_DATA_HELP)
    rest, files = _take_data(parser, arguments[1:])
    parsed = _parsed(parser, rest)
    _load_data(files)
    return int(command.run(parsed) or 0)


def _parsed(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """The arguments, in any order: ``compare A B --direction D RESULTS`` too."""
    try:
        return parser.parse_intermixed_args(arguments)
    except TypeError:  # it has sub-commands, or leaves the rest to another parser
        return parser.parse_args(arguments)


def _take_data(
    parser: argparse.ArgumentParser, arguments: list[str]
) -> tuple[list[str], list[str]]:
    """The arguments without any ``--data FILE``, wherever it appears, and the files."""
    rest, files = [], []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--":
            rest += [argument, *waiting]
        elif argument == "--data":
            file = next(waiting, None)
            if not file:
                parser.error("argument --data: expected a file")
            files.append(file)
        elif argument.startswith("--data="):
            files.append(argument.removeprefix("--data="))
        else:
            rest.append(argument)
    return rest, files


def _load_data(files: list[str]) -> None:
    """Load the user's own datasets: those of ``--data``, otherwise of the environment."""
    from_environment = os.environ.get(DATA_VARIABLE, "").split(os.pathsep)
    named = [file for file in files or from_environment if file]
    if named:
        from ..datasets_scripts.catalog import load_data  # only now: most calls need none

        for file in named:
            load_data(file)


class _Help(argparse.HelpFormatter):
    """Fills a description's prose to the terminal's width; indented lines stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks: list[str] = []
        for indented, lines in groupby(text.strip().splitlines(), key=_kept):
            block = list(lines)
            blocks += block if indented else [fill(" ".join(block), width, initial_indent=indent)]
        return "\n".join(blocks)


def _kept(line: str) -> bool:
    return not line or line[0].isspace()


def _overview() -> str:
    groups = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:<16} {text}" for name, text in group.items())])
        for title, group in GROUPS.items()
    )
    return (
        f"TSTBench {__version__}: the benchmark for text style transfer\n\n"
        f"usage: tstbench COMMAND ...\n\n{groups}\n\n"
        "For details and examples: tstbench COMMAND --help"
    )
