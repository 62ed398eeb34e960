"""The desk: takes sentences, hands each to every system that has the styles, and tells answers.

Each system has a thread of its own, so that it delays no other. A visitor gets a ticket and asks
again and again what has come; who stops asking is not waited for.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from typing import Any, Literal

from ...console import say
from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.directions import Direction
from ...errors import InputError, TSTBenchError, unknown_name
from ...trainers.load import FoundSystem
from ...trainers.system import System
from ..leaderboard.diff import word_diff
from ..leaderboard.words import FAMILIES
from ..web import NotThereError
from .offers import (
    MOST_CHARACTERS,
    UNOPENED,
    Offer,
    Styles,
    checked_text,
    examples,
    language_of,
    offered_styles,
    test_sentences,
)

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


_MOST_TICKETS = 2000
PATIENCE = 60.0  # seconds for one sentence; its card and those behind then say so


@dataclass
class Ticket:
    """One sentence on its way."""

    jobs: dict[int, Job]  # by the system's place on the page
    seen: float


class Desk:
    """Everything behind one page.

    Args:
        offers: the systems, in the page's order.
        device: ``auto``, ``cpu`` or ``cuda``.
        patience: seconds that a system has for a sentence.
        absence: seconds without a question after which nobody waits for a ticket any more.
    """

    def __init__(
        self,
        offers: Sequence[Offer],
        device: str = "auto",
        *,
        patience: float = PATIENCE,
        absence: float = 20.0,
    ) -> None:
        self.offers = list(offers)
        self._tested = test_sentences(self.offers)
        self._lines = {
            i: Line(offer.found, device) for i, offer in enumerate(offers) if offer.found
        }
        self._patience, self._absence = patience, absence
        self._tickets: OrderedDict[str, Ticket] = OrderedDict()
        self._lock = threading.Lock()

    def systems(self) -> dict[str, Any]:
        """What the page shows before anybody asks."""
        return {
            "systems": [_about(offer) for offer in self.offers],
            "styles": [
                {
                    "source": one.source,
                    "target": one.target,
                    "examples": examples(one, self._tested.get(one, {})),
                }
                for one in offered_styles(self.offers)
            ],
            "most_characters": MOST_CHARACTERS,
        }

    def ask(self, text: Any, source: Any, target: Any) -> dict[str, Any]:
        """Take a sentence; returns the ticket to ask with, and what people made of the sentence.

        Raises:
            InputError: no text, an empty one, or one that is too long.
            UnknownNameError: no system has these styles.
        """
        sentence, styles = checked_text(text), self._styles(source, target)
        ticket = Ticket({}, time.monotonic())
        for index, line in self._lines.items():
            if (direction := self.offers[index].direction(styles)) is not None:
                job = Job(sentence, direction, wanted=lambda: self._is_waited_for(ticket))
                ticket.jobs[index] = line.ask(job)
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._tickets[name] = ticket
            while len(self._tickets) > _MOST_TICKETS:
                self._tickets.popitem(last=False)
        tested = self._tested.get(styles, {}).get(match_key(sentence))
        return {
            "ticket": name,
            "text": sentence,
            "people": [
                _compared(sentence, one, next(iter(ticket.jobs.values())).direction)
                for one in (tested.rewrites if tested else ())
            ],
            **self._told(ticket),
        }

    def look(self, ticket: Any) -> dict[str, Any]:
        """How far a ticket's answers have come.

        Raises:
            NotThereError: there is no such ticket.
        """
        with self._lock:
            found = self._tickets.get(ticket) if isinstance(ticket, str) else None
        if found is None:
            raise NotThereError("This answer is no longer here: ask again.")
        found.seen = time.monotonic()
        return self._told(found)

    def close(self) -> None:
        """Stop the systems' threads."""
        for line in self._lines.values():
            line.close()

    def _styles(self, source: Any, target: Any) -> Styles:
        known = offered_styles(self.offers)
        if not known:
            raise InputError("no system is offered here")
        targets = [one for one in known if one.target == target]
        if not targets:
            raise unknown_name("style", str(target), dict.fromkeys(one.target for one in known))
        chosen = [one for one in targets if one.source == source]
        if not chosen:
            sources = [one.source for one in targets]
            raise unknown_name(f"style from which to write {target}", str(source), sources)
        return chosen[0]

    def _is_waited_for(self, ticket: Ticket) -> bool:
        return time.monotonic() - ticket.seen < self._absence

    def _told(self, ticket: Ticket) -> dict[str, Any]:
        answers = [self._answer(index, job) for index, job in ticket.jobs.items()]
        return {"answers": answers, "open": sum(one["state"] in _OPEN for one in answers)}

    def _answer(self, index: int, job: Job) -> dict[str, Any]:
        line, state = self._lines[index], job.state
        told: dict[str, Any] = {"system": index, "state": state}
        if state in _OPEN and line.busy() > self._patience:  # who waits behind it is told too
            which = " to a sentence before this one" * (state == "waiting")
            error = f"No answer{which} within {self._patience:.0f} seconds."
            told |= {"state": "failed", "error": error}
        elif state == "waiting":
            told |= {"ahead": line.ahead(job), "loading": line.is_loading}
        elif state == "failed":
            told["error"] = job.error
        elif state == "done":
            told |= _compared(job.text, job.answer, job.direction)
            told["seconds"] = round(job.seconds, 2)
        return told


_OPEN = ("waiting", "working")


def _compared(sentence: str, rewrite: str, direction: Direction) -> dict[str, Any]:
    """A rewrite, in pieces that were kept, removed or added."""
    found = word_diff(sentence, rewrite, language_of(direction))
    return {
        "text": rewrite,
        "pieces": [[one.kind, one.text, one.spaced] for one in found.pieces],
        "rewritten": found.is_rewritten,
        "same": all(one.kind == "same" for one in found.pieces),
    }


def _about(offer: Offer) -> dict[str, Any]:
    if offer.found is None:
        return {"name": offer.name, "problem": offer.problem, "styles": []}
    card = offer.found.card
    title, meaning = FAMILIES[card.family]
    return {
        "name": card.name,
        "problem": "",
        "kind": card.kind,
        "family": card.family,
        "family_title": title,
        "family_meaning": meaning,
        "origin": card.origin,
        "trained_on": card.trained_on,
        "sentences": card.n_sentences,
        "pairs": card.n_pairs,
        "scores": card.scores,
        "hash": offer.found.identity[:12],
        "styles": [[d.source_style, d.target_style] for d in offer.directions],
    }
