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
    """The losses of a step, how far it moved each weight, and each loss's gradient of each part."""
    weights = dict(learner.network.named_parameters())
    before = {name: weight.detach().clone() for name, weight in weights.items()}
    update, gradients = learner.update, {}

    def seen(step):
        usual = update(step)

        def loss(batch):
            terms = usual.loss(batch)
            for name, term in terms.items():
                gradients[name] = _gradients(term, weights)
            return terms

        return replace(usual, loss=loss)

    learner.update = seen
    terms = _step(learner, step)
    learner.update = update
    # Below Adam's epsilon a gradient is 0 but for rounding, and its step another on each processor.
    real = {
        name: w
        for name, w in weights.items()
        if w.grad is not None and w.grad.square().mean() > 1e-16
    }
    far = {name: float((w.detach() - before[name]).norm()) for name, w in real.items()}
    return terms, {name: distance for name, distance in far.items() if distance}, gradients


def _gradients(term, weights):
    """How long a loss's gradient is, by part of the network: Adam's first step does not tell."""
    some = {name: weight for name, weight in weights.items() if weight.requires_grad}
    found = torch.autograd.grad(term, some.values(), retain_graph=True, allow_unused=True)
    squares = defaultdict(float)
    for name, gradient in zip(some, found, strict=True):
        if gradient is not None:
            squares[".".join(name.split(".")[:2])] += float(gradient.norm()) ** 2
    return {name: square**0.5 for name, square in squares.items()}
