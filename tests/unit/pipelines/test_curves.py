"""Learning curves: what is read from a training, and its picture."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from prepared import DIRECTION, command_line, refusal

from tstbench.commands.curve import curve_rows, learning_curve
from tstbench.trainers.training.curve import LearningCurve, Series, curve_picture

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


def test_the_table_has_start_chosen_and_end(folder):
    table = {row[1]: row[2:] for row in curve_rows([learning_curve(str(folder))])}
    assert table["step"] == ("1", "100", "200")
    assert table["selection"] == ("0.100", "0.400", "0.200")
    start, chosen, end = map(float, table["warm_up/<self>"])
    assert start == pytest.approx(8, rel=0.05)
    assert chosen == pytest.approx(2, rel=0.05)
    assert end == pytest.approx(0.5, rel=0.05)


def test_a_picture_is_well_formed_for_light_and_dark_and_marks_the_choice(folder):
    curve = learning_curve(str(folder))
    picture = curve_picture([curve, curve])
    root = ET.fromstring(picture)
    assert "prefers-color-scheme: dark" in picture
    lines = root.findall(f".//{SVG}polyline")
    assert [line.find(f"{SVG}title").text for line in lines] == 2 * [
        "warm_up/<self>",
        "selection",
        "acc",
    ]
    assert picture.count("chosen: step 100") == 4, "in each panel"
    width, height = map(float, root.get("viewBox").split()[2:])
    for line in lines:
        for point in line.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
    first = [float(point.split(",")[1]) for point in lines[0].get("points").split()]
    assert first == sorted(first), "a loss that falls goes down the page"


def test_a_curve_with_one_validation_has_a_point(tmp_path):
    text = '{"step": 1, "a/b": -1.0}\n{"step": 2, "validation/selection": 0.5}\n'
    (tmp_path / "curve.jsonl").write_text(text)
    picture = curve_picture([learning_curve(str(tmp_path))])
    assert len(ET.fromstring(picture).findall(f".//{SVG}circle")) == 2


def test_a_name_cannot_break_the_picture_and_the_same_rows_give_the_same_bytes():
    rows = [{"step": 1, "<script>&": 1.0, "g": float("nan")}, {"step": 2, "g": 1}]
    picture = curve_picture([LearningCurve.of("<b>&", rows)])
    assert ET.fromstring(picture).get("aria-label") == "Learning curves: <b>&"
    assert "<script>" not in picture
    assert "nan" not in picture.lower()
    assert picture == curve_picture([LearningCurve.of("<b>&", rows)])
    ET.fromstring(curve_picture([LearningCurve.of("nothing yet", [])]))


def test_from_the_command_line(folder, tmp_path, capsys):
    code, shown, err = command_line(capsys, "curve", folder, "--out", tmp_path / "c.svg")
    assert code == 0, err
    assert "stytrans-0123\tselection\t0.100\t0.400\t0.200" in shown
    assert (tmp_path / "c.svg").read_text().startswith("<svg")


def test_mistakes_are_told(folder, tmp_path, capsys):
    assert "name the file c.svg" in refusal(capsys, "curve", folder, "--out", tmp_path / "c.png")
    assert "neither the folder of a system nor" in refusal(capsys, "curve", tmp_path / "none")
    (folder / "curve.jsonl").write_text("")
    assert "has no values" in refusal(capsys, "curve", folder)
    train = ("train", "random-target", "--direction", DIRECTION, "--out", tmp_path / "r")
    assert command_line(capsys, *train)[0] == 0
    assert re.search("no learning curve: random-target", refusal(capsys, "curve", tmp_path / "r"))
