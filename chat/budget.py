"""Limits that the user sets: requests and US dollars, never exceeded."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError, LimitError
from .answers import Reply
from .cost import Price


class Budget:
    """What may still be asked, and what was.

    Before a request the most that it can cost is set aside: its prompt and the longest answer.
    Afterwards, what the server says it was takes its place.

    Args:
        model: for messages.
        price: of the model, if it is known.
        max_requests: how many requests may be sent, those that failed included.
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

    def reserve(self, prompt_tokens: int, longest_answer: int) -> float:
        """Set aside what a request can cost, in US dollars.

        Raises:
            LimitError: it would be more than is allowed.
        """
        most = 0.0 if self.price is None else self.price.of(prompt_tokens, longest_answer)
        if self._max_requests is not None and self.requests >= self._max_requests:
            raise LimitError(
                f"stopped after {self.requests} requests, as --max-requests says; what was "
                "answered is kept: the same command with another limit goes on from there"
            )
        if self._max_cost is not None and self._spent + self._set_aside + most > self._max_cost:
            raise LimitError(
                f"stopped after {self.requests} requests and ${self._spent:.4f}: one more could "
                f"exceed --max-cost {self._max_cost:g}. What was answered is kept: the same "
                "command with another limit goes on from there"
            )
        self.requests += 1
        self._set_aside += most
        return most

    def check_batch(self, sizes: Sequence[int], longest_answer: int) -> None:
        """Check beforehand that all requests of a batch are allowed.

        Args:
            sizes: of their prompts, in tokens.
            longest_answer: of each.

        Raises:
            LimitError: they are not, all together.
        """
        end = "Nothing was sent: a batch is all or nothing"
        allowed = self._max_requests
        if allowed is not None and self.requests + len(sizes) > allowed:
            raise LimitError(
                f"the batch needs {len(sizes):,} requests, and --max-requests allows {allowed:,}. "
                f"{end}"
            )
        if self.price is None or self._max_cost is None:
            return
        most = sum(self.price.of(size, longest_answer) for size in sizes)
        if self._spent + self._set_aside + most > self._max_cost:
            raise LimitError(
                f"the batch needs {len(sizes):,} requests, which could cost ${most:.4f}: more than "
                f"--max-cost {self._max_cost:g}. {end}"
            )

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
        if self.price is not None:
            known = reply.prompt_tokens or reply.completion_tokens
            exact = self.price.of(reply.prompt_tokens, reply.completion_tokens)
            self._spent += exact if known else set_aside
