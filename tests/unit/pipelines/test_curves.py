"""Learning curves: what is read from a training, and its picture."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from prepared import DIRECTION, command_line, refusal, success

from tstbench.commands.curve import learning_curve
from tstbench.trainers.training.curve import LearningCurve, Series, _figure, curve_picture

SVG = "{http://www.w3.org/2000/svg}"


def rows(steps=200):
    """A loss that halves every 50 steps, and scores that are best at step 100."""
    for step in range(1, steps + 1):
        yield {"step": step, "warm_up/<self>": 8 * 0.5 ** (step / 50)}
        if step % 50 == 0:
            score = {50: 0.1, 100: 0.4, 150: 0.4, 200: 0.2}[step]
            yield {"step": step, "validation/selection": score, "validation/acc": score + 0.1}


@pytest.fixture
def folder(tmp_path):
    """A training that goes on: a line is not finished."""
    run = tmp_path / "stytrans-0123"
    run.mkdir()
    text = "".join(json.dumps(row) + "\n" for row in rows())
    (run / "curve.jsonl").write_text(text + '{"step": 201, "warm_')
    return run


def test_the_chosen_step_is_the_first_of_the_best(folder):
    curve = learning_curve(str(folder))
    assert LearningCurve.of("stytrans-0123", rows()) == curve
    assert (curve.name, curve.steps, curve.chosen) == ("stytrans-0123", 200, 100)
    assert set(curve.losses) == {"warm_up/<self>"}
    assert set(curve.scores) == {"selection", "acc"}


def test_smoothing_keeps_means_and_the_order():
    series = Series(tuple(range(1, 1001)), tuple(float(i % 2) for i in range(1000)))
    smooth = series.smooth
    assert len(smooth.values) == 80
    assert all(0.4 < value < 0.6 for value in smooth.values)
    assert list(smooth.steps) == sorted(smooth.steps)
    assert Series((3,), (7.0,)).smooth == Series((3,), (7.0,))
    assert Series((10, 20, 30), (1.0, 2.0, 3.0)).at(25) == 2.0
    assert Series((10, 20, 30), (1.0, 2.0, 3.0)).at(5) is None, "it begins later"


def test_the_table_has_start_chosen_and_end(folder, tmp_path, capsys):
    shown, _ = success(capsys, "curve", folder, "--out", tmp_path / "c.svg")
    assert "<svg" in (tmp_path / "c.svg").read_text()
    table = {row[1]: row[2:] for row in (line.split("\t") for line in shown.splitlines())}
    assert shown.count("stytrans-0123\t") == len(table) - 1  # below the header
    assert table["step"] == ["1", "100", "200"]
    assert table["selection"] == ["0.100", "0.400", "0.200"]
    start, chosen, end = map(float, table["warm_up/<self>"])
    assert start == pytest.approx(8, rel=0.05)
    assert chosen == pytest.approx(2, rel=0.05)
    assert end == pytest.approx(0.5, rel=0.05)


def lines_of(axes):
    """What a panel draws over the steps, by name; the chosen step has none."""
    lines = [line for line in axes.lines if not line.get_label().startswith("_")]
    return {line.get_label(): line for line in lines}


def test_a_picture_has_two_panels_a_system_and_marks_the_choice(folder):
    curve = learning_curve(str(folder))
    panels = _figure([curve, curve]).axes
    assert [[*lines_of(axes)] for axes in panels] == 2 * [["warm_up/<self>"], ["selection", "acc"]]
    for axes in panels:
        assert [text.get_text() for text in axes.texts] == ["chosen: step 100"]
        (chosen,) = (line for line in axes.lines if line.get_label().startswith("_"))
        assert [*chosen.get_xdata()] == [100, 100]
    losses, scores = panels[:2]
    assert [*lines_of(losses)["warm_up/<self>"].get_ydata()] == [
        *curve.losses["warm_up/<self>"].smooth.values
    ]
    assert losses.get_yscale() == "linear", "from 8 to 0.5"
    assert (losses.get_ylim()[0], scores.get_ylim()) == (0, (0, 1))


def test_losses_far_apart_have_a_logarithmic_scale_and_a_share_is_not_flattened():
    rows = [{"step": n, "a": 10.0**-n, "validation/acc": 0.5, "validation/ppl": 90} for n in (1, 4)]
    losses, scores = _figure([LearningCurve.of("x", rows)]).axes
    assert losses.get_yscale() == "log"
    assert [*lines_of(scores)] == ["acc"]


def test_a_curve_with_one_validation_has_a_point(tmp_path):
    text = '{"step": 1, "a/b": -1.0}\n{"step": 2, "validation/selection": 0.5}\n'
    (tmp_path / "curve.jsonl").write_text(text)
    losses, scores = _figure([learning_curve(str(tmp_path))]).axes
    assert lines_of(losses)["a/b"].get_marker() == "o"
    assert lines_of(scores)["selection"].get_marker() == "o"
    assert losses.get_ylim()[0] <= -1


def test_every_tick_is_a_step():
    few = [{"step": step, "a/b": 1.0} for step in range(1, 23)]
    axes = _figure([LearningCurve.of("short", few)]).axes[0]
    ticks = axes.get_xticks()
    assert len(ticks) > 3
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"{tick:g}" for tick in ticks]


def test_a_name_cannot_break_the_picture_and_the_same_rows_give_the_same_bytes():
    rows = [{"step": 1, "<script>&": 1.0, "g": float("nan")}, {"step": 2, "g": 1}]
    picture = curve_picture([LearningCurve.of("<b>&", rows)])
    root = ET.fromstring(picture)
    assert root.find(f"{SVG}title").text == "Learning curves: <b>&"
    assert "prefers-color-scheme:dark" in picture
    assert "<script>" not in picture
    assert "nan" not in picture.lower()
    assert picture == curve_picture([LearningCurve.of("<b>&", rows)])
    ET.fromstring(curve_picture([LearningCurve.of("nothing yet", [])]))


def test_mistakes_are_told(folder, tmp_path, capsys):
    assert "name the file c.svg" in refusal(capsys, "curve", folder, "--out", tmp_path / "c.png")
    assert "neither the folder of a system nor" in refusal(capsys, "curve", tmp_path / "none")
    (folder / "curve.jsonl").write_text("")
    assert "has no values" in refusal(capsys, "curve", folder)
    train = ("train", "random-target", "--direction", DIRECTION, "--out", tmp_path / "r")
    assert command_line(capsys, *train)[0] == 0
    assert re.search("no learning curve: random-target", refusal(capsys, "curve", tmp_path / "r"))
