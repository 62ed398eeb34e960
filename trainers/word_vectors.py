"""Train word2vec on a corpus: the same sentences and settings give the same bytes.

Source: Mikolov, Sutskever, Chen, Corrado and Dean (2013), skip-gram with negative sampling, in
gensim's implementation. It runs in one thread: with several, the order of the updates, and so the
vectors, would be chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil

from ..errors import InputError, TooLittleError, require
from ..metrics.scorers.word_vectors import WordVectors
from ..settings import setting

LIBRARIES = ("gensim", "numpy")


@dataclass(frozen=True, kw_only=True)
class WordVectorsConfig:
    """Settings of word2vec.

    Raises:
        InputError: a value out of its range.
    """

    dimensions: int = setting(100, "numbers per word")
    window: int = setting(5, "words on either side that are its context")
    # By default every word has a vector: an unknown one would be left out of a distance.
    min_count: int = setting(1, "how often a word must occur")
    epochs: int = setting(5, "passes over the corpus, at least")
    least_words: int = setting(
        1_000_000, "words trained on in all: a small corpus is passed more often"
    )
    negative: int = setting(5, "noise words per word")
    skip_gram: bool = setting(True, "false: a word is learned from all of its context at once")
    seed: int = setting(0, "of everything random")

    def __post_init__(self) -> None:
        for name in ("dimensions", "window", "min_count", "epochs", "least_words", "negative"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.seed < 2**32:
            raise InputError(f"seed must be from 0 to 2**32 - 1, got {self.seed}")

    def settings(self) -> dict[str, int | bool]:
        """Everything that can change the vectors."""
        return asdict(self)


def fit_word_vectors(
    sentences: Sequence[str], config: WordVectorsConfig | None = None
) -> WordVectors:
    """Train on sentences.

    Args:
        sentences: N sentences, tokens separated by spaces.
        config: the settings.

    Raises:
        TooLittleError: no word occurs often enough.
        MissingExtraError: gensim is not installed.
    """
    config = config or WordVectorsConfig()
    gensim = require("gensim.models", "vectors")
    corpus = [sentence.split() for sentence in sentences]
    model = gensim.Word2Vec(
        vector_size=config.dimensions,
        window=config.window,
        min_count=config.min_count,
        negative=config.negative,
        sg=int(config.skip_gram),
        seed=config.seed,
        workers=1,
    )
    model.build_vocab(corpus)
    if not len(model.wv):
        raise TooLittleError(
            f"no word occurs {config.min_count} times in {len(sentences)} sentences"
        )
    enough = ceil(config.least_words / max(1, model.corpus_total_words))
    epochs = max(config.epochs, enough)
    model.train(corpus, total_examples=model.corpus_count, epochs=epochs)
    return WordVectors(list(model.wv.index_to_key), model.wv.vectors)
