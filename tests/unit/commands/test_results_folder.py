"""A path that is no results folder: the message says what it is and what to give instead."""

import re
from pathlib import Path

import pytest
from leaderboard_results import THERE, report, write
from prepared import refusal

from tstbench.pipelines.results_folder import check_results_folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write(tmp_path / "all" / "results", report("ours", {"s_bleu": 1.0}), folder="ours")
    (folder.parent / "significance.json").write_text("{}")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("x\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.toml").write_text("")
    predictions = tmp_path / "answers" / THERE
    predictions.mkdir(parents=True)
    (predictions / "ours.card.json").write_text("{}")
    return tmp_path


DATASET, DIRECTION = THERE.split("/")
WRONG = {
    f"all/results/{DATASET}": r"one dataset's folder. Give the folder above, all/results$",
    f"all/results/{THERE}": r"one direction's folder. Give the folder above, all/results$",
    f"all/results/{THERE}/ours": r"one system's folder. Give the folder above, all/results$",
    f"all/results/{THERE}/ours/report.json": r"is a file.* give all/results$",
    f"all/results/{THERE}/significance.json": r"is a file.* give all/results$",
    "all": r"it contains one. Give all/results$",
    "notes": r"it contains a\.txt, and no .*report\.json",
    "notes/a.txt": r"is a file, but a results folder is needed",
    "data": r"it contains data \(mine\.toml\)",
    "answers": r"predictions that are not scored yet",
    "nowhere": r"nowhere",
}


@pytest.mark.parametrize(("path", "message"), WRONG.items(), ids=list(WRONG))
def test_the_leaderboard_says_what_was_found(here, capsys, path, message):
    pytest.importorskip("gradio")
    assert re.search(message, refusal(capsys, "leaderboard", path))


def test_other_commands_say_it_too(here, capsys):
    pytest.importorskip("gradio")
    wrong = f"all/results/{DATASET}"
    said = refusal(capsys, "hub", "build", "hub", "--results", wrong, "--datasets", "mini")
    assert "Give the folder above, all/results" in said
    study = ("annotate", "study", "--direction", THERE, "--raters", "ann", "--results", wrong)
    assert "Give the folder above, all/results" in refusal(capsys, *study)


def test_the_folder_itself_and_one_that_is_still_empty_are_taken(here):
    check_results_folder(Path("all/results"))
    (here / "empty" / "predictions").mkdir(parents=True)
    check_results_folder(Path("empty"))


def test_where_the_path_is_here(here, monkeypatch, capsys):
    monkeypatch.chdir(here / "all" / "results" / DATASET)
    with pytest.raises(ValueError, match=str(here / "all" / "results")):
        check_results_folder(Path())
