"""How a prompted system is asked: what identifies its answers, and what only handles them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from ...errors import InputError
from .cleaning import RULES

OPENAI_URL = "https://api.openai.com/v1"
_HANDLING = {"identifies": False}  # see settings.identifying


@dataclass(frozen=True, kw_only=True)
class ChatSettings:
    """The settings of a prompted system; defaults as published, TSTBench paper, section 4.1.

    A model's name has no default here: each system has its own.
    """

    model: str = field(default="", metadata={"help": "name of the model, as the server calls it"})
    base_url: str = field(
        default="",
        metadata={
            "help": "OpenAI-compatible server, such as http://127.0.0.1:8000/v1; default: "
            "OPENAI_BASE_URL, else OpenAI"
        },
    )
    prompts: str = field(
        default="tstbench-v1",
        metadata={
            "help": "prompt files, names or paths (.toml), separated by commas; with several, "
            "every sentence is asked with each"
        },
    )
    examples: Annotated[int, Field(ge=0, le=64)] = field(
        default=0, metadata={"help": "examples in a prompt; 0 is zero-shot"}
    )
    examples_by: Literal["seed", "bm25", "embedding"] = field(
        default="seed",
        metadata={
            "help": "which examples: the same for all sentences, drawn with --seed; or those whose "
            "source is nearest, by bm25 or embedding"
        },
    )
    examples_file: str = field(
        default="",
        metadata={
            "help": "JSON Lines of source and target to take examples from; default: the training "
            "or validation pairs, else our own for sentiment"
        },
    )
    temperature: Annotated[float, Field(ge=0, le=2)] = field(
        default=0.0, metadata={"help": "of the sampling; 0 is the likeliest answer"}
    )
    top_p: Annotated[float, Field(gt=0, le=1)] = field(
        default=1.0, metadata={"help": "share of the probability to sample from"}
    )
    max_tokens: Annotated[int, Field(ge=1)] = field(
        default=100, metadata={"help": "longest answer, in tokens"}
    )
    omit: str = field(
        default="",
        metadata={
            "help": "parameters that the server does not take, separated by commas, such as "
            "temperature,top_p: they are not sent"
        },
    )
    extra: str = field(
        default="",
        metadata={"help": "more parameters, as a JSON object: '{\"max_completion_tokens\": 200}'"},
    )
    candidates: Annotated[int, Field(ge=1, le=64)] = field(
        default=1, metadata={"help": "answers to sample for each prompt, to choose from"}
    )
    choose: Literal["joint", "majority"] = field(
        default="joint",
        metadata={
            "help": "of several answers: the best by a reference-free Joint that is trained on the "
            "training sentences, or the most frequent"
        },
    )
    clean: str = field(
        default=",".join(RULES),
        metadata={"help": "rules that clean answers, separated by commas; none keeps them raw"},
    )

    concurrency: Annotated[int, Field(ge=1, le=1024)] = field(
        default=16, metadata={"help": "requests at a time", **_HANDLING}
    )
    timeout: Annotated[float, Field(gt=0)] = field(
        default=60.0, metadata={"help": "seconds to wait for an answer", **_HANDLING}
    )
    retries: Annotated[int, Field(ge=0)] = field(
        default=8,
        metadata={"help": "how often to ask again after an error that may pass", **_HANDLING},
    )
    max_requests: Annotated[int, Field(ge=0)] | None = field(
        default=None, metadata={"help": "stop before sending more requests", **_HANDLING}
    )
    max_cost: Annotated[float, Field(ge=0)] | None = field(
        default=None, metadata={"help": "stop before it could cost more US dollars", **_HANDLING}
    )
    prices: str = field(
        default="",
        metadata={
            "help": "US dollars for a million tokens of prompt and of answer, such as 0.5,1.5",
            **_HANDLING,
        },
    )
    via: Literal["chat", "batch"] = field(
        default="chat",
        metadata={
            "help": "chat: one request a sentence; batch: the server's Batch API, slower and "
            "cheaper",
            **_HANDLING,
        },
    )
    key_variable: str = field(
        default="OPENAI_API_KEY",
        metadata={"help": "environment variable that holds the key", **_HANDLING},
    )
    data_dir: str = field(default="", metadata=_HANDLING)  # as --data-dir, for examples

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key.

        Raises:
            InputError: it is no name, and so perhaps the key itself: it is not shown.
        """
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.key_variable):
            raise InputError(
                "--key-variable takes the name of an environment variable, such as OPENAI_API_KEY, "
                "not the key itself"
            )
        return self.key_variable

    @property
    def url(self) -> str:
        """The server's address.

        Raises:
            InputError: it is not one, or holds a secret, which would be written into cards.
        """
        url = (self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and parts.hostname
        except ValueError:
            usable = None
        if not usable:
            raise InputError(
                f"--base-url {url!r} is not the address of a server: write it like "
                "http://127.0.0.1:8000/v1"
            )
        if parts.username or parts.password or parts.query:
            raise InputError(
                "--base-url holds a user name, a password or a query, and it is written into "
                f"cards: leave it out, and export {self.key_name} instead"
            )
        return url

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent besides the messages, in the order of the protocol's documentation.

        Raises:
            InputError: ``omit`` or ``extra`` cannot be read.
        """
        sent: dict[str, Any] = {
            "model": self.model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }
        for name in listed(self.omit):
            if name not in (*sent, "seed") or name == "model":
                known = ", ".join((*list(sent)[1:], "seed"))
                raise InputError(f"--omit {name}: only {known} can be left out")
            sent.pop(name, None)
        return {**sent, **self._extra()}

    @property
    def sends_seed(self) -> bool:
        """Whether answers are sampled, with a seed that the server gets."""
        return self.temperature > 0 and "seed" not in listed(self.omit)

    @property
    def longest_answer(self) -> int:
        """The most tokens that an answer can have, as far as it is known."""
        extra = self._extra().get("max_completion_tokens")
        return extra if isinstance(extra, int) else self.max_tokens

    def _extra(self) -> dict[str, Any]:
        try:
            found = json.loads(self.extra or "{}")
        except ValueError as error:
            raise InputError(f"--extra {self.extra}: not JSON: {error}") from error
        if not isinstance(found, dict):
            raise InputError(f"--extra {self.extra}: write a JSON object, {{...}}")
        if taken := {"model", "messages", "seed", "stream", "n"} & set(found):
            raise InputError(f"--extra: {min(taken)!r} cannot be given there")
        return found


def listed(text: str) -> tuple[str, ...]:
    """The parts of a text that are separated by commas.

    >>> listed("a, b,")
    ('a', 'b')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())
