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
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from ...datasets_scripts.directions import Direction
from ...errors import InputError, UnknownNameError, unknown_name
from ...files import parse_toml, read_text
from ...records import Strict

__all__ = ["Example", "Prompts", "instruction", "load_prompts", "prompt_names"]

USUAL = "tstbench-v1"
_FOLDER = Path(__file__).with_name("prompts")
_SLOT = re.compile(r"\{([A-Za-z_]*)\}")
_STYLES = frozenset({"source_style", "target_style"})
_NEEDED = {
    "zero_shot": frozenset({"sentence"}),
    "few_shot": frozenset({"sentence", "examples"}),
    "example": frozenset({"source", "target"}),
}
_ALLOWED = {
    "zero_shot": _NEEDED["zero_shot"] | {"instruction"} | _STYLES,
    "few_shot": _NEEDED["few_shot"] | {"instruction"} | _STYLES,
    "example": _NEEDED["example"] | _STYLES,
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
        return _fill(self._file.general if own is None else own, _styles(direction))

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
            return _fill(self._file.zero_shot, values)
        shown = [
            _fill(
                self._file.example,
                {**_styles(direction), "source": e.source.strip(), "target": e.target.strip()},
            )
            for e in examples
        ]
        return _fill(self._file.few_shot, {**values, "examples": "".join(shown)})

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
    if text in prompt_names():
        path = _FOLDER / f"{text}.toml"
    elif not text.endswith(".toml"):
        hint = unknown_name("prompts", text, prompt_names())
        raise UnknownNameError(f"{hint} You can also give a file of your own (.toml).")
    else:
        path = Path(text).expanduser()
    content = read_text(path)
    try:
        file = _File.model_validate(parse_toml(content, path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"prompt file {path}: {where}: {first['msg']}") from error
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
    return {
        "source_style": direction.source_style.replace("_", " "),
        "target_style": direction.target_style.replace("_", " "),
    }


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Every slot once, from left to right: what is filled in is not searched for slots."""
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def _check(file: _File, path: Path) -> None:
    for name in _NEEDED:
        _check_slots(getattr(file, name), name, _NEEDED[name], _ALLOWED[name], path)
    if file.general:
        _check_slots(file.general, "general", frozenset(), _STYLES, path)
    for direction, text in file.instructions.items():
        _check_slots(text, f"instruction of {direction}", frozenset(), _STYLES, path)


def _check_slots(
    text: str, where: str, needed: frozenset[str], allowed: frozenset[str], path: Path
) -> None:
    found = _SLOT.findall(text)
    for slot in sorted(needed):
        if found.count(slot) != 1:
            times = "no slot" if slot not in found else f"{found.count(slot)} slots"
            raise InputError(
                f"prompt file {path}: {where} has {times} {{{slot}}}, but needs exactly one"
            )
    for slot in found:
        if slot not in allowed:
            known = ", ".join(f"{{{name}}}" for name in sorted(allowed))
            raise InputError(
                f"prompt file {path}: {where} has the slot {{{slot}}}, which is not known there. "
                f"Known: {known}"
            )
