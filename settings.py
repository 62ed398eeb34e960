"""Settings that users give as flags or in TOML, read into a frozen dataclass and checked.

A field's type, and a range in it (:data:`Count`, or ``Annotated[int, Field(ge=2)]``), say which
values are valid; its ``help`` says what it means: ``setting(4, "longest marker")``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from .errors import InputError, unknown_name

Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=0, le=1)]

S = TypeVar("S")


@dataclass(frozen=True)
class Setting:
    """One setting, for people."""

    name: str
    help: str
    default: Any = None  # None if there is none, or if it depends on the data


def setting(default: Any, meaning: str, *, identifies: bool = True) -> Any:
    """A field of a settings dataclass, with its ``help``.

    Args:
        default: the value if none is given.
        meaning: for people.
        identifies: whether it can change a result; a timeout cannot.
    """
    return field(default=default, metadata={"help": meaning, "identifies": identifies})


def described(kind: type) -> list[Setting]:
    """The settings of a dataclass, in its order."""
    return [
        Setting(f.name, f.metadata.get("help", ""), None if f.default is MISSING else f.default)
        for f in fields(kind)
    ]


def read_settings(kind: type[S], values: Mapping[str, Any], of: str) -> S:
    """Turn values into an instance of a settings dataclass.

    Args:
        kind: the dataclass.
        values: by name; others keep their defaults.
        of: what the settings belong to, for messages: ``delete-retrieve``.

    Raises:
        UnknownNameError: no setting with that name.
        InputError: a value has the wrong type or is out of range.
    """
    for name in values:
        _check_known(kind, name, of)
    try:
        found = _validator(kind).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # settings that do not go together
            raise InputError(f"{of}: {first['msg'].removeprefix('Value error, ')}") from error
        where = ".".join(str(part) for part in first["loc"])
        given = f", got {first['input']!r}" if first["type"] != "missing" else ""
        raise InputError(f"setting {where} of {of}: {first['msg']}{given}") from error
    for name, value in values.items():  # flags are texts, so numbers are read from much, also true
        if isinstance(value, bool) and getattr(found, name) is not value:
            raise InputError(f"setting {name} of {of} is no truth value, got {value}")
    return found


# Making one takes longer than using it.
_validator: Callable[[type], TypeAdapter[Any]] = cache(TypeAdapter)


def from_texts(kind: type, texts: Mapping[str, str], of: str) -> dict[str, Any]:
    """Values from a command line: as text if the setting accepts it, otherwise parsed as TOML.

    Raises:
        UnknownNameError: no setting with that name.
    """
    types = get_type_hints(kind, include_extras=True)
    values: dict[str, Any] = {}
    for name, text in texts.items():
        _check_known(kind, name, of)
        try:
            TypeAdapter(types[name]).validate_python(text)
            values[name] = text
        except ValidationError:
            values[name] = _as_toml(text)
    return values


def as_json(settings: Any) -> dict[str, JsonValue]:
    """The settings as JSON values, for a card."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
    }


def identifying(settings: Any) -> dict[str, JsonValue]:
    """:func:`as_json` without what cannot change a result, such as a timeout."""
    values = as_json(settings)
    return {f.name: values[f.name] for f in fields(settings) if f.metadata.get("identifies", True)}


def _check_known(kind: type, name: str, of: str) -> None:
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if name not in names:
        if not names:
            raise InputError(f"{of} has no settings, got {name!r}")
        raise unknown_name(f"setting of {of}", name, names)


def _as_toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, KeyError, RecursionError):  # not TOML, or too many digits
        return text
