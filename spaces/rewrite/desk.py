"""The desk: takes sentences, hands each to every system that has the styles, and tells answers.

Each system has a thread of its own, so that it delays no other. A visitor gets a ticket and asks
again and again what has come; who stops asking is not waited for.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ...console import say
from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.directions import Direction
from ...errors import InputError, TSTBenchError, unknown_name
from ...trainers.load import FoundSystem
from ...trainers.system import System
from ..jobs import OPEN, Job, Queue, Tickets
from ..leaderboard.diff import word_diff
from ..leaderboard.words import FAMILIES
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
_REMEMBERED = 512  # answers of one system
_BUG = "This system failed because of a bug. The page's owner finds the details in the log."
FULL = "Too many people are waiting for this system. Try again in a minute."
PATIENCE = 60.0  # seconds for one sentence; its card and those behind then say so
_MOST_TICKETS = 2000


class _System:
    """A system in a thread of its own: loaded there, then asked a sentence at a time.

    Args:
        found: the system.
        device: ``auto``, ``cpu`` or ``cuda``.
        absence: see :class:`Desk`.
    """

    def __init__(self, found: FoundSystem, device: str, absence: float) -> None:
        self._found, self._device = found, device
        self._system: System | None = None
        self._problem = ""
        self._remembered: dict[tuple[str, str], str] = {}
        self.queue = Queue(
            self._rewrite,
            f"rewrite {found.card.name}",
            full=FULL,
            bug=_BUG,
            absence=absence,
            first=self._load,
        )

    @property
    def is_loading(self) -> bool:
        """Whether its weights are still being read."""
        return self._system is None and not self._problem

    def ask(self, text: str, direction: Direction) -> Job:
        """A sentence on its way; it is answered at once if the same was asked before."""
        job = Job((text, direction))
        known = self._remembered.get((direction.name, text))
        if known is None:
            return self.queue.ask(job)
        job.result, job.state = known, "done"
        return job

    def _load(self) -> None:
        try:
            self._system = self._found.load(self._device)
        except TSTBenchError as error:
            say(f"{self._found.card.name}: {error}")  # it may name the owner's folders
            self._problem = UNOPENED
        except Exception:
            _LOG.exception("%s could not be loaded", self._found.card.name)
            self._problem = _BUG

    def _rewrite(self, job: Job) -> str:
        if self._system is None:
            raise TSTBenchError(self._problem)
        text, direction = job.task
        (answer,) = self._system.transfer([text], direction, device=self._device)
        self._remembered[direction.name, text] = answer
        if len(self._remembered) > _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        return answer


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
        self._systems = {
            i: _System(offer.found, device, absence)
            for i, offer in enumerate(offers)
            if offer.found
        }
        self._patience = patience
        # The sentences on their way, by the system's place on the page.
        self._tickets: Tickets[dict[int, Job]] = Tickets(_MOST_TICKETS)

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
        asked = {i: self.offers[i].direction(styles) for i in self._systems}
        jobs = {i: self._systems[i].ask(sentence, to) for i, to in asked.items() if to}
        direction = next(to for to in asked.values() if to)
        tested = self._tested.get(styles, {}).get(match_key(sentence))
        return {
            "ticket": self._tickets.issue(jobs),
            "text": sentence,
            "people": [
                _compared(sentence, one, direction) for one in (tested.rewrites if tested else ())
            ],
            **self._told(jobs),
        }

    def look(self, ticket: Any) -> dict[str, Any]:
        """How far a ticket's answers have come.

        Raises:
            NotThereError: there is no such ticket.
        """
        jobs = self._tickets.find(ticket)
        for job in jobs.values():
            job.touch()
        return self._told(jobs)

    def close(self) -> None:
        """Stop the systems' threads."""
        for system in self._systems.values():
            system.queue.close()

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

    def _told(self, jobs: Mapping[int, Job]) -> dict[str, Any]:
        answers = [self._answer(index, job) for index, job in jobs.items()]
        return {"answers": answers, "open": sum(one["state"] in OPEN for one in answers)}

    def _answer(self, index: int, job: Job) -> dict[str, Any]:
        system, state = self._systems[index], job.state
        told: dict[str, Any] = {"system": index, "state": state}
        if state in OPEN and system.queue.busy() > self._patience:  # who waits behind is told too
            which = " to a sentence before this one" * (state == "waiting")
            error = f"No answer{which} within {self._patience:.0f} seconds."
            told |= {"state": "failed", "error": error}
        elif state == "waiting":
            told |= {"ahead": system.queue.ahead(job), "loading": system.is_loading}
        elif state == "failed":
            told["error"] = job.error
        elif state == "done":
            told |= _compared(job.task[0], job.result, job.task[1])
            told["seconds"] = round(job.seconds, 2)
        return told


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
