"""Runs what a page of the documentation shows, as its reader would, and compares.

- ``console`` blocks: lines that begin with ``$ `` are run by bash, in order; a backslash at the end
  goes on in the next line. Exported variables and the folder stay from one command to the next.
  What follows a command is its output, both streams as a terminal shows them; a line ``...`` stands
  for any number of lines, ``...`` within a line for any text. Where no output is shown, none is
  compared.
- ``python`` blocks share one namespace; those with ``>>>`` are compared as doctests are.
- A block with ``title="name"`` is a file: it lies in the page's folder before anything runs.
- ``<!-- not run: reason -->`` before a block leaves it out; ``<!-- needs upstream files -->`` does
  where TSTBENCH_SOURCES is not set; ``<!-- exits with 2 -->`` says that its last command shall fail
  so.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT = 600  # seconds for one command
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}) *(?P<language>[\w-]*) *(?P<rest>.*)$")
_TITLE = re.compile(r'title="([^"]+)"')
_NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
_NEEDS_FILES = "<!-- needs upstream files -->"
_EXITS = re.compile(r"^<!-- exits with (\d+) -->$")


class PageError(AssertionError):
    """A page shows something that is not so."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        line: of its fence, from 1.
        title: the file that it is, if it is one.
        not_run: why it is left out, if it is.
        exit_code: that its last command shall have.
    """

    line: int
    language: str
    text: str
    title: str | None = None
    not_run: str | None = None
    exit_code: int = 0


@dataclass(frozen=True)
class Command:
    """A command of a console block, and the output shown below it."""

    line: int
    command: str
    shown: tuple[str, ...]


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page in Markdown.

    Raises:
        PageError: a block that does not end.
    """
    lines = page.splitlines()
    number, said = 0, ""
    while number < len(lines):
        start = _FENCE.match(lines[number])
        if start is None:
            said = lines[number].strip() or said
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end].strip() != start["fence"]:
            end += 1
        if end == len(lines):
            raise PageError(f"line {number + 1}: the block does not end")
        inside = "\n".join(lines[number + 1 : end]) + "\n"
        title, skip, exits = _TITLE.search(start["rest"]), _NOT_RUN.match(said), _EXITS.match(said)
        missing = said == _NEEDS_FILES and not os.environ.get("TSTBENCH_SOURCES")
        yield Block(
            number + 1,
            start["language"],
            textwrap.dedent(inside),
            title=title[1] if title else None,
            not_run=skip[1] if skip else "upstream files are missing" if missing else None,
            exit_code=int(exits[1]) if exits else 0,
        )
        number, said = end + 1, ""


def commands(block: Block) -> list[Command]:
    """The commands of a console block.

    Raises:
        PageError: the block begins with something else.
    """
    found: list[tuple[int, list[str], list[str]]] = []
    goes_on = False
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if goes_on:
            found[-1][1].append(line)
        elif line.startswith("$ "):
            found.append((number, [line.removeprefix("$ ")], []))
        elif found:
            found[-1][2].append(line)
        else:
            raise PageError(f"line {number}: a console block begins with a command, '$ ...'")
        goes_on = line.endswith("\\") and not found[-1][2]
    return [Command(number, "\n".join(said), tuple(shown)) for number, said, shown in found]


def matches(shown: str, got: str) -> bool:
    """Whether an output is as shown; see the module for ``...``."""

    def pattern(line: str) -> str:
        if line.strip() == "...":
            return r"(?:[^\n]*\n)*?"
        return r"[^\n]*?".join(map(re.escape, line.rstrip().split("..."))) + r"\n"

    plain = "".join(f"{line.rstrip()}\n" for line in got.strip("\n").splitlines())
    wanted = "".join(pattern(line) for line in shown.strip("\n").splitlines())
    return re.fullmatch(wanted, plain) is not None


def run_page(page: str, folder: Path) -> int:
    """Run a page in a folder of its own.

    Args:
        page: Markdown.
        folder: empty; files and commands go here.

    Returns:
        How many blocks were run.

    Raises:
        PageError: the first thing that is not as shown, with its line.
    """
    found = list(blocks(page))
    for block in reversed(found):  # of two with one title the first is there at the start
        if block.title:
            _write(folder, block)
    shell, names, run = _Shell(folder), {"__name__": "__main__"}, 0
    for block in found:
        if block.title:
            _write(folder, block)
        elif block.not_run is None and block.language == "console":
            shell.run(block)
            run += 1
        elif block.not_run is None and block.language == "python":
            with contextlib.chdir(folder):
                _run_python(block, names)
            run += 1
    return run


def _write(folder: Path, block: Block) -> None:
    assert block.title is not None
    target = (folder / block.title).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise PageError(f"line {block.line}: {block.title!r} is outside the page's folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(block.text, encoding="utf-8")


class _Shell:
    """Bash, one command after another, with what was exported and where it went."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = dict(os.environ)

    def run(self, block: Block) -> None:
        found = commands(block)
        for command in found:
            wanted = block.exit_code if command is found[-1] else 0
            code, got = self._run(command)
            if code != wanted:
                raise PageError(
                    f"line {command.line}: {command.command!r} exits with {code}:\n{got}"
                )
            if command.shown and not matches("\n".join(command.shown), got):
                expected = "\n".join(command.shown)
                raise PageError(
                    f"line {command.line}: {command.command!r} shows\n{got}\nand not\n{expected}"
                )

    def _run(self, command: Command) -> tuple[int, str]:
        reading, writing = os.pipe()
        # What the command leaves is written to a pipe of its own, apart from what it shows.
        leave = f"trap 'code=$?; {{ pwd; env -0; }} >&{writing}; exit $code' EXIT"
        try:
            done = subprocess.run(
                ["bash", "-c", f"{leave}\n{command.command}"],
                cwd=self._folder,
                # Both streams in the order in which they are written, as on a terminal.
                env={**self._environment, "PYTHONUNBUFFERED": "1"},
                pass_fds=[writing],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT,
                check=False,
            )
        finally:
            os.close(writing)
        with os.fdopen(reading, "rb") as left:
            where, _, variables = left.read().decode().partition("\n")
        if where:
            self._folder = Path(where)
            pairs = (pair.partition("=") for pair in variables.split("\0") if pair)
            self._environment = {name: value for name, _, value in pairs}
        return done.returncode, done.stdout.decode(errors="replace")


def _run_python(block: Block, names: dict[str, object]) -> None:
    where = f"line {block.line}"
    if ">>>" not in block.text:
        try:
            exec(compile(block.text, where, "exec"), names)  # the page is our own
        except Exception as error:
            raise PageError(f"{where}: {type(error).__name__}: {error}") from error
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    failed, _ = runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    if failed:
        raise PageError(f"{where}:\n{''.join(said)}")
