"""Every system of a paper trains in bfloat16, which ``--precision auto`` chooses on a GPU."""

import math
from dataclasses import replace

import pytest

from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.system import SYSTEMS, system_class
from tstbench.trainers.train import presets, system_config
from tstbench.trainers.training.run import Run

DIRECTION = "mini/negative-to-positive"
PAPERS = [
    name
    for name in SYSTEMS
    if (config := system_class(name).Config) is not None
    and "tiny" in presets(config)
    and system_class(name).FAMILY == "fpft"
]
SENTENCES = 160  # of each style


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_it_trains_in_bfloat16(name, tmp_path):
    data = load_training(DIRECTION)
    train = data.train
    few = replace(train, source=train.source[:SENTENCES], target=train.target[:SENTENCES])
    data = replace(data, train=few)
    config = system_config(name, data.direction, preset="tiny")
    run = Run(folder=tmp_path, device="cpu", precision="bfloat16")
    system = system_class(name).train(data, config, run)
    assert system.card.scores, "it was validated"
    assert all(map(math.isfinite, system.card.scores.values()))
