"""A run with nothing to do reads no training data, loads no scorer, and notices a changed file."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from own_data import RUDE, write_lines, write_manners
from prepared import DIRECTION, command_line, success

from tstbench.datasets_scripts.catalog import load_data, parse_dataset
from tstbench.datasets_scripts.sources import UpstreamFile
from tstbench.datasets_scripts.unchanged import Remembered
from tstbench.metrics.scorers.artefacts import find

SUITE = f"""
metrics = ["acc", "ppl", "s_bleu", "r_bleu", "cola"]

[[system]]
system = "copy"
directions = ["{DIRECTION}", "mini/positive-to-negative"]

[[system]]
system = "delete-retrieve"
directions = ["{DIRECTION}"]
"""

# Everything that is opened and imported, written down by the interpreter itself.
WATCHED = """
import json, os, sys
opened = []
sys.addaudithook(lambda event, facts: event == "open" and opened.append(str(facts[0])))
from tstbench.commands.cli import main
code = main(sys.argv[2:])
seen = {"code": code, "opened": opened, "modules": list(sys.modules)}
open(sys.argv[1], "w").write(json.dumps(seen))
"""


def watched(tmp_path, *arguments):
    record = tmp_path / "seen.json"
    command = [sys.executable, "-c", WATCHED, str(record), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return json.loads(record.read_text()), done.stderr


@pytest.fixture
def suite(tmp_path, prepared):
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


@pytest.mark.slow
def test_a_rerun_reads_no_training_data_and_loads_no_scorer(suite, tmp_path, capsys):
    _, err = success(capsys, "run", suite)
    seen, err = watched(tmp_path, "run", suite)
    assert seen["code"] == 0
    assert "computed 0" in err
    assert "computed 1" not in err
    parts = [part for part in parse_dataset("mini").parts if part.name != "test"]
    training = {str(file.locate()) for part in parts for file in part.files}
    assert len(training) >= 4
    assert {Path(name).name for name in seen["opened"]} >= {"samples.jsonl", "scorer.json"}
    assert not training & {os.path.realpath(name) for name in seen["opened"]}
    loaders = {f"tstbench.metrics.scorers.{name}" for name in ("linear", "probe", "encoder")}
    heavy = {"torch", "transformers", "sklearn", "pandas"}
    assert not (loaders | heavy) & set(seen["modules"])


def test_a_changed_training_file_is_noticed(tmp_path, tstbench_home, capsys):
    data = write_manners(tmp_path / "data")
    arguments = ("evaluate", "--baseline", "copy", "--direction", "manners/rude-to-polite")
    arguments += ("--metrics", "acc", "ppl", "--data", data)
    assert "training the linear style classifier" in command_line(capsys, *arguments)[2]
    first = find("classifier", "manners", "linear").hash
    assert "training" not in command_line(capsys, *arguments)[2]
    rude = tmp_path / "data" / "rude.txt"
    facts = rude.stat()
    write_lines(rude, [*RUDE[:-1], "Answer me n0w."])
    os.utime(rude, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # as some tools copy files
    assert rude.stat().st_size == facts.st_size
    assert "training the linear style classifier" in command_line(capsys, *arguments)[2]
    assert find("classifier", "manners", "linear").hash != first


def test_a_training_file_that_appears_is_noticed(tmp_path, tstbench_home, capsys):
    """What was missing belongs to what was seen."""
    data = write_manners(tmp_path / "data")
    load_data(data)
    corpus = parse_dataset("manners")
    (file,) = (f for part in corpus.parts for f in part.files if f.name == "rude.txt")
    there = file.state()
    file.path.unlink()
    assert file.state() != there
    assert file.state().endswith("absent")


def test_an_upstream_file_that_could_not_be_had_is_remembered_until_it_appears(
    tmp_path, monkeypatch
):
    """Else every run on a machine without a network reads all data again."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    file = UpstreamFile("owner/repository", "data/train.0", "0" * 40, commit="c" * 40)
    about = Remembered({"scorer": "toy"}, (file,))
    before = about.state()
    about.keep("first", before)
    assert about.answer() == "first"
    place = tmp_path / "owner/repository/data/train.0"
    place.parent.mkdir(parents=True)
    place.write_text("it was downloaded meanwhile\n")
    assert about.answer() is None
    about.keep("second", before)
    assert about.answer() == "second"
    there = about.state()
    place.write_text("it changed while it was read, so nobody knows what was read\n")
    about.keep("third", there)
    assert about.answer() is None


def test_damaged_fingerprints_are_made_again_and_none_are_no_error(suite, tmp_path, capsys):
    home = Path(os.environ["TSTBENCH_HOME"])
    for file in (home / "fingerprints").glob("*.json"):  # also of scorers that the suite lacks
        file.unlink()
    assert command_line(capsys, "run", suite)[0] == 0
    kept = sorted((home / "fingerprints").glob("*.json"))
    assert len(kept) >= 4
    for file, content in zip(kept, ("", "[]", "{", '{"question": 1}'), strict=False):
        file.write_text(content)
    _, err = success(capsys, "run", suite)
    assert "training" not in err
    assert all(json.loads(file.read_text())["answer"] for file in kept)
    for folder in (home / "fingerprints", tmp_path / "results"):
        shutil.rmtree(folder)
    (home / "fingerprints").write_text("")  # as a home to which one may not write
    _, err = success(capsys, "run", suite)


# -- a part of a suite -----------------------------------------------------------------------------


def test_a_suite_runs_in_parts(suite, tmp_path, capsys):
    arguments = (
        "--direction",
        DIRECTION,
        "--system",
        "copy",
        "--metric",
        "bleu",
        "--metric",
        "acc",
    )
    _, err = success(capsys, "run", suite, *arguments)
    assert "scored 1 of 1 systems; kept 0 scores, computed 3" in err
    reports = sorted((tmp_path / "results").rglob("report.json"))
    assert [f.parent.relative_to(tmp_path / "results").as_posix() for f in reports] == [
        f"{DIRECTION}/copy"
    ]
    assert not (tmp_path / "results" / "predictions" / DIRECTION / "delete-retrieve.jsonl").exists()
    _, _, err = command_line(capsys, "run", suite, "--direction", "mini", *arguments[2:])
    assert f"{DIRECTION}: scored 0 of 1 systems; kept" in err  # a dataset stands for its directions


# -- batch size ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_batch_size_moves_no_score_and_is_in_no_signature(suite, tmp_path, capsys):
    reports = []
    for size in (1, 7, None):
        more = [] if size is None else ["--batch-size", size]
        arguments = [
            "evaluate",
            "--baseline",
            "delete-retrieve",
            "--direction",
            DIRECTION,
            "--json",
        ]
        metrics = ["--metrics", "s_bert", "multi_bert", "cola"]
        out, _ = success(capsys, *arguments, *metrics, *more)
        reports.append(json.loads(out))
    for other in reports[:-1]:
        for one, two in zip(other["scores"], reports[-1]["scores"], strict=True):
            assert one["signature"] == two["signature"]
            assert one["recipe"] == two["recipe"]
            assert one["value"] == pytest.approx(two["value"], abs=1e-6)
