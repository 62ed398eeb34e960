"""A language model that judges: ``MODEL@URL``, ``completions:MODEL@URL`` or ``local:MODEL``.

The first is a chat model behind any OpenAI-compatible server. The second is asked over
``/v1/completions``, as models before chat were (Ostheimer et al. asked InstructGPT, OPT and BLOOM):
the same question, and "Answer:" below it. The third is a causal language model of transformers that
answers on this machine, see :mod:`.local_judge`.

There are no weights to hash: what identifies it is the model's name and the server's address. A server
can put other weights under the same name; the answers on disk are what makes a score reproducible.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from ...chat.settings import Handling, ServerSettings
from ...console import progress
from ...datasets_scripts.directions import Direction
from ...errors import InputError
from .device import Placement
from .roles import Found
from .weights import signature_name

if TYPE_CHECKING:  # listing the metrics must not load the client's libraries
    from ...chat.answers import Call, Reply
    from ...chat.cost import Estimate

_MOST_ALTERNATIVES = 5  # tokens at each place that /v1/completions gives
_LOCAL, _COMPLETIONS = "local:", "completions:"
_BARE_ADDRESS = re.compile(r"(?:localhost|[\w.-]+:\d+)(?:/.*)?")


def find(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """The judge named ``[BACKEND:]MODEL[@URL]``; without an address at OPENAI_BASE_URL, else OpenAI.

    Nothing is sent, and no key is needed, until a score is asked for.

    Raises:
        InputError: there is no model's name, or the address is not one or holds a secret.
    """
    from ...store import canonical

    if spec.startswith(_LOCAL):
        from .local_judge import find_local

        return find_local(spec.removeprefix(_LOCAL), placement)
    completes = spec.startswith(_COMPLETIONS)
    spec = spec.removeprefix(_COMPLETIONS)
    settings = judge_settings(spec, placement.asking)
    name = Path(settings.model).name if settings.model.startswith("/") else settings.model
    return Found(
        signature_name(name),
        hashlib.sha256(canonical([settings.url, settings.model])).hexdigest(),
        # Not for the whole process: limits are those of a command.
        cache(partial(Judge, settings, completes=completes)),
        {
            "server": urlsplit(settings.url).hostname,
            **({"backend": "completions"} if completes else {}),
        },
    )


class JudgeSettings(ServerSettings):
    """A server and its model, called as ``--scorer`` and the options of ``llm_judge`` name them."""

    shorter: ClassVar[str] = "shorter prompts"
    no_template: ClassVar[str] = "a model that chats, or ask this one with completions:MODEL@URL"

    def flag(self, name: str) -> str:
        """How a user gives a setting, for messages."""
        if name in ("model", "base_url"):
            return "--scorer judge=MODEL@URL"
        if name in ("omit", "extra", "max_tokens", "temperature"):
            return f"--set llm_judge.{name}="
        return super().flag(name)


def judge_settings(spec: str, handling: Handling) -> ServerSettings:
    """Model and address of a judge.

    >>> settings = judge_settings("my/model@http://127.0.0.1:8000/v1/", Handling())
    >>> settings.model, settings.url
    ('my/model', 'http://127.0.0.1:8000/v1')
    """
    model, url = spec, ""  # messages do not show it: it may hold a password
    if found := re.fullmatch(r"(.*?)@(https?://.*)", spec):
        model, url = found[1], found[2]
    elif "@" in spec and _BARE_ADDRESS.fullmatch(spec.rpartition("@")[2]):
        raise InputError("--scorer judge=MODEL@URL: an address begins with http:// or https://")
    if not model.strip():
        raise InputError("--scorer judge=MODEL@URL: name the model before the address")
    given = {field.name: getattr(handling, field.name) for field in fields(Handling)}
    settings = JudgeSettings(model=model.strip(), base_url=url, **given)
    return replace(
        settings, base_url=settings.url
    )  # as it is now, whatever the variable says later


class Judge:
    """Answers requests: from memory, from disk, else from the server. Each is sent once.

    Args:
        settings: server and model.
        completes: whether it is a completion model, not one that chats.

    Raises:
        InputError: a limit in US dollars is given, and the model's price is not known.
    """

    def __init__(self, settings: ServerSettings, *, completes: bool = False) -> None:
        from ...chat.cost import budget_of

        self.settings, self._completes = settings, completes
        self._budget = budget_of(settings)
        self._known: dict[str, Reply] = {}

    def replies(self, requests: Sequence[str]) -> list[Reply]:
        """The answers to N requests, in order.

        Each that comes is kept on disk at once: after a limit, an error or Ctrl-C nothing is lost.

        Args:
            requests: each a JSON object with ``messages`` and the parameters, without ``model``.

        Raises:
            InputError: there is no key.
            LimitError: ``max_requests`` or ``max_cost`` is reached.
            ServerError: the server refuses, or does not answer in spite of all retries.
        """
        from ...chat.client import Client

        new = [one for one in dict.fromkeys(requests) if one not in self._known]
        calls = [self._call(one) for one in new]
        client = Client(self.settings, calls, budget=self._budget)
        numbers = [f"judgement {number}" for number in range(1, len(new) + 1)]
        with (
            progress(len(new), "judgements", unit="") as bar,
            closing(client.replies([[call] for call in calls], numbers)) as several,
        ):
            for one, (found,) in zip(new, several, strict=True):
                self._known[one] = found
                bar.update()
        return [self._known[one] for one in requests]

    def estimate(self, requests: Sequence[str]) -> Estimate:
        """What some requests would take; nothing is sent."""
        from ...chat.cost import estimate

        calls = [self._call(one) for one in requests]
        return estimate(calls, self.settings, f"{len(calls):,} judgements")

    def _call(self, request: str) -> Call:
        from ...chat.answers import Call

        body = json.loads(request)
        if self._completes:
            body = {"prompt": as_prompt(body.pop("messages")), **body}
            if body.pop("top_logprobs", None):
                body["logprobs"] = _MOST_ALTERNATIVES
        return Call({"model": self.settings.model, **body}, self.settings.url)


def as_prompt(messages: Sequence[Mapping[str, str]]) -> str:
    """The text that a model goes on with, where it does not chat.

    >>> as_prompt([{"role": "user", "content": "How fluent is it?"}]).split()
    ['How', 'fluent', 'is', 'it?', 'Answer:']
    """
    return "\n\n".join([*(message["content"] for message in messages), "Answer:"])
