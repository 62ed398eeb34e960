"""The client of a chat server: many requests at a time, patient with errors that pass.

Rate limits, server errors, cut connections, late and malformed answers are asked again, after a
wait that doubles, with jitter; where the server says how long to wait (``Retry-After``), all
requests wait at least that long. A rate limit is no reason to give up as long as other requests are
answered. Everything else ends the run with a message of its own.
"""

from __future__ import annotations

import asyncio
import os
import random
import ssl
import time
from collections.abc import Mapping
from itertools import count
from typing import Any

from ..errors import InputError, ServerError, require
from .answers import Reply, texts_of
from .bounded import TooMuchError, bounded_client
from .budget import Budget
from .cost import Counter
from .refusals import NO_KEY, Passing, fatal, reply_of
from .settings import OPENAI_URL, ServerSettings

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds
_LONGEST_ASKED = 900.0  # seconds that a server may ask us to wait
_TOTAL = 2  # timeouts that an answer may take from the first byte to the last
_SHARE = 4  # requests at a time that share a pool of connections
_HELLOS = 2  # retries until a server has answered once: that it is none should be said soon


def api_key(settings: ServerSettings) -> str:
    """The key for a server, from the environment; nothing else ever holds it.

    Raises:
        InputError: OpenAI needs one, and there is none.
    """
    key = os.environ.get(settings.key_name, "").strip()
    if not key and settings.url == OPENAI_URL:
        raise InputError(
            f"no key: OpenAI needs one in the environment variable {settings.key_name}, such "
            f"as export {settings.key_name}=...; for another server give "
            f"{settings.flag('base_url')}"
        )
    if not key.isascii() or not key.isprintable():
        raise InputError(
            f"the key in {settings.key_name} contains characters that no key has: copy it again"
        )
    return key or NO_KEY  # the client insists on one; a local server does not look at it


def wait_before(retry: int, jitter: random.Random) -> float:
    """Seconds before the ``retry``-th retry, from 1: doubled each time, half of it at random.

    >>> waits = [wait_before(n, random.Random(0)) for n in (1, 2, 3, 20)]
    >>> all(a <= w <= b for w, a, b in zip(waits, (0.25, 0.5, 1, 30), (0.5, 1, 2, 60)))
    True
    """
    full = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(retry - 1, 16))
    return full * jitter.uniform(0.5, 1.0)


