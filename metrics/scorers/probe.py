"""A probe: multinomial logistic regression on a frozen encoder's features of a sentence.

Its features are means over tokens at some layers, from the forward pass that BERTScore needs
anyway: if both are used, scoring a sentence costs only one more matrix product.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from ...files import read_text, write_bytes, write_json
from .device import HERE, Placement
from .encoder import TransformerEncoder, load_encoder
from .encoder_files import check_same_encoder
from .linear import softmax


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
