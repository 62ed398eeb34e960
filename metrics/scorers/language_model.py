"""n-gram language models: the log-probability of sentences, queried with KenLM."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import kenlm
import numpy as np

from ...errors import InputError, MissingFileError
from .batching import SentenceMemo

MODEL_FILE = "model.arpa"  # the name under which a trained model lies in its folder


def split_words(sentence: str) -> list[bytes]:
    r"""The words of a sentence exactly as KenLM's query sees them, in UTF-8.

    Only ASCII white space separates (space, ``\t``, ``\n``, ``\v``, ``\f``, ``\r``): a no-break
    space is part of a word, unlike in ``str.split``. Training and querying split with this one
    function, so that no word can be seen by one and not by the other.

    Raises:
        InputError: not a string, a NUL character (KenLM would silently drop what follows it), or
            a lone surrogate, which is no Unicode text.

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

    Every distinct sentence is scored once in the life of the object. Text is scored as it comes:
    lower-casing and tokenising like the training text is the caller's part.

    Args:
        path: a file in either format, or a folder that holds ``model.arpa``.
        name: for signatures, such as ``kn5-positive:yelp``.
        hash: of the artefact that the file belongs to.

    Attributes:
        path: the model file.
        hash: as given, else SHA-256 of the file's content, 64 hex digits.

    Raises:
        MissingFileError: there is no such file, or no ``model.arpa`` in the folder.
        InputError: the file is there and KenLM cannot read it, for instance an order above 6 or
            a model of unigrams only.
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
        except OSError as error:
            raise InputError(
                f"KenLM cannot read the language model {self.path}: {error}"
            ) from error
        self._scores = SentenceMemo(self._score)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self._model.order

    @property
    def name(self) -> str:
        """What signatures call the model: as given, else its kind, such as ``kenlm-5gram``."""
        return self._name or f"kenlm-{self.order}gram"

    def log10_probability(self, sentences: Sequence[str]) -> np.ndarray:
        """log10 P(words, end of sentence | beginning of sentence) of each sentence.

        Words the model has not seen count as ``<unk>``; an empty sentence has the probability of
        ending at once. Special symbols written in the text (``</s>``) are scored as what they are.

        Args:
            sentences: N sentences.

        Returns:
            Shape (N,), float64, at most 0, log base 10, not divided by the length.

        Raises:
            InputError: not a sequence of strings, or a string that is no text.
        """
        _check_strings(sentences)
        return self._scores(sentences)

    def words(self, sentences: Sequence[str]) -> np.ndarray:
        """The number of words that the model scores in each sentence, ends not counted.

        Args:
            sentences: N sentences.

        Returns:
            Shape (N,), int64.

        Raises:
            InputError: not a sequence of strings, or a string that is no text.
        """
        _check_strings(sentences)
        return np.array([len(split_words(s)) for s in sentences], dtype=np.int64)

    def _score(self, sentences: list[str]) -> np.ndarray:
        for sentence in sentences:
            split_words(sentence)  # refuses what KenLM would misread
        return np.array([self._model.score(s, bos=True, eos=True) for s in sentences])


def _model_file(path: Path) -> Path:
    """The model file that a path means."""
    if not path.exists():
        raise MissingFileError(f"no language model at {path}: train one first, or mend the path")
    if not path.is_dir():
        return path
    if not (path / MODEL_FILE).is_file():
        raise MissingFileError(f"no language model in the folder {path}: it holds no {MODEL_FILE}")
    return path / MODEL_FILE


def _check_strings(sentences: Sequence[str]) -> None:
    if isinstance(sentences, str):  # a sequence of characters: the classic slip
        raise InputError("a list of sentences is needed, got one string: put it into a list")
    for index, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise InputError(f"sentence {index} is no string but {type(sentence).__name__}")
