"""A path that is no results folder: the message says what it is and what to give instead."""

from pathlib import Path

import pytest
from leaderboard_results import THERE, report, write

from tstbench.pipelines.standings import check_results_folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write(tmp_path / "all" / "results", report("ours", {"s_bleu": 1.0}))
    (folder.parent / "significance.json").write_text("{}")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("x\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.toml").write_text("")
    predictions = tmp_path / "answers" / THERE
    predictions.mkdir(parents=True)
    (predictions / "ours.card.json").write_text("{}")
    return tmp_path


DATASET = THERE.partition("/")[0]


def test_the_folder_itself_and_one_that_is_still_empty_are_taken(here):
    check_results_folder(Path("all/results"))
    (here / "empty" / "predictions").mkdir(parents=True)
    check_results_folder(Path("empty"))


def test_where_the_path_is_here(here, monkeypatch, capsys):
    monkeypatch.chdir(here / "all" / "results" / DATASET)
    with pytest.raises(ValueError, match=str(here / "all" / "results")):
        check_results_folder(Path())
