"""Mutation tests of the core: change a line, and see whether a test notices.

    make mutation
    python tests/mutation/run.py statistics ranking   # only these groups of groups.toml

mutmut makes the mutants and runs the tests. It wants the package in a folder of its name, so each
group works on a copy, ``.mutation/<group>/tstbench``. In that copy, decorators other than
``classmethod`` and ``staticmethod`` become calls below their function: mutmut leaves decorated
functions alone, and would not try a property or a function with a cache otherwise.

Not mutated: constants of modules and classes, decorators and f-strings.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STAGE = ROOT / ".mutation"
# To tell of errors in destructors, pytest collects garbage ten times: most of a mutant's time.
WITHOUT = ("cacheprovider", "xdist", "unraisableexception")
PLUGINS = ("-p", "fresh", *(f"-pno:{name}" for name in WITHOUT))
# A test that never ends, or that ends the process, has noticed too.
SLOW = "timeout"
NOTICED = {"killed", SLOW, "segfault"}


@dataclass(frozen=True)
class Group:
    """Files that are mutated together, by pattern, and the test files that should notice.

    Tests whose names contain one of the words of ``without`` are too slow to run for each mutant.
    """

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    without: str = ""

    @property
    def folder(self) -> Path:
        """Where mutmut works on them."""
        return STAGE / self.name

    def mutated(self) -> list[str]:
        """The files, relative to the root; each pattern must match some.

        Raises:
            SystemExit: a pattern matches nothing, or a test file is not there.
        """
        found = []
        for pattern in self.files:
            matches = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))
            if not matches:
                raise SystemExit(f"groups.toml: [{self.name}]: no file {pattern}")
            found += matches
        for test in self.tests:
            if not (ROOT / "tests" / test).is_file():
                raise SystemExit(f"groups.toml: [{self.name}]: no file tests/{test}")
        return found


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of one function, as the lines of a diff, and what became of it."""

    file: str
    function: str
    was: str
    now: str
    status: str

    @property
    def noticed(self) -> bool:
        """Whether a test failed, or did not end."""
        return self.status in NOTICED


@dataclass(frozen=True)
class Excuse:
    """Why a mutant may survive: an entry of survivors.toml."""

    file: str
    function: str
    was: str
    now: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        """Whether this is about that mutant."""
        mine = (self.file, self.function, self.was, self.now)
        return mine == (mutant.file, mutant.function, mutant.was, mutant.now)


def read_groups(wanted: list[str]) -> list[Group]:
    """The groups of groups.toml, or those that are wanted."""
    text = (HERE / "groups.toml").read_text("utf-8")
    groups = [
        Group(each["name"], tuple(each["files"]), tuple(each["tests"]), each.get("without", ""))
        for each in tomllib.loads(text)["group"]
    ]
    if unknown := set(wanted) - {group.name for group in groups}:
        names = ", ".join(group.name for group in groups)
        raise SystemExit(f"no such group: {', '.join(sorted(unknown))}; there are: {names}")
    return [group for group in groups if not wanted or group.name in wanted]


def read_excuses() -> list[Excuse]:
    """The entries of survivors.toml, whose ``now`` may be a list: one for each of its lines."""
    listed = tomllib.loads((HERE / "survivors.toml").read_text("utf-8")).get("survivor", [])
    return [
        Excuse(**{**each, "now": now})
        for each in listed
        for now in (each["now"] if isinstance(each["now"], list) else [each["now"]])
    ]


