"""What requests would take, known before any is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .answers import Answers, Call, texts_of
from .cost import Price, counter, price_of
from .settings import ServerSettings


@dataclass(frozen=True)
class Planned:
    """A request that may be sent.

    Attributes:
        call: the request.
        prompt_tokens: of its messages, counted or estimated.
        answered: whether its answer is on disk already.
    """

    call: Call
    prompt_tokens: int
    answered: bool


@dataclass(frozen=True)
class Estimate:
    """What some requests would take.

    Attributes:
        planned: one for each request, in order.
        summary: of all, in words.
        requests: those that would be sent.
        prompt_tokens: of these.
        answer_tokens: at most.
        price: of the model; ``None`` if it is not known.
    """

    planned: tuple[Planned, ...]
    summary: str
    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    price: Price | None = None


def estimate(
    calls: Sequence[Call], settings: ServerSettings, what: str, *, batched: bool = False
) -> Estimate:
    """Count the requests that have no answer yet, their tokens, and what they may cost.

    Args:
        calls: all requests; equal ones would be sent once.
        settings: of the server.
        what: whose they are, for the summary: ``40 sentences``.
        batched: whether they would go through the Batch API.
    """
    kept, counting = Answers(settings.url, settings.model), counter(settings.model)
    planned, tokens, asked = [], 0, set()
    for call in calls:
        size, key = counting.prompt(texts_of(call.body)), call.key
        answered = kept.get(key) is not None
        planned.append(Planned(call, size, answered))
        if not answered and key not in asked:
            asked.add(key)
            tokens += size
    price = price_of(settings.model, settings.prices, batch=batched)
    answer_tokens = len(asked) * settings.longest_answer
    summary = (
        f"{len(asked):,} requests to {settings.url} for {what}, "
        f"{len(calls) - len(asked):,} more answered already or equal to another: {tokens:,} tokens "
        f"of prompts ({counting.how}), at most {answer_tokens:,} of answers; "
        f"{_cost(price, tokens, answer_tokens, settings.model)}. Nothing was sent"
    )
    return Estimate(tuple(planned), summary, len(asked), tokens, answer_tokens, price)


def _cost(price: Price | None, prompts: int, answers: int, model: str) -> str:
    if price is None:
        return f"the price of {model!r} is not known (--prices PROMPT,ANSWER)"
    least, most = price.of(prompts, 0), price.of(prompts, answers)
    return f"${least:.4f} to ${most:.4f} ({price.source})"
