"""The rules of the house that a tool can check."""

import ast
from importlib.metadata import version
from pathlib import Path

import pytest

import tstbench
from tstbench.metrics.facts import METRICS

ROOT = Path(__file__).resolve().parent.parent
ORDER = ("tstbench", "datasets_scripts", "metrics", "trainers", "pipelines", "spaces")
LEAVES_HOME = ("app.py",)


def imported_rooms(file: Path):
    """The rooms a module imports, relatively or absolutely."""
    depth = file.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = ["tstbench", *depth[:-1]] if depth[0] != "tstbench" else ["tstbench"]
            base = package[: len(package) - node.level + 1]
            target = [*base, *(node.module or "").split(".")]
            names = [target[1]] if len(target) > 1 and target[1] else [a.name for a in node.names]
            yield from (name for name in names if name in ORDER)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tstbench."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("tstbench."))


@pytest.mark.parametrize("room", ORDER)
def test_a_lower_room_never_imports_a_higher_one(room):
    for file in sorted((ROOT / room).rglob("*.py")):
        if file.name in LEAVES_HOME or file.name == "__main__.py":
            continue
        for imported in imported_rooms(file):
            if imported in ORDER:
                assert ORDER.index(imported) <= ORDER.index(room), f"{file} imports {imported}"


def test_the_versions_agree():
    assert tstbench.__version__ == version("tstbench")


def test_every_metric_folder_is_a_space():
    folders = {p.parent.name for p in ROOT.glob("metrics/*/README.md")}
    assert folders == {"acc", "bleu", "bertscore", "ppl", "cola", "joint"}
    for folder in folders:
        for name in (f"{folder}.py", "app.py", "requirements.txt"):
            assert (ROOT / "metrics" / folder / name).is_file()
        card = (ROOT / "metrics" / folder / "README.md").read_text("utf-8")
        assert "sdk: gradio" in card
        assert "## Known failures" in card
    scores = " ".join((ROOT / f"metrics/{f}/README.md").read_text("utf-8") for f in folders)
    for metric in METRICS:
        assert f"`{metric}`" in scores


def test_no_module_reads_pickles():
    for room in ORDER:
        for file in (ROOT / room).rglob("*.py"):
            text = file.read_text("utf-8")
            assert "import pickle" not in text, file
            assert "allow_pickle=True" not in text, file
