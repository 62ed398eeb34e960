"""Options by name: ``ppl.norm=words+1`` on the command line, ``[options.ppl]`` in a suite."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import InputError, unknown_name
from .contract import Options
from .registry import families

Settings = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Choices:
    """The options of every family: as chosen, or else the benchmark's.

    >>> choices({"ppl": {"norm": "words+1"}}).of("ppl")
    PplOptions(protocol=None, norm='words+1')
    """

    chosen: Mapping[str, Options] = field(default_factory=dict)

    def of(self, family: str) -> Any:
        """The options of one family."""
        return self.chosen.get(family) or families()[family].options()


BENCHMARK = Choices()


def choices(*layers: Settings) -> Choices:
    """Options from settings by family and name; a later layer wins.

    Raises:
        UnknownNameError: no such family, or no such option in it.
        InputError: a value that is not valid for the option.
    """
    merged: dict[str, dict[str, object]] = {}
    for settings in layers:
        for family, values in settings.items():
            if family not in families():
                raise unknown_name("metric family", family, families())
            if not isinstance(values, Mapping):
                raise InputError(f"options.{family} is {values!r}: must be a table of options")
            merged.setdefault(family, {}).update(values)
    return Choices({name: _options(name, values) for name, values in merged.items()})


def parse_settings(assignments: Iterable[str]) -> dict[str, dict[str, object]]:
    """Settings from ``FAMILY.OPTION=VALUE`` texts, as given on the command line.

    Raises:
        InputError: a text that does not have this form.

    >>> parse_settings(["ppl.norm=words+1", "joint.weights=2,1,1"])
    {'ppl': {'norm': 'words+1'}, 'joint': {'weights': '2,1,1'}}
    """
    found: dict[str, dict[str, object]] = {}
    for text in assignments:
        name, separator, value = text.partition("=")
        family, dot, option = name.partition(".")
        if not (separator and dot and family and option):
            raise InputError(f"{text!r} is not FAMILY.OPTION=VALUE, such as ppl.norm=words+1")
        found.setdefault(family, {})[option] = value
    return found


def _options(family: str, values: Mapping[str, object]) -> Options:
    kind = families()[family].options
    known = get_type_hints(kind)
    for name in values:
        if name not in known:
            if not known:
                raise InputError(f"{family} has no options, got {name!r}")
            raise unknown_name(f"option of {family}", name, (f.name for f in fields(kind)))
    read = {n: _read(f"{family}.{n}", value, known[n]) for n, value in values.items()}
    return kind(**read)


_WANTED = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _read(name: str, value: object, kind: Any) -> object:
    """A value converted to the option's type: the command line gives texts."""
    if get_origin(kind) in (Union, types.UnionType):
        kinds = get_args(kind)
        if type(None) in kinds and (value is None or value == "none"):
            return None
        *others, kind = [one for one in kinds if one is not type(None)]
        for other in others:  # the first that the value can be
            try:
                return _read(name, value, other)
            except InputError:
                continue
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise unknown_name(f"value of {name}", str(value), map(str, get_args(kind)))
        return value
    if kind is str and not isinstance(value, str):
        raise InputError(f"{name} is {value!r}: text is needed")
    try:
        if get_origin(kind) is tuple:
            inner = get_args(kind)[0]
            parts = value.split(",") if isinstance(value, str) else value
            return tuple(_read(name, part, inner) for part in parts)  # type: ignore[attr-defined]
        if kind is bool:
            return {"true": True, "false": False}[str(value).lower()]
        if kind in (int, float):
            number = kind(value)
            cut = kind is int and not isinstance(value, str) and number != value
            if cut or isinstance(value, bool):
                raise ValueError(value)
            return number
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        listed = get_origin(kind) is tuple
        wanted = _WANTED.get(get_args(kind)[0] if listed else kind, "another value")
        wanted = f"a list, each part {wanted}," if listed else wanted
        raise InputError(f"{name} is {value!r}: {wanted} is needed") from error
    return value
