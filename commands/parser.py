"""What the arguments of every command have in common: paths, addresses, how mistakes are shown."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..console import printable

_LAST_PORT = 2**16 - 1
_EMPTY = "the path is empty; the current folder is '.'"


class Parser(argparse.ArgumentParser):
    """The parser of a command: a path is checked, and names by others are shown safely."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("type", Path, _path)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # Without a flag stand paths and names; an empty one is a variable that is not set.
        rest = action.nargs in (argparse.PARSER, argparse.REMAINDER)  # another parser reads it
        if not action.option_strings and not rest and "" in arg_strings:
            raise argparse.ArgumentError(action, _EMPTY)
        return super()._get_values(action, arg_strings)  # type: ignore[misc]

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(printable(message, lines=True), file)


def _path(text: str) -> Path:
    """A path; an empty one, as of a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError(_EMPTY)
    return Path(text)


def add_address(parser: argparse.ArgumentParser, port: int) -> None:
    """Add ``--host``, ``--port`` and ``--allow-host`` of a command that serves.

    Args:
        parser: of the command.
        port: the usual one.
    """
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all")
    parser.add_argument(
        "--port", type=_port, default=port, help=f"0 takes any free port (default {port})"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer under this name too, as behind a proxy; '*' for every name; repeatable",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_LAST_PORT)) or int(text) > _LAST_PORT:
        what = f"{text!r} is not a port: choose one from 0 to {_LAST_PORT}"
        raise argparse.ArgumentTypeError(what)
    return int(text)
