"""The systems that a page offers, and what visitors may ask of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...console import say
from ...datasets_scripts.catalog import dataset_facts, parse_direction
from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.directions import Direction
from ...datasets_scripts.load import load_test_set
from ...errors import InputError, TSTBenchError
from ...hub import is_repo_id, offline
from ...trainers.load import FoundSystem, find_stored

MOST_CHARACTERS = 300  # a sentence; the longest of the benchmark's test sets has 250
_TEST_EXAMPLES = 50  # of a direction's test set
UNOPENED = "This system could not be opened. The page's owner finds the reason in the log."
# Our own writing: a sentence to try for each pair of styles of the benchmark.
_EXAMPLES = {
    ("negative", "positive"): "the soup was cold and the waiter ignored us .",
    ("positive", "negative"): "the bread was fresh and the staff was friendly .",
    ("informal", "formal"): "hey , can u send me that thing asap ?",
    ("formal", "informal"): "I would be grateful for your answer by Friday .",
    ("shakespearean", "modern"): "Whither goest thou at so late an hour , good friend ?",
    ("modern", "shakespearean"): "Where are you going so late , my friend ?",
    ("present", "future"): "the train leaves the station at noon .",
    ("modified", "unmodified"): "the very old house slowly fell into the quiet sea .",
}


@dataclass(frozen=True, order=True)
class Styles:
    """What visitors choose: the style to write in, and the one a sentence has."""

    source: str
    target: str

    @property
    def example(self) -> str | None:
        """A sentence to try; ``None`` for styles that the benchmark does not have."""
        return _EXAMPLES.get((self.source, self.target))


@dataclass(frozen=True)
class Rewritten:
    """A test sentence, and what people made of it."""

    source: str
    rewrites: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """A system on the page.

    Attributes:
        given: how its owner named it: a folder or a Hub id.
        found: the system; ``None`` if it cannot be opened.
        problem: why not, in words; empty otherwise.
    """

    given: str
    found: FoundSystem | None
    problem: str = ""

    @property
    def name(self) -> str:
        """Its name for visitors; a folder's place on the owner's disk is not theirs."""
        if self.found is not None:
            return self.found.card.name
        return self.given if is_repo_id(self.given) else Path(self.given).name or "a system"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """What it was trained for."""
        names = () if self.found is None else self.found.card.directions
        return tuple(parse_direction(name) for name in names)

    def direction(self, styles: Styles) -> Direction | None:
        """Its direction between these styles; ``None`` if it has none."""
        wanted = (styles.source, styles.target)
        return next(
            (one for one in self.directions if (one.source_style, one.target_style) == wanted),
            None,
        )


def open_offers(names: Sequence[str], *, strict: bool) -> list[Offer]:
    """Find every system; its weights are read later.

    Args:
        names: folders and Hub ids, in the order of the page.
        strict: raise if one cannot be opened; otherwise the page says so in its place.

    Raises:
        InputError: the same system twice, or one without a direction (``copy``).
        UnknownNameError, MissingSystemError, IntegrityError: see
            :func:`tstbench.trainers.load.load_system`.
    """
    offers: list[Offer] = []
    for name in names:
        try:
            found = find_stored(name)
            if not found.card.directions:
                raise InputError(f"{name} was trained for no direction, so it has no style to ask")
            for one in found.card.directions:
                parse_direction(one)  # its dataset may be another package's, not installed here
            if any(one.found and one.found.identity == found.identity for one in offers):
                raise InputError(f"{name} is given twice")
            offers.append(Offer(name, found))
        except TSTBenchError as error:
            if strict:
                raise
            say(f"{name}: {error}")  # it may name the owner's folders: not for visitors
            offers.append(Offer(name, None, UNOPENED))
    return offers


def offered_styles(offers: Iterable[Offer]) -> list[Styles]:
    """The pairs of styles that at least one system has, in the order of the systems."""
    every = (direction for offer in offers for direction in offer.directions)
    return list(dict.fromkeys(Styles(d.source_style, d.target_style) for d in every))


def test_sentences(offers: Iterable[Offer]) -> dict[Styles, dict[str, Rewritten]]:
    """The test sets of the systems' directions that people rewrote, by :func:`match_key`.

    Nothing is downloaded for them, and what may not be published is left out: a page may be public.
    """
    found: dict[Styles, dict[str, Rewritten]] = {}
    with offline():
        for direction in dict.fromkeys(one for offer in offers for one in offer.directions):
            if not dataset_facts(direction.dataset).publishable:
                continue
            with suppress(TSTBenchError):  # it is not on this machine
                test_set = load_test_set(direction)
                styles = Styles(direction.source_style, direction.target_style)
                for source, rewrites in zip(test_set.sources, test_set.references, strict=True):
                    if rewrites:
                        one = Rewritten(source, tuple(dict.fromkeys(rewrites)))
                        found.setdefault(styles, {}).setdefault(match_key(source), one)
    return found


def examples(styles: Styles, tested: Mapping[str, Rewritten]) -> list[str]:
    """Sentences to try: one of ours, then some of the test set, of ordinary length."""
    ordinary = [one.source for one in tested.values() if 6 <= len(one.source.split()) <= 20]
    drawn = random.Random(0).sample(ordinary, min(_TEST_EXAMPLES, len(ordinary)))
    return [*filter(None, [styles.example]), *drawn]


def language_of(direction: Direction) -> str:
    """Of the sentences of its dataset, BCP 47."""
    return dataset_facts(direction.dataset).language


def checked_text(text: object) -> str:
    r"""One sentence on one line, as it is rewritten.

    Raises:
        InputError: it is no text, empty, or too long.

    >>> checked_text(" the soup\nwas   cold ")
    'the soup was cold'
    """
    if not isinstance(text, str):
        raise InputError("the sentence is not a text")
    # Characters that are no writing (control characters, halves of a pair) are spaces.
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)
    sentence = " ".join(plain.split())
    if not sentence:
        raise InputError("write a sentence first")
    if len(sentence) > MOST_CHARACTERS:
        raise InputError(
            f"the sentence has {len(sentence):,} characters: at most {MOST_CHARACTERS} are taken"
        )
    return sentence
