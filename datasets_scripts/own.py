"""A user's own dataset: the format of its data file, in TOML, and the corpus that it describes.

``docs/your_data.md`` says what each key means.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from ..errors import InputError, unknown_name
from .corpus import Corpus, Files, Pairs, Part, Way
from .directions import NAME, DatasetFacts
from .languages import language
from .sources import SourceFile
from .strict_toml import StrictTable, key_of, read_toml
from .tables import Column, HubSplit, OwnFile, OwnText, Rows, Table

RESERVED = ("file", "hub")  # the keys that distinguish a table of files from one of styles


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a name: use lower-case letters, digits and underscores, such as rude"
        )
    if value in RESERVED:
        raise ValueError(f"{value!r} cannot be used as a name: it is a key of this format")
    return value


def _language(code: str) -> str:
    language(code)  # raises InputError, which is a ValueError
    return code


def _lines(value: str) -> str:
    parse_rows(value)
    return value


def parse_rows(value: str | None) -> Rows | None:
    """First and last of ``"1-900"``; None for None.

    Raises:
        ValueError: the text does not have that form.
    """
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)-(\d+)", value)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f'{value!r} is not a range of lines such as "1-900"')
    return int(match[1]), int(match[2])


Name = Annotated[str, AfterValidator(_name)]


class Origin(StrictTable):
    """Where texts come from: a file beside the data file, or a dataset on the Hub."""

    file: str | None = None
    hub: str | None = None
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    lines: Annotated[str, AfterValidator(_lines)] | None = None

    @model_validator(mode="after")
    def _one_origin(self) -> Origin:
        if (self.file is None) == (self.hub is None):
            raise ValueError("give either file or hub, and not both")
        if self.hub is not None and self.split is None:
            raise ValueError(f'hub = "{self.hub}" also needs a split, such as split = "train"')
        if self.file is not None and (self.config or self.split or self.revision):
            raise ValueError("config, split and revision go with hub, not with file")
        return self


class Texts(Origin):
    """One column of texts, or the lines of a text file."""

    column: str | None = None


class PairsTable(Origin):
    """Sentences and their rewrites in the columns of one table."""

    source: str = "source"
    references: str | tuple[str, ...] = ()
    id: str | None = None


def _shape(value: Any) -> str:
    if isinstance(value, str):
        return "as file"
    if isinstance(value, tuple):
        return "as files"
    fields = value if isinstance(value, dict) else getattr(value, "model_fields_set", ())
    return "as table" if set(RESERVED) & set(fields) else "as keys"


SomeTexts = Annotated[
    Annotated[str, Tag("as file")]
    | Annotated[tuple[str, ...], Tag("as files"), Field(min_length=1)]
    | Annotated[Texts, Tag("as table")]
    | Annotated[Texts, Tag("as keys")],
    Discriminator(_shape),
]


class PairsFiles(StrictTable):
    """Sentences, and files that rewrite them line by line."""

    sources: SomeTexts
    references: str | tuple[SomeTexts, ...] = ()


SomePairs = Annotated[
    Annotated[str, Tag("as file")]
    | Annotated[PairsFiles, Tag("as keys")]
    | Annotated[PairsTable, Tag("as table")],
    Discriminator(_shape),
]


class StylesTable(Origin):
    """Labelled sentences: a column of texts and one of styles."""

    text: str = "text"
    style: str = "style"
    values: dict[str, Name] = {}  # value of the column -> style; rows with others are left out


SomeStyles = Annotated[
    Annotated[dict[Name, SomeTexts], Tag("as keys")] | Annotated[StylesTable, Tag("as table")],
    Discriminator(_shape),
]


class DirectionTable(StrictTable):
    """One ``[[direction]]``."""

    source: Annotated[Name, Field(alias="from")]
    target: Annotated[Name, Field(alias="to")]
    test: SomePairs | None = None
    validation: SomePairs | None = None
    train: SomePairs | None = None


class DataFile(StrictTable):
    """The whole file."""

    name: Name
    styles: Annotated[tuple[Name, ...], Field(min_length=2)]
    title: str = ""
    task: str = "style"
    language: Annotated[str, AfterValidator(_language)] = "en"
    licence: str = ""
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    citation: str = ""
    card: str = ""
    train: SomeStyles | None = None
    validation: SomeStyles | None = None
    test: SomeStyles | None = None
    direction: tuple[DirectionTable, ...] = ()


NO_LICENCE = (
    "**No licence is stated.** It is not known whether these sentences may be shared, so this "
    "folder is for you only; TSTBench does not publish it."
)


def own_card(facts: DatasetFacts, text: str, citation: str) -> str:
    """Markdown with YAML front matter, like the hand-written cards of our datasets.

    Args:
        facts: of the dataset.
        text: what its owner says about it, Markdown.
        citation: BibTeX, or empty.
    """
    front: dict[str, Any] = {
        "pretty_name": facts.title,
        **hub_licence(facts.licence),
        "language": [facts.language],
        "task_categories": ["text-generation"],
        "tags": ["text-style-transfer", facts.task],
    }
    styles = ", ".join(facts.styles)
    body = [
        f"# {facts.title}",
        text.strip() or f"Sentences in {len(facts.styles)} styles: {styles}.",
        "## Licence",
        f"{facts.licence}." if facts.licence else NO_LICENCE,
    ]
    if citation.strip():
        body += ["## Citation", f"```bibtex\n{citation.strip()}\n```"]
    written = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return f"---\n{written}---\n" + "\n\n".join(body) + "\n"


PARTS = ("train", "validation", "test")
TABLES = (".jsonl", ".csv", ".tsv")


def read_data(path: Path | str) -> Corpus:
    """Read a data file without reading the sentences it names.

    Raises:
        MissingFileError: the file, or one that it names, does not exist.
        InputError: it does not follow the format.
        UnknownNameError: an unknown column or undeclared style, with near misses.
    """
    path = Path(path).expanduser()
    return _Reader(path, read_toml(path, DataFile)).corpus()


@dataclass(frozen=True)
class _Reader:
    """Turns the content of a data file into a corpus."""

    path: Path
    data: DataFile

    def corpus(self) -> Corpus:
        data = self.data
        if len(set(data.styles)) < len(data.styles):
            raise self._fault(["styles"], f"a style is listed twice: {', '.join(data.styles)}")
        self._check_directions()
        parts = tuple(part for name in PARTS if (part := self._part(name)))
        facts = DatasetFacts(
            name=data.name,
            title=data.title or data.name,
            task=data.task,
            styles=data.styles,
            pairs=self._pairs(),
            references=max(map(_most_references, parts[-1].pairs.values()), default=0),
            parallel=any(one.train is not None for one in data.direction),
            language=data.language,
            licence=data.licence,
            learn_from=next((p.name for p in parts if p.name != "test"), "train"),
        )
        said = {"title", "task", "licence", "citation", "card"}
        return Corpus(
            facts,
            data.version,
            parts,
            card=own_card(facts, data.card, data.citation),
            origin=str(self.path.resolve()),
            layout=hashlib.sha256(data.model_dump_json(exclude=said).encode()).hexdigest(),
        )

    # -- directions --------------------------------------------------------------------------------

    def _check_directions(self) -> None:
        seen: set[tuple[str, str]] = set()
        tested = self._styles_of(self.data.test)
        for number, one in enumerate(self.data.direction):
            at: list[str | int] = ["direction", number]
            self._check_style(one.source, [*at, "from"])
            self._check_style(one.target, [*at, "to"])
            config = f"{one.source}-to-{one.target}"
            if one.source == one.target:
                raise self._fault(at, f"{config} goes from a style to itself")
            if (one.source, one.target) in seen:
                raise self._fault(at, f"{config} is declared twice: remove one")
            if one.test is None and one.source not in tested:
                raise self._fault(
                    at,
                    f"{config} has no test sentences: add test = {{ sources = ... }}, or "
                    f"[test] {one.source} = ...",
                )
            seen.add((one.source, one.target))
        if not seen and not tested:
            raise InputError(
                f"{self.path}: there are no test sentences: add a [[direction]] with test, or "
                "[test] with a file for a style"
            )

    def _pairs(self) -> tuple[tuple[str, str], ...]:
        if self.data.direction:
            return tuple((one.source, one.target) for one in self.data.direction)
        tested = self._styles_of(self.data.test)
        return tuple(pair for pair in permutations(self.data.styles, 2) if pair[0] in tested)

    # -- splits ------------------------------------------------------------------------------------

    def _part(self, name: str) -> Part | None:
        by_style = self._by_style(name)
        pairs = {
            self._way(one): self._read_pairs(some)
            for one in self.data.direction
            if (some := getattr(one, name)) is not None
        }
        if not by_style and not pairs:
            return None
        if not by_style or name == "test":
            for style, files in _styles_of_pairs(pairs, rewrites=name != "test").items():
                by_style.setdefault(style, files)
        sentences = tuple(by_style.get(style, ()) for style in range(len(self.data.styles)))
        return Part(name, sentences, pairs=MappingProxyType(pairs))

    def _by_style(self, part: str) -> dict[int, Files]:
        spec: SomeStyles | None = getattr(self.data, part)
        styles = self.data.styles
        if spec is None:
            return {}
        if isinstance(spec, StylesTable):
            return self._labelled(spec, part)
        for style in spec:
            self._check_style(style, [part, style])
        if part != "test" and (missing := [style for style in styles if style not in spec]):
            raise self._fault(
                [part],
                f"no sentences of {', '.join(missing)}: scorers need every style",
            )
        return {styles.index(style): self._files(texts) for style, texts in spec.items()}

    def _labelled(self, spec: StylesTable, part: str) -> dict[int, Files]:
        styles = self.data.styles
        table = self._table(spec)
        for value, style in spec.values.items():
            self._check_style(style, [part, "values", value])
        values = spec.values or {style: style for style in styles}
        if not spec.values:
            found = {str(value) for _, value in table.column(spec.style)}
            for style in sorted(found - set(styles)):
                self._check_style(style, [part])
        kept = {style: frozenset(v for v, s in values.items() if s == style) for style in styles}
        return {
            i: (Column(table, spec.text, keep=(spec.style, kept[style])),)
            for i, style in enumerate(styles)
            if kept[style]
        }

    def _read_pairs(self, spec: SomePairs) -> Pairs:
        if isinstance(spec, str):
            return Pairs(self._files(spec))
        if isinstance(spec, PairsFiles):
            references = (spec.references,) if isinstance(spec.references, str) else spec.references
            files = tuple(file for some in references for file in self._files(some))
            return Pairs(self._files(spec.sources), files)
        table = self._table(spec)
        columns = (spec.references,) if isinstance(spec.references, str) else spec.references
        return Pairs(
            (Column(table, spec.source),),
            tuple(Column(table, column) for column in columns),
            Column(table, spec.id, numbers=True) if spec.id else None,
        )

    # -- files -------------------------------------------------------------------------------------

    def _files(self, texts: SomeTexts) -> Files:
        several = texts if isinstance(texts, tuple) else (texts,)
        tables = (Texts(file=one) if isinstance(one, str) else one for one in several)
        return tuple(map(self._file, tables))

    def _file(self, texts: Texts) -> SourceFile:
        if texts.hub or texts.column or str(texts.file).lower().endswith(TABLES):
            return Column(self._table(texts), texts.column or "text")
        path, name = self._locate(str(texts.file))
        return OwnText(path, name, parse_rows(texts.lines))

    def _table(self, origin: Origin) -> Table:
        rows = parse_rows(origin.lines)
        if origin.hub is not None:
            folder, name = self._locate(origin.hub)
            config = f", {origin.config}" if origin.config else ""
            repository, name = (str(folder), name) if folder.exists() else (origin.hub,) * 2
            hub = HubSplit(repository, str(origin.split), origin.config, origin.revision)
            return Table(hub, f"{name}{config}, {origin.split}", rows)
        path, name = self._locate(str(origin.file))
        if not name.lower().endswith(TABLES):
            raise InputError(f"{self.path}: {name} has no columns; {', '.join(TABLES)} files do")
        return Table(path, name, rows)

    def _locate(self, given: str) -> tuple[Path, str]:
        """A path, and a name that does not reveal this machine's folders."""
        inside = not Path(given).is_absolute() and ".." not in Path(given).parts
        path = Path(given).expanduser()
        return self.path.resolve().parent / path, path.as_posix() if inside else path.name

    # -- styles and faults -------------------------------------------------------------------------

    def _way(self, one: DirectionTable) -> Way:
        return self.data.styles.index(one.source), self.data.styles.index(one.target)

    def _styles_of(self, spec: SomeStyles | None) -> frozenset[str]:
        if isinstance(spec, StylesTable):
            return frozenset(spec.values.values() if spec.values else self.data.styles)
        return frozenset(spec or ())

    def _check_style(self, style: str, keys: list[str | int]) -> None:
        if style not in self.data.styles:
            error = unknown_name("style", style, self.data.styles)
            raise self._fault(keys, f"{error} Declare it in styles, or correct it")

    def _fault(self, keys: list[str | int], message: str) -> InputError:
        return InputError(f"{self.path}: {key_of(keys)}: {message}")


