"""The meaning scorer: how much of what a sentence says another one keeps, whatever its style.

A small network (:mod:`.meaning_network`) over a frozen encoder's token vectors, trained on made
pairs: rewrites of another style in which one content word or phrase was changed, left out or added
(:mod:`tstbench.trainers.meaning`). No human score was used to train it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from ...errors import InputError, IntegrityError
from ...files import read_text, write_json
from .base import TokenVectors
from .batching import length_sorted_batches
from .device import HERE, Placement
from .encoder import TransformerEncoder, load_encoder
from .meaning_network import MeaningNetwork

MODEL_FILE = "model.json"
WEIGHTS_FILE = "weights.safetensors"
_PAIRS_AT_ONCE = 1_024  # pairs whose token vectors are in memory together
_BATCH_TOKENS = 4_096


class MeaningModel:
    """A trained network and the encoder, at K layers, whose vectors it reads.

    Args:
        network: see :class:`~.meaning_network.MeaningNetwork`.
        encoders: one for each layer, of the same model.
    """

    def __init__(self, network: MeaningNetwork, encoders: Sequence[TransformerEncoder]) -> None:
        self.network = network.eval()
        self.encoders = tuple(encoders)
        self._kept: dict[tuple[str, str], tuple[float, float]] = {}

    def remember(self, sentences: Sequence[str]) -> None:
        """Encode sentences, which the encoders then remember."""
        for encoder in self.encoders:
            encoder.token_vectors(sentences)

    def kept(self, sources: Sequence[str], outputs: Sequence[str]) -> np.ndarray:
        """P(meaning is kept) and sentence cosine of N pairs: shape (N, 2), float64.

        The cosine is between the means of the last layer's token vectors. Each distinct pair is
        scored once. A pair with an empty sentence has 0 and 0.

        Raises:
            InputError: unequal lengths.
        """
        if len(sources) != len(outputs):
            raise InputError(f"{len(sources)} sources but {len(outputs)} outputs: not aligned")
        pairs = list(zip(sources, outputs, strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._kept]
        for start in range(0, len(new), _PAIRS_AT_ONCE):
            some = new[start : start + _PAIRS_AT_ONCE]
            for pair, (kept, cosine) in zip(some, self._compute(some).tolist(), strict=True):
                self._kept[pair] = (kept, cosine)
        return np.array([self._kept[pair] for pair in pairs]).reshape(-1, 2)

    def unmatched(self, source: str, output: str) -> tuple[np.ndarray, np.ndarray]:
        """For each token of both sentences, P(it has no counterpart): for looking at a score."""
        texts = [source, output]
        batch = [encoder.token_vectors(texts) for encoder in self.encoders]
        with torch.inference_mode():
            one, two = padded(batch, [0]), padded(batch, [1])
            tokens = self.network(*one, *two)[1].sigmoid()[0].double().numpy()
        split = one[1].shape[1]
        return tokens[:split], tokens[split:]

    def _compute(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        texts = {text: i for i, text in enumerate(dict.fromkeys(t for p in pairs for t in p))}
        vectors = [encoder.token_vectors(list(texts)) for encoder in self.encoders]
        means = self.encoders[-1].sentence_vectors(list(texts)).astype(np.float64)
        rows = np.array([(texts[a], texts[b]) for a, b in pairs])
        scores = np.zeros((len(pairs), 2))
        scores[:, 1] = (means[rows[:, 0]] * means[rows[:, 1]]).sum(1)
        longest = np.diff(vectors[0].offsets)[rows].max(axis=1)
        with torch.inference_mode():
            for batch in length_sorted_batches(longest, _BATCH_TOKENS):
                first = padded(vectors, rows[batch, 0])
                second = padded(vectors, rows[batch, 1])
                scores[batch, 0] = self.network(*first, *second)[0].sigmoid().double().numpy()
        empty = [not a.strip() or not b.strip() for a, b in pairs]
        scores[empty] = 0.0
        return scores

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``weights.safetensors``."""
        encoder = self.encoders[-1]
        settings = {
            "layers": [one.layer for one in self.encoders],
            "encoder": {"model": encoder.source, "hash": encoder.hash},
            "inner": self.network.inner,
            "hidden": self.network.norm.normalized_shape[0],
        }
        write_json(folder / MODEL_FILE, settings)
        weights = {k: v.detach().contiguous() for k, v in self.network.state_dict().items()}
        save_file(weights, folder / WEIGHTS_FILE)

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> MeaningModel:
        """Read back what :meth:`save` wrote.

        Raises:
            MissingScorerError: the encoder's weights cannot be found or downloaded.
            IntegrityError: they are not those it was trained on, or the files are damaged.
        """
        try:
            settings = json.loads(read_text(folder / MODEL_FILE))
            layers, wanted = settings["layers"], settings["encoder"]
            inner, hidden = int(settings["inner"]), int(settings["hidden"])
            model, digest = str(wanted["model"]), str(wanted["hash"])
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityError(f"{folder / MODEL_FILE} is not a meaning scorer's") from error
        encoders = [load_encoder(model, int(layer), placement) for layer in layers]
        for encoder in encoders:
            if encoder.hash != digest:
                raise IntegrityError(
                    f"the meaning scorer in {folder} was trained on a {model} with hash "
                    f"{digest[:16]}..., but the one found here has {encoder.hash[:16]}...: its "
                    "weights would be meaningless. Install that encoder or train the scorer again"
                )
        weights = load_file(folder / WEIGHTS_FILE)
        width = weights["project.0.weight"].shape[1] if "project.0.weight" in weights else 0
        network = MeaningNetwork(len(layers), width, inner, hidden)
        try:
            network.load_state_dict(weights)
        except RuntimeError as error:
            raise IntegrityError(
                f"{folder / WEIGHTS_FILE} does not fit the network that {MODEL_FILE} describes"
            ) from error
        return cls(network, encoders)


def padded(
    layers: Sequence[TokenVectors], sentences: Sequence[int] | np.ndarray
) -> tuple[list[Tensor], Tensor]:
    """B sentences as the network reads them: K tensors (B, T, D), and which tokens are real."""
    lengths = np.diff(layers[0].offsets)[np.asarray(sentences)]
    real = torch.arange(int(lengths.max()))[None] < torch.from_numpy(lengths)[:, None]
    found = []
    for vectors in layers:
        tokens = np.concatenate([vectors[int(i)] for i in sentences])
        table = torch.zeros(*real.shape, tokens.shape[1])
        table[real] = torch.from_numpy(tokens).float()
        found.append(table)
    return found, real
