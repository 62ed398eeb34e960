"""What the tests of word-level systems share: sentences, learners, and what a step moves."""

from dataclasses import replace

import numpy as np
import torch

from tstbench.trainers.training.loop import _step
from tstbench.trainers.training.words import END, padded
from tstbench.trainers.word_system import Corpus

N_WORDS = 30


def three_sentences():
    """Random ids (3, 10) of words, below ``N_WORDS``."""
    random = np.random.default_rng(0)
    return padded([[*random.integers(3, N_WORDS, size=size), END] for size in (4, 9, 1)])


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
    """The losses of a step, by name, and the names of the weights that it moved."""
    before = {n: p.detach().clone() for n, p in learner.network.named_parameters()}
    terms = _step(learner, step)
    changed = (n for n, p in learner.network.named_parameters() if not torch.equal(p, before[n]))
    return terms, set(changed)
