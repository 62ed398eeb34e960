"""A ruler for the tests of a room: random changes of one token, and which tests notice each.

    python tests/mutation/sample.py trainers spaces --seed 7 -n 60
    python tests/mutation/sample.py product --seed 7 -n 60
    python tests/mutation/sample.py product --report

A change turns a comparison or a sum around, adds one to a number, or swaps ``and`` and ``or``,
``True`` and ``False``, ``min`` and ``max``. The tests that execute its line run on a copy of the
tree, quickest first, up to ``--seconds`` of them: a test that alone takes longer runs only where it
is the quickest, and what is slow or needs a browser never does. Which lines a test executes is
measured once for all rooms that are named. The record ``sample/<room>.json``, which names
``--tests`` if not all were tried, is kept in the repository: after tests were merged or dropped,
``--again`` tries its changes anew, at most ``-n`` of them, and fails if fewer are noticed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import Queue

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STAGE = ROOT / ".mutation" / "sample"
GROUND = "ground"  # the modules at the root
PRODUCT = "product"  # those and all rooms
NO_PRODUCT = ("tests", "benchmarks", "examples", "docs")
READER = "tests/unit/house/test_numbers.py"  # executes nothing of the product, and reads all of it
LOOKS = "tests/unit/plots/test_looks.py"
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:xdist")
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
    "is not": "is", "in": "not in", "not in": "in", "+": "-", "-": "+", "*": "/", "/": "*",
    "//": "*", "%": "+", "**": "*", "<<": ">>", ">>": "<<", "|": "&", "&": "|", "and": "or",
    "or": "and", "True": "False", "False": "True", "min": "max", "max": "min", "any": "all",
    "all": "any",
}  # fmt: skip
OPERATOR = re.compile(
    r"\bis not\b|\bnot in\b|\bis\b|\bin\b|\band\b|\bor\b|\*\*|//|<<|>>|[<>=!]=|[<>+*/%|&-]"
)


@dataclass(frozen=True)
class Change:
    """A line before and after, and what became of it.

    Attributes:
        line: number of the line, from 1.
        ran: how many tests ran.
        by: how many of them failed.
        noticed: the first five of those; ``timeout`` if they did not end.
    """

    file: str
    line: int
    was: str
    now: str
    ran: int = 0
    by: int = 0
    noticed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Executed:
    """A test: how long it takes, and the lines that it executes, by file."""

    seconds: float
    lines: dict[str, list[int]]


class _Places(ast.NodeVisitor):
    """Where one token of a file may be changed: line, columns in bytes, what is there then."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines(keepends=True)
        self.found: list[tuple[int, int, int, str]] = []
        self.visit(ast.parse(source))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python 3.11 does not know the columns inside."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """What is assigned; nothing reads an annotation."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The body and the defaults."""
        for part in (*node.body, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Compare(self, node: ast.Compare) -> None:
        self._operator(node.left, node.comparators[0])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._operator(node.left, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._operator(*node.values[:2])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int | float):
            was = self._text(node)
            self._add(node, SWAPS.get(was) or f"({was} + 1)")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in SWAPS:
            self._add(node, SWAPS[node.id])

    def _text(self, node: ast.expr) -> str:
        line = self.lines[node.lineno - 1].encode()
        return line[node.col_offset : node.end_col_offset].decode()

    def _add(self, node: ast.expr, now: str) -> None:
        self.found.append((node.lineno, node.col_offset, node.end_col_offset, now))

    def _operator(self, left: ast.expr, right: ast.expr) -> None:
        if left.end_lineno != right.lineno or left.end_col_offset is None:
            return
        gap = self.lines[right.lineno - 1].encode()[left.end_col_offset : right.col_offset].decode()
        if match := OPERATOR.search(gap):
            start = left.end_col_offset + match.start()
            end = left.end_col_offset + match.end()
            self.found.append((right.lineno, start, end, SWAPS[match[0]]))


def tracked(pattern: str = "*") -> list[str]:
    """The files of the repository that match, relative to its root."""
    command = ["git", "ls-files", pattern]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def room_files(room: str) -> list[str]:
    """The Python files of a room, or of all."""
    names = tracked("*.py" if room in (GROUND, PRODUCT) else f"{room}/*.py")
    names = [name for name in names if room != GROUND or "/" not in name]
    names = [name for name in names if name.partition("/")[0] not in NO_PRODUCT]
    if not names:
        raise SystemExit(f"no room {room}")
    return [name for name in names if Path(name).name not in ("setup.py", "app.py")]


def drawn(room: str, seed: int, count: int) -> list[Change]:
    """Random changes; each place of the room is as likely as any other."""
    texts = {file: (ROOT / file).read_text("utf-8") for file in room_files(room)}
    every = [(file, *place) for file, text in texts.items() for place in _Places(text).found]
    chosen = random.Random(f"{room} {seed}").sample(every, min(count, len(every)))
    changes = []
    for file, line, start, end, now in chosen:
        was = texts[file].splitlines()[line - 1]
        raw = was.encode()
        then = (raw[:start] + now.encode() + raw[end:]).decode()
        changes.append(Change(file, line, was.strip(), then.strip()))
    return changes


def still_there(changes: list[Change]) -> Iterator[Change]:
    """Changes whose line is still in its file, wherever it stands now."""
    for change in changes:
        file = ROOT / change.file
        lines = (
            [one.strip() for one in file.read_text("utf-8").splitlines()] if file.is_file() else []
        )
        if change.was in lines:
            yield replace(change, line=lines.index(change.was) + 1)


def stage(count: int) -> list[Path]:
    """Copies of the tracked files, one for each process, in folders named like the package."""
    shutil.rmtree(STAGE, ignore_errors=True)
    copies = [STAGE / str(number) / "tstbench" for number in range(count)]
    for copy in copies:
        for name in tracked():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    return copies


def pytest_in(copy: Path, *arguments: str, seconds: float | None = None, **env: str) -> str | None:
    """What pytest prints in a copy; ``None`` if it had to be stopped."""
    env = {**os.environ, "PYTHONPATH": str(copy.parent), "OMP_NUM_THREADS": "1", **env}
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", *PLUGINS, *arguments]
    try:
        return subprocess.run(
            command, cwd=copy, env=env, capture_output=True, text=True, timeout=seconds
        ).stdout
    except subprocess.TimeoutExpired:
        return None


def executed(copy: Path, rooms: list[str], tests: list[str]) -> dict[str, Executed]:
    """The tests that pass."""
    out = STAGE / "executed.json"
    shutil.copyfile(HERE / "executed_lines.py", copy.parent / "executed_lines.py")
    files = [name for room in rooms for name in room_files(room)]
    env = {"SAMPLE_FILES": os.pathsep.join(files), "SAMPLE_OUT": str(out)}
    pytest_in(copy, "-p", "executed_lines", "-m", "not slow and not browser", *tests, **env)
    return {name: Executed(**one) for name, one in json.loads(out.read_text("utf-8")).items()}


def to_run(change: Change, tests: dict[str, Executed], most: float) -> list[str]:
    """The tests that execute the changed line, or of a line outside functions, its file.

    And those that read it.
    """
    here = [n for n, one in tests.items() if change.line in one.lines.get(change.file, ())]
    here = here or [name for name, one in tests.items() if change.file in one.lines]
    read = [name for name in tests if name.startswith(READER)]
    kept = read.copy()
    spent = 0.0
    for name in sorted(here, key=lambda name: (tests[name].seconds, name)):
        spent += tests[name].seconds
        if len(kept) > len(read) and spent > most:
            break
        kept.append(name)
    return kept


def tried(change: Change, copy: Path, names: list[str], most: float) -> Change:
    """The change, with the tests that noticed it."""
    if not names:
        return replace(change, ran=0, by=0, noticed=[])
    place = copy / change.file
    before = place.read_text("utf-8")
    lines = before.splitlines(keepends=True)
    lines[change.line - 1] = lines[change.line - 1].replace(change.was, change.now)
    place.write_text("".join(lines), "utf-8")
    asked = copy.parent / "names.txt"
    asked.write_text("\n".join(names), "utf-8")
    printed = pytest_in(copy, "-rfE", f"@{asked}", seconds=60 + 5 * most)
    place.write_text(before, "utf-8")
    if printed is None:
        return replace(change, ran=len(names), by=1, noticed=["timeout"])
    rows = [line.split(" - ")[0].partition(" ") for line in printed.splitlines()]
    # An error in collecting is one of the whole file.
    failed = sorted({name for word, _, name in rows if word in ("FAILED", "ERROR")})
    return replace(change, ran=len(names), by=len(failed), noticed=failed[:5])


def report(room: str, changes: list[Change]) -> Iterator[str]:
    """The share that is noticed, by how many tests, and what nobody notices."""
    seen = [one for one in changes if one.noticed]
    alone = Counter(one.noticed[0] for one in seen if one.by == 1)
    yield f"{room}: {len(seen)} of {len(changes)} changes noticed"
    for record in (READER, LOOKS):
        only = sum(all(name.startswith(record) for name in one.noticed) for one in seen)
        yield f"by {record} alone: {only}"
    yield f"by one test alone: {sum(alone.values())}, by {len(alone)} different ones"
    for one in changes:
        if not one.noticed:
            yield f"  {one.file}:{one.line} ({one.ran} tests ran)\n    {one.was}\n    {one.now}"


def main() -> None:
    """Draw, try, record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="+", help=f"folders such as trainers; {GROUND}, {PRODUCT}")
    parser.add_argument("--tests", nargs="+", default=[], help="files or folders; default: all")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-n", type=int, default=60, help="changes of each room")
    parser.add_argument("--seconds", type=float, default=30.0, help="of tests for each change")
    parser.add_argument("--children", type=int, default=2, help="processes")
    parser.add_argument("--report", action="store_true", help="show the records, try nothing")
    parser.add_argument("--again", action="store_true", help="try the records' changes again")
    given = parser.parse_args()
    records = {room: HERE / "sample" / f"{room}.json" for room in given.rooms}
    before: dict[str, list[Change]] = {}
    if given.report or given.again:
        for room, record in records.items():
            before[room] = [
                Change(**one) for one in json.loads(record.read_text("utf-8"))["changes"]
            ]
    if given.report:
        for room, changes in before.items():
            print("\n".join(report(room, changes)))
        return
    free: Queue[Path] = Queue()
    for copy in stage(given.children):
        free.put(copy)
    tests = executed(STAGE / "0" / "tstbench", given.rooms, given.tests)

    def one(change: Change) -> Change:
        copy = free.get()
        try:
            return tried(change, copy, to_run(change, tests, given.seconds), given.seconds)
        finally:
            free.put(copy)

    lost = 0
    for room, record in records.items():
        known = before.get(room)
        changes = drawn(room, given.seed, given.n) if known is None else [*still_there(known)]
        with ThreadPoolExecutor(given.children) as pool:
            done = list(pool.map(one, changes[: given.n]))
        print("\n".join(report(room, done)), flush=True)
        if known is None:
            head = {"room": room, "seed": given.seed, "seconds": given.seconds}
            head |= {"tests": given.tests} if given.tests else {}
            text = json.dumps({**head, "changes": [asdict(one) for one in done]}, indent=1)
            record.parent.mkdir(exist_ok=True)
            record.write_text(text + "\n", "utf-8")
        else:
            noticed = {(one.file, one.was, one.now) for one in known if one.noticed}
            lost += sum((c.file, c.was, c.now) in noticed and not c.noticed for c in done)
    if lost:
        raise SystemExit(f"noticed before, and not any more: {lost}")


if __name__ == "__main__":
    main()
