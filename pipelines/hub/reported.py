"""What model repositories report about themselves: their ``.eval_results/*.yaml``, checked.

Anybody can write such a file, so whatever does not have the Hub's form is an error with a reason,
and every value is data: a number or refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from ...errors import InputError
from ...untrusted import parse_yaml
from .eval_results import FOLDER

_LONGEST = 4000  # characters of notes: a signature has some hundreds
Text = Annotated[str, Field(min_length=1, max_length=200)]


class _Loose(BaseModel):
    """The Hub adds fields now and then: those that are not known here are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class ReportedDataset(_Loose):
    """Which number an entry is about."""

    id: Annotated[str, Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$", max_length=200)]
    task_id: Text
    revision: Text | None = None


class ReportedSource(_Loose):
    """A page to follow, and who stands behind it."""

    url: Annotated[str, Field(max_length=2000)]
    name: Text | None = None
    user: Text | None = None
    org: Text | None = None


class ReportedEntry(_Loose):
    """One entry of a file."""

    dataset: ReportedDataset
    value: float
    date: str | None = None
    source: ReportedSource | None = None
    notes: Annotated[str, Field(max_length=_LONGEST)] | None = None

    @field_validator("value", mode="before")
    @classmethod
    def _is_number(cls, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("not a number")
        try:
            finite = math.isfinite(value)
        except OverflowError:  # YAML's integers have any number of digits
            finite = False
        if not finite:
            raise ValueError("not a number")
        return value

    @field_validator("date", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return value.isoformat() if isinstance(value, date) else value  # YAML knows dates


@dataclass(frozen=True)
class Reported:
    """One entry, and where it stands."""

    model: str  # user/name
    filename: str
    entry: ReportedEntry


_ENTRIES = TypeAdapter(list[ReportedEntry])


def is_result_file(path: str) -> bool:
    """Whether a repository's file is one that the Hub reads results from."""
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith((".yaml", ".yml"))


def parse_results(content: bytes, where: str) -> list[ReportedEntry]:
    """The entries of one file.

    Args:
        content: YAML.
        where: the file's name, for messages.

    Raises:
        InputError: it does not have the Hub's form; says where and why.
    """
    try:
        return _ENTRIES.validate_python(parse_yaml(content, where))
    except ValidationError as error:
        raise _refusal(error, where) from error


def parse_entry(value: Mapping[str, Any], where: str) -> ReportedEntry:
    """One entry that the Hub's API gave.

    Raises:
        InputError: it does not have the Hub's form.
    """
    try:
        return ReportedEntry.model_validate(value)
    except ValidationError as error:
        raise _refusal(error, where) from error


def as_json(entry: ReportedEntry) -> Mapping[str, Any]:
    """An entry as the Hub's API gives it."""
    return entry.model_dump(exclude_none=True)


def _refusal(error: ValidationError, where: str) -> InputError:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "file"
    return InputError(f"{where}: {place}: {first['msg']}")
