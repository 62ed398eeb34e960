"""A package of somebody else's with one metric, scorer, system and dataset, really installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tstbench.pipelines.report import read_report

SOURCE = Path(__file__).parent / "outside_package"
DIRECTION = "manners/rude-to-polite"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> dict[str, str]:
    """The environment of a machine where the package is installed."""
    folder = tmp_path_factory.mktemp("outside")
    source = shutil.copytree(SOURCE, folder / "source")  # setuptools builds beside what it builds
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    target = ["--no-index", "--target", str(folder / "site")]
    subprocess.run([*pip, *target, str(source)], check=True, capture_output=True)
    path = os.pathsep.join(filter(None, (str(folder / "site"), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "TSTBENCH_HOME": str(folder / "home")}


@pytest.fixture(scope="module")
def tstbench(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")

    def run(*arguments: str) -> tuple[str, str]:
        command = [sys.executable, "-m", "tstbench", *arguments]
        done = subprocess.run(
            command, env=installed, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    run.folder = folder
    return run


def test_lists_show_what_it_brings_and_name_what_is_broken(tstbench):
    assert "polite\tPolite\tstyle\tpercent" in tstbench("metrics")[0]
    assert f"\n{DIRECTION}\t" in tstbench("directions")[0]
    _, err = tstbench("train", "--help")
    assert "'broken' of manners is left out: ModuleNotFoundError" in err


@pytest.fixture(scope="module")
def results(tstbench):
    """Transferred by its system, scored with its metric and its scorer, on its dataset."""
    tstbench("transfer", "please", "--direction", DIRECTION, "--out", "please.jsonl")
    metrics = ("--metrics", "polite", "acc", "s_bleu", "--scorer", "classifier=keyword")
    said = tstbench(
        "evaluate", "please.jsonl", "--baseline", "copy", "--direction", DIRECTION,
        *metrics, "--set", "politeness.words=please,thank", "--out", "results",
    )  # fmt: skip
    return tstbench.folder / "results", said


def test_a_report_has_its_metric_by_its_scorer(results):
    root, (out, err) = results
    assert "Polite ↑" in out
    assert "training the keyword style classifier of manners" in err
    polite, copy = (read_report(root / DIRECTION / name) for name in ("please", "copy"))
    assert (polite.score("polite").value, copy.score("polite").value) == (100.0, 0.0)
    assert polite.score("polite").signature.startswith(
        f"polite|v:1|direction:{DIRECTION}|words:please,thank|n:6|data:"
    )
    assert "|classifier:keyword:manners#" in polite.score("acc").signature
    assert polite.score("acc").value > 50
    assert polite.score("polite").interval is None  # of six sentences


def test_one_more_metric_computes_that_one_alone(results, tstbench):
    root, _ = results
    before = read_report(root / DIRECTION / "please")
    _, err = tstbench(
        "evaluate", "please.jsonl", "--baseline", "copy", "--direction", DIRECTION,
        "--metrics", "politeness", "r_bleu", "--set", "politeness.words=please,thank",
        "--out", "results",
    )  # fmt: skip
    assert "computed 2" in err  # r_bleu, of two systems
    after = read_report(root / DIRECTION / "please")
    assert {s.recipe for s in before.scores} < {s.recipe for s in after.scores}


LEADERBOARD = """
import json, sys, urllib.request
from tstbench.spaces.leaderboard.launch import launch

running = launch(sys.argv[1], port=0, block=False)
with urllib.request.urlopen(f"{running.url}?direction=manners/rude-to-polite") as page:
    text = page.read().decode()
print(json.dumps([word in text for word in ("Polite", "please", "copy")]))
running.close()
"""


def test_the_leaderboard_shows_it(results, installed):
    root, _ = results
    done = subprocess.run(
        [sys.executable, "-c", LEADERBOARD, str(root)],
        env=installed, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [True, True, True]
