"""Post-processing: named, in the card of the predictions, and never unasked."""

import json

import pytest
from prepared import DIRECTION, command_line, refusal, success

from tstbench.errors import InputError, UnknownNameError
from tstbench.pipelines.predictions import read_card
from tstbench.trainers.postprocess import STEPS, post_processed, step_names


def test_the_released_style_transformers_texts_can_be_said():
    steps = step_names(["drop-unknown", "drop-repeats", "truncate"])
    written = "the food <unk> was was great ! and the <unk> service ."
    assert post_processed(written, steps) == "the food was great !"
    assert post_processed(written, ()) == written


@pytest.mark.parametrize("name", STEPS)
def test_every_step_leaves_an_empty_text_and_its_own_result(name):
    assert STEPS[name]("") == ""
    once = STEPS[name]("It 's so so <unk> good . Really ! ( yes )")
    assert STEPS[name](once) == once


def test_names_are_full_and_known():
    assert step_names(["truncate-v1"]) == step_names(["truncate"]) == ("truncate-v1",)
    with pytest.raises(UnknownNameError, match="Did you mean 'truncate'"):
        step_names(["trunkate"])
    with pytest.raises(InputError, match="named twice"):
        step_names(["truncate", "truncate-v1"])


def test_what_was_done_is_in_the_card_and_in_the_report(tmp_path, capsys):
    file = tmp_path / "copy.jsonl"
    asked = ("transfer", "copy", "--direction", DIRECTION, "--out", file)
    assert command_line(capsys, *asked)[0] == 0
    plain = [json.loads(line)["prediction"] for line in file.read_text().splitlines()]
    assert read_card(file).question.post_processing == ("one-line-v1",)
    steps = "drop-repeats, truncate"
    _, err = success(capsys, *asked, "--postprocess", steps)
    assert "starting over, for another post processing" in err
    card = read_card(file)
    names = ("drop-repeats-v1", "truncate-v1")
    assert card.question.post_processing == (*names, "one-line-v1")
    assert card.about.post_processing == names
    done = [json.loads(line)["prediction"] for line in file.read_text().splitlines()]
    assert done == [post_processed(text, names) for text in plain]
    score = ("--direction", DIRECTION, "--metrics", "s_bleu", "--out", tmp_path / "results")
    assert command_line(capsys, "evaluate", f"cut={file}", *score)[0] == 0
    report = json.loads((tmp_path / "results" / DIRECTION / "cut" / "report.json").read_text())
    assert report["system"]["post_processing"] == list(names)


def test_mistakes_are_told(capsys, tmp_path):
    asked = ("transfer", "copy", "--direction", DIRECTION, "--out", tmp_path / "p.jsonl")
    assert "Did you mean 'drop-repeats'" in refusal(capsys, *asked, "--postprocess", "drop-repeat")
    people = ("transfer", "reference-1", "--direction", DIRECTION, "--postprocess", "truncate")
    assert "stays as it is" in refusal(capsys, *people)
