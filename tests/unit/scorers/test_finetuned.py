"""Fine-tuning the embedded encoder: its schedule, what stays as it was, going on from a base."""

import numpy as np
import pytest
import torch
from classifier_toys import LABELS, SENTENCES, STYLES, save_tiny_bert
from safetensors.numpy import load_file
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup

from tstbench.errors import MissingScorerError
from tstbench.metrics.scorers.finetuned import FinetunedConfig, _batches, fit, schedule
from tstbench.metrics.scorers.train import LabelledSentences, accuracy

DATA = LabelledSentences(tuple(SENTENCES), tuple(LABELS))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("tiny-bert"))


def config(base, **changes):
    return FinetunedConfig(
        **{"base": str(base), "epochs": 2, "batch_size": 16, "learning_rate": 3e-3, **changes}
    )


def test_the_schedule_falls_like_that_of_transformers():
    """Theirs starts at zero, where a step is lost; from the top on, both are the same line."""
    steps, rising = 50, 5
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([parameter], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimiser, rising, steps)
    for step in range(steps):
        want = theirs.get_last_lr()[0]
        ours = schedule(step, steps, 0.1)
        assert ours == pytest.approx(want if step >= rising else want + 1 / rising)
        optimiser.step()
        theirs.step()
    assert schedule(0, 3, 0.0) == 1.0


def test_an_epoch_has_every_sentence_once_in_batches_of_similar_length():
    import random

    lengths = [random.Random(i).randint(3, 30) for i in range(2000)]
    encoded = [[1] * length for length in lengths]
    first = _batches(encoded, 32, random.Random(0))
    assert sorted(i for batch in first for i in batch) == list(range(2000))
    assert first == _batches(encoded, 32, random.Random(0))
    assert first != _batches(encoded, 32, random.Random(1))
    padded = sum(len(batch) * max(lengths[i] for i in batch) for batch in first)
    assert padded < 1.05 * sum(lengths)
    assert [len(b) for b in first] != sorted(len(b) for b in first)  # not in order of length


def test_only_the_embeddings_stay_as_they_were(tiny, tmp_path):
    state = torch.random.get_rng_state()
    model = fit(DATA, STYLES, config(tiny))
    assert torch.equal(torch.random.get_rng_state(), state)
    model.save(tmp_path)
    before = AutoModelForSequenceClassification.from_pretrained(tiny).state_dict()
    after = load_file(tmp_path / "model.safetensors")
    names = [name for name in after if name in before and "classifier" not in name]
    same = {name for name in names if np.array_equal(after[name], before[name].numpy())}
    assert same == {name for name in names if ".embeddings." in name}
    assert len(same) == 5
    assert len(names) > 20


def test_frozen_layers_and_embeddings_keep_their_weights_and_a_seed_moves_the_others(tiny):
    one, other = (
        fit(DATA, STYLES, config(tiny, frozen_layers=1, epochs=0.1, least_steps=5, seed=seed))
        for seed in (0, 1)
    )
    before = AutoModelForSequenceClassification.from_pretrained(tiny).base_model.state_dict()
    after = one._model.base_model.state_dict()
    same = {name: bool((before[name] == after[name]).all()) for name in before if name in after}
    assert all(same[n] for n in same if n.startswith(("embeddings.", "encoder.layer.0.")))
    assert not same["encoder.layer.1.output.dense.weight"]
    assert (one.distribution(SENTENCES[:9]) != other.distribution(SENTENCES[:9])).any()


def test_a_fine_tuned_folder_can_be_the_base_of_another(tiny, tmp_path):
    """With its head: one step at a tiny rate leaves what was learned, which a new head does not."""
    first = fit(DATA, STYLES, config(tiny, epochs=4))
    first.save(tmp_path)
    little = {"epochs": 0.01, "learning_rate": 1e-9}
    again = fit(DATA, STYLES, config(tmp_path, **little))
    some = SENTENCES[::7]
    np.testing.assert_allclose(again.distribution(some), first.distribution(some), atol=1e-5)
    assert accuracy(first, DATA) > 0.95 > accuracy(fit(DATA, STYLES, config(tiny, **little)), DATA)


def test_a_base_is_named_by_its_content_not_its_place(tiny, tmp_path):
    import shutil

    copy = shutil.copytree(tiny, tmp_path / "copy")
    assert config(tiny).settings() == config(copy).settings()
    (copy / "config.json").write_text((copy / "config.json").read_text() + "\n")
    assert config(tiny).settings() != config(copy).settings()
    assert str(tmp_path) not in str(config(copy).settings())


def test_a_base_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(MissingScorerError, match="nobody/nothing"):
        fit(DATA, STYLES, config("nobody/nothing"))
