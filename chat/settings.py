"""How a chat server is asked: what identifies its answers, and what only handles them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar
from urllib.parse import unquote, urlsplit

from pydantic import Field

from ..errors import InputError
from ..settings import Count, Natural, NotNegative, Positive, setting

OPENAI_URL = "https://api.openai.com/v1"
SECRET = 8  # characters: a shorter key is a word, such as EMPTY
# What looks like a key of one of the known services, and how fields are called that hold one.
_KEY = re.compile(r"(?<![A-Za-z0-9])(?:sk-|sk_|pk_|gsk_|hf_|xai-|AIza)[\w-]{16,}")
_KEY_NAME = re.compile(r"api[-_ ]?key|secret|passw|authori[sz]ation|bearer|access[-_]?token", re.I)
_handled = partial(setting, identifies=False)  # of fields that change no answer


@dataclass(frozen=True, kw_only=True)
class Handling:
    """How patiently a server is asked, and within which limits: no answer depends on it."""

    concurrency: Annotated[int, Field(ge=1, le=1024)] = _handled(16, "requests at a time")
    timeout: Positive = _handled(60.0, "seconds to wait for an answer")
    retries: Natural = _handled(8, "how often to ask again after an error that may pass")
    max_requests: Natural | None = _handled(None, "stop before sending more requests")
    max_cost: NotNegative | None = _handled(None, "stop before it could cost more US dollars")
    prices: str = _handled(
        "", "US dollars for a million tokens of prompt and of answer, such as 0.5,1.5"
    )
    key_variable: str = _handled("OPENAI_API_KEY", "environment variable that holds the key")

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


@dataclass(frozen=True, kw_only=True)
class ServerSettings(Handling):
    """A model behind an OpenAI-compatible server, and the parameters that it is sent."""

    model: str = setting("", "name of the model, as the server calls it")
    base_url: str = setting(
        "",
        "OpenAI-compatible server, such as http://127.0.0.1:8000/v1; default: OPENAI_BASE_URL, "
        "else OpenAI",
    )
    temperature: Annotated[float, Field(ge=0, le=2)] = setting(
        0.0, "of the sampling; 0 is the likeliest answer"
    )
    top_p: Annotated[float, Field(gt=0, le=1)] = setting(
        1.0, "share of the probability to sample from"
    )
    max_tokens: Count = setting(100, "longest answer, in tokens")
    omit: str = setting(
        "",
        "parameters that the server does not take, separated by commas, such as "
        "temperature,top_p: they are not sent",
    )
    extra: str = setting(
        "", "more parameters, as a JSON object: '{\"max_completion_tokens\": 200}'"
    )

    #: what messages advise where a prompt is too long
    shorter: ClassVar[str] = "fewer --examples"
    #: the same where the model has no chat template
    no_template: ClassVar[str] = (
        "give another --model, one that was trained to chat (often called -Instruct or -it), or "
        "start the server with a template, such as vllm serve MODEL --chat-template FILE"
    )

    def flag(self, name: str) -> str:
        """How a user gives a setting, for messages."""
        return f"--{name.replace('_', '-')}"

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
                f"{self.flag('base_url')} is not the address of a server: write it like "
                "http://127.0.0.1:8000/v1"
            )
        secrets = (parts.username, parts.password, parts.query, parts.fragment)
        if any(secrets) or self._has_key(url):
            raise InputError(
                f"{self.flag('base_url')} holds a user name, a password, a query or a key, and it "
                f"is written into cards: leave it out, and export {self.key_name} instead"
            )
        key = os.environ.get(self.key_name, "").strip()
        if _KEY.search(self.model) or (len(key) >= SECRET and key == self.model):
            raise InputError(
                f"{self.flag('model')} is a key, and it is written into cards: name a model, and "
                f"export {self.key_name} instead"
            )
        return url

    def _has_key(self, text: str) -> bool:
        """Whether a text that is written into cards has the key, or what looks like one."""
        key = os.environ.get(self.key_name, "").strip()
        return _KEY.search(text) is not None or (len(key) >= SECRET and key in unquote(text))

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
                raise InputError(f"{self.flag('omit')} {name}: only {known} can be left out")
            sent.pop(name, None)
        return {**sent, **self._extra()}

    @property
    def sends_seed(self) -> bool:
        """Whether answers are sampled, with a seed that the server gets."""
        return self.temperature > 0 and "seed" not in listed(self.omit)

    def longest_answer(self, body: Mapping[str, Any]) -> int:
        """The most tokens that the answer to a request can have, as far as it is known."""
        given = (body.get(name) for name in ("max_completion_tokens", "max_tokens"))
        return next((most for most in given if isinstance(most, int)), self.max_tokens)

    def _extra(self) -> dict[str, Any]:
        if self._has_key(self.extra) or _KEY_NAME.search(self.extra):
            raise InputError(
                f"{self.flag('extra')} holds a key, and it is written into cards: leave it out, "
                f"and export {self.key_name} instead"
            )
        try:
            found = json.loads(self.extra or "{}")
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.flag('extra')}: not JSON: {error}") from error
        if not isinstance(found, dict):
            raise InputError(f"{self.flag('extra')}: write a JSON object, {{...}}")
        if taken := {"model", "messages", "seed", "stream", "n"} & set(found):
            raise InputError(f"{self.flag('extra')}: {min(taken)!r} cannot be given there")
        return found


def listed(text: str) -> tuple[str, ...]:
    """The parts of a text that are separated by commas.

    >>> listed("a, b,")
    ('a', 'b')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())
