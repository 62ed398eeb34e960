"""Answers from disk, else from the server; equal requests are sent once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ..talk import say
from .answers import Answers, Call, Reply
from .batch import ask_in_batch
from .budget import Budget
from .client import ChatClient
from .cost import counter, price_of
from .in_order import in_order
from .settings import ServerSettings


class Asking:
    """The requests to one model on one server.

    Args:
        settings: the server, the model, and how patiently they are asked.
        calls: all of them. Where none lacks its answer, no key is needed, and no server.
        batched: whether they go through the Batch API, at its price.
        budget: what may be asked; by default what the settings allow.

    Raises:
        MissingExtraError: openai is not installed.
        InputError: there is no key, or the price that a limit needs is not known.
    """

    def __init__(
        self,
        settings: ServerSettings,
        calls: Iterable[Call],
        *,
        batched: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings
        self._kept = Answers(settings.url, settings.model)
        missing = {call.key: call for call in calls if self._kept.get(call.key) is None}
        self._missing = list(missing.values())
        self._counter = counter(settings.model)
        self._batched = batched
        self.budget = budget or budget_of(settings, batched=batched)
        self._client = ChatClient(settings, self.budget, self._counter) if missing else None
        self._pending: dict[str, asyncio.Future[Reply]] = {}

    async def reply(self, call: Call, of: str) -> Reply:
        """The answer to a request; ``of`` is whose it is, for messages.

        Raises:
            LimitError: the budget does not allow it.
            ServerError: the server refuses it, or does not answer in spite of all retries.
        """
        key = call.key
        if (known := self._kept.get(key)) is not None:
            return known
        if key not in self._pending:
            self._pending[key] = asyncio.ensure_future(self._ask(call, key, of))
        return await self._pending[key]

    async def _ask(self, call: Call, key: str, of: str) -> Reply:
        if self._client is None:
            raise RuntimeError(f"{of}: an answer that was on disk is gone")
        reply = await self._client.ask(call.body, of)
        self._kept.put(key, reply)
        return reply

    def batch(self) -> None:
        """Have the Batch API answer what is missing, if it is asked for."""
        if self._batched and self._client is not None:
            parts = (self._missing, self.settings, self._kept, self.budget, self._counter)
            list(in_order(lambda _: ask_in_batch(*parts), 1, 1))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    def report(self) -> None:
        """Say what it took."""
        budget = self.budget
        if not budget.requests:
            return
        tokens = f"{budget.prompt_tokens:,} + {budget.answer_tokens:,} tokens"
        cost = "price unknown" if budget.spent is None else f"${budget.spent:.4f}"
        say(f"{self.settings.model}: {budget.requests:,} requests, {tokens}, {cost}")


def budget_of(settings: ServerSettings, *, batched: bool = False) -> Budget:
    """What the settings allow to ask; raises :class:`InputError` if a price is not known."""
    price = price_of(settings.model, settings.prices, batch=batched)
    return Budget(settings.model, price, settings.max_requests, settings.max_cost)
