"""The desk: takes sentences, hands each to every system that has the styles, and tells answers.

A visitor gets a ticket and asks again and again what has come; who stops asking is not waited for.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError, unknown_name
from ..leaderboard.diff import word_diff
from ..leaderboard.words import FAMILIES
from .line import Job, Line
from .offers import (
    MOST_CHARACTERS,
    Offer,
    Styles,
    checked_text,
    language_of,
    offered_styles,
)

_MOST_TICKETS = 2000
PATIENCE = 60.0  # seconds for one sentence; its card and those behind then say so


class NoTicketError(InputError):
    """The server was started anew, or the ticket is very old."""


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
                {"source": one.source, "target": one.target, "example": one.example}
                for one in offered_styles(self.offers)
            ],
            "most_characters": MOST_CHARACTERS,
        }

    def ask(self, text: Any, source: Any, target: Any) -> dict[str, Any]:
        """Take a sentence; returns the ticket to ask with.

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
        return {"ticket": name, "text": sentence, **self._told(ticket)}

    def look(self, ticket: Any) -> dict[str, Any]:
        """How far a ticket's answers have come.

        Raises:
            NoTicketError: there is no such ticket.
        """
        with self._lock:
            found = self._tickets.get(ticket) if isinstance(ticket, str) else None
        if found is None:
            raise NoTicketError("This answer is no longer here: ask again.")
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
            told |= _compared(job)
        return told


_OPEN = ("waiting", "working")


def _compared(job: Job) -> dict[str, Any]:
    """The answer, in pieces that were kept, removed or added."""
    found = word_diff(job.text, job.answer, language_of(job.direction))
    return {
        "text": job.answer,
        "pieces": [[one.kind, one.text, one.spaced] for one in found.pieces],
        "rewritten": found.is_rewritten,
        "same": all(one.kind == "same" for one in found.pieces),
        "seconds": round(job.seconds, 2),
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