def _styles_of_pairs(pairs: Mapping[Way, Pairs], *, rewrites: bool) -> dict[int, Files]:
    """The sentences of each style in the pairs: sources, and rewrites as sentences."""
    found: dict[int, dict[SourceFile, None]] = {}
    for (source, target), some in pairs.items():
        found.setdefault(source, {}).update(dict.fromkeys(some.sources))
        if rewrites:
            flat = (replace(f, flat=True) for f in some.references if isinstance(f, OwnFile))
            found.setdefault(target, {}).update(dict.fromkeys(flat))
    return {style: tuple(files) for style, files in found.items() if files}


def _most_references(pairs: Pairs) -> int:
    """The largest number of rewrites of a sentence; a column may contain lists."""
    return sum(
        1 if isinstance(file, OwnText) else max(map(len, file.rewrites()), default=0)
        for file in pairs.references
    )


# Names that the Hub knows; others are given as "other" with a name.
_HUB_LICENCES = """
afl-3.0 apache-2.0 bsd-2-clause bsd-3-clause cc cc-by-2.0 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0
cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-4.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0
cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0
gpl-3.0 mit odbl odc-by openrail pddl unknown unlicense
"""


def hub_licence(name: str) -> dict[str, str]:
    """The fields of a card's front matter.

    >>> hub_licence("CC-BY-SA-4.0"), hub_licence("")
    ({'license': 'cc-by-sa-4.0'}, {'license': 'unknown'})
    >>> hub_licence("Our own terms")
    {'license': 'other', 'license_name': 'our-own-terms'}
    """
    known = name.lower() or "unknown"
    if known in _HUB_LICENCES.split():
        return {"license": known}
    return {"license": "other", "license_name": known.replace(" ", "-")}
