"""Find style lexicons and word vectors: trained here, published, or the user's file.

Published word vectors are checked line by line:

| format | told by |
| --- | --- |
| text: word, then D numbers a line (GloVe) | anything else |
| text with a first line "V D" (word2vec, fastText ``.vec``) | its first line |
| binary word2vec: first line "V D", then words and float32 | no UTF-8 text behind the first line |
| binary fastText | its magic number; gensim reads it, with structs and arrays of numbers only |

Of a binary fastText model only the words of its vocabulary are used: it would make up a vector for
every other word, and then no word is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingFileError, MissingScorerError, require
from .artefacts import CARD_FILE, Artefact, kind_and_split, open_artefact, whole
from .device import Placement
from .lexicon import LEXICON_FILE, StyleLexicon, read_lexicon
from .published import find_or_fetch
from .roles import Found
from .weights import file_digest, signature_name
from .word_vectors import WordVectors

_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
_LONGEST_WORD = 1_000  # bytes
_MOST_DIMENSIONS = 20_000
_PROBE = 1 << 16


def read_vectors(file: Path, name: str = "vectors", digest: str = "") -> WordVectors:
    """The vectors in a file; a word that occurs twice has its first vector.

    Raises:
        MissingFileError: no such file.
        InputError: it is in no known format, cut off, or not numeric; the message says where.
        MissingExtraError: gensim, for a binary fastText model, is not installed.
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
                    f"{file}, line 1: a word and its numbers are needed: {line[:60]!r}"
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
                f"{file}, line {number}: not a word and {width} numbers: {line[:60]!r}"
            ) from error
        if len(row) != width or not text:
            raise InputError(
                f"{file}, line {number}: {len(row)} numbers, but line 1 has {width}: {line[:60]!r}"
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


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if stripped := line.rstrip():
                yield number, stripped


def _read_binary(file: Path) -> tuple[list[str], np.ndarray]:
    size = file.stat().st_size
    with file.open("rb") as stream:
        stated = _header(stream.readline(64))
        if stated is None:
            raise InputError(
                f"{file} is binary, but neither word2vec's format (a first line 'words dimensions') "
                "nor fastText's; convert it to text"
            )
        count, width = stated
        if not 0 < width <= _MOST_DIMENSIONS or not 0 < count <= size // (4 * width):
            raise InputError(
                f"{file} states {count} words of {width} numbers, and has {size} bytes"
            )
        words, vectors = [], np.empty((count, width), dtype=np.float32)
        for row in range(count):
            word = bytearray()
            while (sign := stream.read(1)) != b" ":
                if not sign or len(word) > _LONGEST_WORD:
                    raise InputError(
                        f"{file}: word {row + 1} of {count} does not end: is it cut off?"
                    )
                if sign != b"\n":  # some writers put one behind each vector
                    word += sign
            numbers = stream.read(4 * width)
            if len(numbers) < 4 * width:
                raise InputError(f"{file}: cut off in the vector of word {row + 1} of {count}")
            try:
                words.append(word.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{file}: word {row + 1}, {bytes(word)!r}, is not UTF-8"
                ) from error
            vectors[row] = np.frombuffer(numbers, dtype="<f4")
    return words, vectors


def _read_fasttext(file: Path) -> tuple[list[str], np.ndarray]:
    reader = require("gensim.models.fasttext", "vectors")
    try:
        found = reader.load_facebook_vectors(str(file))
    except Exception as error:  # gensim's own for files that are cut off: many kinds
        raise InputError(f"{file} is no complete fastText model: {error}") from error
    return list(found.index_to_key), np.asarray(found.vectors, dtype=np.float32)


LEXICON = "logistic"  # the kind of lexicon that is trained here
WORD_VECTORS = "word2vec"  # the kind of vectors
MASKED_VECTORS = "word2vec-masked"  # those of sentences whose style words are masked


def lexicon(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """The style lexicon of a dataset: ``logistic``, trained on it, a folder, or a JSON file.

    Raises:
        InputError: a direction is needed to know the dataset, or the file is no lexicon.
        MissingScorerError: it has not been trained, or there is no such file.
    """
    if kind_and_split(spec)[0] == LEXICON:
        return _found_lexicon(_trained("lexicon", direction, spec))
    path = Path(spec).expanduser()
    if (path / CARD_FILE).is_file():
        return _found_lexicon(_of_role(path, "lexicon"))
    file = _file(path, f"the style lexicon {spec!r} is neither {LEXICON} nor a JSON file")
    name, digest = f"file:{signature_name(file.stem)}", file_digest(file)
    return Found(name, digest, partial(_opened_lexicon, file, name, digest))


def word_vectors(spec: str, direction: Direction | None, _placement: Placement) -> Found:
    """Word vectors: ``word2vec``, trained on the direction's dataset, a folder, or a file.

    ``word2vec-masked`` are those of the dataset's sentences with ``<customstyle>`` for style words.

    Raises:
        InputError: a direction is needed to know the dataset, or the file has no vectors.
        MissingScorerError: they have not been trained, or there is no such file.
    """
    if kind_and_split(spec)[0] in (WORD_VECTORS, MASKED_VECTORS):
        return _found_vectors(_trained("word_vectors", direction, spec))
    path = Path(spec).expanduser()
    if (path / CARD_FILE).is_file():
        return _found_vectors(_of_role(path, "word_vectors"))
    file = _file(path, f"the word vectors {spec!r} are neither {WORD_VECTORS} nor a file")
    name, digest = f"file:{signature_name(file.stem)}", file_digest(file)
    return Found(name, digest, partial(_opened_vectors, file, name, digest))


def _trained(role: str, direction: Direction | None, spec: str) -> Artefact:
    if direction is None:
        raise InputError(
            f"a direction is needed to know whose {role.replace('_', ' ')} to use, such as "
            f"'yelp/negative-to-positive'; or give a file: --scorer {role}=FILE"
        )
    return find_or_fetch(role, direction.dataset, *kind_and_split(spec))


def _of_role(folder: Path, role: str) -> Artefact:
    artefact = open_artefact(folder)
    if artefact.card.role != role:
        raise InputError(f"{folder} contains a {artefact.card.role}, not a {role}")
    return artefact


def _file(path: Path, wrong: str) -> Path:
    if not path.is_file():
        raise MissingScorerError(f"{wrong}; there is no such file")
    return path.resolve()


def _found_lexicon(artefact: Artefact) -> Found:
    name = f"{artefact.card.name}:{artefact.card.corpus}"
    file = artefact.folder / LEXICON_FILE
    return Found(name, artefact.hash, partial(_opened_lexicon, file, name, artefact.hash))


def _found_vectors(artefact: Artefact) -> Found:
    name = f"{artefact.card.name}:{artefact.card.corpus}"
    return Found(
        name, artefact.hash, partial(_loaded_vectors, artefact.folder, name, artefact.hash)
    )


@lru_cache(maxsize=8)
def _opened_lexicon(file: Path, name: str, digest: str) -> StyleLexicon:
    return read_lexicon(file, name, digest)


@lru_cache(maxsize=2)
def _opened_vectors(file: Path, name: str, digest: str) -> WordVectors:
    return read_vectors(file, name, digest)


@lru_cache(maxsize=8)
def _loaded_vectors(folder: Path, name: str, digest: str) -> WordVectors:
    with whole(folder, "set of word vectors"):
        return WordVectors.load(folder, name, digest)
