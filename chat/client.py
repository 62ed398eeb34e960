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
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import closing
from difflib import get_close_matches
from typing import Any, TypeVar

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
_SHARE = 4  # requests at a time that share a pool, which looks at all its connections for each
_AHEAD = 4  # groups under way for each request that may be: one that waits blocks no other

T = TypeVar("T")


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
        self._pools = connect(settings, -(-settings.concurrency // _SHARE)) if missing else []
        # A place is what a request needs, and the pool whose connections it uses.
        self._places: asyncio.LifoQueue[Any] = asyncio.LifoQueue()
        for place in reversed(range(settings.concurrency if missing else 0)):
            self._places.put_nowait(self._pools[place // _SHARE])
        self._pending: dict[str, asyncio.Future[Reply]] = {}
        self._jitter = random.Random()
        self._not_before = 0.0  # monotonic clock; a server's wish holds for all requests
        self._answered = 0  # requests

    def replies(
        self, groups: Sequence[Sequence[Call]], of: Sequence[str]
    ) -> Generator[list[Reply], None, None]:
        """Yield the answers to each group of calls, as soon as those before it are there.

        Each answer is kept on disk at once: after a limit, an error or Ctrl-C nothing is lost.
        In the end it is said what all of it took.

        Args:
            groups: calls that were given to this client.
            of: whose each group is, for messages: the id of a sentence.

        Raises:
            LimitError: the budget does not allow a request.
            ServerError: the server refuses it, or does not answer in spite of all retries.
        """

        async def group(number: int) -> list[Reply]:
            waits = [self._reply(call, of[number]) for call in groups[number]]
            found = await asyncio.gather(*waits, return_exceptions=True)  # none is left behind
            for one in found:
                if isinstance(one, BaseException):
                    raise one
            return [one for one in found if isinstance(one, Reply)]

        at_a_time = _AHEAD * self._settings.concurrency
        try:
            if self._batched and self._missing:
                parts = (self._missing, self._settings, self._kept, self._budget, self._counter)
                list(in_order(lambda _: ask_in_batch(*parts), 1, 1))
            with closing(in_order(group, len(groups), at_a_time, self._close)) as several:
                yield from several
        finally:
            self._report()

    async def _reply(self, call: Call, of: str) -> Reply:
        key = call.key
        if (known := self._kept.get(key)) is not None:
            return known
        if key not in self._pending:
            self._pending[key] = asyncio.ensure_future(self._ask(call, of))
        return await self._pending[key]

    async def _ask(self, call: Call, of: str) -> Reply:
        """Send a request until it is answered, or for as long as it makes sense."""
        if not self._pools:
            raise RuntimeError(f"{of}: an answer that was on disk is gone")
        sent = failures = 0
        while True:
            seen = self._answered
            pool = await self._places.get()
            try:
                await self._pause()
                found = await self._attempt(pool, call, of)
            finally:
                self._places.put_nowait(pool)  # another request has it while this one waits
            if isinstance(found, Reply):
                self._answered += 1
                self._kept.put(call.key, found)
                return found
            sent += 1
            # A limit that lets other requests through will let this one through as well.
            failures += not (found.is_limit and self._answered > seen)
            most = self._settings.retries
            if failures > (most if self._answered else min(most, found.hellos)):
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
            await asyncio.sleep(max(wish, wait_before(sent, self._jitter)))

    async def _attempt(self, pool: Any, call: Call, of: str) -> Reply | Passing:
        """Send a request once, within the budget.

        Raises:
            LimitError: the budget does not allow it.
            RefusedError: the server refuses it.
        """
        most = self._budget.reserve(
            self._counter.prompt(call.messages), self._settings.longest_answer(call.body)
        )
        reply: Reply | None = None
        sent, free = True, False
        try:
            reply = await self._post(pool, call, of)
        except Passing as passing:
            sent, free = passing.is_sent, passing.is_free
            return passing
        except RefusedError:
            free = True
            raise
        finally:
            self._budget.settle(most, reply, sent=sent, free=free)
        return reply

    async def _post(self, pool: Any, call: Call, of: str) -> Reply:
        import openai

        url, seconds = self._settings.url, _TOTAL * self._settings.timeout
        path = "/completions" if "prompt" in call.body else "/chat/completions"
        try:  # as the JSON it is: the client's own objects take as long to make as all the rest
            # The client's own limit is for each part of an answer: one that trickles never ends.
            async with asyncio.timeout(seconds):
                found = await pool.post(path, body=dict(call.body), cast_to=object)
        except TimeoutError as error:
            raise Passing(f"{url} did not end its answer within {seconds:g} seconds") from error
        except (openai.OpenAIError, ValueError, TooMuchError) as error:  # ValueError: no JSON
            failure = fatal(error, self._settings, of, has_key=pool.api_key != NO_KEY)
            if isinstance(failure, Reply):
                return failure
            if isinstance(failure, Passing):
                raise failure from error
            if failure.unknown_model:
                failure = RefusedError(f"{failure}{await self._near_models(pool)}")
            raise failure from None  # the cause may quote the key
        return reply_of(found, url)

    async def _pause(self) -> None:
        """Wait until the server wants to be asked again; then not all at once."""
        waited = False
        while (left := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(left)
            waited = True
        if waited:
            await asyncio.sleep(self._jitter.uniform(0, 0.1))

    async def _near_models(self, pool: Any) -> str:
        """The models that the server has, for a message; nothing if it does not say."""
        try:
            names = sorted([model.id async for model in pool.models.list()])
        except Exception:  # a message is not worth another error
            return ""
        near = get_close_matches(self._settings.model, names, n=3, cutoff=0.3) or names[:3]
        return f" It has, for instance: {', '.join(near)}." if near else ""

    async def _close(self) -> None:
        for pool in self._pools:
            await pool.close()

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


async def _nothing() -> None:
    pass


def in_order(
    work: Callable[[int], Awaitable[T]],
    count: int,
    at_a_time: int,
    done: Callable[[], Awaitable[None]] = _nothing,
) -> Generator[T, None, None]:
    """Yield the results of ``count`` pieces of work, each as soon as those before it are there.

    A thread of its own waits for them, so that work goes on while the caller uses a result.
    After an error no new piece is begun; those under way are finished, the results before the first
    failure are yielded, and then the error is raised. A caller that stops early cancels the rest.

    Args:
        work: a piece of work by its number; called in the other thread.
        count: how many there are.
        at_a_time: how many are under way, at least 1.
        done: awaited there in the end, whatever happened; its error is raised if there
            is no other.
    """
    results: list[Future[T]] = [Future() for _ in range(count)]
    loop = asyncio.new_event_loop()

    async def everything() -> None:
        room, tasks, failed = asyncio.Semaphore(at_a_time), [], asyncio.Event()

        async def piece(number: int) -> None:
            try:
                results[number].set_result(await work(number))
            except BaseException:
                failed.set()
                raise
            finally:
                room.release()

        try:
            for number in range(count):
                await room.acquire()
                if failed.is_set():
                    break
                tasks.append(loop.create_task(piece(number)))
            if tasks:
                await asyncio.wait(tasks)
            for task in tasks:
                task.result()  # raises the first error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for result in results:
                result.cancel()  # those without a result: who waits for them need not any more

    async def ending() -> None:
        await asyncio.wait([everything_done])
        await done()

    everything_done = loop.create_task(everything())
    ended = loop.create_task(ending())
    thread = threading.Thread(
        target=loop.run_until_complete, args=(asyncio.wait([ended]),), name="requests", daemon=True
    )
    thread.start()
    try:
        for result in results:
            try:
                found = result.result()
            except CancelledError:
                break
            yield found
        thread.join()
        everything_done.result()
        ended.result()
    finally:
        loop.call_soon_threadsafe(everything_done.cancel)
        thread.join()
        loop.close()
