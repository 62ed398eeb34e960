"""What a transfer would send, and what it may cost, without sending anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ...chat.cost import Estimate, estimate
from ..system import Request, Task
from .plan import Plan


@dataclass(frozen=True)
class DryRun:
    """What would be sent.

    Attributes:
        lines: one for each request, JSON: ``id``, ``request`` (the exact body), ``prompt_tokens``,
            and ``answered``: whether its answer is on disk already.
        summary: of all, in words.
        estimate: of all, in numbers.
    """

    lines: tuple[str, ...]
    summary: str
    estimate: Estimate


def dry_run(requests: Sequence[Request], task: Task) -> DryRun:
    """Plan a transfer; see :class:`DryRun`.

    Raises:
        InputError: the settings cannot be used.
    """
    plan = Plan.of(task.settings, task.direction)
    grouped = plan.calls(requests, task)
    ids = [one.id for one, calls in zip(requests, grouped, strict=True) for _ in calls]
    flat = [call for calls in grouped for call in calls]
    batched = plan.settings.via == "batch"
    found = estimate(flat, plan.settings, f"{len(requests):,} sentences", batched=batched)
    lines = (
        {
            "id": name,
            "request": one.call.body,
            "prompt_tokens": one.prompt_tokens,
            "answered": one.answered,
        }
        for name, one in zip(ids, found.planned, strict=True)
    )
    return DryRun(tuple(json.dumps(row, ensure_ascii=False) for row in lines), found.summary, found)
