"""What the tests of systems that learn share: sentences, learners, and what a step moves."""

from collections import defaultdict
from dataclasses import replace

import torch

from tstbench.trainers.training.loop import _step
from tstbench.trainers.word_system import Corpus

N_WORDS = 30
NOUNS = ("soup", "tea", "room", "staff", "bread", "view")
BAD = tuple(f"the {noun} was {word} ." for noun in NOUNS for word in ("bad", "awful"))
GOOD = tuple(f"the {noun} was {word} ." for noun in NOUNS for word in ("good", "lovely"))
PAIRS = tuple(
    (f"the {what} was {bad} today", f"the {what} was {good}")
    for what in ("food", "staff", "soup", "room")
    for bad, good in (("awful", "great"), ("cold and slow", "warm and fast"))
)


def untrained(kind, data, config, few=8):
    """A system whose weights are random, and its corpus: the first sentences of each style."""
    part = replace(data.train, source=data.train.source[:few], target=data.train.target[:few])
    some = replace(data, train=part)
    corpus = Corpus.of(some, min_count=1, max_length=config.longest_row, held_out=8, seed=0)
    torch.manual_seed(0)
    return kind.begun(kind.planned(data, config), corpus, config), corpus


def learner_of(kind, data, config, few=8):
    """What would train it."""
    system, corpus = untrained(kind, data, config, few)
    return system.learner(corpus)


def moved(learner, step):
    """The losses of a step, the weights that it moved: how far, and each part's gradient."""
    weights = dict(learner.network.named_parameters())
    before = {name: weight.detach().clone() for name, weight in weights.items()}
    terms = _step(learner, step)
    far = {name: float((w.detach() - before[name]).norm()) for name, w in weights.items()}
    gradients = defaultdict(float)  # Adam's first step is as long whatever they are
    for name, weight in weights.items():
        if weight.grad is not None:
            gradients[".".join(name.split(".")[:2])] += float(weight.grad.norm()) ** 2
    parts = {name: square**0.5 for name, square in gradients.items()}
    return terms, {name: distance for name, distance in far.items() if distance}, parts
