"""Made pairs of sentences and how much of the meaning the second keeps, from 0 to 1."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from .close import Close
from .damage import DAMAGES, Damage, Stock
from .phrases import PREPOSITIONS
from .slots import slots
from .templates import Said, facts_of, kind_of, something_said, told
from .wording import Word, is_content, reworded, split_words
from .words import Neighbours

STRENGTHS = (0.0, 0.3, 0.6, 1.0, 1.3)  # of rewording, whatever else is done to a sentence


@dataclass(frozen=True)
class Pair:
    """Two sentences.

    Attributes:
        source, output: words, each marked if the other sentence does not say it.
        kept: how much of the meaning is kept, 0 to 1.
        kind: how the pair was made.
    """

    source: tuple[Word, ...]
    output: tuple[Word, ...]
    kept: float
    kind: str


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How pairs are made.

    Attributes:
        rewrites_kept: what rewrites by people keep; below 1, since alignments have errors.
        none, one, two, many, other: how often as many changes of meaning are hidden; ``many``
            replaces a share of all content words, ``other`` is another sentence.
        without: kinds of damage left out, to test on what was not learned.
    """

    rewrites_kept: float = 0.92
    none: float = 0.42
    one: float = 0.36
    two: float = 0.05
    many: float = 0.12
    other: float = 0.05
    without: tuple[str, ...] = ()


def stock_of(sentences: Sequence[str], close: Close | None = None) -> Stock:
    """Everything that replacements are taken from."""
    words = [[word.text for word in split_words(text)] for text in sentences]
    found = []
    for some in words:
        for i, word in enumerate(some):
            if word not in PREPOSITIONS:
                continue
            phrase = list(takewhile(lambda part: part[0].isalnum(), some[i : i + 4]))
            if len(phrase) > 1 and is_content(phrase[-1]):
                found.append(phrase)
    return Stock(Neighbours(words), found, [some for some in words if len(some) > 3], close)


def drawn(rng: random.Random, recipe: Recipe) -> str:
    """How many changes of meaning the next pair hides."""
    shares = (recipe.none, recipe.one, recipe.two, recipe.many, recipe.other)
    return rng.choices(("none", "one", "two", "many", "other"), shares)[0]


def made_pair(
    texts: tuple[str, str] | str, how: str, stock: Stock, rng: random.Random, recipe: Recipe
) -> Pair | None:
    """One pair from a sentence, or from a sentence and its rewrite by a person.

    Args:
        texts: the sentence, or both.
        how: see :func:`drawn`.
        stock: what replacements are taken from.
        rng: of all choices.
        recipe: how pairs are made.

    Returns:
        ``None`` where the sentence is too short or too long, or cannot be changed in that way.
    """
    by_people = not isinstance(texts, str)
    base = split_words(texts if isinstance(texts, str) else texts[1])
    if not 3 <= len(base) <= 40:
        return None
    kept, kinds = 1.0, []
    before, after = base, base
    if how in ("one", "two"):
        for _ in range(1 if how == "one" else 2):
            damaged = _damaged(after, rng, stock, recipe)
            if damaged is None:
                return None
            name, left, (first, second) = damaged
            if how == "one":
                before = first
            after = second
            kept *= left
            kinds.append(name)
        if how == "two":  # the marks of the first change are not those of the second
            before = [replace(word, changed=None) for word in base]
    elif how == "many":
        before, after, kept = _many(base, rng, stock)
        kinds.append("many")
    elif how == "other":
        words = rng.choice(stock.sentences)
        after = [Word(text, True if is_content(text) else None) for text in words]
        before = [replace(w, changed=True if is_content(w.text) else None) for w in base]
        kept, kinds = 0.0, ["other"]
    if by_people:
        first_words = split_words(texts[0])
        if not 3 <= len(first_words) <= 40:
            return None
        unknown = bool(kinds)
        before = [replace(w, changed=None if unknown else False) for w in first_words]
        kept *= recipe.rewrites_kept
    before = reworded(before, rng, 0.3 if rng.random() < 0.5 else 0.0, stock.close)
    # What is kept and what is changed are reworded alike: no manner may tell which one it is.
    strength = rng.choice(STRENGTHS) * (0.5 if by_people else 1.0)
    after = reworded(after, rng, strength, stock.close)
    if rng.random() < 0.35:
        before, after = after, before
    kind = ("people " if by_people else "") + ("+".join(kinds) or "kept")
    return Pair(tuple(before[:48]), tuple(after[:48]), kept, kind)


