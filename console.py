"""Messages for people go to standard error, so that standard output stays data.

A message is one line, however long: logs are searched line by line, and a terminal that breaks it
to show it still copies a command in it as one.

Names, ids, keys and texts in messages were written by others. A terminal obeys some characters
instead of showing them: an escape sequence clears the screen, U+202E writes backwards.
:func:`printable` writes them as escapes; whatever is said or shown here goes through it.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from .errors import InputError

T = TypeVar("T")

_LINE_EVERY = 30  # seconds between a progress bar's states where no terminal is
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
    print(printable(text, lines=True), file=sys.stderr, flush=True)  # noqa: T201


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
