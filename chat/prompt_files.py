"""Prompt files: TOML whose texts have slots, one that comes with the package or the user's own.

Whoever asks a language model something says which texts a file has (a pydantic model), where the
package's own files lie, and which slots each text may have. A slot is a name in braces. What is
filled in is not searched for slots, so braces in a sentence are harmless.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import InputError, UnknownNameError, unknown_name
from ..files import parse_toml, read_text

STYLES = frozenset({"source_style", "target_style"})  # slots that :func:`style_values` fills
_SLOT = re.compile(r"\{([A-Za-z_]*)\}")

Schema = TypeVar("Schema", bound=BaseModel)


def read_prompt_file(
    name_or_path: str, folder: Path, names: Sequence[str], *, what: str
) -> tuple[Path, str]:
    """Path and content of a prompt file.

    Args:
        name_or_path: one of ``names``, or a file of the user's own (``.toml``).
        folder: with the package's own files.
        names: of these, without suffix.
        what: they are, for the error message: ``prompts for style``.

    Raises:
        UnknownNameError: no such name.
        MissingFileError: no such file.
        InputError: it is no text file.
    """
    if name_or_path in names:
        path = folder / f"{name_or_path}.toml"
    elif not name_or_path.endswith(".toml"):
        hint = unknown_name(what, name_or_path, names)
        raise UnknownNameError(f"{hint} You can also give a file of your own (.toml).")
    else:
        path = Path(name_or_path).expanduser()
    return path, read_text(path)


def parse_prompt_file(path: Path, content: str, schema: type[Schema]) -> Schema:
    """The fields of a prompt file.

    Raises:
        InputError: it is not TOML, or a field is missing, unknown or wrong.
    """
    try:
        return schema.model_validate(parse_toml(content, path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"prompt file {path}: {where}: {first['msg']}") from error


def check_slots(
    text: str, where: str, *, allowed: Collection[str], needed: Collection[str] = ()
) -> None:
    """Check the slots of a text.

    Args:
        text: with slots.
        where: it is, for the error message: ``prompt file mine.toml: example``.
        allowed: slots that it may have.
        needed: those of them that it must have, once each.

    Raises:
        InputError: a slot that is not known there, or that is missing or there twice.

    >>> check_slots("{source}: {sorce}", "prompt file a.toml: plain", allowed={"source"})
    Traceback (most recent call last):
    ...
    tstbench.errors.InputError: prompt file a.toml: plain has the slot {sorce}, which is not known \
there. Known: {source}
    """
    found = _SLOT.findall(text)
    for slot in found:
        if slot not in allowed:
            known = ", ".join(f"{{{name}}}" for name in sorted(allowed)) or "none"
            raise InputError(
                f"{where} has the slot {{{slot}}}, which is not known there. Known: {known}"
            )
    for slot in sorted(needed):
        if found.count(slot) != 1:
            times = "no slot" if slot not in found else f"{found.count(slot)} slots"
            raise InputError(f"{where} has {times} {{{slot}}}, but needs exactly one")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Every slot, from left to right, with its value.

    >>> fill("{source} -> {target}", {"source": "{target}", "target": "b"})
    '{target} -> b'
    """
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def style_values(source_style: str, target_style: str) -> dict[str, str]:
    """The slots :data:`STYLES`: the styles' names as people write them.

    >>> style_values("very_rude", "polite")
    {'source_style': 'very rude', 'target_style': 'polite'}
    """
    return {
        "source_style": source_style.replace("_", " "),
        "target_style": target_style.replace("_", " "),
    }
