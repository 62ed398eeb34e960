"""Options by name: ``ppl.norm=words+1`` on the command line, ``[options.ppl]`` in a suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import InputError, unknown_name
from ..settings import read_settings
from .base import Options
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
    hints = get_type_hints(kind)
    given = {name: _from_text(value, hints.get(name)) for name, value in values.items()}
    for name, value in given.items():
        kinds = [hints.get(name), *get_args(hints.get(name))]
        listed = [one for kind in kinds if get_origin(kind) is Literal for one in get_args(kind)]
        if listed and value is not None and value not in listed:
            raise unknown_name(f"value of {family}.{name}", str(value), listed)
    return read_settings(kind, given, family)


def _from_text(value: object, kind: Any) -> object:
    """What the command line writes as ``none``, or with commas."""
    if value == "none" and type(None) in get_args(kind):
        return None
    return value.split(",") if isinstance(value, str) and get_origin(kind) is tuple else value
