"""The wheel holds the whole house, and imports from an empty environment."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from places import ROOT

IMPORTS = (
    "tstbench.datasets_scripts.load",
    "tstbench.metrics.measure",
    "tstbench.metrics.joint.joint",
    "tstbench.metrics.scorers.kneser_ney",
    "tstbench.pipelines.evaluate",
)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy: setuptools leaves its folders beside what it builds."""
    source = tmp_path_factory.mktemp("copy") / "source"
    leave = shutil.ignore_patterns(".*", "build", "docs", "tests", "*.egg-info", "__pycache__")
    return Path(shutil.copytree(ROOT, source, ignore=leave))


@pytest.fixture(scope="module")
def wheel(source) -> Path:
    folder = source.parent
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(folder), str(source)], check=True, capture_output=True)
    return next(folder.glob("tstbench-*.whl"))


def test_wheel_has_the_data_and_the_cards(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "tstbench/py.typed",
        "tstbench/metrics/joint/joint.py",
        "tstbench/metrics/joint/README.md",
        "tstbench/datasets_scripts/mini/data/test.0",
        "tstbench/datasets_scripts/mini/data/reference3.1",
        "tstbench/datasets_scripts/yelp/README.md",
        "tstbench/datasets_scripts/upstream.json",
        "tstbench/pipelines/suites/demo.toml",
        "tstbench/spaces/leaderboard/app.py",
        "tstbench/spaces/leaderboard/static/css/table.css",
        "tstbench/spaces/leaderboard/static/js/start.js",
        "tstbench/spaces/design/tokens.css",
        "tstbench/spaces/metric_page.css",
    ):
        assert name in names
    assert not [n for n in names if not n.startswith(("tstbench/", "tstbench-"))]
    inside = {n.split("/")[1] for n in names if n.startswith("tstbench/")}
    rooms = {"plots", "chat", "datasets_scripts", "metrics", "trainers", "pipelines", "spaces"}
    rooms |= {"commands"}
    ground = (
        "citation",
        "console",
        "errors",
        "files",
        "hosts",
        "hub",
        "plugins",
        "pace",
        "records",
        "settings",
        "store",
        "untrusted",
        "version",
    )
    assert inside == rooms | {f"{name}.py" for name in (*ground, "__init__", "__main__")} | {
        "py.typed"
    }


def test_wheel_imports_from_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    install = [*pip, "install", "-q", "--no-deps", "--no-index", wheel]
    subprocess.run(list(map(str, install)), check=True, capture_output=True)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    tstbench = tmp_path / "venv" / "bin" / "tstbench"
    shown = subprocess.run(
        [tstbench, "--help"], check=True, capture_output=True, text=True, env=clean, cwd=tmp_path
    )
    assert "evaluate" in shown.stdout
    # The dependencies come from this environment; PYTHONPATH reads no .pth file, so the editable
    # install of this environment stays out of it.
    code = "; ".join(f"import {name}" for name in IMPORTS)
    code += "; import tstbench; print(tstbench.__file__)"
    result = subprocess.run(
        [python, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**clean, "PYTHONPATH": sysconfig.get_paths()["purelib"]},
        cwd=tmp_path,
    )
    assert str(tmp_path) in result.stdout


def test_type_checkers_find_an_editable_install(source, tmp_path):
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    site = next(tmp_path.glob("venv/lib/python*/site-packages"))
    site.joinpath("shared.pth").write_text(sysconfig.get_path("purelib"))  # pip, setuptools, mypy
    install = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "-e", source], check=True, capture_output=True)
    code = "from tstbench.version import __version__; reveal_type(__version__)"
    # What tstbench imports, NumPy and torch with it, would be checked for a minute.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\n[mypy-tstbench.*]\nfollow_imports = skip\n"
        "[mypy-tstbench.version]\nfollow_imports = normal\n"
    )
    check = [python, "-m", "mypy", "--cache-dir", os.devnull, "-c", code]
    shown = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert 'Revealed type is "str"' in shown.stdout, shown.stdout
    assert shown.returncode == 0
    where = [python, "-c", "import tstbench; print(tstbench.__file__)"]
    found = subprocess.run(where, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert Path(found.stdout.strip()).resolve() == source / "__init__.py"
