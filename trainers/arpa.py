"""ARPA files: the text format of back-off n-gram models that KenLM and others read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..files import read_text, write_bytes
from .kneser_ney import NgramModel

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
