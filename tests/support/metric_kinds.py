"""What one sentence of each metric looks like, for tests that must hold for every metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tstbench.metrics.bleu.bleu import bleu_statistics
from tstbench.metrics.chrf.chrf import chrf_statistics
from tstbench.metrics.cps.cps import cps_statistics
from tstbench.metrics.fluency.fluency import graded_statistics
from tstbench.metrics.joint.calibration import CalibratedPart, calibrated_statistics
from tstbench.metrics.joint.joint import (
    JointWeights,
    joint_statistics,
    sentence_statistics,
)
from tstbench.metrics.llm_judge.llm_judge import Reading, Scale, judge_statistics
from tstbench.metrics.logprop.logprop import logprop_statistics
from tstbench.metrics.naturalness.naturalness import naturalness_statistics
from tstbench.metrics.ppl.ppl import ppl_statistics
from tstbench.metrics.statistics import Statistics, share_statistics
from tstbench.metrics.sti.sti import (
    ordinal_distances,
    style_transfer_intensity,
    target_probability,
    uniform_distances,
)
from tstbench.metrics.surface.surface import copy_rate, length_ratio

# Words that tokenizers treat in different ways, some of which any two sentences share.
WORDS = st.sampled_from(
    "the a food was good . , ! isn't it's cannot u.s. 9,50 (really) \" '' café 日本 The".split()
)
TEXTS = st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=12)
PROBABILITIES = st.floats(0, 1)
NUMBERS = st.floats(-30, 30)


@dataclass(frozen=True)
class Kind:
    """A metric, and what it may be.

    Attributes:
        sentence: a strategy for what the metric reads of one sentence.
        measure: from a list of those to statistics.
        low, high: of corpus score and sentences' scores.
        alone: whether a sentence's own score is the corpus score of that sentence.
    """

    sentence: st.SearchStrategy[Any]
    measure: Callable[[list[Any]], Statistics]
    low: float
    high: float
    alone: bool = True


def distribution(weights: list[float]) -> np.ndarray:
    return np.array(weights) / sum(weights)


STYLES = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(distribution)
VECTORS = st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any)


def columns(sentences: list[Any]) -> list[np.ndarray]:
    return [np.array(column) for column in zip(*sentences, strict=True)]


def both_classes(p: np.ndarray) -> np.ndarray:
    return np.stack([1 - p, p], axis=1)


def acc(some: list[Any]) -> Statistics:
    p, failed = columns(some)
    return share_statistics(both_classes(p), 1, failed)


def graded(some: list[Any]) -> Statistics:
    p, failed = columns(some)
    return graded_statistics(both_classes(p), 1, failed)


def intensity(distances: np.ndarray) -> Callable[[list[Any]], Statistics]:
    def measure(some: list[Any]) -> Statistics:
        source, output, failed = columns(some)
        return style_transfer_intensity(source, output, 2, distances, failed)

    return measure


def target(some: list[Any]) -> Statistics:
    output, failed = columns(some)
    return target_probability(output, 1, failed)


def judge(some: list[Any]) -> Statistics:
    failed = np.array([one is None for one in some])
    readings = [[Reading(None if np.isnan(one) else one)] for one in some if one is not None]
    return judge_statistics(readings, {"one": Scale(0, 1)}, failed)


def calibrated(some: list[Any]) -> Statistics:
    first, second, failed = columns(some)
    parts = [
        CalibratedPart("one", "style", 2.0, slope=1.5, offset=-1.0),
        CalibratedPart("other", "content", 1.0, slope=0.1, offset=0.5, missing=0.25),
    ]
    return calibrated_statistics(parts, {"one": first, "other": second}, failed)


def bleu(protocol: str) -> Callable[[list[Any]], Statistics]:
    return lambda some: bleu_statistics([a for a, _ in some], [b for _, b in some], protocol)


def chrf(word_order: int) -> Callable[[list[Any]], Statistics]:
    return lambda some: chrf_statistics(
        [a for a, _ in some], [b for _, b in some], word_order=word_order
    )


def joint(some: list[Any]) -> Statistics:
    p, prediction, reference, log10, words = columns(some)
    against = [[str(text)] for text in reference]
    parts = (
        share_statistics(both_classes(p), 1),
        bleu_statistics([str(text) for text in prediction], against, "whitespace"),
        ppl_statistics(log10, words),
    )
    return joint_statistics(*parts, weights=JointWeights(2, 1, 0.5))


FAILED = st.booleans()
COMPARED = st.tuples(TEXTS, st.lists(TEXTS, max_size=3))
LOG10, LENGTHS = st.floats(-40, -0.1), st.integers(1, 20)
KINDS = {
    "acc": Kind(st.tuples(PROBABILITIES, FAILED), acc, 0, 100),
    "graded": Kind(st.tuples(PROBABILITIES, FAILED), graded, 0, 1),
    "sti": Kind(st.tuples(STYLES, STYLES, FAILED), intensity(uniform_distances(3)), -1, 1),
    "sti, ordinal": Kind(st.tuples(STYLES, STYLES, FAILED), intensity(ordinal_distances(3)), -2, 2),
    "target probability": Kind(st.tuples(STYLES, FAILED), target, 0, 1),
    "naturalness": Kind(
        st.tuples(NUMBERS, FAILED), lambda s: naturalness_statistics(*columns(s)), 0, 100, False
    ),
    "logprop": Kind(
        st.tuples(st.tuples(st.floats(-99, 0), LENGTHS), FAILED),
        lambda s: logprop_statistics(columns(s)[0], None, columns(s)[1], 100),
        -99,
        0,
    ),
    "cps": Kind(st.tuples(VECTORS, VECTORS, FAILED), lambda s: cps_statistics(*columns(s)), -1, 1),
    "judge": Kind(st.none() | PROBABILITIES, judge, 0, 1),
    "calibrated": Kind(st.tuples(NUMBERS, NUMBERS | st.just(np.nan), FAILED), calibrated, 0, 1),
    "ppl": Kind(st.tuples(LOG10, LENGTHS), lambda s: ppl_statistics(*columns(s)), 1, 1e40),
    "length ratio": Kind(
        st.tuples(st.integers(0, 20), LENGTHS), lambda s: length_ratio(*columns(s)), 0, 20
    ),
    "copy rate": Kind(
        st.tuples(TEXTS, TEXTS) | TEXTS.map(lambda text: (text, text)),
        lambda s: copy_rate([a for a, _ in s], [b for _, b in s]),
        0,
        100,
    ),
    # A sentence's own BLEU is smoothed and has the orders that it is long enough for.
    "bleu": Kind(COMPARED, bleu("tstbench"), 0, 100, False),
    "bleu, 13a": Kind(COMPARED, bleu("13a"), 0, 100, False),
    "bleu, multi-bleu": Kind(COMPARED, bleu("whitespace"), 0, 100, False),
    "chrf": Kind(COMPARED, chrf(0), 0, 100),
    "chrf++": Kind(COMPARED, chrf(2), 0, 100),
    "joint of sentences": Kind(
        st.tuples(PROBABILITIES, PROBABILITIES), lambda s: sentence_statistics(columns(s)), 0, 1
    ),
    "joint": Kind(st.tuples(PROBABILITIES, TEXTS, TEXTS, LOG10, LENGTHS), joint, 0, 1, False),
}