def stage(group: Group) -> None:
    """Copy the tree as git sees it, and write mutmut's settings beside it."""
    shutil.rmtree(group.folder, ignore_errors=True)
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    mutated = group.mutated()
    for name in filter(None, names.split("\0")):
        source, copy = ROOT / name, group.folder / "tstbench" / name
        if not source.is_file():
            continue  # deleted, and not committed yet
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        if name in mutated:
            code = undecorated(source.read_text("utf-8"))
            copy.write_text(without_families(code), "utf-8")
    with (ROOT / "pyproject.toml").open("rb") as file:
        ours = tomllib.load(file)["tool"]["pytest"]["ini_options"]
    tests = [f"tstbench/tests/{test}" for test in group.tests]
    for name in mutated:
        if ">>> " in (ROOT / name).read_text("utf-8"):
            module = f"tstbench/{name}".removesuffix(".py").replace("/", ".")
            tests.append(f"tstbench/tests/unit/house/test_doctests.py::test_examples[{module}]")
    left_out = " and ".join(f"not {word}" for word in group.without.split())
    settings = {
        "source_paths": ["tstbench"],
        "only_mutate": [f"tstbench/{name}" for name in mutated],
        "pytest_add_cli_args": [*PLUGINS, *(["-k", left_out] if left_out else [])],
        "pytest_add_cli_args_test_selection": tests,
        "timeout_multiplier": 4.0,
        "timeout_constant": 20.0,  # a busy machine is no endless loop
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    ini = {
        **ours,
        "testpaths": ["tstbench/tests"],
        "pythonpath": [f"tstbench/{one}" for one in ours["pythonpath"]],
    }
    # A JSON list, string or number is written the same in TOML.
    sections = [("tool.mutmut", settings), ("tool.pytest.ini_options", ini)]
    lines = []
    for title, section in sections:
        lines += [f"[{title}]", *(f"{key} = {json.dumps(value)}" for key, value in section.items())]
    (group.folder / "pyproject.toml").write_text("\n".join(lines) + "\n", "utf-8")


def undecorated(code: str) -> str:
    """The same module with ``f = decorator(f)`` below a function in place of ``@decorator``.

    >>> print(undecorated("class A:\\n    @property\\n    def b(self):\\n        return 1\\n"))
    class A:
        def b(self):
            return 1
        b = property(b)
    <BLANKLINE>
    """
    lines: list[str] = code.splitlines()
    # From the last to the first, so that the numbers of the lines above stay true.
    for node in sorted(_decorated(ast.parse(code)), key=lambda node: -node.lineno):
        below = node.name
        for decorator in reversed(node.decorator_list):
            below = f"{ast.unparse(decorator)}({below})"
        lines.insert(node.end_lineno or 0, f"{' ' * node.col_offset}{node.name} = {below}")
        for decorator in reversed(node.decorator_list):
            del lines[decorator.lineno - 1 : decorator.end_lineno]
    return "\n".join(lines) + "\n"


def without_families(code: str) -> str:
    """The same module, in which mutmut leaves a metric's family alone.

    A metric's file begins with its arithmetic, which is mutated. From its options on it is the
    family, whose tests read whole test sets: too slow for each mutant.
    """
    lines: list[str] = code.splitlines()
    tree = ast.parse(code)
    own = [node for node in tree.body if isinstance(node, ast.ClassDef) and _is_family(node)]
    if not own:
        return code
    functions = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno > own[0].lineno
    )
    for node in sorted(functions, key=lambda node: -node.lineno):  # mutmut skips decorated ones
        if not node.decorator_list:
            lines.insert(node.lineno - 1, f"{' ' * node.col_offset}@(lambda function: function)")
    return "\n".join(lines) + "\n"


def _is_family(node: ast.ClassDef) -> bool:
    bases = (ast.unparse(base).partition("[")[0] for base in node.bases)
    return any(base.endswith(("Family", "Options")) for base in bases)


