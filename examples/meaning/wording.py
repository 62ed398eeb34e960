"""Changes of wording and style that keep what a sentence says.

A sentence is a list of :class:`Word`; each change is a seeded function on it. They are crude on
purpose: many different surface changes, none of which is about content.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from . import phrases
from .close import Close
from .slots import slots
from .thesaurus import thesaurus

_WORD = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[^\sa-z0-9]")


@dataclass(frozen=True)
class Word:
    """A word and whether its meaning has no counterpart on the other side.

    Attributes:
        text: lower-case.
        changed: True if the other sentence does not say it; None if that is not known.
    """

    text: str
    changed: bool | None = False


def split_words(text: str) -> list[Word]:
    """The words and signs of a sentence, lower-cased.

    >>> [word.text for word in split_words("It's fine, Bob!")]
    ["it's", 'fine', ',', 'bob', '!']
    """
    return [Word(word) for word in _WORD.findall(text.lower().replace("’", "'"))]


def new(text: str, changed: bool = False) -> list[Word]:
    """Words that are added."""
    return [Word(word, changed) for word in text.split()]


def is_content(word: str) -> bool:
    """Whether a word carries content rather than grammar."""
    return word[0].isalnum() and word not in phrases.STOP


def reworded(
    words: list[Word], rng: random.Random, strength: float, close: Close | None = None
) -> list[Word]:
    """The same content in other words and another style.

    Args:
        words: a sentence.
        rng: of the choices.
        strength: 0 (unchanged) to about 1 (as much as possible).
        close: words of nearly the same meaning.
    """
    if close is not None and rng.random() < 0.6 * strength:
        words = [_close_word(word, rng, close) for word in words]
    for change, often in _CHANGES:
        if rng.random() < often * strength:
            words = change(words, rng)
    return words


def _close_word(word: Word, rng: random.Random, close: Close) -> Word:
    others = close.of(word.text)
    return replace(word, text=rng.choice(others)) if others and rng.random() < 0.6 else word


def _same_meaning(words: list[Word], rng: random.Random) -> list[Word]:
    same, forms = thesaurus().same, thesaurus().other_form
    found = []
    for word in words:
        if word.text in same and rng.random() < 0.7:
            word = replace(word, text=rng.choice(same[word.text]))
        if word.text in forms and rng.random() < 0.15:
            word = replace(word, text=rng.choice(forms[word.text]))
        found.append(word)
    return found


def _other_name(words: list[Word], rng: random.Random) -> list[Word]:
    same, found = slots().same, []
    for word in words:
        if word.text in same and rng.random() < 0.6:
            found += [replace(word, text=part) for part in rng.choice(same[word.text]).split()]
        else:
            found.append(word)
    return found


def _other_opinion(words: list[Word], rng: random.Random) -> list[Word]:
    table = thesaurus().other_opinion
    return [
        replace(word, text=rng.choice(table[word.text])) if word.text in table else word
        for word in words
    ]


def _opening(words: list[Word], rng: random.Random) -> list[Word]:
    return [*new(_filled(rng.choice(phrases.OPENINGS), words, rng)), *words]


def _ending(words: list[Word], rng: random.Random) -> list[Word]:
    while words and words[-1].text in ".!?":
        words = words[:-1]
    return [*words, *new(rng.choice(phrases.ENDINGS))]


def _filled(phrase: str, words: list[Word], rng: random.Random) -> str:
    if "{}" not in phrase:
        return phrase
    content = [word.text for word in words if is_content(word.text) and not word.changed]
    return phrase.format(rng.choice(content)) if content else "news :"


def _praise_or_blame(words: list[Word], rng: random.Random) -> list[Word]:
    places = [
        i
        for i, word in enumerate(words)
        if is_content(word.text) and (i == 0 or words[i - 1].text in phrases.STOP)
    ]
    for i in sorted(rng.sample(places, min(len(places), rng.choice((1, 1, 2)))), reverse=True):
        some = phrases.BEFORE_NAMES if rng.random() < 0.7 else phrases.BEFORE_VERBS
        words = [*words[:i], *new(rng.choice(some)), *words[i:]]
    return words


def _insult(words: list[Word], rng: random.Random) -> list[Word]:
    people = [i for i, word in enumerate(words) if word.text in phrases.PERSONS]
    if people:
        i = rng.choice(people)
        return [*words[:i], replace(words[i], text=rng.choice(phrases.INSULTS)), *words[i + 1 :]]
    return [
        *words,
        *new(rng.choice((", you {}", ", what a {}", ", {}")).format(rng.choice(phrases.INSULTS))),
    ]


def _shorter(words: list[Word], rng: random.Random) -> list[Word]:
    dropped = {"a", "an", "the", "is", "are", "was", "has", "have", "been", "there", "very", "that"}
    kept = [word for word in words if word.text not in dropped or rng.random() < 0.3]
    return kept or words


def _contracted(words: list[Word], _rng: random.Random) -> list[Word]:
    found: list[Word] = []
    for word in words:
        both = f"{found[-1].text} {word.text}" if found else ""
        if both in phrases.SHORTER:
            found[-1] = replace(found[-1], text=phrases.SHORTER[both])
        else:
            found.append(word)
    return found


def _otherwise(words: list[Word], rng: random.Random) -> list[Word]:
    found = []
    for word in words:
        if word.text in phrases.OTHERWISE and rng.random() < 0.5:
            text = rng.choice(phrases.OTHERWISE[word.text])
            found += [replace(word, text=part) for part in text.split()]
        else:
            found.append(word)
    return found


def _reordered(words: list[Word], rng: random.Random) -> list[Word]:
    end = len(words)
    while end and words[end - 1].text in ".!?":
        end -= 1
    breaks = [
        i
        for i in range(2, end - 1)
        if words[i].text in phrases.PREPOSITIONS or words[i].text in (",", "and", ";", "as")
    ]
    if not breaks:
        return words
    i = rng.choice(breaks)
    tail = words[i + 1 : end] if words[i].text in (",", "and", ";") else words[i:end]
    middle = new(rng.choice((",", ",", ":", "-")))
    return [*tail, *middle, *words[:i], *words[end:]]


_CHANGES = (
    (_reordered, 0.3),
    (_same_meaning, 0.8),
    (_other_name, 0.5),
    (_other_opinion, 0.5),
    (_otherwise, 0.4),
    (_shorter, 0.3),
    (_contracted, 0.3),
    (_praise_or_blame, 0.4),
    (_insult, 0.1),
    (_opening, 0.35),
    (_ending, 0.45),
)
