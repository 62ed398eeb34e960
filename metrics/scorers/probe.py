"""A probe: multinomial logistic regression on a frozen encoder's features of a sentence.

Its features are means over tokens at some layers, from the forward pass that BERTScore needs
anyway: if both are used, scoring a sentence costs only one more matrix product.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save
from threadpoolctl import threadpool_limits

from ...files import read_text, write_bytes, write_json
from ...settings import Count, Positive, setting
from .device import HERE, Placement
from .encoder import TransformerEncoder, load_encoder
from .encoder_files import EMBEDDED_ENCODER, check_same_encoder
from .linear import softmax
from .train import ClassifierConfig, LabelledSentences


class ProbeModel:
    """One weight vector per style over an encoder's layer means.

    Args:
        styles: S names.
        encoder: gives the features; its hash is saved, but not its files.
        layers: K layers whose means are read.
        coefficients: shape (S, K x D), float32.
        intercepts: shape (S,), float32.
    """

    features_are = "means of its encoder's layers"

    def __init__(
        self,
        styles: tuple[str, ...],
        encoder: TransformerEncoder,
        layers: Sequence[int],
        coefficients: np.ndarray,
        intercepts: np.ndarray,
    ) -> None:
        self.styles = styles
        self.encoder = encoder
        self.layers = tuple(layers)
        self._coefficients = np.ascontiguousarray(coefficients, dtype=np.float32)
        self._intercepts = intercepts.astype(np.float32)
        wanted = len(styles), len(self.layers) * encoder.width
        if (coefficients.shape, intercepts.shape) != (wanted, wanted[:1]):
            raise ValueError(f"a probe's weights have the shape {coefficients.shape}, not {wanted}")
        encoder.record_layers(self.layers)

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; an empty sentence too."""
        features = probe_features(self.encoder, sentences, self.layers)
        return softmax(features @ self._coefficients.T.astype(np.float64) + self._intercepts)

    def features(self, sentences: Sequence[str]) -> np.ndarray:
        """What its weights are applied to: shape (N, K x D), float32."""
        return probe_features(self.encoder, sentences, self.layers)

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``weights.safetensors``."""
        settings = {
            "styles": self.styles,
            "layers": self.layers,
            "encoder": {
                "model": self.encoder.source,
                "layer": self.encoder.layer,
                "hash": self.encoder.hash,
            },
        }
        write_json(folder / "model.json", settings)
        arrays = {"coefficients": self._coefficients, "intercepts": self._intercepts}
        write_bytes(folder / "weights.safetensors", save(arrays))

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> ProbeModel:
        """Read back what :meth:`save` wrote, with the encoder that BERTScore uses too.

        Raises:
            MissingScorerError: the encoder's weights cannot be found or downloaded.
            IntegrityError: they are not the weights that the probe was trained on.
        """
        settings = json.loads(read_text(folder / "model.json"))
        wanted = settings["encoder"]
        check_same_encoder(folder, wanted["model"], wanted["hash"])
        encoder = load_encoder(wanted["model"], wanted["layer"], placement)
        weights = load_file(folder / "weights.safetensors")
        return cls(tuple(settings["styles"]), encoder, settings["layers"], **weights)


def probe_features(
    encoder: TransformerEncoder, sentences: Sequence[str], layers: Sequence[int]
) -> np.ndarray:
    """Means over tokens at K layers, side by side: shape (N, K x D), float32."""
    means = encoder.layer_means(sentences, layers)
    return means.reshape(len(means), -1)


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
    from sklearn.linear_model import LogisticRegression

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
