"""Every system that learns: from the command line to a score, on mini, with its preset ``tiny``."""

import json
import math
import re
from dataclasses import replace

import pytest
import torch
from prepared import success

from tstbench.datasets_scripts.catalog import directions_of, parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.errors import InputError
from tstbench.pipelines.suite_file import read_suite, suite_file
from tstbench.trainers.load import load_system
from tstbench.trainers.system import SYSTEM_STORE, SYSTEMS, system_class
from tstbench.trainers.train import presets, system_config
from tstbench.trainers.training.run import Run

DIRECTION = "mini/negative-to-positive"
LEARNERS = [
    name
    for name in SYSTEMS
    if system_class(name).Config is not None and presets(system_class(name).Config)
]
PAPERS = [name for name in LEARNERS if system_class(name).FAMILY == "fpft"]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_train_transfer_evaluate(name, tmp_path, capsys):
    model, predictions = tmp_path / "m", tmp_path / "p.jsonl"
    train = ("train", name, "--preset", "tiny", "--dataset", "mini", "--device", "cpu")
    success(capsys, *train, "--out", model)
    folder = model if (model / "system.json").is_file() else model / DIRECTION.split("/")[1]
    copied = load_system(folder, device="cpu").save_pretrained(tmp_path / "copy")
    assert copied.hash == SYSTEM_STORE.open(folder).hash
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in written if path.read_bytes().startswith((b"PK", b"\x80\x02"))]
    transfer = ("transfer", model, "--direction", DIRECTION, "--device", "cpu")
    success(capsys, *transfer, "--out", predictions)
    rows = [json.loads(line) for line in predictions.read_text().splitlines()]
    assert all("<unk>" not in row["prediction"] for row in rows)
    shown, _ = success(
        capsys, "evaluate", predictions, "--direction", DIRECTION, "--metrics", "s_bleu", "acc"
    )
    assert "s-BLEU" in shown


@pytest.mark.parametrize(
    ("name", "direction", "expected"),
    [
        ("stytrans", "yelp", {"dropout": 0.1, "word_drop": 0.1, "rounds": 2000, "max_length": 16}),
        ("nast", "yelp", {"rounds": 15_000, "warm_up": 1000, "learning_rate": 1e-4}),
        ("nast", "yelp", {"alignment": "learnable", "max_length": 16, "blank": 0.1}),
        ("nast", "yelp", {"forward_weight": 1.5, "back_weight": 1.0}),
        ("nast", "gyafc_fr", {"rounds": 20_000, "warm_up": 3000, "learning_rate": 5e-4}),
        ("nast", "amazon", {"rounds": 15_000, "warm_up": 3000, "cycle_weight": 0.25}),
        ("nast", "shakespeare", {"warm_up": 1000, "alignment": "simple", "max_length": 32}),
        ("nast", "amazon", {"blank": 0.2, "drop": 0.0, "insert": 0.0}),
        ("tsst", "yelp", {"retriever": "dense", "max_length": 18}),
        ("bsrr", "amazon", {"supervised_epochs": 0, "baseline": False, "optimizer": "rmsprop"}),
        ("llama-lora", "styptb_arr", {"loss": "all", "batch_size": 128, "epochs": 10}),
        ("llama-lora", "shakespeare", {"loss": "all", "batch_size": 256, "epochs": 5}),
    ],
)
def test_the_benchmarks_own_runs_are_a_preset(name, direction, expected):
    config = system_config(name, directions_of(direction)[0], preset="tstbench")
    assert {key: getattr(config, key) for key in expected} == expected


def test_the_larger_weight_is_for_rewrites_of_the_first_style():
    back = system_config("nast", parse_direction("yelp/positive-to-negative"))
    assert (back.forward_weight, back.back_weight) == (1.0, 1.5)


def test_the_suite_of_all_ten_can_be_run():
    """Its systems, presets and settings exist; training them takes hours, so none is trained."""
    suite = read_suite(suite_file("trained")[0])
    named = [one for one in suite.system if one.system not in (None, "copy")]
    assert {one.system for one in named} == set(PAPERS)
    cells = [(one.system, direction) for one in named for direction in one.directions]
    assert len(cells) == len(set(cells))
    for one in named:
        for direction in one.directions:
            system_config(one.system, parse_direction(direction), one.settings, preset=one.preset)


def test_the_sweeps_of_mir_et_al_are_theirs():
    suite = read_suite(suite_file("mir")[0])
    assert suite.directions == ("yelp",)
    named: dict = {}
    for one in suite.system:
        (value,) = (one.settings or one.generation).values()
        assert one.info.name == f"{one.system}@{value:g}"
        system_config(one.system, parse_direction("yelp/negative-to-positive"), one.settings)
        named.setdefault(one.system, []).append(value)
    assert named == {"caae": [0.01, 0.1, 0.5, 1, 5], "arae": [1, 5, 10], "dar": [0.1, 1, 15, 500]}


@pytest.mark.slow
def test_the_sweeps_of_mir_et_al_run_on_mini(tmp_path, capsys):
    text = suite_file("mir")[0].read_text("utf-8").replace('"yelp"', '"mini"')
    text = re.sub("^metrics = .*", 'metrics = ["s_bleu", "length_ratio"]', text, flags=re.M)
    (tmp_path / "mir.toml").write_text(re.sub("(?=^info)", 'preset = "tiny"\n', text, flags=re.M))
    _, err = success(capsys, "run", tmp_path / "mir.toml")
    assert len(re.findall("^training ", err, re.M)) == 5 + 3 + 1, err
    folder = tmp_path / "mir" / "predictions" / DIRECTION
    names = sorted(file.stem for file in folder.glob("*.jsonl"))
    assert len(names) == 5 + 3 + 4
    cards = {name: json.loads((folder / f"{name}.card.json").read_text()) for name in names}
    trained = {name: card["system_hash"] for name, card in cards.items()}
    assert len(set(trained.values())) == 5 + 3 + 1
    answers = {name: (folder / f"{name}.jsonl").read_text() for name in names}
    assert len({answers[name] for name in names if name.startswith("dar")}) > 2
    success(capsys, "analyze", tmp_path / "mir", "--plane", "s_bleu", "length_ratio")


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
    if name in ("dar", "tsst", "arae") and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        with pytest.raises(InputError, match="this processor has none"):  # for an LSTM
            system_class(name).train(data, config, run)
        return
    system = system_class(name).train(data, config, run)
    assert system.card.scores, "it was validated"
    assert all(map(math.isfinite, system.card.scores.values()))
