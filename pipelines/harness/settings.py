"""What can be chosen in a harness: the settings of prompted systems and of scoring that it needs.

The model and how it generates are the harness's own settings; everything here has the name and the
default that it has in ``tstbench transfer`` and ``tstbench evaluate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from ...chat.settings import listed
from ...errors import InputError, unknown_name
from ...records import Strict
from ...trainers.prompting.cleaning import RULES
from ...trainers.prompting.prompts import USUAL
from ...trainers.prompting.settings import ChatSettings

EXTRA = "harness"
# As published, TSTBench paper, section 4.1.
TEMPERATURE, TOP_P, MAX_TOKENS = (
    ChatSettings.temperature,
    ChatSettings.top_p,
    ChatSettings.max_tokens,
)


def _split(given: object) -> object:
    """A list is also written as a text with commas: command lines of harnesses differ."""
    return listed(given) if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]


class HarnessSettings(Strict):
    """What to ask and how to score.

    Attributes:
        metrics: names of metrics or families; empty for BLEU, and of ACC and Joint those whose
            scorers exist (see :func:`.questions.usual_metrics`).
        profile: the set of scorers.
        scorers: ``ROLE=SCORER`` texts, instead of the profile's.
        prompts: a prompt file: its name, or a path (``.toml``).
        examples: how many are shown before a sentence; 0 is zero-shot.
        examples_by: which ones, see :class:`~tstbench.trainers.prompting.few_shot.Chooser`.
        examples_file: the user's own, JSON Lines of ``source`` and ``target``.
        seed: of the draw of examples.
        clean: the rules that clean answers; ``none`` keeps them raw.
        data_dir: the user's copy of a licensed corpus.
        device: of the scorers.
    """

    metrics: Names = ()
    profile: str = "embedded"
    scorers: Names = ()
    prompts: str = USUAL
    examples: Annotated[int, Field(ge=0, le=64)] = 0
    examples_by: Literal["seed", "bm25", "embedding"] = "seed"
    examples_file: str = ""
    seed: int = 0
    clean: Names = tuple(RULES)
    data_dir: str = ""
    device: str = "auto"

    @property
    def folder(self) -> Path | None:
        """``data_dir`` as a path."""
        return Path(self.data_dir).expanduser() if self.data_dir else None


def read_settings(given: Mapping[str, object]) -> HarnessSettings:
    """Settings from what a harness hands over.

    Raises:
        UnknownNameError: there is no such setting.
        InputError: a value that a setting does not accept.

    >>> read_settings({"metrics": "s_bleu,acc", "examples": 4}).metrics
    ('s_bleu', 'acc')
    """
    for name in given:
        if name not in HarnessSettings.model_fields:
            raise unknown_name("setting", str(name), HarnessSettings.model_fields)
    try:
        return HarnessSettings.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"setting {where}: {first['msg']}") from error
