"""A language model that judges: ``MODEL@URL``, ``completions:MODEL@URL`` or ``local:MODEL``.

The first is a chat model behind any OpenAI-compatible server. The second is asked over
``/v1/completions``, as models before chat were (Ostheimer et al. asked InstructGPT, OPT and BLOOM):
the same question, and "Answer:" below it. The third is a causal language model of transformers that
answers on this machine, greedily and so the same each time: with a chat template it reads the question
as a chat, else as the beginning of a text.

Of a server there are no weights to hash: what identifies it is the model's name and the address. It
can put other weights under the same name; the answers on disk are what makes a score reproducible.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from ...chat.answers import Answers, Call, Reply, Token
from ...chat.client import Client
from ...chat.cost import Estimate, Planned, budget_of, estimate
from ...chat.settings import Handling, ServerSettings
from ...console import progress
from ...datasets_scripts.directions import Direction
from ...errors import InputError, require_installed
from ...store import canonical
from .device import Placement
from .encoder_files import HASHED
from .gguf import language_model_folder
from .roles import Found
from .weights import load_pretrained, signature_name

_MOST_ALTERNATIVES = 5  # tokens at each place that /v1/completions gives
_KNOWN = {"messages", "temperature", "max_tokens", "logprobs", "top_logprobs"}
_TOGETHER = 16  # prompts, at most, unless --batch-size says otherwise
_LOCAL, _COMPLETIONS = "local:", "completions:"
_BARE_ADDRESS = re.compile(r"(?:localhost|[\w.-]+:\d+)(?:/.*)?")


def find(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """The judge named ``[BACKEND:]MODEL[@URL]``; without an address at OPENAI_BASE_URL, else OpenAI.

    Nothing is sent, and no key is needed, until a score is asked for.

    Raises:
        InputError: there is no model's name, or the address is not one or holds a secret.
    """
    if spec.startswith(_LOCAL):
        return _find_local(spec.removeprefix(_LOCAL), placement)
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
    no_template: ClassVar[str] = (
        "give a model that chats, or ask this one with completions:MODEL@URL"
    )

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
        calls = [self._call(one) for one in requests]
        return estimate(calls, self.settings, f"{len(calls):,} judgements")

    def _call(self, request: str) -> Call:
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


def _find_local(spec: str, placement: Placement) -> Found:
    """The model of a Hub id, folder or GGUF file; its weights are hashed, not loaded.

    Raises:
        MissingScorerError: it is not on this machine and cannot be downloaded, or not complete.
    """
    require_installed("transformers", "embedded")
    covered = (*HASHED, "chat_template*", "generation_config.json")
    folder, name, digest = language_model_folder(spec, covered)
    name = signature_name(name)
    load = cache(partial(_judge, folder, placement, name, digest))
    return Found(name, digest, load, {"backend": "local"}, on_device=True)


class LocalJudge:
    """Answers requests with a model that is loaded here; each is answered once.

    Args:
        model: of transformers, for causal language modelling.
        tokenizer: its tokenizer.
        name: what identifies model and number type, for the answers that are kept.
        batch_size: the most prompts at once.
    """

    def __init__(
        self, model: Any, tokenizer: Any, name: str, batch_size: int | None = None
    ) -> None:
        self._model, self._tokenizer, self._name = model, tokenizer, name
        self._batch_size = batch_size or _TOGETHER
        self._longest: int | None = getattr(model.config, "max_position_embeddings", None)
        self._kept = Answers("local", name)
        ends = model.generation_config.eos_token_id
        self._ends = {tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])}

    def replies(self, requests: Sequence[str]) -> list[Reply]:
        """The answers to N requests, in order; each that comes is kept on disk at once.

        Raises:
            InputError: a request samples, has a parameter that is not known here, or is longer
                than the model's context.
        """
        calls = {one: self._call(one) for one in requests}
        groups: dict[tuple[int, int, bool], list[tuple[Call, list[int]]]] = {}
        for call in calls.values():
            if self._kept.get(call.key) is None:
                ids, most = self._ids(call), call.body["max_tokens"]
                wanted = bool(call.body.get("logprobs"))
                groups.setdefault((len(ids), most, wanted), []).append((call, ids))
        bar = progress(sum(map(len, groups.values())), "judgements", unit="")
        try:
            for (_, most, wanted), some in sorted(groups.items(), key=lambda one: one[0]):
                for start in range(0, len(some), self._batch_size):
                    batch = some[start : start + self._batch_size]
                    found = self._answers([ids for _, ids in batch], most, wanted)
                    for (call, _), reply in zip(batch, found, strict=True):
                        self._kept.put(call.key, reply)
                        bar.update()
        finally:
            bar.close()
        return [self._reply(calls[one]) for one in requests]

    def estimate(self, requests: Sequence[str]) -> Estimate:
        """The prompts' lengths; nothing is computed."""
        calls = [self._call(one) for one in dict.fromkeys(requests)]
        planned = tuple(
            Planned(call, len(self._ids(call)), self._kept.get(call.key) is not None)
            for call in calls
        )
        tokens = sum(one.prompt_tokens for one in planned if not one.answered)
        return Estimate(
            planned,
            f"{len(planned):,} judgements by {self._name} on this machine, "
            f"{sum(one.answered for one in planned):,} of them answered already: {tokens:,} tokens "
            "of prompts. Nothing was computed",
        )

    def _reply(self, call: Call) -> Reply:
        reply = self._kept.get(call.key)
        if reply is None:
            raise RuntimeError("an answer that was on disk is gone")
        return reply

    def _call(self, request: str) -> Call:
        body = json.loads(request)
        if more := sorted(body.keys() - _KNOWN):
            raise InputError(
                f"llm_judge.extra: a local judge knows no {more[0]!r}, only {', '.join(_KNOWN)}"
            )
        if body.get("temperature") or "max_tokens" not in body:
            raise InputError(
                "a local judge writes its likeliest answer, of limited length: leave "
                "llm_judge.temperature at 0 and do not omit max_tokens"
            )
        return Call({"model": self._name, **body}, "local")

    def _ids(self, call: Call) -> list[int]:
        tokenizer, messages = self._tokenizer, call.messages
        if tokenizer.chat_template:
            text = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False
            )
            ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        else:
            ids = tokenizer(as_prompt(messages))["input_ids"]
            while ids and ids[-1] in self._ends:  # some tokenizers end every text
                ids.pop()
        if self._longest and len(ids) + call.body["max_tokens"] > self._longest:
            raise InputError(
                f"a question of {len(ids)} tokens and {call.body['max_tokens']} of an answer are "
                f"longer than the judge's context of {self._longest}: lower llm_judge.max_tokens, "
                "give shorter prompts, or another model"
            )
        return ids

    def _answers(self, ids: list[list[int]], most: int, wanted: bool) -> list[Reply]:
        """Greedy answers of at most ``most`` tokens to prompts of equal length."""
        import torch

        rows = torch.tensor(ids, device=self._model.device)
        written: list[list[tuple[int, list[tuple[int, float]]]]] = [[] for _ in ids]
        ended, past = [False] * len(ids), None
        with torch.inference_mode():
            for _ in range(most):
                found = self._model(input_ids=rows, past_key_values=past, use_cache=True)
                past = found.past_key_values
                likely = found.logits[:, -1].float().log_softmax(-1)
                values, tokens = likely.topk(min(20, likely.shape[-1]))
                rows = tokens[:, :1]
                for place, (some, these) in enumerate(
                    zip(tokens.tolist(), values.tolist(), strict=True)
                ):
                    ended[place] = ended[place] or some[0] in self._ends
                    if not ended[place]:
                        written[place].append((some[0], list(zip(some, these, strict=True))))
                if all(ended):
                    break
        return [
            Reply(
                self._text([token for token, _ in row]),
                "stop" if end else "length",
                len(ids[0]),
                len(row),
                self._name,
                self._tokens(row) if wanted else None,
            )
            for row, end in zip(written, ended, strict=True)
        ]

    def _tokens(self, row: list[tuple[int, list[tuple[int, float]]]]) -> tuple[Token, ...]:
        """Each token's text as it stands in the answer, so that together they are the answer."""
        found, before = [], ""
        for place, (_, others) in enumerate(row):
            whole = self._text([token for token, _ in row[: place + 1]])
            alternatives = tuple((self._text([one]), value) for one, value in others)
            found.append((whole[len(before) :], alternatives))
            before = whole
        return tuple(found)

    def _text(self, ids: list[int]) -> str:
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text


def _judge(folder: Path, placement: Placement, name: str, digest: str) -> LocalJudge:
    model, tokenizer = _loaded(folder, placement, digest)
    identity = f"{name}#{digest[:12]} {placement.dtype}"
    return LocalJudge(model, tokenizer, identity, placement.batch_size)


@lru_cache(maxsize=1)
def _loaded(folder: Path, placement: Placement, _digest: str) -> tuple[Any, Any]:
    return load_pretrained(folder, placement, "AutoModelForCausalLM")
