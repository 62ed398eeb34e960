"""Messages for people go to standard error, so that standard output stays data.

In a terminal they are wrapped at its width, between words and never inside a command, an option or
a path. Anywhere else a message is one line, however long: logs are searched line by line.

Names, ids, keys and texts in messages were written by others. A terminal obeys some characters
instead of showing them: an escape sequence clears the screen, U+202E writes backwards.
:func:`printable` writes them as escapes; whatever is said or shown here goes through it.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from .errors import InputError

T = TypeVar("T")

_NARROWEST = 40  # narrower terminals break lines themselves
_INDENT = "  "
_LINE_EVERY = 30  # seconds between a progress bar's states where no terminal is
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

# What a terminal obeys: controls, formats, half characters, separators of lines...
_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# ...without what joins letters in Persian, Hindi and many emoji, and moves nothing.
_JOINERS = "\u200c\u200d"


def printable(text: str, *, lines: bool = False) -> str:
    r"""Text by others as a terminal may show it: what it would obey is written as an escape.

    Args:
        text: any text.
        lines: keep line breaks and tabs, as in a whole message or table.

    >>> print(printable("red \x1b[31m, exe\u202egnp"))
    red \x1b[31m, exe\u202egnp
    >>> printable("日本語 café") == "日本語 café"
    True
    """
    if text.isprintable():
        return text
    kept = f"{_JOINERS}\n\t" if lines else _JOINERS
    return "".join(
        sign if sign in kept or unicodedata.category(sign) not in _OBEYED else _escape(sign)
        for sign in text
    )


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def show(text: str, end: str = "\n") -> None:
    """Print a text for people on standard output, whoever wrote the names in it."""
    print(printable(text, lines=True), end=end, flush=True)  # noqa: T201


def show_data(text: str, end: str = "\n") -> None:
    """Print data on standard output: unchanged into a pipe, for people on a terminal."""
    if sys.stdout.isatty():
        show(text, end)
    else:
        print(text, end=end, flush=True)  # noqa: T201


def say(text: str) -> None:
    """Tell the user what is happening."""
    print(as_shown(text), file=sys.stderr, flush=True)  # noqa: T201


def ask(question: str, unasked: str) -> bool:
    """Whether the user says yes.

    Args:
        question: shown on a terminal.
        unasked: what is told where there is none.

    Raises:
        InputError: there is no terminal.
    """
    if not sys.stdin.isatty():
        raise InputError(unasked)
    say(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def as_shown(text: str) -> str:
    """A message as standard error shows it: wrapped if that is a terminal."""
    text = printable(text, lines=True)
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


def progress(
    total: int | None, what: str, *, done: int = 0, shown: bool = True, **options: Any
) -> Any:
    """A progress bar of tqdm; where no terminal is, a line every half a minute instead.

    Args:
        total: of steps; ``None`` if it is not known.
        what: in a few words.
        done: steps that were done before.
        shown: whether to show anything.
        options: of tqdm, such as ``unit``.
    """
    from tqdm import tqdm  # only now: most calls need none

    usual: dict[str, Any] = {"leave": False, "delay": 1, "dynamic_ncols": True}
    if not sys.stderr.isatty():
        form = "{desc}: {n_fmt} of {total_fmt}, {elapsed} passed, {remaining} left"
        often = dict.fromkeys(("mininterval", "maxinterval", "delay"), _LINE_EVERY)
        usual = {"leave": False, "file": _Lines(), "bar_format": form, **often}
    return tqdm(desc=what, total=total, initial=done, disable=not shown, **{**options, **usual})


def shown(
    things: Iterable[T], what: str, total: int, *, done: int = 0, **options: Any
) -> Iterator[T]:
    """The same things, counted by :func:`progress`."""
    with progress(total, what, done=done, **options) as bar:
        for thing in things:
            yield thing
            bar.update()


class _Lines:
    """A file that says a bar's states one by one."""

    def write(self, text: str) -> None:
        if text := text.strip():
            say(text)

    def flush(self) -> None:
        """Nothing is held back."""


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
