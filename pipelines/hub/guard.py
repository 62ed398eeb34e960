"""What is never published: text of a licensed corpus, whatever its name.

GYAFC may be used by those who signed its licence and must not be passed on, so this module checks
every file that enters a repository of the hub folder, and every file that leaves for the Hub. It
does not know the corpus; it refuses by construction:

1. A file without a schema of ours is not published (:mod:`.known_files`), nor is a dataset with a
   licensed name.
2. A record that belongs to a licensed direction may have scores, names and signatures, but no
   text. It belongs to one by its own fields, by the single-direction document in its folder
   (``report.json`` beside ``samples.jsonl``), by its path, or by styles that only licensed
   datasets have (a renamed dataset still says informal and formal).
3. Models trained on licensed text are not published: n-gram models and vocabularies quote it.
4. If the user's own copy is available (``TSTBENCH_GYAFC``, or any copy that was read before with
   this ``$TSTBENCH_HOME``), no file may quote one of its sentences, whatever its fields or its
   name say.
"""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ...datasets_scripts.catalog import parse_dataset
from ...datasets_scripts.licensed_copies import copies
from ...datasets_scripts.publication import MARKER
from ...datasets_scripts.sources import SourceFile
from ...errors import InputError, MissingFileError
from .documents import (
    LICENSED_NAME,
    LICENSED_STYLES,
    RECORDS,
    TEXT,
    documents,
    names_licensed,
)
from .known_files import check_known
from .known_records import LICENSED, LicensedTextError, content_of, strings
from .quotes import SHORTEST, QuotedSentences

VARIABLE = "TSTBENCH_GYAFC"

PICTURES = frozenset({".gif", ".ico", ".jpeg", ".jpg", ".png", ".webp"})
WEIGHTS = frozenset({".arpa", ".bin", ".model", ".npy", ".npz", ".safetensors"})
_PART = 2**20  # bytes that are read at once

# Fields that hold sentences, and fields whose prose is about the scores, not of the corpus.
_SENTENCES = re.compile(
    r"(?:.*_)?(?:sources?|references?|predictions?|hypothes[ie]s|outputs?|rewrites?|texts?|inputs?|"
    r"sentences?|tokens?|candidates?|targets?|ref\d*)(?:_\d+)?"
)
_PROSE = re.compile(
    "authors|citation|command|description|license|made_with|method|model|name|note|origin|paper|"
    "post_processing|signature|system|test|title|unit|url|why"
)
_MANY_WORDS = 4
_STYLE_FIELD = re.compile("class|config|direction|label|split|style|task", re.IGNORECASE)


def check_publishable(
    kind: str,
    repo_id: str,
    files: Mapping[str, Path | bytes],
    *,
    licensed_copy: Path | str | None = None,
) -> None:
    """Refuse a repository that would publish licensed text.

    Args:
        kind: dataset, model or space.
        repo_id: ``namespace/name``.
        files: contents, or the files that have them, by path in the repository.
        licensed_copy: the user's own GYAFC folder; default ``$TSTBENCH_GYAFC``. The copies that
            were read before are searched too.

    Raises:
        LicensedTextError: licensed text was found; the message names the file, the place in it
            and the reason, but does not quote the sentence, because messages end up in logs.
        InputError: a file is none of ours, or of a kind that cannot be checked, or is broken.
        MissingFileError: the licensed copy is not where it was, or lacks files.
    """
    _check_kinds_of_file(kind, repo_id, files)
    if kind == "dataset" and LICENSED_NAME.search(repo_id):
        raise LicensedTextError(
            f"{repo_id} is a licensed dataset: it may only be built and used locally"
        )
    if any(PurePosixPath(path).name.upper() == MARKER.upper() for path in files):
        raise LicensedTextError(
            f"{repo_id}: the folder has a file {MARKER}, so it is not published"
        )
    if kind == "model":
        _check_model(repo_id, files)
    folders = _licensed_folders(files)
    for path, content in files.items():
        inherited = LICENSED_NAME.search(path) is not None or any(
            folder in PurePosixPath(path).parents for folder in folders
        )
        if inherited and PurePosixPath(path).suffix.lower() == ".txt":
            raise LicensedTextError(f"{repo_id}: {path} is text of a licensed dataset")
        for where, document in documents(path, content, suspected=inherited):
            _check_record(document, f"{repo_id}: {path}{where}", inherited)
    given = licensed_copy or os.environ.get(VARIABLE)
    named = [Path(given).expanduser().resolve()] if given else []
    for copy in named:  # it is remembered if it is whole
        _check_whole(copy)
    for copy in {*named, *copies(VARIABLE)}:
        _check_whole(copy)
        _check_quotes(repo_id, files, copy)
    check_known(kind, repo_id, files)


def _check_kinds_of_file(kind: str, repo_id: str, files: Mapping[str, Path | bytes]) -> None:
    known = TEXT | RECORDS | PICTURES | (WEIGHTS if kind == "model" else frozenset())
    for path in files:
        if PurePosixPath(path).suffix.lower() not in known:
            kinds = ", ".join(sorted(known)[1:])
            raise InputError(
                f"{repo_id}: {path} is of a kind that cannot be checked for licensed text and is "
                f"not published in a {kind} repository. Kinds that can be: {kinds}"
            )


def _check_model(repo_id: str, files: Mapping[str, Path | bytes]) -> None:
    named = any(LICENSED_NAME.search(name) for name in (repo_id, *files))
    for path, content in files.items():
        named = named or any(_names_licensed(value) for _, value in documents(path, content))
    if named:
        raise LicensedTextError(
            f"{repo_id} was trained on a licensed dataset: its vocabulary or n-grams may quote "
            "the corpus, so it is not published"
        )


