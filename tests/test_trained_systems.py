"""Every system that learns: from the command line to a score, on mini, with its preset ``tiny``."""

import json

import pytest
from prepared import command_line

from tstbench.trainers.registry import SYSTEMS, system_class
from tstbench.trainers.train import presets

DIRECTION = "mini/negative-to-positive"
LEARNERS = [
    name
    for name in SYSTEMS
    if system_class(name).Config is not None and presets(system_class(name).Config)
]


@pytest.mark.parametrize("name", LEARNERS)
def test_train_transfer_evaluate(name, tmp_path, capsys):
    model, predictions = tmp_path / "m", tmp_path / "p.jsonl"
    train = ("train", name, "--preset", "tiny", "--dataset", "mini", "--device", "cpu")
    code, _, err = command_line(capsys, *train, "--out", model)
    assert code == 0, err
    transfer = ("transfer", model, "--direction", DIRECTION, "--device", "cpu")
    code, _, err = command_line(capsys, *transfer, "--out", predictions)
    assert code == 0, err
    rows = [json.loads(line) for line in predictions.read_text().splitlines()]
    assert all("<unk>" not in row["prediction"] for row in rows)
    code, shown, err = command_line(
        capsys, "evaluate", predictions, "--direction", DIRECTION, "--metrics", "s_bleu", "acc"
    )
    assert code == 0, err
    assert "s-BLEU" in shown
