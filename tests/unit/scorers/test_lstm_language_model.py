"""The LSTM language model: equations by hand, torch's own loss, files, and the command line."""

import itertools
import math

import numpy as np
import pytest
import torch
from prepared import DIRECTION, refusal, success
from torch.nn import functional

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.lstm_language_model import (
    END,
    LstmConfig,
    LstmLanguageModel,
    LstmNetwork,
    LstmShape,
    fit,
)
from tstbench.metrics.scorers.profile import PROFILES, Scorers

SMALL = {"dimension": 16, "hidden": 24, "min_steps": 1, "epochs": 2}
TEXTS = ["the soup was cold", "", "the cold staff was unheard of", "soup", "the soup was cold"]


def random_model(layers=2):
    torch.manual_seed(0)
    network = LstmNetwork(LstmShape(8, dimension=4, hidden=5, layers=layers, dropout=0.5))
    return LstmLanguageModel(["the", "soup", "was", "cold", "staff"], network), network


def test_probabilities_by_the_equations_of_an_lstm():
    model, network = random_model(layers=1)
    w = {name: value.detach().double().numpy() for name, value in network.state_dict().items()}

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def by_hand(ids):
        h, c, total = np.zeros(5), np.zeros(5), 0.0
        for before, after in itertools.pairwise(ids):
            gates = w["lstm.weight_ih_l0"] @ w["embedding.weight"][before] + w["lstm.bias_ih_l0"]
            gates += w["lstm.weight_hh_l0"] @ h + w["lstm.bias_hh_l0"]
            i, f, g, o = np.split(gates, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            scores = w["output.weight"] @ h + w["output.bias"]
            total += scores[after] - np.log(np.exp(scores).sum())
        return total / math.log(10)

    rows = [[2, 3, 4, 5, 6, 2], [2, 2], [2, 3, 6, 7, 5, 1, 1, 2], [2, 4, 2], [2, 3, 4, 5, 6, 2]]
    assert model.rows(TEXTS) == rows
    assert model.log10_probability(TEXTS) == pytest.approx([by_hand(row) for row in rows], abs=1e-6)
    assert model.words(TEXTS).tolist() == [4, 0, 6, 1, 4]


def test_perplexity_is_that_of_torchs_loss():
    model, network = random_model()
    total, count = 0.0, 0
    for row in model.rows(TEXTS):
        ids = torch.tensor([row])
        with torch.inference_mode():
            logits = network(ids[:, :-1])
        total += functional.cross_entropy(logits[0], ids[0, 1:], reduction="sum").item()
        count += len(row) - 1
    got = model.log10_probability(TEXTS)
    assert 10 ** (-got.sum() / count) == pytest.approx(math.exp(total / count), rel=1e-6)


def test_it_learns():
    texts = ["the soup was cold", "the staff was cold"] * 40
    config = LstmConfig(**{**SMALL, "epochs": 40, "batch_size": 8, "dropout": 0.0})
    _, scores = fit(texts, config)
    # What can be known is which of two words comes second: 2 ** (1 / 5) a word.
    assert 2**0.2 * 0.95 < scores["held_out_perplexity"] < 2**0.2 * 1.15
    assert END == 2


def test_ppl_of_a_trained_lstm_on_the_command_line(tmp_path, capsys):
    flags = [str(x) for n, v in SMALL.items() for x in (f"--{n.replace('_', '-')}", v)]
    train = ("train", "language-model", "mini", "--kind", "lstm", "--name", "tiny", *flags)
    shown, _ = success(capsys, *train)
    assert "tiny-positive:mini" in shown
    artefact = find("language_model", "mini", "tiny-positive")
    folder = artefact.folder
    outputs = tmp_path / "out.txt"
    outputs.write_text("the soup was warm .\n" * 40)
    evaluate = ("evaluate", outputs, "--direction", DIRECTION, "--metrics", "ppl", "--signatures")
    shown, _ = success(capsys, *evaluate, "--scorer", f"language_model={folder}")
    assert "lm:tiny-positive:mini#" in shown
    scorers = Scorers(
        PROFILES["embedded"].with_scorers([f"language_model={folder}"]), parse_direction(DIRECTION)
    )
    model = scorers.load("language_model")
    words = ["the soup was warm ."]
    value = 10 ** (-model.log10_probability(words) / model.words(words))[0]
    assert f"{value:.1f}" in shown
    assert artefact.card.settings["hidden"] == 24
    said = refusal(capsys, "train", "language-model", "mini", "--hidden", "3")
    assert "hidden" in said
