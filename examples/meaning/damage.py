"""Changes of what a sentence says, one at a time, hidden in an otherwise unchanged sentence."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .close import Close
from .phrases import NUMBERS, PREPOSITIONS
from .slots import slots
from .thesaurus import thesaurus
from .wording import Word, is_content, new
from .words import Neighbours

Sides = tuple[list[Word], list[Word]]


@dataclass(frozen=True)
class Stock:
    """What replacements are taken from.

    Attributes:
        neighbours: words that stand in the same places.
        phrases: prepositional phrases of other sentences.
        sentences: other sentences.
        close: words of nearly the same meaning, if an encoder told them.
    """

    neighbours: Neighbours
    phrases: Sequence[Sequence[str]]
    sentences: Sequence[Sequence[str]]
    close: Close | None = None


Damage = Callable[[list[Word], random.Random, Stock], Sides | None]


def opposite(words: list[Word], rng: random.Random, _stock: Stock) -> Sides | None:
    """A word becomes its opposite."""
    table = thesaurus().opposite
    places = [i for i, word in enumerate(words) if word.text in table]
    if not places:
        return None
    chosen = set(rng.sample(places, min(len(places), rng.choice((1, 1, 2)))))
    texts = {i: rng.choice(table[words[i].text]) for i in chosen}
    return _swapped(words, texts)


def other_word(words: list[Word], rng: random.Random, stock: Stock) -> Sides | None:
    """A content word becomes another one that could stand there."""
    same, opinions = thesaurus().same, thesaurus().other_opinion
    places = [
        i
        for i, word in enumerate(words)
        if is_content(word.text) and word.text in stock.neighbours and word.text not in opinions
    ]
    if not places:
        return None
    texts = {}
    for i in rng.sample(places, min(len(places), rng.choice((1, 1, 1, 2)))):
        text = stock.neighbours.like(words[i].text, rng)
        if text is None or text in same.get(words[i].text, ()):
            continue
        if stock.close is None or not stock.close.related(words[i].text, text):
            texts[i] = text
    return _swapped(words, texts) if texts else None


def other_of_kind(words: list[Word], rng: random.Random, _stock: Stock) -> Sides | None:
    """A thing of a known kind becomes another one: another animal, country or relative."""
    table = slots().other
    places = [i for i, word in enumerate(words) if word.text in table]
    if not places:
        return None
    i = rng.choice(places)
    name = new(rng.choice(table[words[i].text]), True)
    before = [replace(w, changed=True) if j == i else w for j, w in enumerate(words)]
    return before, [*words[:i], *name, *words[i + 1 :]]


def other_number(words: list[Word], rng: random.Random, _stock: Stock) -> Sides | None:
    """A number becomes another one."""
    places = [i for i, word in enumerate(words) if word.text.isdigit() or word.text in NUMBERS]
    if not places:
        return None
    i = rng.choice(places)
    old = words[i].text
    text = (
        str(int(old) + rng.choice((-3, -1, 1, 2, 10, 100)))
        if old.isdecimal()
        else rng.choice(NUMBERS)
    )
    return _swapped(words, {i: text}) if text != old else None


def roles_swapped(words: list[Word], rng: random.Random, _stock: Stock) -> Sides | None:
    """Two content words change places."""
    places = [i for i, word in enumerate(words) if is_content(word.text)]
    if len(places) < 3:
        return None
    first, second = sorted(rng.sample(places, 2))
    if second - first < 2 or words[first].text == words[second].text:
        return None
    return _swapped(words, {first: words[second].text, second: words[first].text})


def negated(words: list[Word], rng: random.Random, _stock: Stock) -> Sides | None:
    """A negation appears or disappears."""
    there = [i for i, word in enumerate(words) if word.text in ("not", "never", "no")]
    if there:
        i = rng.choice(there)
        marked = [*words[:i], replace(words[i], changed=True), *words[i + 1 :]]
        return marked, [*words[:i], *words[i + 1 :]]
    helpers = {
        "is",
        "are",
        "was",
        "were",
        "will",
        "would",
        "can",
        "could",
        "should",
        "has",
        "have",
        "had",
        "may",
        "must",
    }
    places = [i + 1 for i, word in enumerate(words) if word.text in helpers]
    if not places:
        if rng.random() < 0.5:
            return None
        return words, [
            *new(rng.choice(("it is not true that", "nobody said that", "no longer :")), True),
            *words,
        ]
    i = rng.choice(places)
    return words, [*words[:i], *new(rng.choice(("not", "never", "no longer")), True), *words[i:]]


def left_out(words: list[Word], rng: random.Random, _stock: Stock) -> Sides | None:
    """A content word or a phrase is left out."""
    starts = [i for i, word in enumerate(words) if word.text in PREPOSITIONS]
    if starts and rng.random() < 0.6:
        i = rng.choice(starts)
        stop = i + 1
        while stop < len(words) and stop - i < 5 and words[stop].text[0].isalnum():
            stop += 1
    else:
        places = [i for i, word in enumerate(words) if is_content(word.text)]
        if not places:
            return None
        i = rng.choice(places)
        stop = i + 1
    rest = [*words[:i], *words[stop:]]
    if sum(is_content(word.text) for word in rest) < 2 or not any(
        is_content(word.text) for word in words[i:stop]
    ):
        return None
    marked = [replace(word, changed=True) for word in words[i:stop]]
    return [*words[:i], *marked, *words[stop:]], rest


def added(words: list[Word], rng: random.Random, stock: Stock) -> Sides | None:
    """Information is added that the sentence does not have: a phrase, a clause or a word."""
    kind = rng.random() if stock.phrases else 1.0
    if kind < 0.5:
        extra = list(rng.choice(stock.phrases))
        i = len(words) - 1 if words[-1].text in ".!?" else len(words)
    elif kind < 0.75:
        other = list(rng.choice(stock.sentences))[:7]
        extra = [rng.choice(("and", "while", "as", "because", ",")), *other]
        i = len(words) - 1 if words[-1].text in ".!?" else len(words)
    else:
        places = [i for i, word in enumerate(words) if is_content(word.text)]
        if not places:
            return None
        i = rng.choice(places)
        text = stock.neighbours.like(words[i].text, rng)
        if text is None:
            return None
        extra = [text, "and"] if rng.random() < 0.4 else [text]
    return words, [*words[:i], *(Word(text, True) for text in extra), *words[i:]]


# With how much of the meaning is left; a reader minds a contradiction more than an omission.
DAMAGES: tuple[tuple[Damage, float, float], ...] = (
    (opposite, 0.15, 3.0),
    (other_word, 0.2, 4.0),
    (other_of_kind, 0.2, 5.0),
    (other_number, 0.25, 1.5),
    (roles_swapped, 0.4, 0.5),
    (negated, 0.2, 1.0),
    (left_out, 0.5, 2.0),
    (added, 0.5, 2.0),
)


def _swapped(words: list[Word], texts: dict[int, str]) -> Sides:
    before = [replace(w, changed=True) if i in texts else w for i, w in enumerate(words)]
    after = [Word(texts[i], True) if i in texts else w for i, w in enumerate(words)]
    return before, after
