"""The rules of the house that a tool can check."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from places import ROOT

import tstbench
from tstbench.metrics.registry import FAMILIES, FURTHER_FAMILIES, METRICS

ROOMS = ("plots", "chat", "datasets_scripts", "metrics", "trainers", "pipelines", "spaces",
         "commands")  # fmt: skip
GROUND = "the root's own modules"
ORDER = (GROUND, *ROOMS)
LEAVES_HOME = ("app.py",)


def modules(room: str) -> list[Path]:
    if room == GROUND:  # the face and the way in stand on everything; setup.py is no module
        above = {ROOT / name for name in ("__init__.py", "__main__.py", "setup.py")}
        return sorted({*ROOT.glob("*.py")} - above)
    return sorted(f for f in (ROOT / room).rglob("*.py") if f.name not in LEAVES_HOME)


@cache
def nodes(file: Path) -> list[ast.AST]:
    """All of a module, read once."""
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def imported_rooms(file: Path):
    """The rooms a module imports when it is loaded or called: relatively, absolutely, by string."""
    inside = ["tstbench", *file.relative_to(ROOT).parts[:-1]]
    documentation = {id(node.value) for node in nodes(file) if isinstance(node, ast.Expr)}
    for node in nodes(file):
        targets = []
        if isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            module = [*base, *(node.module or "").split(".")]
            targets = [[*filter(None, module), alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = re.fullmatch(r"(?:tstbench\.|\.+)([a-z_]+)\.[\w.]+(?::\w+)?", node.value)
            if named and id(node) not in documentation:
                targets = [["tstbench", named[1]]]
        for target in targets:
            if target[0] == "tstbench" and len(target) > 1 and target[1] in ROOMS:
                yield target[1]


@pytest.mark.parametrize("room", ORDER)
def test_a_lower_room_never_imports_a_higher_one(room):
    assert modules(room), "it is not where it was"
    for file in modules(room):
        for imported in imported_rooms(file):
            assert ORDER.index(imported) <= ORDER.index(room), f"{file} imports {imported}"


def test_hidden_imports_are_seen(tmp_path, monkeypatch):
    """The test above would notice an import by string, which no drawing tool sees."""
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "metrics").mkdir()
    file = tmp_path / "metrics" / "hidden.py"
    file.write_text(
        'from importlib import import_module\nimport_module("tstbench.spaces.annotate")'
    )
    assert list(imported_rooms(file)) == ["spaces"]


def test_what_is_imported_is_asked_for():
    """A package that only comes with another one is missing when that one no longer needs it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    del extras["dev"], extras["docs"]
    asked = {re.split(r"[^\w-]", one)[0] for one in sum(extras.values(), project["dependencies"])}
    asked = {re.sub("[-_.]+", "-", name).lower() for name in asked}
    known = {"yaml": "pyyaml", "sklearn": "scikit-learn", "ot": "pot"}  # the others' own names
    missing, without = set(), {"tstbench", *sys.stdlib_module_names}
    for file in (file for room in ORDER for file in modules(room)):
        names = [a.name for n in nodes(file) if isinstance(n, ast.Import) for a in n.names]
        names += [n.module for n in nodes(file) if isinstance(n, ast.ImportFrom) and not n.level]
        tops = {name.split(".")[0] for name in names} - without
        named = {known.get(top, top.replace("_", "-")) for top in tops}
        missing |= {(name, file.name) for name in named - asked}
    assert missing == set()
    assert "markupsafe" in " ".join(project["dependencies"]), "of the page that analyze writes"


def test_the_versions_agree():
    assert tstbench.__version__ == version("tstbench")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == tstbench.__version__


