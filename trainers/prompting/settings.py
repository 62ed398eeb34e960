"""How a prompted system is asked: what identifies its answers, and what only handles them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from ...chat.settings import HANDLING, ServerSettings
from ...settings import setting
from .cleaning import RULES


@dataclass(frozen=True, kw_only=True)
class ChatSettings(ServerSettings):
    """The settings of a prompted system; defaults as published, TSTBench paper, section 4.1.

    A model's name has no default here: each system has its own.
    """

    prompts: str = setting(
        "tstbench-v1",
        "prompt files, names or paths (.toml), separated by commas; with several, "
        "every sentence is asked with each",
    )
    examples: Annotated[int, Field(ge=0, le=64)] = setting(
        0, "examples in a prompt; 0 is zero-shot"
    )
    examples_by: Literal["seed", "bm25", "embedding"] = setting(
        "seed",
        "which examples: the same for all sentences, drawn with --seed; or those whose "
        "source is nearest, by bm25 or embedding",
    )
    examples_file: str = setting(
        "",
        "JSON Lines of source and target to take examples from; default: the training "
        "or validation pairs, else our own for sentiment",
    )
    candidates: Annotated[int, Field(ge=1, le=64)] = setting(
        1, "answers to sample for each prompt, to choose from"
    )
    choose: Literal["joint", "majority"] = setting(
        "joint",
        "of several answers: the best by a reference-free Joint that is trained on the "
        "training sentences, or the most frequent",
    )
    clean: str = setting(
        ",".join(RULES), "rules that clean answers, separated by commas; none keeps them raw"
    )
    via: Literal["chat", "batch"] = setting(
        "chat",
        "chat: one request a sentence; batch: the server's Batch API, slower and cheaper",
        identifies=False,
    )
    data_dir: str = field(default="", metadata=HANDLING)  # as --data-dir, for examples
