"""Trained models on disk: named by what they contain, described by a card, checked when opened.

Scorers and systems are stored in the same way, each kind in its own :class:`Store`. Layout below
``$TSTBENCH_HOME/<folder>``::

    objects/<hash>/            the model's files, its card (JSON), README.md
    index/<a>/<b>/<name>.json  which object has that name, and its recipe

The hash is SHA-256 of the model's files and the card. It does not cover what is made from them
(``README.md``, and what else the store's ``describe`` writes), hidden files (a download brings
``.gitattributes``) or the card's ``versions`` and ``made``: none of them can change a result, and
two labs that trained the same weights with two releases of a library have the same model. The card
contains its own hash, so a folder downloaded from the Hub is checked like one in the cache.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from .errors import InputError, IntegrityError, TSTBenchError
from .files import (
    atomic_folder,
    folder_digest,
    home,
    read_text,
    sync,
    sync_tree,
    temporary_folder,
    write_json,
    write_text,
)

_UNHASHED_FIELDS = ("hash", "versions", "made")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
README_FILE = "README.md"

Key = tuple[str, ...]


class Card(Protocol):
    """What a store requires of a card: a frozen dataclass of JSON values."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    @property
    def recipe(self) -> str:
        """SHA-256 of what is known before training: the same recipe is not trained twice."""
        ...


C = TypeVar("C", bound=Card)


def is_readme(file: Path) -> bool:
    """Whether a file is a model card."""
    return file.name == README_FILE


@dataclass(frozen=True)
class StoredModel(Generic[C]):
    """A model's folder, checked against its hash."""

    folder: Path
    card: C
    hash: str


