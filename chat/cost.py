"""What requests cost: tokens, the prices of a few models, limits, and an estimate beforehand.

Where the server counts tokens, its counts are used. Beforehand they are counted with tiktoken if it
is installed and has the model's vocabulary at hand, and otherwise estimated, which is said.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import InputError, LimitError
from ..files import read_text
from .answers import Answers, Call, Reply
from .settings import ServerSettings, listed

BATCH_DISCOUNT = 0.5  # of OpenAI's Batch API
_MILLION = 1_000_000
_FILE = Path(__file__).with_name("prices.json")
_PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]|_")
_WORD = 6  # letters; longer words are split by most vocabularies
_AROUND = 4  # tokens around a message in the chat format
_BEGINS = 3  # tokens that begin the answer


@dataclass(frozen=True)
class Price:
    """Of a model: US dollars for a million tokens.

    Attributes:
        prompt: of what is sent.
        answer: of what comes back.
        source: where the price is from, and of which day.
    """

    prompt: float
    answer: float
    source: str

    def of(self, prompt_tokens: float, answer_tokens: float = 0) -> float:
        """US dollars: of the prompt alone, unless the tokens of an answer are given."""
        return (prompt_tokens * self.prompt + answer_tokens * self.answer) / _MILLION


def price_of(model: str, given: str = "", *, batch: bool = False) -> Price | None:
    """The price of a model; ``None`` if it is not known.

    Args:
        model: its name.
        given: the user's own, ``prompt,answer``; it takes precedence.
        batch: whether it is asked through the Batch API.

    Raises:
        InputError: ``given`` is not two numbers.

    >>> price_of("gpt-4-0125-preview").of(1_000_000, 100_000)
    13.0
    >>> price_of("my-model") is None
    True
    """
    discount = BATCH_DISCOUNT if batch else 1.0
    if given:
        try:
            prompt, answer = map(float, listed(given))
        except ValueError:
            prompt = answer = math.nan
        if not (0 <= prompt < math.inf and 0 <= answer < math.inf):
            raise InputError(
                f"--prices {given}: give two numbers, the US dollars for a million tokens of the "
                "prompt and of the answer, such as 0.5,1.5"
            )
        return Price(prompt, answer, "as given")
    table = json.loads(read_text(_FILE))
    row = table["models"].get(model)
    if row is None:
        return None
    source = f"{table['sources'][row['source']]}, {row['date']}"
    return Price(row["prompt"] * discount, row["answer"] * discount, source)


@dataclass(frozen=True)
class Counter:
    """How tokens are counted.

    Attributes:
        how: in words.
        count: of a text.
    """

    how: str
    count: Callable[[str], int]

    def prompt(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """The tokens of a chat's messages, with what the chat format puts around them."""
        return _BEGINS + sum(_AROUND + self.count(str(m["content"])) for m in messages)


@cache
def counter(model: str) -> Counter:
    """How to count the tokens of a model."""
    try:
        encoding = import_module("tiktoken").encoding_for_model(model)
    except Exception:  # not installed; an unknown model; no vocabulary, and no network to fetch it
        return Counter("an estimate", estimated_tokens)
    return Counter(f"counted with {encoding.name}", lambda text: len(encoding.encode(text)))


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: rather too many, so that a limit is not exceeded.

    A word counts as one token for each six letters begun, a punctuation mark and three digits as
    one; letters outside ASCII as one for each two bytes.

    >>> estimated_tokens("the restaurant was n't good !")
    9
    """
    return sum(
        math.ceil(len(piece) / _WORD) if piece.isascii() else math.ceil(len(piece.encode()) / 2)
        for piece in _PIECES.findall(text)
    )


class Budget:
    """What may still be asked, and what was.

    Before a request the most that it can cost is set aside: its prompt and the longest answer.
    Afterwards, what the server says it was takes its place.

    Args:
        model: for messages.
        price: of the model, if it is known.
        max_requests: how many requests may be sent, those that the server failed on included.
        max_cost: US dollars.

    Raises:
        InputError: a cost is given, and the price is not known.
    """

    def __init__(
        self,
        model: str,
        price: Price | None,
        max_requests: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        if max_cost is not None and price is None:
            raise InputError(
                f"--max-cost: the price of {model!r} is not known; give it with --prices "
                "PROMPT,ANSWER in US dollars for a million tokens"
            )
        self.price, self._max_requests, self._max_cost = price, max_requests, max_cost
        self.requests = 0
        self.prompt_tokens = 0
        self.answer_tokens = 0
        self._spent = 0.0
        self._set_aside = 0.0

    @property
    def spent(self) -> float | None:
        """US dollars, as far as the price is known."""
        return None if self.price is None else self._spent

    def most(self, prompt_tokens: int, longest_answer: int) -> float:
        """The US dollars that a request can cost; 0 if the price is not known."""
        return 0.0 if self.price is None else self.price.of(prompt_tokens, longest_answer)

    def reserve(self, most: float, requests: int = 1) -> None:
        """Set aside what some requests can cost: all of them, or none.

        Raises:
            LimitError: it would be more than is allowed.
        """
        end = "What was answered is kept: the same command with another limit goes on from there"
        if self._max_requests is not None and self.requests + requests > self._max_requests:
            raise LimitError(
                f"stopped after {self.requests:,} requests, before {requests:,} more: "
                f"--max-requests is {self._max_requests:,}. {end}"
            )
        if self._max_cost is not None and self._spent + self._set_aside + most > self._max_cost:
            raise LimitError(
                f"stopped after {self.requests:,} requests and ${self._spent:.4f}, before "
                f"{requests:,} more, which could cost ${most:.4f}: --max-cost is "
                f"{self._max_cost:g}. {end}"
            )
        self.requests += requests
        self._set_aside += most

    def settle(self, set_aside: float, reply: Reply | None, *, free: bool = False) -> None:
        """Replace what was set aside by what it was.

        Args:
            set_aside: for the request.
            reply: to it; ``None``: none came.
            free: whether a request without a reply surely cost nothing. Otherwise it counts as all
                that was set aside: a server can bill an answer that got lost.
        """
        self._set_aside -= set_aside
        if reply is None:
            self._spent += 0.0 if free else set_aside
            return
        self.prompt_tokens += reply.prompt_tokens
        self.answer_tokens += reply.completion_tokens
        known = reply.prompt_tokens or reply.completion_tokens
        self._spent += (
            self.most(reply.prompt_tokens, reply.completion_tokens) if known else set_aside
        )


def budget_of(settings: ServerSettings, *, batched: bool = False) -> Budget:
    """What the settings allow to ask; raises :class:`InputError` if a price is not known."""
    price = price_of(settings.model, settings.prices, batch=batched)
    return Budget(settings.model, price, settings.max_requests, settings.max_cost)


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
    planned, tokens, answer_tokens, asked = [], 0, 0, set()
    for call in calls:
        size, key = counting.prompt(call.messages), call.key
        answered = kept.get(key) is not None
        planned.append(Planned(call, size, answered))
        if not answered and key not in asked:
            asked.add(key)
            tokens += size
            answer_tokens += settings.longest_answer(call.body)
    price = price_of(settings.model, settings.prices, batch=batched)
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
    least, most = price.of(prompts), price.of(prompts, answers)
    return f"${least:.4f} to ${most:.4f} ({price.source})"
