"""A user's own dataset: from a data file to a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ..errors import InputError, unknown_name
from ..files import read_text
from .columns import Column, OwnFile, OwnText
from .corpus import Corpus, Files, Pairs, Part, Way
from .data_file import (
    DataFile,
    DirectionTable,
    Origin,
    PairsFiles,
    PairsTable,
    SomePairs,
    SomeStyles,
    SomeTexts,
    StylesTable,
    Texts,
    parse_rows,
)
from .directions import DatasetFacts
from .licences import hub_licence
from .sources import SourceFile
from .strict_toml import place, read_toml
from .tables import FileTable, HubTable, Table

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
                raise self._fault(at, f"direction {config} is declared twice: remove one")
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
                f"[{part}] has no sentences of {', '.join(missing)}: scorers need every style",
            )
        return {styles.index(style): self._files(texts) for style, texts in spec.items()}

    def _labelled(self, spec: StylesTable, part: str) -> dict[int, Files]:
        styles = self.data.styles
        table = self._table(spec)
        for value, style in spec.values.items():
            self._check_style(style, [part, "values", value])
        values = spec.values or {style: style for style in styles}
        if not spec.values:
            found = {str(value) for value in table.column(spec.style)}
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
            references = spec.references
            several = (references,) if isinstance(references, str) else references
            return Pairs(
                self._files(spec.sources),
                tuple(file for some in several for file in self._files(some)),
            )
        return self._columns(spec)

    def _columns(self, spec: PairsTable) -> Pairs:
        table = self._table(spec)
        references = (spec.references,) if isinstance(spec.references, str) else spec.references
        return Pairs(
            (Column(table, spec.source),),
            tuple(Column(table, column) for column in references),
            Column(table, spec.id, numbers=True) if spec.id else None,
        )

    # -- files -------------------------------------------------------------------------------------

    def _files(self, texts: SomeTexts) -> Files:
        if isinstance(texts, str):
            return (self._file(Texts(file=texts)),)
        if isinstance(texts, tuple):
            return tuple(self._file(Texts(file=one)) for one in texts)
        return (self._file(texts),)

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
            return HubTable(
                str(folder) if folder.exists() else origin.hub,
                f"{name if folder.exists() else origin.hub}{config}, {origin.split}",
                str(origin.split),
                origin.config,
                origin.revision,
                rows,
            )
        path, name = self._locate(str(origin.file))
        if not name.lower().endswith(TABLES):
            raise InputError(f"{self.path}: {name} has no columns; {', '.join(TABLES)} files do")
        return FileTable(path, name, rows)

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
            where = place(self.path, read_text(self.path), keys)
            error = unknown_name("style", style, self.data.styles)
            raise InputError(f"{where}: {error} Declare it in styles, or correct it")

    def _fault(self, keys: list[str | int], message: str) -> InputError:
        return InputError(f"{place(self.path, read_text(self.path), keys)}: {message}")


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