def _decorated(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            names = {ast.unparse(decorator) for decorator in node.decorator_list}
            if not names <= {"classmethod", "staticmethod"}:
                yield node


def mutate(group: Group, children: int) -> None:
    """Run mutmut on the group's copy.

    Raises:
        SystemExit: its tests fail without a mutant, or mutmut failed.
    """
    there = group.folder / "mutants"
    there.mkdir(exist_ok=True)  # Python remembers that a folder of its path was not there
    paths = [there, HERE]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",  # mutmut rewrites files faster than their dates change
        "OMP_NUM_THREADS": "1",  # threads do not survive a fork
        "OPENBLAS_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
    }
    environment.pop("TSTBENCH_SOURCES", None)  # the same score on every machine
    command = [str(Path(sys.executable).parent / "mutmut"), "run", "--max-children", str(children)]
    with (group.folder / "log.txt").open("w") as log:
        done = subprocess.run(
            command, cwd=group.folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    if done.returncode:
        tail = (group.folder / "log.txt").read_text("utf-8", "replace")[-3000:]
        raise SystemExit(f"{tail}\n{group.name}: mutmut failed; see {group.folder / 'log.txt'}")


def read_mutants(group: Group) -> list[Mutant]:
    """What mutmut wrote about the group."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code

    os.chdir(group.folder)
    mutants = []
    for name in group.mutated():
        meta = group.folder / "mutants" / "tstbench" / f"{name}.meta"
        if not meta.is_file():
            continue  # nothing in it to mutate
        for key, code in json.loads(meta.read_text("utf-8"))["exit_code_by_key"].items():
            status = status_by_exit_code[code]
            was = now = ""
            if status not in NOTICED or status == SLOW:
                was, now = changed(get_diff_for_mutant(key, path=f"tstbench/{name}"))
            mutants.append(Mutant(name, _function(key), was, now, status))
    return mutants


def changed(diff: str) -> tuple[str, str]:
    """The lines that a diff removes and those that it adds, as one line each."""
    body = diff.splitlines()[2:]
    sides = ([line[1:].strip() for line in body if line.startswith(sign)] for sign in "-+")
    was, now = (" ".join(side) for side in sides)
    return was, now


def _function(key: str) -> str:
    """``tstbench.a.xǁClassǁmethod__mutmut_1`` is ``Class.method``, ``x_f__mutmut_1`` is ``f``."""
    mangled = key.rpartition(".")[2].rpartition("__mutmut_")[0]
    return mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


def table(mutants: list[Mutant]) -> str:
    """One line a file, and one for all."""
    files = sorted({mutant.file for mutant in mutants})
    rows = [("file", "mutants", "killed", "survived", "timeout", "no tests", "score")]
    for name in [*files, "all"]:
        mine = [mutant for mutant in mutants if name in (mutant.file, "all")]
        counts = {
            status: sum(mutant.status == status for mutant in mine)
            for status in ("killed", "survived", "timeout", "no tests")
        }
        score = 100 * sum(mutant.noticed for mutant in mine) / len(mine)
        rows.append((name, str(len(mine)), *map(str, counts.values()), f"{score:.1f} %"))
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{row[0]:<{width}}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows
    )


def main() -> None:
    """Stage, run, report; exit code 1 if a survivor has no reason, or a reason no survivor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help="names in groups.toml; all by default")
    parser.add_argument("--children", type=int, default=2, help="tests at the same time")
    parser.add_argument("--report", action="store_true", help="only read what is there")
    asked = parser.parse_args()
    groups = read_groups(asked.groups)
    mutants: list[Mutant] = []
    for group in groups:
        if not asked.report:
            print(f"{group.name}...", flush=True)
            stage(group)
            mutate(group, asked.children)
        if group.folder.is_dir():
            mutants += read_mutants(group)
    raw = [asdict(mutant) for mutant in mutants]
    (STAGE / "mutants.json").write_text(json.dumps(raw, indent=1, ensure_ascii=False), "utf-8")

    excuses = read_excuses()
    left = sorted(mutant for mutant in mutants if not mutant.noticed)
    slow = [mutant for mutant in mutants if mutant.status == SLOW]  # a busy machine, it may be
    bare = [mutant for mutant in left if not any(each.covers(mutant) for each in excuses)]
    stale = [
        each
        for each in excuses
        if any(each.file in group.mutated() for group in groups)
        and not any(each.covers(mutant) for mutant in (*left, *slow))
    ]
    for mutant in bare:
        print(f"\n{mutant.file}: {mutant.function} ({mutant.status})")
        print(f"  - {mutant.was}\n  + {mutant.now}")
    for each in stale:
        print(f"\nsurvivors.toml: {each.file}: {each.function}: no longer survives: {each.now}")
    print(f"\n{table(mutants)}" if mutants else "no mutants")
    print(f"{len(left)} not noticed, {len(left) - len(bare)} of them with a reason")
    raise SystemExit(1 if bare or stale else 0)


if __name__ == "__main__":
    main()
