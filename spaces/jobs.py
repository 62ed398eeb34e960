"""Work that takes longer than a request: one thread does it in order, visitors hold a ticket."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from ..errors import TSTBenchError
from .web import NotThereError

_LOG = logging.getLogger(__name__)
State = Literal["waiting", "working", "done", "failed"]
OPEN: tuple[State, ...] = ("waiting", "working")
MOST_WAITING = 32
LEFT = "Nobody waited for this answer any more."
T = TypeVar("T")


@dataclass(eq=False)
class Job:
    """One piece of work; its fields are replaced whole, by the queue's thread.

    Attributes:
        task: what is to be done.
        step: what is being done.
        seconds: how long it took.
        began: on the monotonic clock.
        number: its place among all that the queue was ever asked.
        seen: when somebody last asked how far it is, on the monotonic clock.
    """

    task: Any
    state: State = "waiting"
    step: str = ""
    result: Any = None
    error: str = ""
    seconds: float = 0.0
    began: float = field(default=0.0, repr=False)
    number: int = 0
    seen: float = field(default_factory=time.monotonic, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether there is more to come."""
        return self.state in OPEN

    def touch(self) -> None:
        """Note that somebody asks for it."""
        self.seen = time.monotonic()

    def fail(self, why: str) -> None:
        """End without a result."""
        self.error, self.state = why, "failed"


class Queue:
    """Does jobs in their order, in a thread of its own.

    Args:
        work: does one and returns its result; a :class:`TSTBenchError` is told in its words.
        name: of the thread and in the log.
        full: what somebody is told for whom there is no room.
        bug: what is told of any other exception, which is logged.
        absence: seconds without a question after which nobody waits for a job any more.
        first: done before all jobs, at once; otherwise the thread begins with the first job.
    """

    def __init__(
        self,
        work: Callable[[Job], Any],
        name: str,
        *,
        full: str,
        bug: str,
        absence: float,
        first: Callable[[], None] | None = None,
    ) -> None:
        self._work, self._name, self._absence = work, name, absence
        self._full, self._bug = full, bug
        self._jobs: queue.Queue[Job | None] = queue.Queue(MOST_WAITING)
        self._lock = threading.Lock()
        self._asked = self._begun = 0
        self._in_work: Job | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._first = first
        if first:
            self._start()

    def ask(self, job: Job) -> Job:
        """Let a job wait for its turn; it fails at once if too many do."""
        with self._lock:
            job.number = self._asked
            try:
                self._jobs.put_nowait(job)
                self._asked += 1
            except queue.Full:
                job.fail(self._full)
            if self._thread is None:
                self._start()
        return job

    def ahead(self, job: Job) -> int:
        """Return how many come before a waiting job, the one in work included."""
        return max(0, job.number - self._begun + 1) if job.state == "waiting" else 0

    def busy(self) -> float:
        """Return for how many seconds it has been at the job in work."""
        job = self._in_work
        return time.monotonic() - job.began if job and job.state == "working" else 0.0

    def close(self) -> None:
        """Stop after the job in work."""
        self._closed = True
        with suppress(queue.Full):
            self._jobs.put_nowait(None)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        if self._first:
            self._first()
        while not self._closed:
            try:
                job = self._jobs.get(timeout=1)
            except queue.Empty:
                continue
            if job is None:
                return
            self._begun = job.number + 1
            if time.monotonic() - job.seen > self._absence:
                job.fail(LEFT)
            else:
                self._do(job)

    def _do(self, job: Job) -> None:
        self._in_work = job
        job.began, job.state = time.monotonic(), "working"
        try:
            result = self._work(job)
        except TSTBenchError as error:
            job.fail(str(error))
        except Exception:
            _LOG.exception("%s failed", self._name)
            job.fail(self._bug)
        else:
            job.seconds = time.monotonic() - job.began
            job.result, job.state = result, "done"


class Tickets(Generic[T]):
    """What visitors wait for, under names that nobody can guess.

    Args:
        most: what nobody has asked for longest is forgotten beyond it.
        forget: called with what is forgotten.
    """

    def __init__(self, most: int, forget: Callable[[T], None] = lambda _: None) -> None:
        self._most, self._forget = most, forget
        self._held: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def issue(self, thing: T) -> str:
        """Keep a thing; return its ticket."""
        ticket, old = secrets.token_urlsafe(12), []
        with self._lock:
            self._held[ticket] = thing
            while len(self._held) > self._most:
                old.append(self._held.popitem(last=False)[1])
        for one in old:
            self._forget(one)
        return ticket

    def find(self, ticket: Any) -> T:
        """Return what a ticket is for.

        Raises:
            NotThereError: there is no such ticket.
        """
        with self._lock:
            if not isinstance(ticket, str) or ticket not in self._held:
                raise NotThereError("This answer is no longer here: ask again.")
            self._held.move_to_end(ticket)
            return self._held[ticket]
