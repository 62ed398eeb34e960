"""Trained scorers on disk: named by what they contain, described by a card, checked when opened.

Layout below ``$TSTBENCH_HOME/scorers``::

    objects/<hash>/                     the model's files, scorer.json (the card), README.md
    index/<role>/<dataset>/<name>.json  which object answers to that name, and its recipe

The hash is SHA-256 over the model's files and the card, and it goes into the signature of every
number the scorer had a part in. It does not cover ``README.md``, hidden files (a download brings
``.gitattributes``) and the card's ``versions``: none of them can move a score, and two labs that
trained the same weights with two releases of a library hold the same scorer. The card names its
own hash, so a folder downloaded from the Hub is checked like one of the cache.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError

from ...errors import InputError, IntegrityError, MissingScorerError
from ...files import folder_digest, home, read_text, write_json, write_text

Role = Literal["classifier", "language_model", "acceptability"]
ROLES: tuple[Role, ...] = get_args(Role)
CARD_FILE = "scorer.json"
_UNHASHED_FIELDS = ("hash", "versions")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, kw_only=True)
class ScorerCard:
    """What a scorer is and where it comes from: everything but the weights.

    Attributes:
        role: what metrics use it for.
        dataset: the dataset it scores, such as ``yelp``, or the corpus, such as ``cola``.
        name: what it is called there, such as ``linear`` or ``kn5-positive``.
        kind: which class reads its files.
        styles: what its columns mean; a language model has the one style it was trained on.
        trained_on: the data, for people: ``yelp/validation without test``.
        data_fingerprint: SHA-256 of that data, see :func:`data_fingerprint`.
        n_sentences: training sentences, those held out apart.
        n_excluded: sentences left out because they occur in data to be measured on.
        settings: the trainer's configuration.
        scores: what was measured with it, such as ``held_out_accuracy``, fractions.
        versions: the libraries that trained it, for people.
        schema_version: of this card.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False
    )

    role: Role
    dataset: str
    name: str
    kind: str
    styles: tuple[str, ...]
    trained_on: str
    data_fingerprint: str
    n_sentences: int
    n_excluded: int = 0
    settings: dict[str, JsonValue] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    schema_version: Literal[1] = 1

    @property
    def recipe(self) -> str:
        """SHA-256 of all that is known before training: the same recipe is not trained twice."""
        fields = ("role", "dataset", "name", "kind", "styles", "data_fingerprint", "settings")
        return hashlib.sha256(_canonical({f: getattr(self, f) for f in fields})).hexdigest()


_CARD = TypeAdapter(ScorerCard)


@dataclass(frozen=True)
class Artefact:
    """A scorer's folder whose content was checked against its hash."""

    folder: Path
    card: ScorerCard
    hash: str


