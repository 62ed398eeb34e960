"""n-gram language models: the log-probability of sentences, queried with KenLM."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import kenlm
import numpy as np

from ...errors import InputError, MissingFileError
from .batching import SentenceMemo

MODEL_FILE = "model.arpa"  # the file name of a trained model in its folder


def split_words(sentence: str) -> list[bytes]:
    r"""The words of a sentence exactly as KenLM's query sees them, in UTF-8.

    Only ASCII whitespace separates (space, ``\t``, ``\n``, ``\v``, ``\f``, ``\r``): a no-break
    space is part of a word, unlike in ``str.split``. Training and querying split with this one
    function, so that both always see the same words.

    Raises:
        InputError: not a string, a NUL character (KenLM would silently drop what follows it), or
            a lone surrogate, which is not Unicode text.

    Example:
        >>> split_words("The food\twas caf\u00e9\u00a0style .")
        [b'The', b'food', b'was', b'caf\xc3\xa9\xc2\xa0style', b'.']
    """
    if not isinstance(sentence, str):
        raise InputError(f"a sentence must be a string, got {type(sentence).__name__}")
    try:
        encoded = sentence.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"not valid Unicode text (a lone surrogate): {sentence!r}") from error
    if b"\0" in encoded:
        raise InputError(f"a NUL character in {sentence!r}: remove it")
    return encoded.split()


class NgramLanguageModel:
    """A back-off n-gram model in ARPA or KenLM binary format.

    Each distinct sentence is scored once per object. Text is scored as it is given:
    the caller must lower-case and tokenise it like the training text.

    Args:
        path: a file in either format, or a folder that contains ``model.arpa``.
        name: for signatures, such as ``kn5-positive:yelp``.
        hash: the hash of the artefact that the file belongs to.

    Attributes:
        path: the model file.
        hash: as given, or else SHA-256 of the file's content, 64 hex digits.

    Raises:
        MissingFileError: no such file, or no ``model.arpa`` in the folder.
        InputError: KenLM cannot read the file, for instance because its order is above 6 or
            it has only unigrams.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        hash: str | None = None,  # noqa: A002 - as the scorers' interface calls it
    ) -> None:
        self.path = _model_file(Path(path))
        self.hash = hash or hashlib.sha256(self.path.read_bytes()).hexdigest()
        self._name = name
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE  # "Loading the LM will be faster if..."
        try:
            self._model = kenlm.Model(str(self.path), config)
        except (OSError, UnicodeDecodeError) as error:  # its words for what is wrong quote the file
            raise InputError(
                f"KenLM cannot read the language model {self.path}: it must be a complete model in "
                "ARPA or KenLM format, of order 2 to 6. Make it again, or give another file"
            ) from error
        self._scores = SentenceMemo(self._score)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self._model.order

    @property
    def name(self) -> str:
        """What signatures call the model: as given, or else its kind, such as ``kenlm-5gram``."""
        return self._name or f"kenlm-{self.order}gram"

    def log10_probability(self, sentences: Sequence[str]) -> np.ndarray:
        """log10 P(words, end of sentence | beginning of sentence) of each sentence.

        Unknown words count as ``<unk>``; an empty sentence has the probability of
        ending at once. Special symbols written in the text (``</s>``) are scored as such.

        Args:
            sentences: N sentences.

        Returns:
            Shape (N,), float64, at most 0, log base 10, not divided by the length.

        Raises:
            InputError: not a sequence of strings, or a string that is not a text.
        """
        _check_strings(sentences)
        return self._scores(sentences)

    def words(self, sentences: Sequence[str]) -> np.ndarray:
        """The number of words that the model scores in each sentence, not counting the end.

        Args:
            sentences: N sentences.

        Returns:
            Shape (N,), int64.

        Raises:
            InputError: not a sequence of strings, or a string that is not a text.
        """
        _check_strings(sentences)
        return np.array([len(split_words(s)) for s in sentences], dtype=np.int64)

    def _score(self, sentences: list[str]) -> np.ndarray:
        for sentence in sentences:
            split_words(sentence)  # refuses what KenLM would misread
        return np.array([self._model.score(s, bos=True, eos=True) for s in sentences])


def _model_file(path: Path) -> Path:
    """The model file that a path refers to."""
    if not path.exists():
        raise MissingFileError(f"no language model at {path}: train one first, or correct the path")
    if not path.is_dir():
        return path
    if not (path / MODEL_FILE).is_file():
        raise MissingFileError(f"no language model in the folder {path}: {MODEL_FILE} is missing")
    return path / MODEL_FILE


def _check_strings(sentences: Sequence[str]) -> None:
    if isinstance(sentences, str):  # a sequence of characters: the classic mistake
        raise InputError("a list of sentences is needed, got one string: put it into a list")
    for index, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise InputError(f"sentence {index} must be a string, not {type(sentence).__name__}")
