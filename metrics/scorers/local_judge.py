"""A causal language model of transformers that judges on this machine: ``local:MODEL``.

It answers greedily, and so the same each time. A model with a chat template reads the question as a
chat, any other as the beginning of a text. Prompts of equal length are answered together, so that
none is padded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from ...chat.answers import Answers, Call, Reply, Token
from ...chat.cost import Estimate, Planned
from ...console import progress
from ...errors import InputError, require_installed
from .device import Placement
from .encoder_files import HASHED
from .gguf import language_model_folder
from .judge import as_prompt
from .roles import Found
from .weights import load_pretrained, signature_name

_KNOWN = {"messages", "temperature", "max_tokens", "logprobs", "top_logprobs"}
_TOGETHER = 16  # prompts, at most, unless --batch-size says otherwise


def find_local(spec: str, placement: Placement) -> Found:
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