class ChatClient:
    """Asks one server.

    Made and used in one event loop.

    Args:
        settings: where and how.
        budget: what may be asked.
        counter: counts the tokens of prompts, for the budget.

    Raises:
        MissingExtraError: openai is not installed.
        InputError: there is no key.
    """

    def __init__(self, settings: ServerSettings, budget: Budget, counter: Counter) -> None:
        openai = require("openai", "llm")
        self._settings, self._budget, self._counter = settings, budget, counter
        self._key = api_key(settings)
        # A place is what a request needs, and the connections it uses. One pool for all would look
        # at every connection for every request.
        certificates = ssl.create_default_context()
        self._clients = [
            openai.AsyncOpenAI(
                api_key=self._key,
                base_url=settings.url,
                timeout=settings.timeout,
                max_retries=0,  # retries are counted here
                http_client=bounded_client(certificates, self._key),
            )
            for _ in range(-(-settings.concurrency // _SHARE))
        ]
        self._places: asyncio.LifoQueue[Any] = asyncio.LifoQueue()
        for place in reversed(range(settings.concurrency)):
            self._places.put_nowait(self._clients[place // _SHARE])
        self._jitter = random.Random()
        self._not_before = 0.0  # monotonic clock; a server's wish holds for all requests
        self._answered = 0  # requests

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.close()

    async def ask(self, body: Mapping[str, Any], of: str) -> Reply:
        """The answer to one request.

        Args:
            body: of the request.
            of: whose it is, for messages: the id of a sentence.

        Raises:
            LimitError: the budget does not allow it.
            ServerError: the server refuses it, or does not answer in spite of all retries.
            InputError: the request is wrong.
        """
        seen, retry = self._answered, 0
        for times in count(1):
            reply: Reply | None = None
            free = False
            client = await self._places.get()
            try:
                await self._pause()
                most = self._budget.reserve(
                    self._counter.prompt(texts_of(body)), self._settings.longest_answer
                )
                try:
                    reply = await self._once(client, body, of)
                except Passing as passing:
                    failure, free = passing, passing.is_free
                except ServerError:
                    free = True  # it was refused
                    raise
                else:
                    self._answered += 1
                    return reply
                finally:
                    self._budget.settle(most, reply, free=free)
            finally:
                self._places.put_nowait(client)
            # A limit that lets other requests through will let this one through as well.
            retry += not (failure.is_limit and self._answered > seen)
            seen = self._answered
            await self._after(failure, times, retry, of)  # another request has its place meanwhile
        raise AssertionError("count() does not end")

    async def _after(self, failure: Passing, times: int, retry: int, of: str) -> None:
        """Wait after the failure of a request that was sent ``times`` times, or give up."""
        most = self._settings.retries
        if not (self._answered or failure.is_server):
            most = 0 if failure.is_page else min(most, _HELLOS)
        if retry > most:
            sent = f"{times} requests" if times > 1 else "one request"
            raise ServerError(
                f"{of}: {failure} ({sent}). What was answered is kept: the same command goes on "
                "from there"
            ) from failure.__cause__
        wish = failure.retry_after or 0.0
        self._hold(wish)
        # Longer than the wish each time: it is the same for all who would come again at once.
        await asyncio.sleep(max(wish, wait_before(times, self._jitter)))

    async def _once(self, client: Any, body: Mapping[str, Any], of: str) -> Reply:
        import openai

        path = "/completions" if "prompt" in body else "/chat/completions"
        try:  # as the JSON it is: the client's own objects take as long to make as all the rest
            # The client's own limit is for each part of an answer: one that trickles never ends.
            found = await asyncio.wait_for(
                client.post(path, body=dict(body), cast_to=object),
                _TOTAL * self._settings.timeout,
            )
        except asyncio.TimeoutError as error:  # noqa: UP041 (before 3.11 not the built-in one)
            url, most = self._settings.url, self._settings.timeout
            raise Passing(
                f"{url} did not end its answer within {_TOTAL * most:g} seconds"
            ) from error
        except (
            openai.OpenAIError,
            ValueError,
            TooMuchError,
        ) as error:  # ValueError: a body that is not JSON
            failure = fatal(error, self._settings, of, has_key=self._key != NO_KEY)
            if isinstance(failure, Reply):
                return failure
            if isinstance(failure, Passing):
                raise failure from error
            near = await self._near_models() if failure.unknown_model else ""
            raise failure.with_hint(near) from None  # the cause may quote the key
        return reply_of(found, self._settings.url)

    def _hold(self, seconds: float) -> None:
        if seconds > _LONGEST_ASKED:
            raise ServerError(
                f"{self._settings.url} asks to wait {seconds:.0f} seconds: try again then. What "
                "was answered is kept"
            )
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    async def _pause(self) -> None:
        """Wait until the server wants to be asked again; then not all at once."""
        waited = False
        while (left := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(left)
            waited = True
        if waited:
            await asyncio.sleep(self._jitter.uniform(0, 0.1))

    async def _near_models(self) -> str:
        """The models that the server has, for a message; nothing if it does not say."""
        from difflib import get_close_matches

        try:
            names = sorted([model.id async for model in self._clients[0].models.list()])
        except Exception:  # a message is not worth another error
            return ""
        near = get_close_matches(self._settings.model, names, n=3, cutoff=0.3) or names[:3]
        return f" It has, for instance: {', '.join(near)}." if near else ""
