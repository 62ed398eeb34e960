"""Vectors of words: trained here, or anybody's file; no pickle is read or written.

Published word vectors in text are checked line by line, binary ones are read by gensim:

| format | told by |
| --- | --- |
| text: word, then D numbers a line (GloVe) | anything else |
| text with a first line "V D" (word2vec, fastText ``.vec``) | its first line |
| binary word2vec: first line "V D", then words and float32 | no UTF-8 text behind the first line |
| binary fastText | its magic number |

Of a binary fastText model only the words of its vocabulary are used: it would make up a vector for
every other word, and then no word is unknown.

Source: Mikolov, Sutskever, Chen, Corrado and Dean (2013), skip-gram with negative sampling, in
gensim's implementation. It runs in one thread: with several, the order of the updates, and so the
vectors, would be chance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from safetensors.numpy import load_file, save

from ...console import say
from ...errors import InputError, MissingFileError, TooLittleError, require
from ...files import read_text, write_bytes, write_json
from ...settings import Count, setting
from ..text import MASK

WORDS_FILE = "words.json"
VECTORS_FILE = "vectors.safetensors"
_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
_MOST_DIMENSIONS = 20_000
_PROBE = 1 << 16
_FEW = 0.5  # a smaller part of known words is said
_ENOUGH = 20  # words: fewer, as of a single sentence, say nothing about the vectors


class WordVectors:
    """Static word vectors.

    Args:
        words: V distinct words.
        vectors: shape (V, D), float32.
        name: for signatures.
        digest: SHA-256 hex of the files.

    Raises:
        InputError: no vectors, a word that occurs twice, another shape, or a number that is not finite.
    """

    def __init__(
        self, words: Sequence[str], vectors: np.ndarray, name: str = "vectors", digest: str = ""
    ) -> None:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(words) or not vectors.size:
            raise InputError(f"{len(words)} words, but vectors of shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise InputError(f"the vector of {words[row]!r} has a number that is not finite")
        self.rows = {word: row for row, word in enumerate(words)}
        if len(self.rows) < len(words):
            raise InputError(f"{len(words) - len(self.rows)} words have two vectors")
        self.vectors = vectors
        self.name = name
        self.hash = digest
        self._doubted = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dimensions(self) -> int:
        """D."""
        return int(self.vectors.shape[1])

    @cached_property
    def lengths(self) -> np.ndarray:
        """Euclidean lengths of the vectors, 1 for a zero vector: shape (V,), float32."""
        lengths = np.linalg.norm(self.vectors, axis=1)
        return np.where(lengths > 0, lengths, np.float32(1))

    def known(self, sentences: Sequence[str]) -> list[list[int]]:
        """The rows of the words that have a vector.

        Args:
            sentences: N sentences, tokens separated by spaces; unknown tokens are skipped.
        """
        rows = self.rows
        return [[rows[t] for t in sentence.split() if t in rows] for sentence in sentences]

    def check_knows(self, sentences: Sequence[Sequence[str]]) -> None:
        """Say once if most words of some texts have no vector, so that a number says little.

        Args:
            sentences: N sentences as tokens; masks do not count.

        Raises:
            InputError: no word at all has one, of twenty or more.
        """
        words = Counter(word for some in sentences for word in some if word != MASK)
        unknown = Counter({word: n for word, n in words.items() if word not in self.rows})
        if self._doubted or words.total() < _ENOUGH:
            return
        share = 1 - unknown.total() / words.total()
        if share >= _FEW:
            return
        such = ", ".join(repr(word) for word, _ in unknown.most_common(3))
        why = "are they of this language, and in lower case like the texts?"
        if not share:
            raise InputError(
                f"the word vectors {self.name} know no word of the texts ({such}): {why}"
            )
        say(
            f"careful: the word vectors {self.name} know {share:.0%} of the words of the texts, not "
            f"{such}; unknown words are skipped, so the numbers say little: {why}"
        )
        self._doubted = True

    def centroid(self, words: Sequence[str]) -> np.ndarray:
        """Mean of the words' unit vectors, as long as the vectors are on average: shape (D,).

        It stands for any of the words. Unknown words are skipped; of none at all, it is 0.
        """
        rows = [self.rows[word] for word in words if word in self.rows]
        if not rows:
            return np.zeros(self.dimensions, dtype=np.float32)
        mean = (self.vectors[rows] / self.lengths[rows, None]).mean(axis=0)
        norm = float(np.linalg.norm(mean))
        scaled: np.ndarray = mean * (float(self.lengths[rows].mean()) / norm if norm else 0.0)
        return scaled.astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write ``words.json`` and ``vectors.safetensors``."""
        write_json(folder / WORDS_FILE, list(self.rows))
        write_bytes(folder / VECTORS_FILE, save({"vectors": self.vectors}))

    @classmethod
    def load(cls, folder: Path, name: str, digest: str) -> WordVectors:
        """Read back what :meth:`save` wrote."""
        words = json.loads(read_text(folder / WORDS_FILE))
        tensors = load_file(folder / VECTORS_FILE)
        if {*tensors} != {"vectors"} or len(tensors["vectors"]) != len(words):
            raise InputError(f"{folder / VECTORS_FILE} has other tensors than a vector a word")
        return cls(words, tensors["vectors"], name, digest)


