"""Styles read by a pretrained language model: which style's name it expects after a text.

What learns styles from labelled sentences learns their markers, and is content where a system puts
one in. A model of the world's text has learned nothing of the corpus: it is asked, and its answers
are only centred and scaled on a few hundred labelled sentences. Where it does not know what the
styles' names mean, a linear classifier of those sentences answers instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import IntegrityError
from ...files import read_text, write_json
from .causal_lm import CausalLm, as_written, load_language_model
from .device import HERE, Placement
from .linear import LinearModel, softmax

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
