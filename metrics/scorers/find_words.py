"""Find style lexicons and word vectors: trained here, published, or the user's file."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path

from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingScorerError
from .artefacts import CARD_FILE, Artefact, kind_and_split, open_artefact, whole
from .device import Placement
from .lexicon import LEXICON_FILE, StyleLexicon, read_lexicon
from .published import find_or_fetch
from .roles import Found
from .vector_files import read_vectors
from .weights import file_digest, signature_name
from .word_vectors import WordVectors

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
