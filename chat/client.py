"""Requests to a chat server: each sent once, many at a time, their answers kept and in order.

Rate limits, server errors, cut connections, late and malformed answers are asked again, after a
wait that doubles, with jitter; where the server says how long to wait (``Retry-After``), all
requests wait at least that long. A rate limit is no reason to give up as long as other requests are
answered. Everything else ends the run with a message of its own.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

from ..console import say
from ..errors import ServerError
from .answers import Answers, Call, Reply
from .batch import ask_in_batch
from .connection import NO_KEY, TooMuchError, connect
from .cost import Budget, budget_of, counter
from .refusals import Passing, RefusedError, fatal, reply_of
from .settings import ServerSettings

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds
_LONGEST_ASKED = 900.0  # seconds that a server may ask us to wait
_TOTAL = 2  # timeouts that an answer may take from the first byte to the last
_HELLOS = 2  # retries until a server has answered once: that it is none should be said soon
_AHEAD = 32  # groups under way for each request that may be: one that waits blocks no other


class Client:
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
        self._settings = settings
        self._kept = Answers(settings.url, settings.model)
        missing = {call.key: call for call in calls if self._kept.get(call.key) is None}
        self._missing = list(missing.values())
        self._batched = batched
        self._budget = budget or budget_of(settings, batched=batched)
        self._counter = counter(settings.model)
        self._server = connect(settings) if missing else None
        self._places = asyncio.Semaphore(settings.concurrency)
        self._pending: dict[str, asyncio.Future[Reply]] = {}
        self._jitter = random.Random()
        self._not_before = 0.0  # monotonic clock; a server's wish holds for all requests
        self._answered = 0  # requests
        self._failure: Exception | None = None  # after which nothing more is sent
        self._failed = asyncio.Event()  # wakes who waits to send it

    def replies(
        self, groups: Sequence[Sequence[Call]], of: Sequence[str]
    ) -> Generator[list[Reply], None, None]:
        """Yield the answers to each group of calls, as soon as those before it are there.

        Each answer is kept on disk at once: after a limit, an error or Ctrl-C nothing is lost.
        After an error nothing more is sent, and what was sent is waited for; a caller that stops
        early cancels it. In the end it is said what all of it took.

        Args:
            groups: calls that were given to this client.
            of: whose each group is, for messages: the id of a sentence.

        Raises:
            LimitError: the budget does not allow a request.
            ServerError: the server refuses it, or does not answer in spite of all retries.
        """
        under_way: deque[Future[list[Reply]]] = deque()
        try:
            with self._running() as run:
                if self._batched and self._missing:
                    parts = (self._settings, self._kept, self._budget, self._counter)
                    run(ask_in_batch(self._missing, *parts)).result()
                try:
                    for group, name in zip(groups, of, strict=True):
                        under_way.append(run(self._group(group, name)))
                        if len(under_way) == _AHEAD * self._settings.concurrency:
                            yield under_way.popleft().result()
                    while under_way:
                        yield under_way.popleft().result()
                except Exception:
                    wait(under_way)
                    raise
        finally:
            self._report()

    @contextmanager
    def _running(self) -> Iterator[Callable[[Coroutine[Any, Any, Any]], Future[Any]]]:
        """An event loop in a thread, so that work goes on while the caller uses a result."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="requests", daemon=True)
        thread.start()

        async def end() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._server is not None:
                await self._server.close()

        try:
            yield lambda work: asyncio.run_coroutine_threadsafe(work, loop)
        finally:
            try:
                asyncio.run_coroutine_threadsafe(end(), loop).result()
            finally:
                loop.call_soon_threadsafe(loop.stop)
                thread.join()
                loop.close()

    async def _group(self, calls: Sequence[Call], of: str) -> list[Reply]:
        waits = [self._reply(call, of) for call in calls]
        found = await asyncio.gather(*waits, return_exceptions=True)  # none is left behind
        for one in found:
            if isinstance(one, BaseException):
                raise one
        return [one for one in found if isinstance(one, Reply)]

    async def _reply(self, call: Call, of: str) -> Reply:
        key = call.key
        if (known := self._kept.get(key)) is not None:
            return known
        if key not in self._pending:
            self._pending[key] = asyncio.ensure_future(self._ask(call, of))
        return await self._pending[key]

    async def _ask(self, call: Call, of: str) -> Reply:
        """Send a request until it is answered, or for as long as it makes sense."""
        sent = failures = 0
        try:
            while True:
                seen = self._answered
                async with self._places:  # another request has it while this one waits
                    await self._pause()
                    if self._failure:
                        raise self._failure
                    found = await self._attempt(call, of)
                if isinstance(found, Reply):
                    self._answered += 1
                    self._kept.put(call.key, found)
                    return found
                sent += 1
                # A limit that lets other requests through will let this one through as well.
                failures += not (found.is_limit and self._answered > seen)
                await self._wait_or_give_up(found, sent, failures, of)
        except Exception as error:
            self._failure = self._failure or error
            self._failed.set()
            raise

    async def _wait_or_give_up(self, found: Passing, sent: int, failures: int, of: str) -> None:
        most = self._settings.retries
        if failures > (most if self._answered or found.is_said else min(most, _HELLOS)):
            times = f"{sent} attempts" if sent > 1 else "one attempt"
            raise ServerError(
                f"{of}: {found} ({times}). What was answered is kept: the same command goes on "
                "from there"
            ) from found.__cause__
        wish = found.retry_after or 0.0
        if wish > _LONGEST_ASKED:
            raise ServerError(
                f"{self._settings.url} asks to wait {wish:.0f} seconds: try again then. What "
                "was answered is kept"
            )
        self._not_before = max(self._not_before, time.monotonic() + wish)
        # Longer than the wish each time: it is the same for all who would come again at once.
        await self._sleep(max(wish, wait_before(sent, self._jitter)))

    async def _attempt(self, call: Call, of: str) -> Reply | Passing:
        """Send a request once, within the budget.

        Raises:
            LimitError: the budget does not allow it.
            RefusedError: the server refuses it.
        """
        most = self._budget.most(
            self._counter.prompt(call.messages), self._settings.longest_answer(call.body)
        )
        self._budget.reserve(most)
        found: Reply | Passing | None = None
        free = False
        try:
            found = await self._post(call, of)
            return found
        except RefusedError:
            free = True
            raise
        finally:
            reply = found if isinstance(found, Reply) else None
            free = free or (isinstance(found, Passing) and found.is_free)
            self._budget.settle(most, reply, free=free)

    async def _post(self, call: Call, of: str) -> Reply | Passing:
        import openai

        server = self._server
        if server is None:
            raise RuntimeError(f"{of}: an answer that was on disk is gone")
        url, seconds = self._settings.url, _TOTAL * self._settings.timeout
        path = "/completions" if "prompt" in call.body else "/chat/completions"
        try:  # as the JSON it is: the client's own objects take as long to make as all the rest
            # The client's own limit is for each part of an answer: one that trickles never ends.
            async with asyncio.timeout(seconds):
                found = await server.post(path, body=dict(call.body), cast_to=object)
            return reply_of(found, url)
        except Passing as passing:
            return passing
        except TimeoutError:
            return Passing(f"{url} did not end its answer within {seconds:g} seconds")
        except (openai.OpenAIError, ValueError, TooMuchError) as error:  # ValueError: no JSON
            failure = fatal(error, self._settings, of, has_key=server.api_key != NO_KEY)
            if not isinstance(failure, RefusedError):
                return failure
            if failure.unknown_model:
                failure = RefusedError(f"{failure}{await self._near_models(server)}")
            raise failure from None  # the cause may quote the key

    async def _pause(self) -> None:
        """Wait until the server wants to be asked again; then not all at once."""
        waited = False
        while not self._failure and (left := self._not_before - time.monotonic()) > 0:
            await self._sleep(left)
            waited = True
        if waited:
            await self._sleep(self._jitter.uniform(0, 0.1))

    async def _sleep(self, seconds: float) -> None:
        """Wait so long, or until another request has failed for good."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._failed.wait()

    async def _near_models(self, server: Any) -> str:
        """The models that the server has, for a message; nothing if it does not say."""
        try:
            names = sorted([model.id async for model in server.models.list()])
        except Exception:  # a message is not worth another error
            return ""
        near = get_close_matches(self._settings.model, names, n=3, cutoff=0.3) or names[:3]
        return f". It has, for instance: {', '.join(near)}" if near else ""

    def _report(self) -> None:
        """Say what it took."""
        budget = self._budget
        if budget.requests:
            tokens = f"{budget.prompt_tokens:,} + {budget.answer_tokens:,} tokens"
            cost = "price unknown" if budget.spent is None else f"${budget.spent:.4f}"
            say(f"{self._settings.model}: {budget.requests:,} requests, {tokens}, {cost}")


def wait_before(retry: int, jitter: random.Random) -> float:
    """Seconds before the ``retry``-th retry, from 1: doubled each time, half of it at random.

    >>> waits = [wait_before(n, random.Random(0)) for n in (1, 2, 3, 20)]
    >>> all(a <= w <= b for w, a, b in zip(waits, (0.25, 0.5, 1, 30), (0.5, 1, 2, 60)))
    True
    """
    full = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(retry - 1, 16))
    return full * jitter.uniform(0.5, 1.0)