def read_vectors(file: Path, name: str = "vectors", digest: str = "") -> WordVectors:
    """The vectors in a file; a word that occurs twice has its first vector.

    Raises:
        MissingFileError: no such file.
        InputError: it is in no known format, cut off, or not numeric; the message says where.
        MissingExtraError: gensim, for a binary file, is not installed.
    """
    if not file.is_file():
        raise MissingFileError(f"no such file of word vectors: {file}")
    with file.open("rb") as stream:
        start = stream.read(_PROBE)
    if not start:
        raise InputError(f"{file} is empty")
    if start[:4] == _FASTTEXT_MAGIC:
        words, vectors = _read_fasttext(file)
    elif not _is_text(start):
        words, vectors = _read_binary(file)
    else:
        words, vectors = _read_text(file)
    kept: dict[str, int] = {}
    for row, word in enumerate(words):
        kept.setdefault(word, row)
    if len(kept) < len(words):
        vectors = vectors[list(kept.values())]
    return WordVectors(list(kept), vectors, name, digest)


def _is_text(start: bytes) -> bool:
    """Whether the beginning of a file is text: vectors in binary are hardly ever valid UTF-8."""
    if _header(start.split(b"\n", 1)[0]) is None:
        return b"\0" not in start  # a word that is not UTF-8 is reported with its line
    if len(start) == _PROBE:
        start = start[: start.rfind(b" ")]  # the last character may be cut
    try:
        text = start.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(sign < " " and sign not in "\t\n\r" for sign in text)


def _header(line: bytes) -> tuple[int, int] | None:
    """Words and dimensions, if a file begins by stating them."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _read_text(file: Path) -> tuple[list[str], np.ndarray]:
    words: list[str] = []
    rows: list[np.ndarray] = []
    stated: tuple[int, int] | None = None
    width = 0
    for number, line in _lines(file):
        if number == 1:
            stated = _header(line)
            width = stated[1] if stated else len(line.split()) - 1
            if not 0 < width <= _MOST_DIMENSIONS:
                raise InputError(
                    f"{file}, line 1: a word and its numbers are needed: {_start(line)}"
                )
            if stated:
                continue
        # Some words of published files contain spaces: the numbers are counted from the end.
        word, *numbers = line.rsplit(b" ", width)
        try:
            row = np.array(numbers, dtype=np.float32)
            text = word.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{file}, line {number}: the word {word[:40]!r} is not UTF-8"
            ) from error
        except ValueError as error:
            raise InputError(
                f"{file}, line {number}: not a word and {width} numbers: {_start(line)}"
            ) from error
        if len(row) != width or not text:
            raise InputError(
                f"{file}, line {number}: {len(row)} numbers, but line 1 has {width}: {_start(line)}"
            )
        if not np.isfinite(row).all():
            raise InputError(f"{file}, line {number}: a number of {text!r} is not finite")
        words.append(text)
        rows.append(row)
    if stated and len(words) != stated[0]:
        raise InputError(
            f"{file}: line 1 states {stated[0]} words, but {len(words)} follow: is the file cut off?"
        )
    if not words:
        raise InputError(f"{file} has no word vectors")
    return words, np.stack(rows)


def _start(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace"))


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if stripped := line.rstrip():
                yield number, stripped


def _read_binary(file: Path) -> tuple[list[str], np.ndarray]:
    with file.open("rb") as stream:
        stated = _header(stream.readline(64))
    if stated is None:
        raise InputError(
            f"{file} is binary, but neither word2vec's format (a first line 'words dimensions') "
            "nor fastText's; convert it to text"
        )
    count, width = stated
    if not 0 < width <= _MOST_DIMENSIONS or not 0 < count <= file.stat().st_size // (4 * width):
        raise InputError(
            f"{file} states {count} words of {width} numbers, and has {file.stat().st_size} bytes"
        )
    load = partial(_models().KeyedVectors.load_word2vec_format, binary=True)
    return _read_with_gensim(file, load, "set of word vectors")


def _read_fasttext(file: Path) -> tuple[list[str], np.ndarray]:
    load = _models().fasttext.load_facebook_vectors
    return _read_with_gensim(file, load, "fastText model")


def _models() -> Any:
    return require("gensim.models", "vectors")


def _read_with_gensim(
    file: Path, load: Callable[[str], Any], what: str
) -> tuple[list[str], np.ndarray]:
    try:
        found = load(str(file))
    except Exception as error:  # gensim's own for files that are cut off: many kinds
        raise InputError(f"{file} is no complete {what}: {error}") from error
    return list(found.index_to_key), np.asarray(found.vectors, dtype=np.float32)


LIBRARIES = ("gensim", "numpy")


@dataclass(frozen=True, kw_only=True)
class WordVectorsConfig:
    """Settings of word2vec."""

    dimensions: Count = setting(100, "numbers per word")
    window: Count = setting(5, "words on either side that are its context")
    # By default every word has a vector: an unknown one would be left out of a distance.
    min_count: Count = setting(1, "how often a word must occur")
    epochs: Count = setting(5, "passes over the corpus, at least")
    least_words: Count = setting(
        1_000_000, "words trained on in all: a small corpus is passed more often"
    )
    negative: Count = setting(5, "noise words per word")
    skip_gram: bool = setting(True, "false: a word is learned from all of its context at once")
    seed: Annotated[int, Field(ge=0, lt=2**32)] = setting(0, "of everything random")

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
    gensim = _models()
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
