"""A study folder: the questions are frozen in ``study.json``, the raters are in ``private.json``.

``study.json`` contains no name and no secret, so it can be published with the results; the answers
are in ``answers.sqlite``, see :mod:`.ratings`. ``private.json`` contains names, link tokens and the
salt of the pseudonyms; only its owner can read it, and it never leaves the folder.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import quote

from pydantic import Field, ValidationError, model_validator

from ...datasets_scripts.cleaning import is_copy
from ...datasets_scripts.judgments.schema import (
    CONTENT_MASKED,
    NATURALNESS,
    NATURALNESS_ABSOLUTE,
    OVERALL,
    RATED,
    STYLE_DIFFERENCE,
    Aspect,
)
from ...errors import InputError, MissingFileError
from ...files import read_text, write_text
from ...records import Strict

Layout = Literal["pair", "output", "two", "rewrite"]
STUDY_FILE, PRIVATE_FILE = "study.json", "private.json"

Rater = Annotated[str, Field(pattern=r"^rater-[1-9][0-9]{0,3}$")]
Kind = TypeVar("Kind", bound=Strict)


@dataclass(frozen=True)
class Task:
    """What raters are asked about each output.

    Attributes:
        aspects: the questions, as they are exported.
        layout: what is shown: ``rewrite``, the source, the references if the study shows them and
            the output, with their styles; ``two``, source and output; ``pair``, the same in a
            hidden order, to choose from; ``output``, it alone.
        guide: what raters read before they begin.
    """

    aspects: tuple[Aspect, ...]
    layout: Layout
    guide: str


_REWRITE = (
    "Each output should say what its source says, in the target style. You are not told which "
    "system wrote which output. Judge style, content and fluency independently; 2 and 4 are in "
    "between. "
)
# In the order of the blocks: a rater who has seen a source would recognise it in the pair task.
TASKS: dict[str, Task] = {
    "naturalness": Task(
        (NATURALNESS,),
        "pair",
        "In pairs, choose the text that a person is more likely to have written.",
    ),
    "naturalness_absolute": Task(
        (NATURALNESS_ABSOLUTE,),
        "output",
        "Where a text stands alone, judge how natural it is, from 1 to 5.",
    ),
    "content_masked": Task(
        (CONTENT_MASKED,),
        "two",
        "Where style words are masked, compare the meaning of what is left, from 1 to 5.",
    ),
    "style_difference": Task(
        (STYLE_DIFFERENCE,),
        "two",
        "Where you are asked for a difference of style, leave aside what the texts say: 1 is no "
        "difference, 5 the greatest.",
    ),
    "rating": Task(
        RATED,
        "rewrite",
        f"{_REWRITE}The derived overall is computed from them: their mean, times 0.6 where the "
        "output only repeats its source, because no style was transferred.",
    ),
    "protocol": Task(
        (*RATED, OVERALL),
        "rewrite",
        f"{_REWRITE}Overall is your judgment of the whole, usually the mean of the three, "
        "rounded. Where the output only repeats its source, no style was transferred: give 0.6 "
        "times that mean.",
    ),
}


class MaskedPair(Strict):
    """Source and output with their style words masked."""

    source: str
    output: str


class Item(Strict):
    """One output to judge; systems that wrote exactly the same text share it."""

    id: Annotated[str, Field(pattern=r"^item-[0-9]+$")]
    direction: str
    sample_id: str
    source: str
    references: tuple[str, ...]
    output: str
    systems: Annotated[tuple[str, ...], Field(min_length=1)]
    masked: MaskedPair | None = None

    @property
    def copied(self) -> bool:
        """Whether the output equals the source."""
        return is_copy(self.source, self.output)


class Study(Strict):
    """The questions and raters, frozen when the study is created.

    Attributes:
        references_shown: whether raters see the references beside the output.
        bounds: systems that show what can be reached and do not compete, such as ``copy``.
    """

    schema_version: Literal[1] = 1
    name: Annotated[str, Field(min_length=1, max_length=100)]
    seed: int
    per_system: Annotated[int, Field(ge=1)]
    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    raters: Annotated[tuple[Rater, ...], Field(min_length=1)]
    references_shown: bool
    bounds: tuple[str, ...]
    items: Annotated[tuple[Item, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Study:
        if len({item.id for item in self.items}) != len(self.items):
            raise ValueError("two items have the same id")
        if unknown := set(self.tasks) - set(TASKS):
            raise ValueError(f"no such task: {', '.join(sorted(unknown))}")
        if "content_masked" in self.tasks and any(item.masked is None for item in self.items):
            raise ValueError("the task content_masked needs masked texts in every item")
        return self

    @property
    def directions(self) -> tuple[str, ...]:
        """The judged directions, in the order of the items."""
        return tuple(dict.fromkeys(item.direction for item in self.items))

    @property
    def shows_styles(self) -> bool:
        """Whether a task shows the styles, and so the references if the study has them shown."""
        return any(TASKS[task].layout == "rewrite" for task in self.tasks)

    @property
    def systems(self) -> tuple[str, ...]:
        """The judged systems, sorted."""
        return tuple(sorted({system for item in self.items for system in item.systems}))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the frozen content: shows that raters answered the same questions."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class RaterSecret(Strict):
    """The person behind a pseudonym, and the token of their link."""

    name: str
    token: Annotated[str, Field(min_length=32)]


class Private(Strict):
    """What only the study's owner may know."""

    salt: Annotated[str, Field(min_length=16)]
    owner_token: Annotated[str, Field(min_length=32)]
    raters: dict[Rater, RaterSecret]


def load_study(folder: Path | str) -> Study:
    """Read ``study.json`` of a study folder.

    Raises:
        MissingFileError: there is no study.
        InputError: the study is not valid; the message names the field.
    """
    return _load(Path(folder) / STUDY_FILE, Study)


def load_private(folder: Path | str) -> Private:
    """Read ``private.json``; raises the errors of :func:`load_study`, never quoting the content."""
    return _load(Path(folder) / PRIVATE_FILE, Private)


def _load(path: Path, kind: type[Kind]) -> Kind:
    if not path.exists():
        message = f"no study in {path.parent}: {path.name} is missing"
        raise MissingFileError(
            f"{message}. Create one first: tstbench annotate {path.parent} --results ... "
            "--direction ... --raters ..., or create_study in Python."
        )
    try:
        return kind.model_validate_json(read_text(path))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise InputError(f"{path} is damaged: {where}: {problem['msg']}") from None


def write_study(folder: Path, study: Study, private: Private) -> None:
    """Write a new study's files; ``private.json`` is never readable by others, not even briefly."""
    folder.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(folder / PRIVATE_FILE, flags, 0o600), "w", encoding="utf-8") as stream:
        stream.write(private.model_dump_json(indent=2) + "\n")
    write_text(folder / STUDY_FILE, study.model_dump_json(indent=2) + "\n")


@dataclass(frozen=True)
class Links:
    """Secret links, for the owner only: anyone with a rater's link can answer as that rater."""

    owner: str
    raters: dict[str, str]


def links(folder: Path | str, base_url: str) -> Links:
    """The secret link of the owner, and of each rater by name.

    Args:
        folder: the study folder.
        base_url: where the study is served, such as ``http://127.0.0.1:7860/``.
    """
    private = load_private(folder)

    def link(token: str) -> str:
        return f"{base_url.rstrip('/')}/?key={quote(token)}"

    raters = {secret.name: link(secret.token) for secret in private.raters.values()}
    return Links(link(private.owner_token), raters)