def template_pair(
    template: Sequence[str], how: str, stock: Stock, rng: random.Random, recipe: Recipe
) -> Pair | None:
    """One pair from two styles of a template, or from one style twice.

    Args:
        template: see :func:`~.templates.templates`.
        how: see :func:`drawn`.
        stock: what replacements are taken from.
        rng: of all choices.
        recipe: how pairs are made.

    Returns:
        ``None`` where what was drawn cannot be done with this template.
    """
    said = something_said(template, rng)
    other, kinds, kept = said, [], 1.0
    for _ in range({"one": 1, "two": 2}.get(how, 0)):
        name, left, other = _says_another(template, other, said, rng)
        if not name or name in recipe.without:
            return None
        kinds.append(name)
        kept *= left
    if how == "many":
        other, kept = something_said(template, rng), 0.08
        kinds = ["template"]
    elif how == "other":
        return None
    first, second = rng.choice(template), rng.choice(template)
    if rng.random() < 0.7:
        first, second = rng.sample(template, 2)
    before, after = told(first, said, other, rng), told(second, other, said, rng)
    before = reworded(before, rng, 0.3 if rng.random() < 0.2 else 0.0, stock.close)
    strength = rng.choice(STRENGTHS) * (0.4 if first != second else 1.0)
    after = reworded(after, rng, strength, stock.close)
    kind = "told " + ("+".join(kinds) or "kept")
    return Pair(tuple(before[:48]), tuple(after[:48]), kept, kind)


def _says_another(
    template: Sequence[str], said: Said, source: Said, rng: random.Random
) -> tuple[str, float, Said]:
    """One change of what is said: its name, how much of the meaning is left, and the result."""
    slots_there, facts = list(said.things), facts_of(template)
    twice = [slot for slot in slots_there if slot[-1].isdigit() and slot[:-1] in said.things]
    kinds = [("thing", 5.0 * bool(slots_there)), ("choice", 4.0 * bool(said.choices)),
             ("fact", 4.0 * bool(facts)), ("roles", 0.6 * bool(twice))]  # fmt: skip
    what = rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
    if what == "thing":
        slot = rng.choice(slots_there)
        count = len(slots().kinds[kind_of(slot)])
        taken = {said.things[s] for s in slots_there if kind_of(s) == kind_of(slot)}
        thing = rng.choice([i for i in range(count) if i not in taken | {source.things[slot]}])
        return "thing", 0.2, replace(said, things={**said.things, slot: thing})
    if what == "choice":
        number = rng.choice(list(said.choices))
        options = re.findall(rf"<{number} ([^<>]*)>", template[0])[0].split("~")
        picked = rng.choice([i for i in range(len(options)) if i != source.choices[number]])
        return "choice", 0.15, replace(said, choices={**said.choices, number: picked})
    if what == "fact":
        fact = rng.choice(facts)
        new_fact = fact not in said.facts
        return ("fact_added" if new_fact else "fact_left_out"), 0.5, replace(
            said, facts=said.facts ^ {fact}
        )  # fmt: skip
    second = rng.choice(twice)
    swapped = {second: said.things[second[:-1]], second[:-1]: said.things[second]}
    return "roles", 0.35, replace(said, things={**said.things, **swapped})


def _damaged(
    words: list[Word], rng: random.Random, stock: Stock, recipe: Recipe
) -> tuple[str, float, tuple[list[Word], list[Word]]] | None:
    known = [d for d in DAMAGES if d[0].__name__ not in recipe.without]
    for _ in range(4):
        ((damage, left, _often),) = rng.choices(known, [often for _, _, often in known])
        sides = damage(words, rng, stock)
        if sides is not None:
            return damage.__name__, left, sides
    return None


def _many(
    words: list[Word], rng: random.Random, stock: Stock
) -> tuple[list[Word], list[Word], float]:
    """A share of the content words is replaced or left out, as weak systems do."""
    share = rng.random()
    before, after = [], []
    content = lost = 0
    for word in words:
        counted = is_content(word.text)
        content += counted
        if not (counted and rng.random() < share):
            before.append(word)
            after.append(word)
            continue
        lost += 1
        before.append(replace(word, changed=True))
        text = stock.neighbours.like(word.text, rng) if rng.random() < 0.7 else None
        if text is not None:
            after.append(Word(text, True))
    if not after:
        after = [Word(".", None)]
    left = 1 - lost / max(content, 1)
    return before, after, left if lost == 0 else min(left, 0.6)


__all__ = ["Damage", "Pair", "Recipe", "drawn", "made_pair", "stock_of"]
