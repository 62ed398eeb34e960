"""Many waits at a time, and the results in order, each as soon as those before it are there."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def in_order(
    work: Callable[[int], Awaitable[T]],
    count: int,
    concurrency: int,
    done: Callable[[], Awaitable[None]] | None = None,
) -> Generator[T, None, None]:
    """Yield ``work(0)``, ``work(1)``... of ``count`` pieces, ``concurrency`` at a time.

    A thread of its own waits for the answers, so that work goes on while the caller uses a result.
    After an error no new piece is begun; those under way are finished, the results before the first
    failure are yielded, and then the error is raised. A caller that stops early cancels the rest.

    Args:
        work: a piece of work by its number; called in the other thread.
        count: how many there are.
        concurrency: how many at a time, at least 1.
        done: awaited there in the end, whatever happened; its error is raised if there
            is no other.
    """
    results: queue.SimpleQueue[tuple[int, T | None, BaseException | None]] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    stopped = threading.Event()
    tasks: set[asyncio.Task[None]] = set()
    failed: list[Exception] = []  # done, at most

    async def worker(numbers: Iterator[int]) -> None:
        for number in numbers:
            if stopped.is_set():
                return
            try:
                results.put((number, await work(number), None))
            except BaseException as error:
                stopped.set()
                results.put((number, None, error))
                if not isinstance(error, Exception):
                    raise
                return

    async def everything() -> None:
        numbers = iter(range(count))
        tasks.update(asyncio.ensure_future(worker(numbers)) for _ in range(min(concurrency, count)))
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            try:
                if done is not None:
                    await done()
            except Exception as error:
                failed.append(error)
            finally:
                results.put((count, None, None))  # nothing more comes

    def run() -> None:
        try:
            loop.run_until_complete(everything())
        finally:
            loop.close()

    def cancel() -> None:
        for task in tasks:
            task.cancel()

    thread = threading.Thread(target=run, name="requests", daemon=True)
    thread.start()
    try:
        yield from _sorted(results, count)
    finally:
        stopped.set()
        if thread.is_alive():
            with suppress(RuntimeError):  # it ended just now
                loop.call_soon_threadsafe(cancel)
            thread.join()
    if failed:
        raise failed[0]


def _sorted(
    results: queue.SimpleQueue[tuple[int, T | None, BaseException | None]], count: int
) -> Iterator[T]:
    waiting: dict[int, tuple[T | None, BaseException | None]] = {}
    following, ended = 0, False
    while following < count:
        while following not in waiting:
            if ended:  # it was never begun, because another one failed
                first = min(n for n, (_, error) in waiting.items() if error is not None)
                raise _failure(waiting[first][1])
            number, value, error = results.get()
            ended = number == count
            if not ended:
                waiting[number] = value, error
        value, error = waiting[following]
        if error is not None:
            while not ended:  # what is under way is paid for: it is finished and kept
                number, *_ = results.get()
                ended = number == count
            raise error
        del waiting[following]
        yield value  # type: ignore[misc]  # a piece without an error has a value
        following += 1


def _failure(error: BaseException | None) -> BaseException:
    return RuntimeError("a request was lost") if error is None else error
