"""Answers from disk, else from the server; equal requests are sent once.

By the Batch API, all requests are one file, answered within a day, at half the price. A batch that
was begun is remembered beside the answers: a command that was interrupted, or that is started
again, waits for the same one and pays nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..console import say
from ..errors import InputError, ServerError
from ..files import lock, read_text, write_json
from .answers import Answers, Call, Reply, answers_folder, texts_of
from .bounded import TooMuchError, bounded_client
from .budget import Budget
from .client import ChatClient, api_key
from .cost import Counter, counter, price_of
from .in_order import in_order
from .refusals import NO_KEY, Passing, RefusedError, fatal, reply_of
from .settings import ServerSettings

_AT_MOST = 50_000  # requests in one batch
_MAX_FILE = 1 << 30  # bytes of all its answers: 20 KiB each
_FIRST_LOOK, _LONGEST_LOOK = 1.0, 60.0  # seconds between two looks
_ENDED = ("completed", "failed", "expired", "cancelled")


async def ask_in_batch(
    calls: Sequence[Call],
    settings: ServerSettings,
    kept: Answers,
    budget: Budget,
    counter: Counter,
) -> None:
    """Keep the answers to all calls; those that a batch fails on stay missing.

    Raises:
        InputError: there is no key.
        LimitError: the budget does not allow all of them; none is sent then.
        ServerError: the server has no Batch API, or the batch failed.
    """
    import openai

    sizes = [counter.prompt(texts_of(call.body)) for call in calls]
    budget.check_batch(sizes, settings.longest_answer)
    key = api_key(settings)
    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=settings.url,
        timeout=settings.timeout,
        http_client=bounded_client(ssl.create_default_context(), key, _MAX_FILE),
    )
    try:
        for start in range(0, len(calls), _AT_MOST):
            await _one_batch(
                client, calls[start : start + _AT_MOST], settings, kept, budget, counter
            )
    except (openai.OpenAIError, TooMuchError) as error:
        failure = fatal(error, settings, "the batch", has_key=key != NO_KEY)
        if isinstance(failure, RefusedError):
            raise failure.with_hint("") from None
        raise ServerError(
            f"{settings.url} did not take the batch: {failure}. Without --via batch, requests are "
            "sent one by one"
        ) from error
    finally:
        await client.close()


async def _one_batch(
    client: Any,
    calls: Sequence[Call],
    settings: ServerSettings,
    kept: Answers,
    budget: Budget,
    counter: Counter,
) -> None:
    import openai

    keys = [call.key for call in calls]
    note = (
        answers_folder() / "batches" / f"{hashlib.sha256(''.join(keys).encode()).hexdigest()}.json"
    )
    with lock(note):
        aside = [
            budget.reserve(counter.prompt(texts_of(call.body)), settings.longest_answer)
            for call in calls
        ]
        number = _begun(note)
        if number is None:
            number = await _begin(client, calls, keys)
            write_json(note, {"batch": number})
            say(f"batch {number}: {len(calls):,} requests; this command can be interrupted")
        try:
            replies = await _replies(client, await _wait(client, number, note, settings))
        except openai.NotFoundError:
            note.unlink(missing_ok=True)
            raise ServerError(
                f"{settings.url} has forgotten batch {number}: the same command begins another"
            ) from None
        for key, most in zip(keys, aside, strict=True):
            budget.settle(most, replies.get(key), free=key not in replies)
            if key in replies:
                kept.put(key, replies[key])
        note.unlink(missing_ok=True)
    if not replies:
        raise ServerError(f"batch {number} has no answers: the server says why in its list")


def _begun(note: Path) -> str | None:
    try:
        found = json.loads(read_text(note))["batch"]
    except (OSError, InputError, ValueError, KeyError):
        return None
    return found if isinstance(found, str) else None


async def _begin(client: Any, calls: Sequence[Call], keys: Sequence[str]) -> str:
    lines = [
        {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": call.body}
        for key, call in zip(keys, calls, strict=True)
    ]
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    file = await client.files.create(file=("requests.jsonl", content), purpose="batch")
    batch = await client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    return str(batch.id)


async def _wait(client: Any, number: str, note: Path, settings: ServerSettings) -> Any:
    look = _FIRST_LOOK
    while (batch := await client.batches.retrieve(number)).status not in _ENDED:
        await asyncio.sleep(look)
        look = min(_LONGEST_LOOK, look * 1.5)
    if batch.status == "failed":
        note.unlink(missing_ok=True)  # it has no answers: to wait for it again is of no use
        raise ServerError(f"{settings.url}: batch {number} failed: {_why(batch)}")
    return batch


def _why(batch: Any) -> str:
    """The different messages of a batch's errors."""
    rows = getattr(batch.errors, "data", None) or []
    said = dict.fromkeys(str(row.message) for row in rows if row.message)
    return "; ".join(list(said)[:3]) or "the server does not say why"


async def _replies(client: Any, batch: Any) -> dict[str, Reply]:
    if not batch.output_file_id:
        return {}
    content = await client.files.content(batch.output_file_id)
    return dict(_parsed(content.text))


def _parsed(lines: str) -> Iterator[tuple[str, Reply]]:
    # Not splitlines: the strings of JSON may hold other ends of lines, such as U+2028.
    for line in lines.split("\n"):
        try:
            row = json.loads(line)
            yield row["custom_id"], reply_of(row["response"]["body"], "the batch")
        except (ValueError, KeyError, TypeError, RecursionError, Passing):
            continue  # it failed: it is asked one by one


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
