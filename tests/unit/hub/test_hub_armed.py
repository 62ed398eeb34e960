"""A command that reads a licensed corpus arms the guard of everything published later.

The sentences are our own, in the layout of the licensed corpus; no variable says where it is.
"""

import json

import pytest
from gyafc_copy import lay_out
from hub_artefacts import JUDGED
from prepared import command_line

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.files import home

SOURCES = [
    "u should totally go 2 that concert with ur friends",
    "idk what 2 do about my sister and her dog",
]
REWRITES = [
    "You should certainly attend that concert with your friends.",
    "I do not know what to do about my sister and her dog.",
]
SCORED = ("evaluate", "--baseline", "copy", "--metrics", "s_bleu")
COMMANDS = {
    "evaluate": (*SCORED, "--direction", "gyafc_em/informal-to-formal", "--out", "results"),
    "build": ("build", "gyafc_em", "--out", "built", "--accept-licence", "gyafc-research-only"),
    "transfer": (
        "transfer",
        "copy",
        "--direction",
        "gyafc_em/informal-to-formal",
        "--out",
        "o.jsonl",
    ),
}


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)
    monkeypatch.chdir(tmp_path)
    return lay_out(tmp_path / "GYAFC_Corpus", SOURCES, REWRITES)


def publish(capsys, tmp_path):
    """A leaderboard of mini, whose judgments are of a sentence of the corpus."""
    results = tmp_path / "to_publish"
    direction = "mini/negative-to-positive"
    code, _, err = command_line(capsys, *SCORED, "--direction", direction, "--out", results)
    assert code == 0, err
    texts = {"source": SOURCES[0], "output": REWRITES[0].upper()}
    write_judgments(results / "human.jsonl", [JUDGED.model_copy(update=texts)])
    command = ("hub", "build", tmp_path / "hub", "--datasets", "mini", "--results", results)
    return command_line(capsys, *command, "--only", "results")


def test_what_was_never_read_is_not_known(corpus, tmp_path, capsys):
    code, _, err = publish(capsys, tmp_path)
    assert code == 0, err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_the_corpus_arms_the_guard(corpus, tmp_path, capsys, name):
    code, _, err = command_line(capsys, *COMMANDS[name], "--data-dir", corpus.parent)
    assert code == 0, err
    known = json.loads((home() / "licensed_copies.json").read_text())
    assert known == {"TSTBENCH_GYAFC": [str(corpus)]}
    code, _, err = publish(capsys, tmp_path)
    assert code == 2
    assert "human.jsonl quotes a sentence of your copy of the licensed corpus" in err
    assert SOURCES[0] not in err


def test_a_copy_that_has_moved_is_asked_for(corpus, tmp_path, capsys, monkeypatch):
    command_line(capsys, *COMMANDS["evaluate"], "--data-dir", corpus)
    moved = corpus.rename(tmp_path / "moved")
    code, _, err = publish(capsys, tmp_path)
    assert code == 2
    assert f"{corpus} is not there any more" in err
    monkeypatch.setenv("TSTBENCH_GYAFC", str(moved))
    code, _, err = publish(capsys, tmp_path)
    assert code == 2
    assert "quotes a sentence" in err
    monkeypatch.delenv("TSTBENCH_GYAFC")
    (home() / "licensed_copies.json").unlink()  # as the message advises
    code, _, err = publish(capsys, tmp_path)
    assert code == 0, err


@pytest.mark.parametrize("content", ["[]", "{", '{"TSTBENCH_GYAFC": 1}'])
def test_a_damaged_list_stops_publishing(corpus, tmp_path, capsys, content):
    command_line(capsys, *COMMANDS["evaluate"], "--data-dir", corpus)
    (home() / "licensed_copies.json").write_text(content)
    code, _, err = publish(capsys, tmp_path)
    assert code == 2
    assert "licensed_copies.json is damaged" in err
