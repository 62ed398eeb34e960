"""Set up a language model that is asked for styles: its answers are centred and scaled."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from ...console import say
from ...errors import InputError
from ...metrics.scorers.causal_lm import load_language_model
from ...metrics.scorers.device import HERE
from ...metrics.scorers.gguf import SMALL_LM
from ...metrics.scorers.lm import LmModel, contrasts
from ...settings import Count, Share, setting
from . import linear
from .config import ClassifierConfig
from .data import LabelledSentences

LIBRARIES = ("scikit-learn", "scipy", "numpy", "torch", "transformers")
# What a style is about, where that has a name of its own: asked beside "Style:".
_ABOUT = {"positive": "Sentiment:", "negative": "Sentiment:"}


@dataclass(frozen=True, kw_only=True)
class LmConfig(ClassifierConfig):
    """Settings of a language model that is asked for styles.

    On Yelp, its validation sentences told which of some thirty ways of asking are right most often;
    averaging two is better than either. A few examples before the question do not help a model of
    135 million weights, nor do likelihoods of the text after each style's name.
    """

    measured_on: ClassVar[int | None] = 200  # reading 5,000 would take ten minutes

    base: str = setting(SMALL_LM, "Hub id, local folder or GGUF file")
    asks: tuple[str, ...] = setting(
        (), 'what a name follows; by default "Style:" and a known topic'
    )
    names: tuple[str, ...] = setting((), "one for each style; by default the style's own")
    sentences: Count = setting(300, "that the answers are centred and scaled on")
    nearly: Share = setting(
        0.5, "of a linear classifier's accuracy above chance: below it, that one answers instead"
    )


Config = LmConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: LmConfig) -> LmModel:
    """Ask for the styles of some labelled sentences, and say what answers from now on.

    Raises:
        MissingScorerError: the language model cannot be found or downloaded.
        InputError: not one name for each style, or chosen names that begin with the same token.
    """
    lm, digest = load_language_model(config.base, HERE)
    names = config.names or tuple(styles)
    if len(names) != len(styles):
        raise InputError(f"{len(names)} names for {len(styles)} styles: give one for each")
    words = [(name, name.capitalize()) if name.islower() else (name,) * 2 for name in names]
    alternatives = [tuple(dict.fromkeys(some)) for some in words]
    if len({len(some) for some in alternatives}) > 1:
        alternatives = [some[:1] for some in alternatives]
    about = dict.fromkeys(_ABOUT[name] for name in names if name in _ABOUT)
    asks = config.asks or ("Style:", *about)
    shown, others = _drawn(data, len(styles), config)
    labels = np.array(shown.labels)
    try:
        told = contrasts(lm, shown.sentences, asks, alternatives)
    except InputError:  # names that begin alike, such as 1 and 2, say nothing
        if config.names:
            raise
        told = np.zeros((len(labels), len(asks), len(styles)))
    centres = np.array([told[labels == style].mean(axis=0) for style in range(len(styles))]).mean(0)
    scales = np.maximum((told - centres).std(axis=(0, 2)), 1e-6)
    scaled = ((told - centres) / scales[:, None]).mean(axis=1)
    slope, offsets = _calibrated(scaled, labels)
    source = (config.base, digest)
    asked = LmModel(tuple(styles), lm, source, asks, alternatives, centres, scales, slope, offsets)
    examples = linear.fit(others, styles, linear.Config(min_count=1))
    known = float(np.mean((slope * scaled + offsets).argmax(axis=1) == labels))
    learned = float(np.mean(examples.distribution(shown.sentences).argmax(axis=1) == labels))
    if not told.any() or known - 1 / len(styles) < config.nearly * (learned - 1 / len(styles)):
        say(
            f"of {len(labels)} sentences the language model names the style of {known:.0%}, and a "
            f"linear classifier that of {learned:.0%}: the linear one answers"
        )
        asked.examples = examples
    return asked


def _drawn(
    data: LabelledSentences, styles: int, config: LmConfig
) -> tuple[LabelledSentences, LabelledSentences]:
    """Equally many sentences of each style, at most a third of it, and the others."""
    rng, chosen = random.Random(config.seed), set[int]()
    for style in range(styles):
        own = [i for i, label in enumerate(data.labels) if label == style]
        chosen |= set(rng.sample(own, max(1, min(config.sentences // styles, len(own) // 3))))
    parts = [[i for i in range(len(data)) if (i in chosen) is wanted] for wanted in (True, False)]
    shown, others = (
        LabelledSentences(
            tuple(data.sentences[i] for i in part), tuple(data.labels[i] for i in part)
        )
        for part in parts
    )
    return shown, others


def _calibrated(scaled: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Slope and offsets of a softmax that give the labels the highest likelihood.

    Args:
        scaled: shape (N, S).
        labels: shape (N,).

    Returns:
        A slope of at least 0, and offsets of shape (S,) with mean 0.
    """
    rows = np.arange(len(labels))

    def loss(some: np.ndarray) -> float:
        logits = some[0] * scaled + some[1:]
        # A little prior, so that a few sentences that are all told apart do not give infinity.
        unlikely = logsumexp(logits, axis=1) - logits[rows, labels]
        return float(unlikely.mean() + 1e-4 * (some**2).sum())

    start = np.array([1.0, *np.zeros(scaled.shape[1])])
    bounds = [(0.0, None), *[(None, None)] * scaled.shape[1]]
    found = minimize(loss, start, method="L-BFGS-B", bounds=bounds, tol=1e-10).x
    return float(found[0]), found[1:] - found[1:].mean()
