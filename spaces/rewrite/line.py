"""One system and those who wait for it: its own thread, so that it delays no other system."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from typing import Literal

from ...datasets_scripts.directions import Direction
from ...errors import TSTBenchError
from ...talk import say
from ...trainers.load import FoundSystem
from ...trainers.system import System
from .offers import UNOPENED

_LOG = logging.getLogger(__name__)
State = Literal["waiting", "working", "done", "failed"]
MOST_WAITING = 32
_REMEMBERED = 512  # answers of one system
_BUG = "This system failed because of a bug. The page's owner finds the details in the log."
FULL = "Too many people are waiting for this system. Try again in a minute."
LEFT = "Nobody waited for this answer any more."


@dataclass
class Job:
    """One sentence for one system; its fields are replaced whole, by the system's thread.

    Attributes:
        number: its place among all that this system was ever asked.
        seconds: how long the answer took.
        began: when the system began, on the monotonic clock.
    """

    text: str
    direction: Direction
    wanted: Callable[[], bool]
    number: int = 0
    state: State = "waiting"
    answer: str = ""
    error: str = ""
    seconds: float = 0.0
    began: float = field(default=0.0, repr=False)

    def fail(self, why: str) -> None:
        """End without an answer."""
        self.error, self.state = why, "failed"


class Line:
    """Answers jobs in their order.

    Args:
        found: the system, loaded in the line's own thread.
        device: ``auto``, ``cpu`` or ``cuda``.
    """

    def __init__(self, found: FoundSystem, device: str = "auto") -> None:
        self._found, self._device = found, device
        self._jobs: Queue[Job | None] = Queue(MOST_WAITING)
        self._lock = threading.Lock()
        self._asked = self._begun = 0
        self._remembered: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._system: System | None = None
        self._in_work: Job | None = None
        self._problem = ""
        self._closed = False
        self._thread = threading.Thread(
            target=self._run, name=f"rewrite {found.card.name}", daemon=True
        )
        self._thread.start()

    def ask(self, job: Job) -> Job:
        """Let a job wait; it is answered at once if the same was asked before."""
        with self._lock:
            known = self._remembered.get((job.direction.name, job.text))
            if known is not None:
                job.answer, job.state = known, "done"
                return job
            job.number = self._asked
            try:
                self._jobs.put_nowait(job)
                self._asked += 1
            except Full:
                job.fail(FULL)
        return job

    def ahead(self, job: Job) -> int:
        """How many are answered before a waiting job, the one in work included."""
        return max(0, job.number - self._begun + 1) if job.state == "waiting" else 0

    def busy(self) -> float:
        """For how many seconds it has been at the sentence in work."""
        job = self._in_work
        return time.monotonic() - job.began if job and job.state == "working" else 0.0

    def close(self) -> None:
        """Stop after the sentence in work."""
        self._closed = True
        with suppress(Full):
            self._jobs.put_nowait(None)

    def _run(self) -> None:
        self._load()
        while not self._closed:
            try:
                job = self._jobs.get(timeout=1)
            except Empty:
                continue
            if job is None:
                return
            with self._lock:
                self._begun = job.number + 1
            self._answer(job)

    def _load(self) -> None:
        try:
            self._system = self._found.load(self._device)
        except TSTBenchError as error:
            say(f"{self._found.card.name}: {error}")  # it may name the owner's folders
            self._problem = UNOPENED
        except Exception:
            _LOG.exception("%s could not be loaded", self._found.card.name)
            self._problem = _BUG

    def _answer(self, job: Job) -> None:
        if not job.wanted():
            job.fail(LEFT)
            return
        if self._system is None:
            job.fail(self._problem)
            return
        self._in_work = job
        job.began, job.state = time.monotonic(), "working"
        try:
            (answer,) = self._system.transfer([job.text], job.direction, device=self._device)
        except TSTBenchError as error:
            job.fail(str(error))
        except Exception:
            _LOG.exception("%s failed", self._found.card.name)
            job.fail(_BUG)
        else:
            job.seconds = time.monotonic() - job.began
            with self._lock:
                self._remembered[job.direction.name, job.text] = answer
                if len(self._remembered) > _REMEMBERED:
                    self._remembered.popitem(last=False)
            job.answer, job.state = answer, "done"

    @property
    def is_loading(self) -> bool:
        """Whether its weights are still being read."""
        return self._system is None and not self._problem
