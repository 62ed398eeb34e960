"""What may be wrong with a split: empty lines, duplicates, leaks, lengths, unseen words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from .cleaning import match_key
from .corpus import Place, Side

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Quality:
    """Counts for the sentences of one style in one split. Equality is that of ``match_key``."""

    part: str
    style: str  # or the direction, if it has rows of its own: rude-to-polite
    rows: int
    removed: int  # by decontamination, including repetitions; not counted in rows
    empty: int
    duplicates: int  # rows that repeat an earlier row
    other_style: int  # rows that also occur in this split with another style
    test_overlap: int  # test sentences of the same style that also occur here; 0 for test itself
    unchanged: int  # rows with a reference that equals the sentence
    words: tuple[int, float, float, int]  # separated by spaces: min, mean, median, max
    references: tuple[int, int]  # fewest and most human rewrites of a row
    oov: float  # share of running words that do not occur in the training split of any style


def words(sentence: str) -> list[str]:
    """Words and punctuation marks, lower-cased: the units in which vocabularies are counted.

    >>> words("It's fine.")
    ["it's", 'fine', '.']
    """
    return _WORD.findall(sentence.lower())


def measure(
    sides: Mapping[Place, Side], styles: Sequence[str], training: str
) -> tuple[Quality, ...]:
    """Count every side that was read and has sentences.

    Args:
        sides: what was read: every style of every split, including the test split, and the
            directions with sentences of their own, which replace those of their style.
        styles: names of the styles.
        training: the split whose words count as known.
    """
    known = {
        word
        for place, side in sides.items()
        if place.part == training
        for text in side.texts
        for word in words(text)
    }
    shown_apart = {(place.part, place.style) for place in sides if place.target is not None}
    keys = {place: [match_key(text) for text in side.texts] for place, side in sides.items()}
    distinct = {place: set(found) for place, found in keys.items()}
    rows = []
    for place, side in sides.items():
        part, style, target = place
        if not side.texts or (target is None and (part, style) in shown_apart):
            continue
        own = keys[place]
        test = keys.get(Place("test", style), []) if part != "test" else []
        others = set[str]().union(
            *(distinct[Place(part, other)] for other in range(len(styles)) if other != style)
        )
        lengths = [len(text.split()) for text in side.texts]
        counts = [len(refs) for refs in side.references]
        running = [word for text in side.texts for word in words(text)]
        rows.append(
            Quality(
                part=part,
                style=styles[style] if target is None else f"{styles[style]}-to-{styles[target]}",
                rows=len(own),
                removed=side.removed + side.repeats,
                empty=sum(not text.strip() for text in side.texts),
                duplicates=len(own) - len(distinct[place]),
                other_style=_count_in(own, others),
                test_overlap=_count_in(test, distinct[place]),
                unchanged=sum(
                    any(match_key(ref) == key for ref in refs)
                    for key, refs in zip(own, side.references, strict=True)
                ),
                words=(min(lengths), fmean(lengths), median(lengths), max(lengths)),
                references=(min(counts), max(counts)),
                oov=sum(word not in known for word in running) / max(len(running), 1),
            )
        )
    return tuple(rows)


def _count_in(keys: Iterable[str], known: set[str]) -> int:
    return sum(key in known for key in keys)
