"""Fine-tuning the embedded encoder: its schedule, what stays as it was, going on from a base."""

import numpy as np
import pytest
import torch
from classifier_toys import LABELS, SENTENCES, STYLES
from safetensors.numpy import load_file
from transformers import get_linear_schedule_with_warmup

from tstbench.metrics.scorers.finetuned import FinetunedConfig, _batches, fit, schedule
from tstbench.metrics.scorers.train import LabelledSentences, accuracy

DATA = LabelledSentences(tuple(SENTENCES), tuple(LABELS))


def config(base, **changes):
    return FinetunedConfig(base=str(base), **{"batch_size": 16, "learning_rate": 3e-3, **changes})


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


@pytest.mark.parametrize("frozen", [0, 1])
def test_embeddings_and_frozen_layers_keep_their_weights_and_a_seed_moves_the_others(
    tiny_bert, tmp_path, frozen
):
    short = {"frozen_layers": frozen, "epochs": 0.1, "least_steps": 5}
    one, other = (fit(DATA, STYLES, config(tiny_bert, seed=seed, **short)) for seed in (0, 1))
    one.save(tmp_path)
    before, after = (load_file(folder / "model.safetensors") for folder in (tiny_bert, tmp_path))
    body = {name for name in before if not name.startswith("classifier.")}
    kept = (".embeddings.", ".layer.0.")[: 1 + frozen]
    same = {name for name in body if np.array_equal(after[name], before[name])}
    assert same == {name for name in body if any(part in name for part in kept)}
    assert (one.distribution(SENTENCES[:9]) != other.distribution(SENTENCES[:9])).any()


def test_a_fine_tuned_folder_can_be_the_base_of_another(tiny_bert, tmp_path):
    """With its head: one step at a tiny rate leaves what was learned, which a new head does not."""
    first = fit(DATA, STYLES, config(tiny_bert, epochs=4))
    first.save(tmp_path)
    little = {"epochs": 0.01, "learning_rate": 1e-9}
    again = fit(DATA, STYLES, config(tmp_path, **little))
    some = SENTENCES[::7]
    np.testing.assert_allclose(again.distribution(some), first.distribution(some), atol=1e-5)
    fresh = fit(DATA, STYLES, config(tiny_bert, **little))
    assert accuracy(first, DATA) > 0.95 > accuracy(fresh, DATA)
