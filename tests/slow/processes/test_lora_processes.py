"""LoRA on two processes, as ``examples/accelerate`` has it: they learn what one learns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from places import ROOT
from safetensors.numpy import load_file

RUN = Path(sys.executable).parent
TRAIN = (
    *("-m", "tstbench", "train", "llama-lora", "--preset", "tiny"),
    *("--direction", "mini/negative-to-positive", "--device", "cpu"),
)


def launched(kind, folder):
    """With the shipped configuration, but for two processors instead of four GPUs."""
    if kind == "one process":
        return [sys.executable]
    if kind == "a copy on each":  # accelerate starts several CPU processes by MPI alone
        return [RUN / "torchrun", "--nproc_per_node", "2"]
    config = yaml.safe_load((ROOT / "examples/accelerate/fsdp.yaml").read_text())
    file = folder / "fsdp.yaml"
    file.write_text(
        yaml.dump({**config, "num_processes": 2, "mixed_precision": "no", "use_cpu": True})
    )
    return [RUN / "accelerate", "launch", "--config_file", file]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a system that was trained in such a way."""
    found = {}

    def train(kind):
        if kind not in found:
            folder = tmp_path_factory.mktemp("lora")
            done = subprocess.run(
                [*map(str, (*launched(kind, folder), *TRAIN, "--out", folder / "m"))],
                env={**os.environ, "TSTBENCH_HOME": str(folder / "home")},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            assert done.stdout.count("folder\t") == 1, "one process says what came of it"
            found[kind] = folder / "m"
        return found[kind]

    return train


@pytest.mark.parametrize("kind", ["a copy on each", "weights spread over both (FSDP)"])
def test_two_processes_learn_what_one_learns(kind, trained):
    one, two = trained("one process"), trained(kind)
    curves = [
        [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
        for folder in (one, two)
    ]
    assert len(curves[0]) > 25
    for mine, theirs in zip(*curves, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-3)
    assert curves[0] != curves[1], "sums of two halves round otherwise: there were two"


def test_it_does_not_matter_how_the_weights_are_spread(trained):
    kinds = ("a copy on each", "weights spread over both (FSDP)")
    one, two = (load_file(trained(k) / "adapter/adapter_model.safetensors") for k in kinds)
    assert one.keys() == two.keys()
    assert all(abs(one[name] - two[name]).max() < 1e-4 for name in one)
