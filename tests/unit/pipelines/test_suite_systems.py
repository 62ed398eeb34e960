"""Suites that train systems and ask them: each once, and only for what is missing."""

import shutil

import pytest
import torch
from prepared import BACK, DIRECTION, command_line, refusal
from suite_runs import run, stamps
from trained_tiny import trained_tiny

from tstbench.datasets_scripts.load import load_test_set, load_training
from tstbench.files import home
from tstbench.pipelines.outputs import read_outputs
from tstbench.pipelines.predictions import read_card
from tstbench.pipelines.report import read_report
from tstbench.trainers.baselines import RandomTarget
from tstbench.trainers.delete_retrieve import DeleteRetrieve
from tstbench.trainers.system import SYSTEM_STORE
from tstbench.trainers.train import system_config

SYSTEMS = f"""
out = "results"
metrics = ["s_bleu"]

[[system]]
system = "delete-retrieve"
directions = ["{DIRECTION}", "{BACK}"]

[[system]]
system = "random-target"
directions = ["{DIRECTION}"]
seed = 3

[[system]]
system = "strict"
info = {{ name = "strict", family = "rule" }}
"""


@pytest.fixture
def systems(tmp_path, monkeypatch):
    """A suite of systems, and how often each is really trained and asked."""
    data = load_training(DIRECTION)
    config = system_config("delete-retrieve", data.direction, {"gamma": 9})
    DeleteRetrieve.train(data, config).save_pretrained(tmp_path / "strict")
    path = tmp_path / "suite.toml"
    path.write_text(SYSTEMS)
    calls = {"trained": 0, "asked": 0}

    for kind in (DeleteRetrieve, RandomTarget):
        train, rewrite = kind.train.__func__, kind.rewrite

        def counting_train(cls, data, config, run, real=train):
            calls["trained"] += 1
            return real(cls, data, config)

        def counting_rewrite(self, batch, task, real=rewrite):
            calls["asked"] += len(batch)
            return real(self, batch, task)

        monkeypatch.setattr(kind, "train", classmethod(counting_train))
        monkeypatch.setattr(kind, "rewrite", counting_rewrite)
    return path, calls


def predictions(path, direction, name):
    return path.parent / "results" / "predictions" / direction / f"{name}.jsonl"


def test_a_finished_suite_asks_no_system_again_and_builds_none(systems, capsys):
    path, calls = systems
    for text, said in (
        (f'{SYSTEMS}directions = ["{BACK}"]\n', "delete-retrieve cannot do"),
        (SYSTEMS.replace("seed = 3", "generation = { beams = 2 }"), "has no settings, got 'beams'"),
    ):
        path.write_text(text)
        assert said in refusal(capsys, "run", path)
        assert not (path.parent / "results").exists()
    assert calls == {"trained": 0, "asked": 0}
    path.write_text(SYSTEMS)
    run(path)
    assert calls == {"trained": 3, "asked": 4 * 40}
    reports = stamps(path)
    assert set(reports) == {
        *(f"{d}/delete-retrieve" for d in (DIRECTION, BACK)),
        *(f"{DIRECTION}/{name}" for name in ("random-target", "strict")),
    }
    test_set = load_test_set(DIRECTION)
    for name, seed in (("delete-retrieve", 0), ("random-target", 3), ("strict", 0)):
        file = predictions(path, DIRECTION, name)
        card, outputs = read_card(file), read_outputs(file, test_set)
        assert (card.question.seed, card.finished, card.sha256) == (seed, True, outputs.sha256)
        report = read_report(path.parent / "results" / DIRECTION / name)
        assert report.outputs_sha256 == outputs.sha256
        assert report.system.system_hash == card.system_hash
        assert report.system.name == name
    folders = {p.name for p in (path.parent / "results" / DIRECTION).glob("[!.]*")}
    assert folders == {"delete-retrieve", "random-target", "strict", "significance.json"}
    run(path)
    assert calls == {"trained": 3, "asked": 4 * 40}
    shutil.rmtree(home() / "systems")  # a recipe is known without its system
    run(path)
    assert calls == {"trained": 3, "asked": 4 * 40}
    assert stamps(path) == reports


TRAINED = """
metrics = ["s_bleu"]

[[system]]
system = "stytrans"
directions = ["mini/negative-to-positive", "mini/positive-to-negative"]
preset = "tiny"
settings = { rounds = 2 }
"""


def test_a_suite_trains_and_writes_on_its_device(tmp_path, tmp_path_factory, capsys):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    folder = trained_tiny(tmp_path_factory)
    path = tmp_path / "suite.toml"
    trained = TRAINED.split("preset")[0].replace('"stytrans"', f'"{folder}"')
    for text in (TRAINED, trained):
        path.write_text(f'device = "cuda"\n{text}')
        assert "finds no CUDA device here" in command_line(capsys, "run", path)[2]
        assert not list(tmp_path.rglob("predictions/**/*.jsonl"))
    assert not list(SYSTEM_STORE.models())
