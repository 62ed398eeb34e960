"""Train the n-gram language model that PPL scores with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from ..errors import unknown_name
from ..metrics.scorers.language_model import MODEL_FILE
from .arpa import write_arpa
from .kneser_ney import estimate, training_words
from .lmplz import find_lmplz, run_lmplz

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