def _licensed_folders(files: Mapping[str, Path | bytes]) -> list[PurePosixPath]:
    """Folders with a JSON file about one licensed direction."""
    folders = []
    for path, content in files.items():
        if PurePosixPath(path).suffix.lower() == ".json":
            for _, document in documents(path, content):
                if isinstance(document, dict) and (
                    _is_licensed(document) or document.get("publishable") is False
                ):
                    folders.append(PurePosixPath(path).parent)
    return folders


def _check_record(value: Any, where: str, licensed: bool, field: str = "") -> None:
    if isinstance(value, Mapping):
        licensed = licensed or _is_licensed(value)
        for key, item in value.items():
            inside = licensed or names_licensed(str(key))
            if inside and _is_sentence(str(key)):
                raise _licensed_text(where, "a key")
            _check_record(item, where, inside, str(key).lower())
    elif isinstance(value, list | tuple):
        for item in value:
            _check_record(item, where, licensed, field)
    elif isinstance(value, str) and licensed and _reads_like_text(field, value):
        raise _licensed_text(where, f"field {field or '(none)'!r}")


def _licensed_text(where: str, place: str) -> LicensedTextError:
    return LicensedTextError(
        f"{where}: {place} has text of a licensed dataset. Publish the scores without sources, "
        "references and predictions"
    )


def _is_sentence(key: str) -> bool:
    """Whether a key of an object is a sentence: signatures are keys too."""
    return "|" not in key and len(key.split()) >= _MANY_WORDS


def _reads_like_text(field: str, value: str) -> bool:
    if not value.strip() or LICENSED_NAME.fullmatch(value.split("/")[0]):
        return False
    if _SENTENCES.fullmatch(field):
        return True
    return not _PROSE.fullmatch(field) and len(value.split()) >= _MANY_WORDS


def _is_licensed(record: Mapping[str, Any]) -> bool:
    """Whether a record's fields, or those of the objects in it, say that it is licensed.

    Objects in it, because a direction may stand in one beside the sentences; not lists, whose
    items are records of their own.
    """
    return any(
        _is_licensed(value)
        if isinstance(value, Mapping)
        else isinstance(value, str) and _says_licensed(str(key), value)
        for key, value in record.items()
    )


def _says_licensed(key: str, value: str) -> bool:
    is_style = value.lower() in LICENSED_STYLES and _STYLE_FIELD.search(key) is not None
    return is_style or LICENSED_NAME.match(value) is not None


def _names_licensed(value: Any, field: str = "") -> bool:
    """Whether a model's description names a licensed dataset or its styles.

    A vocabulary may contain the word "formal": a bare list of words is not a description.
    """
    if isinstance(value, Mapping):
        return any(_names_licensed(item, f"{field}.{key}") for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(_names_licensed(item, field) for item in value)
    if not (isinstance(value, str) and field):
        return False
    # "bart@<hash>|gyafc_em,yelp": a base, and the datasets that it learned from.
    return any(_says_licensed(field, part) for part in re.split("[|,]", value))


def _check_whole(copy: Path) -> None:
    """Refuse a copy that lacks files or has unreadable ones: what it quotes must all be known."""
    there = set()
    for name in LICENSED:
        files = {file for part in parse_dataset(name).parts for file in part.files}
        states = {file: file.state(copy) or "" for file in files}
        lacking = sorted(file.name for file in files if states[file].endswith("absent"))
        if len(lacking) < len(files):
            there.add(name)
            if lacking:
                raise MissingFileError(
                    f"{copy} is no whole copy of the licensed corpus: {lacking[0]} is missing. "
                    f"What is published is checked for its sentences: set {VARIABLE} to the folder "
                    "as its licensor ships it, unpacked"
                )
            _read(copy, tuple(sorted(states.items(), key=str)))
    if not there:
        raise MissingFileError(
            f"{copy} is no copy of the licensed corpus: set {VARIABLE} to the folder as its "
            "licensor ships it, unpacked"
        )


@cache  # a hub folder has dozens of repositories
def _read(copy: Path, states: tuple[tuple[SourceFile, str], ...]) -> None:
    """Read every file, which remembers the copy; raises for one that is not text."""
    for file, _ in states:
        file.lines(copy)


def _check_quotes(repo_id: str, files: Mapping[str, Path | bytes], copy: Path) -> None:
    sentences = QuotedSentences.of_folder(copy)
    for path, content in files.items():
        suffix = PurePosixPath(path).suffix.lower()
        texts: Iterable[str]
        if suffix in RECORDS:  # as parsed: escapes hide nothing, nor does a list of words
            texts = (" ".join(strings(value)) for _, value in documents(path, content))
        elif suffix in TEXT | PICTURES:  # a picture has words of its own, and may be none
            texts = [content_of(content).decode(errors="ignore")]
        elif suffix == ".arpa":
            texts = _long_lines(content)
        else:
            texts = _if_text(content)
        if any(sentences.quoted_in(text) for text in (path, *texts)):
            raise LicensedTextError(
                f"{repo_id}: {path} quotes a sentence of your copy of the licensed corpus ({copy})"
            )


def _opened(content: Path | bytes) -> BinaryIO:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _long_lines(content: Path | bytes) -> Iterator[str]:
    """Lines of an n-gram model with more words than n-grams have, a probability and a weight."""
    with _opened(content) as stream:
        for line in stream:
            if len(line.split()) >= SHORTEST + 2:
                yield line.decode(errors="ignore")


def _if_text(content: Path | bytes) -> Iterable[str]:
    """Weights that are none: a name does not make numbers of a text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _opened(content) as stream:
        try:  # weights can be large, and end this at once
            parts = [decoder.decode(part) for part in iter(partial(stream.read, _PART), b"")]
        except UnicodeDecodeError:
            return ()
    return ["".join(parts)]