@dataclass(frozen=True)
class Store(Generic[C]):
    """Where models of one kind are kept, and how they are described.

    Attributes:
        what: the kind of model, in one word: ``scorer``.
        folder: below ``$TSTBENCH_HOME``.
        card_file: the file name of the card in a model's folder.
        card_type: the dataclass of the card.
        key: where a card is in the index; the last part is a file name.
        describe: makes the texts that stand beside a model, by file name: its model card
            ``README.md``, and what else shows it to people or to other libraries.
        command: the command that makes the model with a given key.
        missing: the error raised if there is no such model.
        is_beside: whether a file is one that ``describe`` makes, and so no part of the model.
    """

    what: str
    folder: str
    card_file: str
    card_type: type[C]
    key: Callable[[C], Key]
    describe: Callable[[StoredModel[C]], Mapping[str, str]]
    command: Callable[[Key], str]
    missing: type[TSTBenchError]
    is_beside: Callable[[Path], bool] = is_readme

    @property
    def root(self) -> Path:
        """The store's folder."""
        return home() / self.folder

    def keep(self, card: C, write: Callable[[Path], None]) -> StoredModel[C]:
        """Store a trained model: its files, card and model card appear together or not at all.

        Args:
            card: describes it.
            write: writes the model's files into the empty folder it is given.

        Raises:
            InputError: a part of the key is no valid file name, or the card is not valid JSON.
        """
        index = self.index_file(self.key(card))
        content = self._content(card)
        objects = self.root / "objects"
        objects.mkdir(parents=True, exist_ok=True)
        with temporary_folder(objects / "new") as scratch:
            folder = scratch / "object"
            folder.mkdir(mode=0o755)
            digest = self._fill(folder, card, content, write)
            final = objects / digest
            sync_tree(folder)
            try:
                folder.replace(final)
            except OSError:  # the same content exists, perhaps just written by another process
                if not final.is_dir():
                    raise
            sync(objects)  # before an index names it
        write_json(index, {"artefact": digest, "recipe": card.recipe})
        return self.open(final, expected=digest)

    def adopt(self, model: StoredModel[C]) -> StoredModel[C]:
        """Store a model that was made elsewhere, under its own name and hash."""
        return self.keep(model.card, lambda folder: self.copy_files(model.folder, folder))

    def export(self, card: C, write: Callable[[Path], None], folder: Path | str) -> StoredModel[C]:
        """Write a model to a folder of the user's choice, completely or not at all.

        Raises:
            InputError: the folder contains something other than an earlier model of this kind.
        """
        content = self._content(card)
        with atomic_folder(folder, ours=self.is_model) as scratch:
            digest = self._fill(scratch, card, content, write)
        return StoredModel(Path(folder), card, digest)

    def export_stored(self, model: StoredModel[C], folder: Path | str) -> StoredModel[C]:
        """Copy a stored model to a folder of the user's choice, byte for byte.

        Raises:
            IntegrityError: it was changed since it was opened.
            InputError: as :meth:`export`.
        """
        self.open(model.folder, expected=model.hash)
        return self.export(model.card, lambda to: self.copy_files(model.folder, to), folder)

    def hash_of(self, card: C) -> str:
        """The hash of a model that consists only of its card."""
        with temporary_folder() as empty:
            return self._digest(empty, self._content(card))

    def is_model(self, folder: Path) -> bool:
        """Whether a folder claims to contain a model of this kind."""
        return (folder / self.card_file).is_file()

    def find(self, key: Key) -> StoredModel[C]:
        """The model with that key, checked.

        Raises:
            TSTBenchError: there is none (the store's ``missing``); names the command.
            IntegrityError: its files or the index were changed.
        """
        entry = self._read_index(key)
        if entry is None:
            *where, name = key
            raise self.missing(
                f"no {where[0].replace('_', ' ')} {name!r} for {' '.join(where[1:])} in "
                f"{self.root}. Make it with: {self.command(key)}"
            )
        return self._open_indexed(entry[0], key)

    def find_recipe(self, card: C) -> StoredModel[C] | None:
        """The model that was trained with the card's recipe; None if it must be trained.

        Also None if its folder was deleted, as the message about a changed model advises.
        """
        return self.with_recipe(self.key(card), card.recipe)

    def with_recipe(self, key: Key, recipe: str) -> StoredModel[C] | None:
        """The model with that key if it was trained with that recipe; see :meth:`find_recipe`."""
        entry = self._read_index(key)
        if entry is None or entry[1] != recipe or not self._object(entry[0]).exists():
            return None
        return self._open_indexed(entry[0], key)

    def models(self) -> Iterator[StoredModel[C]]:
        """Every model that has a name, in alphabetical order, checked."""
        index = self.root / "index"
        for file in sorted(index.rglob("*.json")):
            yield self.find((*file.relative_to(index).parts[:-1], file.stem))

    def open(self, folder: Path | str, *, expected: str | None = None) -> StoredModel[C]:
        """Open the folder of a model, wherever it is, and check its content.

        Args:
            folder: contains the card and the model's files.
            expected: the hash it should have; by default, the one that its card states.

        Raises:
            TSTBenchError: no such folder, or no such model in it (the store's ``missing``).
            IntegrityError: the card cannot be read, or the files do not match it.
        """
        folder = Path(folder)
        file = folder / self.card_file
        if not file.is_file():
            raise self.missing(f"{folder} is not a {self.what}: {self.card_file} is missing")
        try:
            content = json.loads(read_text(file))
            stated = content.pop("hash")
            card = self._cards.validate_json(json.dumps(content))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            reason = _reasons(error) if isinstance(error, ValidationError) else repr(error)
            raise IntegrityError(f"{file} is not the card of a {self.what}: {reason}") from error
        found = self._digest(folder, content)
        if found != stated or (expected is not None and found != expected):
            raise IntegrityError(
                f"{folder} was changed after it was made: its content has hash {found[:16]}..., "
                f"{(expected or stated)[:16]}... was expected. Delete the folder and make it again "
                f"({self.command(self.key(card))}) or download it again"
            )
        return StoredModel(folder, card, found)

    def named(self) -> dict[Path, int]:
        """When each name was given to a model, in nanoseconds: equal if none was given since."""
        return {file: file.stat().st_mtime_ns for file in self.root.rglob("index/**/*.json")}

    def files(self, model: StoredModel[C]) -> list[Path]:
        """All files of a model of this store, and at the end the one that names it."""
        found = sorted(path for path in model.folder.rglob("*") if path.is_file())
        return [*found, self.index_file(self.key(model.card))]

    def index_file(self, key: Key) -> Path:
        """The index file of a key; a key never leads outside the index."""
        for part in key:
            if not _NAME.fullmatch(part):
                raise InputError(
                    f"{part!r} cannot name a {self.what}: letters, digits, '.', '_' and '-' only"
                )
        return self.root.joinpath("index", *key[:-1], f"{key[-1]}.json")

    def copy_files(self, source: Path, target: Path) -> None:
        """Copy the model's own files, without a download's hidden files; links are followed."""
        for file in source.rglob("*"):
            name = file.relative_to(source)
            ours = name.as_posix() != self.card_file and not _is_hidden(name)
            if file.is_file() and ours and not self._stands_beside(source, name):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target / name)

    @cached_property
    def _cards(self) -> TypeAdapter[C]:
        return TypeAdapter(self.card_type)

    def _fill(
        self, folder: Path, card: C, content: dict[str, Any], write: Callable[[Path], None]
    ) -> str:
        write(folder)
        digest = self._digest(folder, content)
        write_json(folder / self.card_file, {"hash": digest, **content})
        for name, text in self.describe(StoredModel(folder, card, digest)).items():
            write_text(folder / name, text)
        return digest

    def _open_indexed(self, digest: str, key: Key) -> StoredModel[C]:
        model = self.open(self._object(digest), expected=digest)
        if (found := self.key(model.card)) != key:
            raise IntegrityError(
                f"{self.index_file(key)} points to another {self.what}: {'/'.join(found)}. Delete "
                f"that file and run: {self.command(key)}"
            )
        return model

    def _stands_beside(self, folder: Path, name: Path) -> bool:
        return len(name.parts) == 1 and self.is_beside(folder / name)

    def _object(self, digest: str) -> Path:
        return self.root / "objects" / digest

    def _read_index(self, key: Key) -> tuple[str, str] | None:
        """(hash of the object, its recipe), or None if nothing has that key."""
        file = self.index_file(key)
        if not file.exists():
            return None
        try:
            entry = json.loads(read_text(file))
            digest, recipe = entry["artefact"], entry["recipe"]
            if not (re.fullmatch("[0-9a-f]{64}", digest) and re.fullmatch("[0-9a-f]{64}", recipe)):
                raise ValueError("not a pair of SHA-256 hashes")
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityError(
                f"{file} is damaged ({error!r}). Delete it and run: {self.command(key)}"
            ) from error
        return digest, recipe

    def _content(self, card: C) -> dict[str, Any]:
        """The card as JSON values, checked so that only what can be read back is written."""
        try:
            content: dict[str, Any] = json.loads(canonical(asdict(card)))
            self._cards.validate_json(json.dumps(content))
        except ValidationError as error:
            raise InputError(f"the card of {card.name!r} is wrong: {_reasons(error)}") from error
        except (ValueError, TypeError) as error:
            raise InputError(f"the card of {card.name!r} is not valid JSON: {error}") from error
        return content

    def _digest(self, folder: Path, content: dict[str, Any]) -> str:
        hashed = {key: value for key, value in content.items() if key not in _UNHASHED_FIELDS}
        names = (path.relative_to(folder) for path in folder.rglob("*"))
        left_out = {
            name.as_posix()
            for name in names
            if _is_hidden(name) or self._stands_beside(folder, name)
        }
        files = folder_digest(folder, skip={self.card_file, *left_out})
        return hashlib.sha256(files.encode() + b"\0" + canonical(hashed)).hexdigest()


def canonical(value: Any) -> bytes:
    """Canonical JSON, for hashing; NaN is refused (``ValueError``)."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False).encode()


def recipe_of(card: Card, fields: Iterable[str]) -> str:
    """SHA-256 of some fields of a card, as hex digits."""
    return hashlib.sha256(canonical({name: getattr(card, name) for name in fields})).hexdigest()


def data_fingerprint(sentences: Iterable[str], labels: Iterable[int] | None = None) -> str:
    """SHA-256 of the sentences, in order, with their labels if there are any.

    >>> data_fingerprint(["good", "bad"], [1, 0])[:8], data_fingerprint(["good", "bad"])[:8]
    ('cf925d64', 'f2bc40bf')
    """
    digest = hashlib.sha256()
    if labels is None:
        for sentence in sentences:
            digest.update(json.dumps(sentence).encode() + b"\n")
    else:
        for sentence, label in zip(sentences, labels, strict=True):
            digest.update(json.dumps([sentence, int(label)]).encode() + b"\n")
    return digest.hexdigest()


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)


def _reasons(error: ValidationError) -> str:
    found = (f"{'.'.join(map(str, e['loc'])) or 'card'}: {e['msg']}" for e in error.errors())
    return "; ".join(found)
