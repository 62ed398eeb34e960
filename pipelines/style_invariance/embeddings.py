"""Sentence vectors from an encoder, or as the sum of the vectors of a sentence's words.

Source: Fitzpatrick, Park and Obst, section 3.2: the sum, not the mean. A cosine does not tell them
apart, so nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import MissingScorerError
from ...metrics.scorers import find
from ...metrics.scorers.artefacts import CARD_FILE
from ...metrics.scorers.device import HERE, Placement
from ...metrics.scorers.encoder_files import EMBEDDED_ENCODER
from ...metrics.scorers.find_words import WORD_VECTORS
from ...metrics.scorers.find_words import word_vectors as find_vectors
from ...metrics.scorers.roles import Found
from ...metrics.scorers.tokens import tokenized, tokens_name
from ...metrics.scorers.word_vectors import WordVectors
from ..prepare_words import train_dataset_vectors
from .sentences import StyleSample

DEFAULT = EMBEDDED_ENCODER
_CHUNK = 2048  # sentences: an encoder holds the token vectors of all that it is given at once


@dataclass(frozen=True, kw_only=True)
class SentenceEmbedding:
    """Something that turns sentences into vectors, identified before it is loaded.

    Attributes:
        name: as it is shown.
        hash: SHA-256 hex of its files.
        kind: ``encoder`` or ``sum of word vectors``.
        fields: what else the signature must state.
        libraries: whose versions may move a number.
        vectors: from N sentences to shape (N, D), float32; zeros where no word of a sentence is
            known.
    """

    name: str
    hash: str
    kind: str
    fields: Mapping[str, object]
    libraries: tuple[str, ...]
    vectors: Callable[[Sequence[str]], np.ndarray]


def find_embedding(
    spec: str, sample: StyleSample, placement: Placement = HERE
) -> SentenceEmbedding:
    """The embedding that a user names.

    Args:
        spec: ``word2vec`` (trained on the dataset, now if need be), a file of word vectors, a
            folder of trained ones, or an encoder: a Hub id or folder, ``@`` and the layer to read.
        sample: the sentences; ``word2vec`` is trained on their dataset, and their language says
            what a word is.
        placement: device, number type and batch size of an encoder.

    Raises:
        MissingScorerError: there is nothing of that name.
        InputError: a file that has no vectors, or a layer that the encoder does not have.
        MissingExtraError: what it needs is not installed.
    """
    path = Path(spec).expanduser()
    if spec == WORD_VECTORS:
        trained = train_dataset_vectors(sample.data)
        return _of_words(find_vectors(str(trained.folder), None, placement), sample)
    if path.is_file() or (path / CARD_FILE).is_file():
        return _of_words(find_vectors(spec, None, placement), sample)
    try:
        found = find.encoder(spec, None, placement)
    except MissingScorerError as error:
        raise MissingScorerError(
            f"the embedding {spec!r} is neither {WORD_VECTORS}, nor a file of word vectors, nor an "
            f"encoder that is here: {error}"
        ) from error
    return SentenceEmbedding(
        name=f"{found.name}@{found.fields['layer']}" if "@" in spec else found.name,
        hash=found.hash,
        kind="encoder",
        fields={**found.fields, "dtype": placement.signed_dtype},
        libraries=("torch", "transformers", "tokenizers"),
        vectors=partial(_encoded, found),
    )


def summed(vectors: WordVectors, sentences: Sequence[str]) -> np.ndarray:
    """The sum of the vectors of a sentence's known words; a word counts as often as it occurs.

    Args:
        vectors: of V words.
        sentences: N sentences, tokens separated by spaces.

    Returns:
        Shape (N, D), float64; 0 where no word is known.
    """
    known = vectors.known(sentences)
    sums = np.zeros((len(sentences), vectors.dimensions))
    for row, words in zip(sums, known, strict=True):
        row += vectors.vectors[words].sum(axis=0, dtype=np.float64)
    return sums


def _of_words(found: Found, sample: StyleSample) -> SentenceEmbedding:
    def of(sentences: Sequence[str]) -> np.ndarray:
        return summed(found.load(), tokenized(sentences, sample.language))

    return SentenceEmbedding(
        name=found.name,
        hash=found.hash,
        kind="sum of word vectors",
        fields={"tokens": tokens_name(sample.language, "words")},
        libraries=(),
        vectors=of,
    )


def _encoded(found: Found, sentences: Sequence[str]) -> np.ndarray:
    """Each distinct sentence once, in chunks."""
    encoder = found.load()
    distinct = list(dict.fromkeys(sentences))
    parts = [
        encoder.sentence_vectors(distinct[start : start + _CHUNK])
        for start in range(0, len(distinct), _CHUNK)
    ]
    vectors: np.ndarray = np.concatenate(parts)
    row = {sentence: n for n, sentence in enumerate(distinct)}
    return vectors[[row[sentence] for sentence in sentences]]
