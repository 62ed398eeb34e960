"""Messages for people go to standard error, so that standard output stays data.

In a terminal they are wrapped at its width, between words and never inside a command, an option or
a path. Anywhere else a message is one line, however long: logs are searched line by line.
"""

from __future__ import annotations

import os
import re
import sys

_NARROWEST = 40  # narrower terminals break lines themselves
_INDENT = "  "
# What stays on one line: a quoted text, a command, an option with its value, any other word.
_PIECE = re.compile(
    r"""
    (?<!\S)[(\[]*'[^'\n]+'(?=[\s.,;:)\]?]|$)\S*
    | (?<!\S)(?:tstbench|hf|pip|iconv)[ ](?:[a-z][\w-]*)(?:[ ](?![(])\S*[^\s.,;:)]
        (?=[\s.,;:)]|$))*\S*
    | (?<!\S)--[a-z][\w-]*[ ](?!-)\S+
    | \S+
    """,
    re.VERBOSE,
)


def say(text: str) -> None:
    """Tell the user what is happening."""
    print(as_shown(text), file=sys.stderr, flush=True)  # noqa: T201


def as_shown(text: str) -> str:
    """A message as standard error shows it: wrapped if that is a terminal."""
    width = _width()
    return text if width is None else wrapped(text, width)


def wrapped(text: str, width: int) -> str:
    """A message in lines of at most ``width`` columns; indented lines stay as they are.

    A command, an option with its value, a path or a quoted text that is longer has a longer line.

    >>> print(wrapped("the scorer is missing: 'tstbench prepare yelp' trains it", 30))
    the scorer is missing:
      'tstbench prepare yelp'
      trains it
    """
    return "\n".join(_filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    if len(line) <= width or line[:1].isspace():
        return line
    lines, room = [""], width
    for piece in _PIECE.findall(line):
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > room:
            lines.append("")
            room = width - len(_INDENT)
        lines[-1] += f" {piece}" if lines[-1] else piece
    return f"\n{_INDENT}".join(lines)


def _width() -> int | None:
    """The columns of the terminal that shows standard error; ``None`` if there is none."""
    try:
        if not sys.stderr.isatty():
            return None
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() else 0
        width = width or os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, OSError, ValueError):  # no standard error, or none of this system's
        return None
    return width if width >= _NARROWEST else None
