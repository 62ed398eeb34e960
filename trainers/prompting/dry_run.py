"""What a transfer would send, and what it may cost, without sending anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..system import Request, Task
from .answers import Answers
from .cost import Price, counter, price_of
from .plan import Plan


@dataclass(frozen=True)
class DryRun:
    """What would be sent.

    Attributes:
        lines: one for each request, JSON: ``id``, ``request`` (the exact body), ``prompt_tokens``,
            and ``answered``: whether its answer is on disk already.
        summary: of all, in words.
    """

    lines: tuple[str, ...]
    summary: str


def dry_run(requests: Sequence[Request], task: Task) -> DryRun:
    """Plan a transfer; see :class:`DryRun`.

    Raises:
        InputError: the settings cannot be used.
    """
    plan = Plan.of(task.settings, task.direction)
    settings = plan.settings
    kept, counting = Answers(settings.url, settings.model), counter(settings.model)
    lines, tokens, asked = [], 0, set()
    for request, calls in zip(requests, plan.calls(requests, task), strict=True):
        for call in calls:
            size, key = counting.prompt(call.body["messages"]), call.key
            answered = kept.get(key) is not None
            row = {
                "id": request.id,
                "request": call.body,
                "prompt_tokens": size,
                "answered": answered,
            }
            lines.append(json.dumps(row, ensure_ascii=False))
            if not answered and key not in asked:  # equal requests are sent once
                asked.add(key)
                tokens += size
    price = price_of(settings.model, settings.prices, batch=settings.via == "batch")
    answer_tokens = len(asked) * settings.longest_answer
    summary = (
        f"{len(asked):,} requests to {settings.url} for {len(requests):,} sentences, "
        f"{len(lines) - len(asked):,} more answered already or equal to another: {tokens:,} tokens "
        f"of prompts ({counting.how}), at most {answer_tokens:,} of answers; "
        f"{_cost(price, tokens, answer_tokens, settings.model)}. Nothing was sent"
    )
    return DryRun(tuple(lines), summary)


def _cost(price: Price | None, prompts: int, answers: int, model: str) -> str:
    if price is None:
        return f"the price of {model!r} is not known (--prices PROMPT,ANSWER)"
    least, most = price.of(prompts, 0), price.of(prompts, answers)
    return f"${least:.4f} to ${most:.4f} ({price.source})"
