"""What stands before a rewrite when its probability is asked for, read from a versioned file.

A prompt file is TOML: ``name``; ``styled`` and ``plain``, with and without the target style;
``styled_alone`` and ``plain_alone``, the same without the source; and ``end``, which ends a rewrite.
The rewrite follows after one blank. Slots: ``{source}`` (``styled`` and ``plain``: needed, once),
``{source_style}`` and ``{target_style}`` (``styled`` and ``styled_alone``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from ...chat.prompt_files import (
    STYLES,
    check_slots,
    fill,
    parse_prompt_file,
    read_prompt_file,
    style_values,
)
from ...datasets_scripts.directions import Direction
from ...errors import InputError
from ...records import Strict

_FOLDER = Path(__file__).with_name("prompts")
_ALLOWED = {
    "styled": STYLES | {"source"},
    "plain": frozenset({"source"}),
    "styled_alone": STYLES,
    "plain_alone": frozenset[str](),
}


class _File(Strict):
    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    styled: str = Field(min_length=1)
    plain: str = Field(min_length=1)
    styled_alone: str = Field(min_length=1)
    plain_alone: str = Field(min_length=1)
    end: str = Field(min_length=1)


@dataclass(frozen=True)
class Prompts:
    """The prompts of one file.

    Attributes:
        name: as the file says.
        sha256: of the file's bytes: another text is another prompt, whatever its name.
    """

    name: str
    sha256: str
    _file: _File

    def before(self, sources: Sequence[str], direction: Direction | None) -> list[str]:
        """What stands before the rewrite of each source; without a direction no style is named."""
        template = self._file.plain if direction is None else self._file.styled
        return [_filled(template, source, direction) for source in sources]

    def alone(self, direction: Direction | None) -> str:
        """What stands before a rewrite when there is no source."""
        template = self._file.plain_alone if direction is None else self._file.styled_alone
        return _filled(template, "", direction)

    def after(self, output: str) -> str:
        """A rewrite as it is scored: after a blank, with its end."""
        return f" {output.strip()}{self._file.end}"


def prompt_names() -> list[str]:
    """The prompt files that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_prompts(name_or_path: str) -> Prompts:
    """Read a prompt file.

    Raises:
        UnknownNameError: no prompts with that name.
        MissingFileError: no such file.
        InputError: it is not TOML, or a template lacks a slot or has one that does not exist.
    """
    return _load(
        *read_prompt_file(name_or_path, _FOLDER, prompt_names(), what="prompts of logprop")
    )


@lru_cache(maxsize=16)
def _load(path: Path, content: str) -> Prompts:
    file = parse_prompt_file(path, content, _File)
    for name, allowed in _ALLOWED.items():
        text, where = getattr(file, name), f"prompt file {path}: {name}"
        check_slots(text, where, allowed=allowed, needed=allowed & {"source"})
        if text != text.rstrip():
            raise InputError(f"{where} ends in a blank: one follows it anyway")
    return Prompts(file.name, hashlib.sha256(content.encode()).hexdigest(), file)


def _filled(template: str, source: str, direction: Direction | None) -> str:
    values = {"source": source.strip()}
    if direction is not None:
        values |= style_values(direction.source_style, direction.target_style)
    return fill(template, values)
