"""Wordings: how a judge is asked, read from a versioned file.

A prompt file is TOML: ``name``, ``aspect``, ``answer`` and ``explain`` (how to answer; the second asks
for an explanation before the score), and a ``[[wording]]`` for each way of asking: ``id``, ``text``,
and the numbers of its scale that stand for the ``worst`` and the ``best`` judgement.

| slot | is | in |
| --- | --- | --- |
| ``{source}`` | the sentence that was rewritten | ``text``, style and content |
| ``{output}`` | the rewrite | ``text``: needed, once |
| ``{source_style}``, ``{target_style}`` | the styles' names, ``_`` as a blank | ``text``, style and content |
| ``{low}``, ``{high}`` | the ends of the scale | ``answer``, ``explain`` |

Source: Ostheimer et al. (2023) ask with eleven wordings for each aspect; the words here are our own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

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
from ...store import canonical
from .llm_judge import Scale

Aspect = Literal["style", "content", "fluency"]
_FOLDER = Path(__file__).with_name("prompts")
_ABOUT_STYLE = STYLES | {"source", "output"}
_ALLOWED: Mapping[str, frozenset[str]] = {
    "style": _ABOUT_STYLE,
    "content": _ABOUT_STYLE,
    "fluency": frozenset({"output"}),
}
_ENDS = frozenset({"low", "high"})


class Wording(Strict):
    """One way of asking; see the module for its fields."""

    id: str = Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")  # reports have it
    text: str
    worst: int = Field(ge=0, le=1000)
    best: int = Field(ge=0, le=1000)

    @property
    def scale(self) -> Scale:
        """Of the answers."""
        return Scale(self.worst, self.best)


class _File(Strict):
    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    aspect: Aspect
    answer: str
    explain: str
    wording: tuple[Wording, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Wordings:
    """Some wordings of one file, and how they ask to be answered.

    Attributes:
        name: as the file says.
        ending: what follows each question.
        wordings: in the order of the file.
    """

    name: str
    ending: str
    wordings: tuple[Wording, ...]

    @property
    def sha256(self) -> str:
        """Of everything that is sent but the texts: another word is another prompt."""
        content = [self.ending, [one.model_dump() for one in self.wordings]]
        return hashlib.sha256(canonical(content)).hexdigest()

    def messages(
        self, wording: Wording, output: str, source: str, direction: Direction | None
    ) -> list[dict[str, str]]:
        """The chat that asks with one wording.

        Texts are written as they are: braces in them are no slots.
        """
        values = {"output": output, "source": source}
        if direction is not None:
            values |= style_values(direction.source_style, direction.target_style)
        ends = {"low": str(wording.scale.low), "high": str(wording.scale.high)}
        question = fill(wording.text.strip(), values)
        content = f"{question}\n\n{fill(self.ending, ends)}"
        return [{"role": "user", "content": content}]


def prompt_names(aspect: str) -> list[str]:
    """The prompt files for an aspect that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob(f"{aspect}-*.toml"))


def wordings(
    name_or_path: str, aspect: str, count: int, *, explain: bool, single_digit: bool
) -> Wordings:
    """The first wordings of a file.

    Args:
        name_or_path: a name of :func:`prompt_names`, or a file of your own (``.toml``).
        aspect: which it must be about.
        count: how many; if fewer can be used, all of those.
        explain: whether an explanation is asked for.
        single_digit: whether only scales of single digits can be used.

    Raises:
        UnknownNameError: no such prompts.
        MissingFileError: no such file.
        InputError: it is not a prompt file of this aspect, or has no wording that can be used.
    """
    names = prompt_names(aspect)
    file = _load(
        *read_prompt_file(name_or_path, _FOLDER, names, what=f"prompts for {aspect}"),
    )
    if file.aspect != aspect:
        raise InputError(
            f"prompt file {name_or_path!r} asks about {file.aspect}, but is given for {aspect}"
        )
    usable = [one for one in file.wording if not single_digit or one.scale.is_single_digit]
    if not usable:
        raise InputError(
            f"prompt file {name_or_path!r} has no scale within 0 to 9, as llm_judge.expected needs"
        )
    return Wordings(file.name, file.explain if explain else file.answer, tuple(usable[:count]))


@lru_cache(maxsize=32)
def _load(path: Path, content: str) -> _File:
    file = parse_prompt_file(path, content, _File)
    seen: set[str] = set()
    for one in file.wording:
        where = f"prompt file {path}: wording {one.id!r}"
        if one.id in seen:
            raise InputError(f"{where} is there twice: give each an id of its own")
        seen.add(one.id)
        if one.worst == one.best:
            raise InputError(f"{where}: worst and best are both {one.best}")
        check_slots(one.text, where, allowed=_ALLOWED[file.aspect], needed={"output"})
    for name in ("answer", "explain"):
        check_slots(getattr(file, name), f"prompt file {path}: {name}", allowed=_ENDS)
    return file
