"""What the documentation shows is run; the site is built with every warning an error."""

import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from docs_runner import run_page
from places import ROOT
from prepared import prepared_home
from warm_start import warm_start

from tstbench.datasets_scripts.catalog import REGISTERED

PAGES = sorted({ROOT / "README.md", *ROOT.glob("docs/**/*.md")})
AT_ONCE = ("README.md", "docs/reproduction.md")  # the others are slow
FETCHED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="((?:https?:)?//[^"]+)"')


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """A folder with ``tstbench``, whose start takes no seconds."""
    with warm_start(tmp_path_factory.mktemp("bin")) as folder:
        yield folder


@pytest.fixture
def reader(request, tmp_path, tmp_path_factory, monkeypatch):
    """The machine of somebody who follows a page: mini's scorers are trained, no index is asked."""
    places = [Path(sys.executable).parent, "/usr/bin", "/bin"]
    if request.node.get_closest_marker("slow"):  # pages whose commands import torch
        places.insert(0, request.getfixturevalue("commands"))
    site = tmp_path / "site-packages"  # what a page installs with pip goes here
    paths = filter(None, (str(site), str(tmp_path / "page"), os.environ.get("PYTHONPATH")))
    environment = {
        "COLUMNS": "100",
        "HF_HOME": str(tmp_path / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "PATH": os.pathsep.join(map(str, places)),
        "PIP_NO_BUILD_ISOLATION": "0",  # pip means: none
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_TARGET": str(site),
        "PYTHONPATH": os.pathsep.join(paths),
        "TSTBENCH_HOME": str(prepared_home(tmp_path_factory)),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TSTBENCH_DATA", raising=False)
    with patch.dict(REGISTERED):  # what a page makes known is forgotten after it
        folder = tmp_path / "page"
        folder.mkdir()
        yield folder


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name, marks=[] if name in AT_ONCE else pytest.mark.slow)
        for page in PAGES
        for name in [str(page.relative_to(ROOT))]
    ],
)
def test_a_page_shows_what_happens(page, reader):
    run_page(page.read_text("utf-8"), reader)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
def test_the_site_is_built_and_fetches_nothing(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) >= 3  # the index, the reference, and what is shown for a missing page
    for page in pages:
        assert FETCHED.findall(page.read_text("utf-8")) == [], page
    for style in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//", style.read_text("utf-8")) == []


@pytest.mark.slow
def test_the_reference_has_the_public_names(site):
    text = site.joinpath("api/index.html").read_text("utf-8")
    for name in (
        "evaluate.evaluate",
        "report.Report",
        "load.load_test_set",
        "errors.TSTBenchError",
    ):
        assert re.search(rf'id="tstbench\.[\w.]*{re.escape(name)}"', text), name
    assert ":class:`" not in text  # the docstrings' roles have become words
    assert ":func:`" not in text
