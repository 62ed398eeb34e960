"""Train a probe: logistic regression on a frozen encoder's layer means, with scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from ...metrics.scorers.encoder import load_encoder
from ...metrics.scorers.encoder_files import EMBEDDED_ENCODER
from ...metrics.scorers.probe import ProbeModel, probe_features
from ...settings import Count, Positive, setting
from .config import ClassifierConfig
from .data import LabelledSentences

LIBRARIES = ("scikit-learn", "numpy", "torch", "transformers")


@dataclass(frozen=True, kw_only=True)
class ProbeConfig(ClassifierConfig):
    """Settings of a probe. The seed has no effect: the problem is convex.

    On CoLA middle layers are best: cross-validated MCC of one layer's mean is 0.09 at the last
    layer of the embedded encoder and 0.15 at the third. scikit-learn's own tolerance stops far from
    the optimum.
    """

    encoder: str = setting(EMBEDDED_ENCODER, "Hub id or local folder, with its last layer")
    layers: tuple[int, ...] = setting((2, 3, 4), "layers whose means are the features: [2, 3, 4]")
    inverse_penalty: Positive = setting(0.03, "scikit-learn's C, for features of unit variance")
    max_iterations: Count = setting(1000, "of the solver, at most")
    tolerance: Positive = setting(1e-8, "of the gradient at the optimum")


Config = ProbeConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: ProbeConfig) -> ProbeModel:
    """Train on labelled sentences.

    Raises:
        MissingScorerError: the encoder's weights cannot be found or downloaded.
        InputError: the encoder does not have one of the layers.
    """
    encoder = load_encoder(config.encoder)
    features = probe_features(encoder, data.sentences, config.layers).astype(np.float64)
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0] = 1.0
    regression = LogisticRegression(
        C=config.inverse_penalty, max_iter=config.max_iterations, tol=config.tolerance
    )
    with threadpool_limits(1):  # so that sums do not depend on the number of cores
        regression.fit((features - centre) / scale, data.labels)
    coefficients, intercepts = regression.coef_, regression.intercept_
    if len(styles) == 2:  # scikit-learn keeps only the logit of the second style
        coefficients = np.concatenate([-coefficients / 2, coefficients / 2])
        intercepts = np.concatenate([-intercepts / 2, intercepts / 2])
    coefficients = coefficients / scale  # so that scoring needs no standardisation
    intercepts = intercepts - coefficients @ centre
    return ProbeModel(tuple(styles), encoder, config.layers, coefficients, intercepts)