def test_one_ruff_for_all():
    """What checks a commit is what checks the whole: the same version."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    (ruff,) = (repo["rev"] for repo in hooks["repos"] if "ruff" in repo["repo"])
    assert f"\nruff=={ruff.removeprefix('v')} " in (ROOT / "constraints.txt").read_text()


def test_the_workflow_runs_the_script_and_nothing_else():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    steps = workflow["jobs"]["test"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == ["bash .ci/run"]


def test_every_metric_folder_is_a_space():
    folders = {p.parent.name for p in ROOT.glob("metrics/*/README.md")}
    assert folders == {*FAMILIES, *FURTHER_FAMILIES}
    for folder in folders:
        assert (ROOT / "metrics" / folder / f"{folder}.py").is_file()
        card = (ROOT / "metrics" / folder / "README.md").read_text("utf-8")
        assert "sdk: gradio" in card
        assert "## Known failures" in card
    scores = " ".join((ROOT / f"metrics/{f}/README.md").read_text("utf-8") for f in folders)
    for metric in METRICS:
        assert f"`{metric}`" in scores


# What prints words of our own, or makes those of others safe.
PRINTERS = ("console.py", "tables.py", "terminal_table.py", "rankings.py", "cli.py", "harness.py")


def test_foreign_text_reaches_a_terminal_only_through_what_makes_it_safe():
    """Names and texts by others go through console.py; JSON may be printed, as it has escapes."""
    for file in (file for room in ORDER for file in modules(room) if file.name not in PRINTERS):
        lines = file.read_text("utf-8").splitlines()
        for node in nodes(file):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
                assert "ASCII on any terminal" in lines[node.end_lineno - 1], (file, node.lineno)


def test_the_security_page_is_linked_and_its_options_exist():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    for part in ("## What is promised", "## What is not", "## To report a hole"):
        assert part in page
    commands = "".join(f.read_text("utf-8") for f in modules("commands"))
    options = set(re.findall(r"`(--[a-z-]+)", page)) - {"--version"}
    links = re.findall(r"\]\(((?!http)[^)]+)\)", page)
    assert options
    assert links
    for option in options:
        assert f'"{option}"' in commands
    for file in links:
        assert (ROOT / file).is_file()


def test_no_module_reads_pickles():
    for room in ORDER:
        for file in modules(room):
            text = file.read_text("utf-8")
            if file.name != "mir2019.py":  # its reader knows arrays only
                assert "import pickle" not in text, file
            assert "allow_pickle=True" not in text, file


def test_temporary_folders_and_locks_are_only_those_of_files():
    """Their names are known to `tstbench cache prune`, and their locks to everybody."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for room in ORDER
        for path in modules(room)
        if path.name != "files.py"
        for line in path.read_text().splitlines()
        if re.search(r"\b(TemporaryDirectory|mkdtemp|mkstemp|NamedTemporaryFile|FileLock)\(", line)
        and "dir=process_folder()" not in line
    ]
    assert found == []


# What these add to a parser, and how a command then reads it.
ADDED = {
    "add_address": {"host", "port", "allow_host"},
    "add_scoring_arguments": {"read_scoring"},
    "add_layout_arguments": {"read_layout"},
    "add_batch_size": {"batch_size"},
    "add_data_dir": {"data_dir"},
    "add_resume": {"resume"},
    "add_split": {"split"},
    "add_without": {"without"},
    "add_flags": {"given"},
}

READ_ELSEWHERE = {
    "cli": {"data"},  # for the help: _take_data reads it, wherever it stands
    "data": {"action"},  # it has one only
    "arguments": {"host", "port", "allow_host", "resume", "yes", "split", "data_dir"},
    "transfer": {"given"},  # as texts, given_texts: which exist depends on the system
}


def is_adding(call: ast.Call) -> bool:
    """Whether a call adds an option that is known before it runs."""
    adding = ("add_argument", "switch", "several", "repeatable", "path", "count")
    is_named = isinstance(call.func, ast.Attribute) and call.func.attr in adding
    return is_named and isinstance(call.args[0], ast.Constant)


def option(call: ast.Call) -> str:
    """Under which name argparse stores what a call of ``add_argument`` adds."""
    named = next((k.value for k in call.keywords if k.arg == "dest"), None)
    if isinstance(named, ast.Constant):
        return str(named.value)
    names = [one.value for one in call.args if isinstance(one, ast.Constant)]
    long = next((name for name in names if name.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


@pytest.mark.parametrize("file", modules("commands"), ids=lambda file: file.stem)
def test_every_option_is_read_by_its_command(file):
    """An option that is taken and then not passed on would be a default without a word."""
    added, read = set(), set()
    tree = ast.parse(file.read_text("utf-8"))
    adding = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_adding(node)]
    names = {id(inner) for call in adding for inner in ast.walk(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in ("arguments", "given", "parsed"):
                read.add(node.attr)
        elif isinstance(node, ast.Constant) and id(node) not in names:  # of those read in a loop
            read.add(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            added |= ADDED.get(node.func.id, set())
            read.add(node.func.id)
    added |= {option(call) for call in adding}
    assert added - read - READ_ELSEWHERE.get(file.stem, set()) == set()
