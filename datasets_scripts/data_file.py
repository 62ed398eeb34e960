"""The format of a data file: a user's own dataset, described in TOML.

``docs/your_data.md`` says what each key means; how the file becomes a corpus is in
:mod:`.own`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from .directions import NAME
from .languages import language
from .strict_toml import StrictTable
from .tables import Rows

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
