"""Where a suite's jobs run: one after the other in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from typing import Protocol

from .jobs import Job, Outcome, Workplace


class Engine(Protocol):
    """Does jobs whose time has come."""

    def submit(self, job: Job) -> None:
        """Take a job; what it comes after is over."""

    def wait(self) -> list[Outcome]:
        """Outcomes of jobs that were taken: at least one, as soon as there is one."""


class InProcess:
    """One job after the other, in the suite's order."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._waiting: list[Job] = []

    def submit(self, job: Job) -> None:
        """Take a job."""
        self._waiting.append(job)

    def wait(self) -> list[Outcome]:
        """Do the first job."""
        job = min(self._waiting, key=lambda one: one.place)
        self._waiting.remove(job)
        return [self._workplace.do(job)]


def run(jobs: Sequence[Job], engine: Engine) -> Iterator[Outcome]:
    """Have an engine do all jobs, each when what it comes after is over.

    A job that needs one that was left out is left out, for the same reason.
    """
    by_id = {job.id: job for job in jobs}
    failed: dict[str, str] = {}
    busy = 0
    order = TopologicalSorter({job.id: {*job.needs, *job.after} for job in jobs})
    order.prepare()
    while order.is_active():
        found = []
        for name in order.get_ready():
            why = next((failed[one] for one in by_id[name].needs if one in failed), None)
            if why is None:
                engine.submit(by_id[name])
                busy += 1
            else:
                found.append(Outcome(name, "left out", why))
        if busy and not found:
            found = engine.wait()
            busy -= len(found)
        for one in found:
            if one.state == "left out":
                failed[one.id] = one.why
            order.done(one.id)
            yield one
