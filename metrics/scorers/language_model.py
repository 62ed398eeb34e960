"""n-gram language models: the log-probability of sentences, queried with KenLM."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import kenlm
import numpy as np

from ...errors import InputError, MissingFileError, TSTBenchError, naming, unknown_name
from ...files import sync, temporary_folder, write_bytes
from .base import SentenceMemo
from .kneser_ney import NgramModel, check_order, estimate, split_words, training_words

MODEL_FILE = "model.arpa"  # the file name of a trained model in its folder


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


DECIMALS = 7  # KenLM stores single precision, which is no finer


def write_arpa(model: NgramModel, path: Path | str) -> None:
    """Write a model atomically; the same model gives the same bytes.

    Args:
        model: what ``kneser_ney.estimate`` returned.
        path: the file, replaced if it exists; its folder is created.
    """
    write_bytes(path, b"".join(_sections(model)))


def _sections(model: NgramModel) -> Iterator[bytes]:
    """The file in pieces: header, one section for each order, end."""
    sizes = (f"ngram {k}={len(t.suffix)}\n" for k, t in enumerate(model.tables, start=1))
    yield "".join(["\\data\\\n", *sizes, "\n"]).encode()

    vocabulary = np.array(model.vocabulary, dtype=object)
    texts = vocabulary
    for order, table in enumerate(model.tables, start=1):
        if order > 1:
            pairs = zip(vocabulary[table.first_word], texts[table.suffix], strict=True)
            texts = np.fromiter((a + b" " + b for a, b in pairs), object, len(table.suffix))
        columns = [_decimals(table.log10_probability), texts]
        if order < len(model.tables):
            columns.append(_decimals(table.log10_backoff))
        yield b"\\%d-grams:\n" % order
        rows = map(b"\t".join, zip(*columns, strict=True))
        yield b"\n".join(chain(rows, (b"", b"")))
    yield b"\\end\\\n"


def _decimals(values: np.ndarray) -> np.ndarray:
    """Rounded numbers as (M,) bytes objects. Few are distinct, so each is formatted once."""
    distinct, inverse = np.unique(np.round(values, DECIMALS) + 0.0, return_inverse=True)  # no -0.0
    texts = [repr(value).encode() for value in distinct.tolist()]
    return np.array(texts, dtype=object)[inverse]


def find_lmplz() -> Path | None:
    """The ``lmplz`` on PATH, or None."""
    found = shutil.which("lmplz")
    return Path(found) if found else None


def run_lmplz(
    sentences: Iterable[str], path: Path | str, order: int = 5, *, memory: str = "20%"
) -> None:
    """Estimate with ``lmplz --discount_fallback`` and write an ARPA file atomically.

    Args:
        sentences: as for ``kneser_ney.estimate``; the same texts are refused.
        path: the ARPA file, replaced if it exists; its folder is created.
        order: length of the longest n-grams, 2 to 6.
        memory: sorting memory in lmplz's notation (its own default is 80% of the machine).

    Raises:
        MissingFileError: no lmplz on PATH.
        InputError: no sentences, or one that cannot be trained on.
        TSTBenchError: lmplz failed; the message shows its last output.
    """
    check_order(order)
    program = find_lmplz()
    if program is None:
        raise MissingFileError(
            "lmplz is not on PATH: build it from the kenlm source (https://kheafield.com/code/"
            "kenlm), or use estimator='own', which gives the same model"
        )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(path) as folder:
        text, arpa = folder / "text", folder / "arpa"
        with naming(text), text.open("wb") as stream:
            stream.writelines(b" ".join(words) + b"\n" for words in training_words(sentences))
        if text.stat().st_size == 0:
            raise InputError("no sentences to estimate a language model from")
        command = [str(program), "-o", str(order), "-S", memory, "-T", f"{folder}/sort"]
        command += ["--discount_fallback", "--text", str(text), "--arpa", str(arpa)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            last_words = done.stderr.decode("utf-8", "replace").strip()[-500:]
            raise TSTBenchError(f"lmplz failed with exit code {done.returncode}: {last_words}")
        arpa.chmod(0o644)  # as tstbench.files does for everything it writes
        sync(arpa)
        arpa.replace(path)
    sync(path.parent)


Estimator = Literal["own", "lmplz", "auto"]

LARGE = 5_000_000  # words above which "auto" prefers lmplz, which sorts on disk, to our arrays


def train_language_model(
    sentences: Iterable[str],
    folder: Path | str,
    order: int = 5,
    estimator: Estimator = "own",
) -> Path:
    """Train on sentences of one style and write ``model.arpa`` into a folder.

    The two estimators agree to 1e-6 in every entry, but not to the last byte, and the hash of
    the file is part of every signature. The default is therefore ``own`` on every machine: two
    labs get the same bytes whether or not lmplz is installed.

    Args:
        sentences: training text, normalised like the text that will be scored.
        folder: created if needed; only ``model.arpa`` in it is replaced.
        order: length of the longest n-grams, 2 to 6.
        estimator: ``own`` (bit-identical everywhere), ``lmplz`` (must be on PATH), or ``auto``
            (lmplz if there is one and the text has over 5 million words, else own).

    Returns:
        The path of the ARPA file.

    Raises:
        UnknownNameError: no such estimator.
        MissingFileError: ``lmplz`` was requested but is not on PATH.
        InputError: no sentences, or one that cannot be trained on; see ``kneser_ney.estimate``.
    """
    if estimator not in get_args(Estimator):
        raise unknown_name("estimator", estimator, get_args(Estimator))
    path = Path(folder, MODEL_FILE)
    if estimator == "auto":
        if not isinstance(sentences, str):
            sentences = list(sentences)
        large = sum(map(len, training_words(sentences))) > LARGE
        estimator = "lmplz" if large and find_lmplz() else "own"
    if estimator == "lmplz":
        run_lmplz(sentences, path, order)
    else:
        write_arpa(estimate(sentences, order), path)
    return path
