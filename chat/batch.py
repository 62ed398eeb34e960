"""The Batch API: all requests are one file, answered within a day, at half the price.

A batch that was begun is remembered beside the answers: a command that was interrupted, or that is
started again, waits for the same one and pays nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..console import say
from ..errors import InputError, ServerError
from ..files import lock, read_text, write_json
from .answers import Answers, Call, Reply, answers_folder
from .connection import NO_KEY, TooMuchError, connect
from .cost import Budget, Counter
from .refusals import Passing, RefusedError, fatal, reply_of
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

    most = [
        budget.most(counter.prompt(call.messages), settings.longest_answer(call.body))
        for call in calls
    ]
    budget.reserve(sum(most), len(calls))
    client = connect(settings, retries=openai.DEFAULT_MAX_RETRIES, most=_MAX_FILE)
    try:
        for start in range(0, len(calls), _AT_MOST):
            part = slice(start, start + _AT_MOST)
            await _one_batch(client, calls[part], most[part], settings, kept, budget)
    except (openai.OpenAIError, TooMuchError) as error:
        failure = fatal(error, settings, "the batch", has_key=client.api_key != NO_KEY)
        if isinstance(failure, RefusedError):
            raise failure from None
        raise ServerError(
            f"{settings.url} did not take the batch: {failure}. Without --via batch, requests are "
            "sent one by one"
        ) from error
    finally:
        await client.close()


async def _one_batch(
    client: Any,
    calls: Sequence[Call],
    aside: Sequence[float],
    settings: ServerSettings,
    kept: Answers,
    budget: Budget,
) -> None:
    import openai

    keys = [call.key for call in calls]
    note = (
        answers_folder() / "batches" / f"{hashlib.sha256(''.join(keys).encode()).hexdigest()}.json"
    )
    with lock(note):
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
