"""Styles read by a pretrained language model: which style's name it expects after a text.

What learns styles from labelled sentences learns their markers, and is content where a system puts
one in. A model of the world's text has learned nothing of the corpus: it is asked, and its answers
are only centred and scaled on a few hundred labelled sentences. Where it does not know what the
styles' names mean, a linear classifier of those sentences answers instead.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...console import say
from ...errors import InputError, IntegrityError
from ...files import read_text, write_json
from ...settings import Count, Share, setting
from . import linear
from .causal_lm import CausalLm, as_written, load_language_model
from .device import HERE, Placement
from .gguf import SMALL_LM
from .linear import LinearModel, softmax
from .train import ClassifierConfig, LabelledSentences

_EXAMPLES = "examples"  # the folder of the linear classifier


class LmModel:
    """A language model that is asked for a text's style, or what learned from examples.

    Args:
        styles: S names.
        lm: the model.
        source: where it is from, and its hash.
        asks: K lines that a style's name should follow, such as ``Style:``.
        names: by style: the words that name it, equally many for each.
        centres: shape (K, S): the mean of each contrast over the sentences it was set on.
        scales: shape (K,): their standard deviation.
        slope: of the mean of the scaled contrasts.
        offsets: shape (S,): what is added.
        examples: the linear classifier that answers instead.
    """

    def __init__(
        self,
        styles: tuple[str, ...],
        lm: CausalLm,
        source: tuple[str, str],
        asks: Sequence[str],
        names: Sequence[Sequence[str]],
        centres: np.ndarray,
        scales: np.ndarray,
        slope: float,
        offsets: np.ndarray,
        examples: LinearModel | None = None,
    ) -> None:
        self.styles, self._lm, self._source = styles, lm, source
        self.asks, self.names = tuple(asks), tuple(map(tuple, names))
        self._centres, self._scales = centres, scales
        self._slope, self._offsets = slope, offsets
        self.examples = examples

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; an empty sentence too."""
        if self.examples is not None:
            return self.examples.distribution(sentences)
        told = contrasts(self._lm, sentences, self.asks, self.names)
        scaled = (told - self._centres) / self._scales[:, None]
        return softmax(self._slope * scaled.mean(axis=1) + self._offsets)

    def save(self, folder: Path) -> None:
        """Write ``model.json``, and the linear classifier beside it if that answers."""
        settings = {
            "styles": self.styles,
            "language_model": dict(zip(("model", "hash"), self._source, strict=True)),
            "asks": self.asks,
            "names": self.names,
            "centres": self._centres.tolist(),
            "scales": self._scales.tolist(),
            "slope": self._slope,
            "offsets": self._offsets.tolist(),
            "answers": "names" if self.examples is None else _EXAMPLES,
        }
        write_json(folder / "model.json", settings)
        if self.examples is not None:
            (folder / _EXAMPLES).mkdir()
            self.examples.save(folder / _EXAMPLES)

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> LmModel:
        """Read back what :meth:`save` wrote.

        Raises:
            MissingScorerError: the language model cannot be found or downloaded.
            IntegrityError: it is not the one that was asked then.
        """
        settings = json.loads(read_text(folder / "model.json"))
        wanted = settings["language_model"]
        lm, digest = load_language_model(wanted["model"], placement)
        if digest != wanted["hash"]:
            raise IntegrityError(
                f"the scorer in {folder} was set on a {wanted['model']} with hash "
                f"{wanted['hash'][:16]}..., but the one found here has {digest[:16]}...: install "
                "that one or train the scorer again"
            )
        by_examples = settings["answers"] == _EXAMPLES
        return cls(
            tuple(settings["styles"]),
            lm,
            (wanted["model"], digest),
            settings["asks"],
            settings["names"],
            np.array(settings["centres"]),
            np.array(settings["scales"]),
            settings["slope"],
            np.array(settings["offsets"]),
            LinearModel.load(folder / _EXAMPLES) if by_examples else None,
        )


def contrasts(
    lm: CausalLm, sentences: Sequence[str], asks: Sequence[str], names: Sequence[Sequence[str]]
) -> np.ndarray:
    """How much likelier each style's names are than the average style's, after each ask.

    Args:
        lm: the language model.
        sentences: N texts; in lower case, they are read as people write them.
        asks: K lines.
        names: by style: its words.

    Returns:
        Shape (N, K, S), natural logarithms; the S of a text and an ask sum to 0.
    """
    words = [word for some in names for word in some]
    told = lm.next_words([as_written(text) for text in sentences], asks, words)
    of_styles = np.logaddexp.reduce(told.reshape(*told.shape[:2], len(names), -1), axis=3)
    centred: np.ndarray = of_styles - of_styles.mean(axis=2, keepdims=True)
    return centred


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
    from scipy.optimize import minimize
    from scipy.special import logsumexp

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