def data_fingerprint(sentences: Iterable[str], labels: Iterable[int] | None = None) -> str:
    """SHA-256 of the sentences, in order, with their labels where they have some.

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


def store(card: ScorerCard, write: Callable[[Path], None]) -> Artefact:
    """Keep a trained scorer: its files, card and model card appear together or not at all.

    Args:
        card: describes it.
        write: writes the model's files into the empty folder it is given.

    Raises:
        InputError: the role, dataset or name cannot be a file name; the card cannot be JSON.
    """
    index = _index_file(card.role, card.dataset, card.name)
    content = _card_content(card)
    objects = home() / "scorers" / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=objects, prefix=".new-") as scratch:
        folder = Path(scratch) / "object"
        folder.mkdir(mode=0o755)
        write(folder)
        digest = _digest(folder, content)
        write_json(folder / CARD_FILE, {"hash": digest, **content})
        write_text(folder / "README.md", _readme(card, digest))
        final = objects / digest
        try:
            folder.replace(final)
        except OSError:  # the same content is there, perhaps since a moment: another process's
            if not final.is_dir():
                raise
    write_json(index, {"artefact": digest, "recipe": card.recipe})
    return open_artefact(final, expected=digest)


def adopt(artefact: Artefact) -> Artefact:
    """Keep a scorer that was made elsewhere, under its own name and hash."""
    return store(artefact.card, lambda folder: _copy_files(artefact.folder, folder))


def find(role: Role, dataset: str, name: str) -> Artefact:
    """The scorer of that name in the cache, checked.

    Raises:
        MissingScorerError: there is none; says which command makes it.
        IntegrityError: its files or the index were changed.
    """
    entry = _read_index(role, dataset, name)
    if entry is None:
        raise MissingScorerError(
            f"no {role.replace('_', ' ')} {name!r} for {dataset} in {home() / 'scorers'}. "
            f"Make it with: {_command(role, dataset)}"
        )
    return _open_indexed(entry[0], role, dataset, name)


def find_recipe(card: ScorerCard) -> Artefact | None:
    """The scorer in the cache that was trained by the card's recipe, or None: then train it.

    Also None where its folder was deleted, as the message about a changed scorer advises.
    """
    entry = _read_index(card.role, card.dataset, card.name)
    if entry is None or entry[1] != card.recipe or not _object(entry[0]).exists():
        return None
    return _open_indexed(entry[0], card.role, card.dataset, card.name)


def open_artefact(folder: Path | str, *, expected: str | None = None) -> Artefact:
    """Open the folder of a scorer, wherever it lies, and check its content.

    Args:
        folder: holds ``scorer.json`` and the model's files.
        expected: the hash it should have; without it, the one that its card states.

    Raises:
        MissingScorerError: no such folder, or it holds no scorer.
        IntegrityError: the card cannot be read, or the files are not those it was made for.
    """
    folder = Path(folder)
    file = folder / CARD_FILE
    if not file.is_file():
        raise MissingScorerError(f"{folder} is no scorer: it holds no {CARD_FILE}")
    try:
        content = json.loads(read_text(file))
        stated = content.pop("hash")
        card = _CARD.validate_json(json.dumps(content))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        reason = _reasons(error) if isinstance(error, ValidationError) else repr(error)
        raise IntegrityError(f"{file} is not the card of a scorer: {reason}") from error
    found = _digest(folder, content)
    if found != stated or (expected is not None and found != expected):
        raise IntegrityError(
            f"{folder} was changed after it was made: its content has hash {found[:16]}..., "
            f"{(expected or stated)[:16]}... was expected. Delete the folder and make it again "
            f"({_command(card.role, card.dataset)}) or download it again"
        )
    return Artefact(folder, card, found)


def _open_indexed(digest: str, role: Role, dataset: str, name: str) -> Artefact:
    artefact = open_artefact(_object(digest), expected=digest)
    card = artefact.card
    if (card.role, card.dataset, card.name) != (role, dataset, name):
        raise IntegrityError(
            f"{_index_file(role, dataset, name)} leads to another scorer: the {card.role} "
            f"{card.name!r} of {card.dataset}. Delete that file and run: {_command(role, dataset)}"
        )
    return artefact


def _copy_files(source: Path, target: Path) -> None:
    """The model's own files: a download brings hidden ones, and links into the Hub's cache."""
    for file in source.rglob("*"):
        name = file.relative_to(source)
        hidden = any(part.startswith(".") for part in name.parts)
        if file.is_file() and not hidden and name.as_posix() not in (CARD_FILE, "README.md"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / name)


def _object(digest: str) -> Path:
    return home() / "scorers" / "objects" / digest


def _index_file(role: Role, dataset: str, name: str) -> Path:
    if role not in ROLES:
        raise InputError(f"unknown role {role!r}; known: {', '.join(ROLES)}")
    for part in (dataset, name):
        if not _NAME.fullmatch(part):
            raise InputError(
                f"{part!r} cannot name a scorer: letters, digits, '.', '_' and '-' only"
            )
    return home() / "scorers" / "index" / role / dataset / f"{name}.json"


def _read_index(role: Role, dataset: str, name: str) -> tuple[str, str] | None:
    """(hash of the object, its recipe), or None when nothing has that name."""
    file = _index_file(role, dataset, name)
    if not file.exists():
        return None
    try:
        entry = json.loads(read_text(file))
        digest, recipe = entry["artefact"], entry["recipe"]
        if not (re.fullmatch("[0-9a-f]{64}", digest) and re.fullmatch("[0-9a-f]{64}", recipe)):
            raise ValueError("not a pair of SHA-256 hashes")
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"{file} is damaged ({error!r}). Delete it and run: {_command(role, dataset)}"
        ) from error
    return digest, recipe


def _command(role: Role, dataset: str) -> str:
    is_corpus = role == "acceptability" and dataset == "cola"
    return "tstbench train cola" if is_corpus else f"tstbench prepare {dataset}"


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False).encode()


def _card_content(card: ScorerCard) -> dict[str, Any]:
    """The card as JSON values, checked: what cannot be read back is not written."""
    try:
        content: dict[str, Any] = json.loads(_canonical(asdict(card)))
        _CARD.validate_json(json.dumps(content))
    except ValidationError as error:
        raise InputError(f"the card of {card.name!r} is wrong: {_reasons(error)}") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"the card of {card.name!r} cannot be JSON: {error}") from error
    return content


def _digest(folder: Path, content: dict[str, Any]) -> str:
    hashed = {key: value for key, value in content.items() if key not in _UNHASHED_FIELDS}
    skip = {"README.md", CARD_FILE}
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            skip.add(name.as_posix())
    files = folder_digest(folder, skip=skip)
    return hashlib.sha256(files.encode() + b"\0" + _canonical(hashed)).hexdigest()


def _reasons(error: ValidationError) -> str:
    found = (f"{'.'.join(map(str, e['loc'])) or 'card'}: {e['msg']}" for e in error.errors())
    return "; ".join(found)


def _readme(card: ScorerCard, digest: str) -> str:
    """The model card, for people."""
    what = f"{card.role.replace('_', ' ')} `{card.name}` for {card.dataset}"
    scores = [f"| {name} | {value:.4f} |" for name, value in card.scores.items()]
    lines = [
        f"# TSTBench scorer: {what}",
        "",
        f"- kind: {card.kind}",
        f"- styles, in the order of its columns: {', '.join(card.styles)}",
        f"- trained on: {card.trained_on}; {card.n_sentences:,} sentences, "
        f"{card.n_excluded:,} left out because they occur in data to be measured on",
        f"- data fingerprint: `{card.data_fingerprint}`",
        f"- hash: `{digest}`",
        f"- made with: {', '.join(f'{k} {v}' for k, v in card.versions.items()) or 'tstbench'}",
        "",
        "## Measured",
        "",
        *(["| score | value |", "| --- | --- |", *scores] if scores else ["Nothing."]),
        "",
        "## Settings",
        "",
        "```json",
        json.dumps(card.settings, indent=2, ensure_ascii=False),
        "```",
        "",
        "A score of this model is comparable only with scores of the model of the same hash.",
    ]
    return "\n".join(lines) + "\n"
