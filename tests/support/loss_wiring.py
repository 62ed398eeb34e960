"""What the tests of losses share: sentences one by one, and a check of all terms of a step."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import torch
from prepared import DIRECTION
from word_systems import learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.training.words import END

TASK = parse_direction(DIRECTION)
FEW = 8  # sentences of each style; those of style 1 follow
BATCH = np.array([0, 1, 2, 5, 8, 9, 10, 12, 14, 15])  # four of style 0, six of style 1


def short_sentences():
    """Sentences of mini, cut to unequal lengths."""
    whole = load_training(DIRECTION)
    sides = [
        tuple(
            " ".join(text.split()[: 2 + (start + 3 * i) % 8]) for i, text in enumerate(side[:FEW])
        )
        for start, side in enumerate((whole.train.source, whole.train.target))
    ]
    return replace(whole, train=replace(whole.train, source=sides[0], target=sides[1]))


def made(kind, data, config, ending=1.5):
    """A learner without dropout whose weights say something.

    Args:
        kind: the system.
        data: what it learns from.
        config: its settings.
        ending: makes rewrites end here and there.
    """
    learner = learner_of(kind, data, config, few=FEW)
    learner.network.eval()
    torch.manual_seed(4)
    with torch.no_grad():
        for weights in learner.network.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
        writer = learner.network["generator"] if ending else None
        if writer is not None:
            writer.output.bias[END] += ending
    return learner


def sentences(learner, batch):
    """Ids (1, T) of each, the styles (1) that are its own and the other, and its number."""
    for i in batch:
        own = torch.tensor([int(i >= FEW)])
        yield torch.tensor([learner._corpus.rows[i]]), own, 1 - own, int(i)


def told(logits, words):
    """``-log p`` of words, summed; neither has padding."""
    log_p = logits[0].log_softmax(dim=-1)
    return -sum(log_p[place, word] for place, word in enumerate(words[0].tolist()))


def ended(soft):
    """Soft words up to the first likeliest end."""
    ids = soft[0].argmax(dim=-1).tolist()
    return soft[:, : ids.index(END) + 1] if END in ids else soft


def size(words):
    return torch.tensor([words.shape[1]])


def check(learner, step, batch, expected):
    """A step has these terms, no more and no fewer; ``expected()`` is computed after its begin."""
    update = learner.update(step)
    torch.manual_seed(7)
    found = {name: term.item() for name, term in update.loss(batch).items()}
    right = {name: torch.as_tensor(term).item() for name, term in expected().items()}
    assert found == pytest.approx(right, rel=2e-4)
    return update.name


def summed(each, scale):
    """Sums of a sentence's terms, times a scale for each name."""
    sums = defaultdict(float)
    for terms in each:
        for name, term in terms.items():
            sums[name] += float(term)
    return {name: scale[name] * total for name, total in sums.items()}
