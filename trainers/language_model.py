"""Train the n-gram language model that PPL scores with."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from ..errors import InputError, MissingFileError, TSTBenchError, naming, unknown_name
from ..files import read_text, sync, temporary_folder, write_bytes
from ..metrics.scorers.language_model import MODEL_FILE
from .kneser_ney import NgramModel, check_order, estimate, training_words

DECIMALS = 7  # KenLM stores single precision, which is no finer


def write_arpa(model: NgramModel, path: Path | str) -> None:
    """Write a model atomically; the same model gives the same bytes.

    Args:
        model: what ``kneser_ney.estimate`` returned.
        path: the file, replaced if it exists; its folder is created.
    """
    write_bytes(path, b"".join(_sections(model)))


def read_arpa(path: Path | str) -> dict[tuple[str, ...], tuple[float, float]]:
    """Every entry of an ARPA file, to inspect a model or compare two.

    Returns:
        From the words of an n-gram to its log10 probability and log10 back-off weight, the
        latter 0 if the file has none.

    Raises:
        MissingFileError: the file does not exist.
        InputError: not an ARPA file; the message names the line.
    """
    entries: dict[tuple[str, ...], tuple[float, float]] = {}
    order = 0
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line == "\\end\\":
            return entries
        if line == f"\\{order + 1}-grams:":
            order += 1
        elif order and line:
            try:
                probability, text, backoff = (*line.split("\t"), "0")[:3]
                words = tuple(text.split(" "))
                entries[words] = float(probability), float(backoff)
            except ValueError:
                words = ()
            if len(words) != order:
                raise InputError(f"{path}, line {number}: no {order}-gram entry: {line!r}")
    raise InputError(f"{path} is not a complete ARPA file: the \\end\\ line is missing")


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
