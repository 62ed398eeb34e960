"""Prompts: what a language model is asked, read from a versioned file.

A prompt file is TOML. ``zero_shot``, ``few_shot`` and ``example`` are templates; ``general`` and
the table ``instructions`` (direction -> text) are the instructions that go into them:

| slot | is | in |
| --- | --- | --- |
| ``{sentence}`` | what is to be rewritten | ``zero_shot``, ``few_shot``: needed, once |
| ``{instruction}`` | the direction's instruction, else ``general`` | ``zero_shot``, ``few_shot`` |
| ``{examples}`` | every example, one after the other | ``few_shot``: needed, once |
| ``{source}``, ``{target}`` | an example's sentence and its rewrite | ``example``: needed, once |
| ``{source_style}``, ``{target_style}`` | the styles' names, ``_`` as a blank | all |

Sources: the benchmark's instructions are described in the TSTBench paper, section 4.1; ours say
the same in our own words. Few-shot prompts for style transfer: Reif et al. 2022; contrasting and
negating prompts: Suzgun, Melas-Kyriazi and Jurafsky 2022, section 3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
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

__all__ = ["Example", "Prompts", "instruction", "load_prompts", "prompt_names"]

USUAL = "tstbench-v1"
_FOLDER = Path(__file__).with_name("prompts")
_NEEDED = {
    "zero_shot": frozenset({"sentence"}),
    "few_shot": frozenset({"sentence", "examples"}),
    "example": frozenset({"source", "target"}),
}
_ALLOWED = {
    "zero_shot": _NEEDED["zero_shot"] | {"instruction"} | STYLES,
    "few_shot": _NEEDED["few_shot"] | {"instruction"} | STYLES,
    "example": _NEEDED["example"] | STYLES,
}


@dataclass(frozen=True)
class Example:
    """A sentence and its rewrite, to show what is wanted."""

    source: str
    target: str


class _File(Strict):
    name: str
    about: str = ""
    system: str = ""
    zero_shot: str = "{instruction}{sentence}"
    few_shot: str = "{instruction}\n\n{examples}Input: {sentence}\nOutput:"
    example: str = "Input: {source}\nOutput: {target}\n\n"
    general: str = ""
    instructions: dict[str, str] = Field(default_factory=dict)


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

    @property
    def system(self) -> str:
        """The system message; empty for none."""
        return self._file.system

    def instruction(self, direction: Direction) -> str:
        """What is to be done, for one direction.

        Raises:
            InputError: the file has neither this direction nor a general instruction.
        """
        own = self._file.instructions.get(direction.name)
        if own is None and not self._file.general:
            raise InputError(
                f"prompt file {self.name!r} has no instruction for {direction}: add "
                f'"{direction.name}" to its table [instructions], or a text called general'
            )
        return fill(self._file.general if own is None else own, _styles(direction))

    def message(self, direction: Direction, sentence: str, examples: Sequence[Example] = ()) -> str:
        """The user message that asks for one rewrite, after examples if there are any.

        The sentence and the examples are written as they are, without the blanks around them:
        braces in them are no slots.
        """
        values = {
            **_styles(direction),
            "instruction": self.instruction(direction),
            "sentence": sentence.strip(),
        }
        if not examples:
            return fill(self._file.zero_shot, values)
        shown = [
            fill(
                self._file.example,
                {**_styles(direction), "source": e.source.strip(), "target": e.target.strip()},
            )
            for e in examples
        ]
        return fill(self._file.few_shot, {**values, "examples": "".join(shown)})

    def messages(
        self, direction: Direction, sentence: str, examples: Sequence[Example] = ()
    ) -> list[dict[str, str]]:
        """The messages of a chat: the system's, if there is one, and the user's."""
        user = {"role": "user", "content": self.message(direction, sentence, examples)}
        return [{"role": "system", "content": self.system}, user] if self.system else [user]


def prompt_names() -> list[str]:
    """The prompt files that come with the package, the usual one first."""
    names = sorted(path.stem for path in _FOLDER.glob("*.toml"))
    return sorted(names, key=lambda name: name != USUAL)


def load_prompts(name_or_path: str | Path = USUAL) -> Prompts:
    """Read a prompt file.

    Args:
        name_or_path: a name of :func:`prompt_names`, or a file of your own (``.toml``).

    Raises:
        UnknownNameError: no prompts with that name.
        MissingFileError: no such file.
        InputError: it is not TOML, or a template lacks a slot or has one that does not exist.

    >>> from tstbench.datasets_scripts.directions import Direction
    >>> load_prompts().message(Direction("styptb_tfu", "present", "future"), "we eat .")
    'Put this sentence into the future tense:we eat .'
    """
    text = str(name_or_path)
    path, content = read_prompt_file(text, _FOLDER, prompt_names(), what="prompts")
    file = parse_prompt_file(path, content, _File)
    _check(file, path)
    return Prompts(file.name, hashlib.sha256(content.encode()).hexdigest(), file)


def instruction(direction: Direction, prompts: str | Path = USUAL) -> str:
    """What a model is told to do for a direction, without the sentence.

    >>> from tstbench.datasets_scripts.directions import Direction
    >>> instruction(Direction("styptb_tfu", "present", "future"))
    'Put this sentence into the future tense:'
    >>> instruction(Direction("manners", "very_rude", "polite"))[:58]
    'Rewrite this text, whose style is very rude, in the style '
    """
    return load_prompts(prompts).instruction(direction)


def _styles(direction: Direction) -> dict[str, str]:
    return style_values(direction.source_style, direction.target_style)


def _check(file: _File, path: Path) -> None:
    where = f"prompt file {path}"
    for name, allowed in _ALLOWED.items():
        text = getattr(file, name)
        check_slots(text, f"{where}: {name}", allowed=allowed, needed=_NEEDED[name])
    if file.general:
        check_slots(file.general, f"{where}: general", allowed=STYLES)
    for direction, text in file.instructions.items():
        check_slots(text, f"{where}: instruction of {direction}", allowed=STYLES)
