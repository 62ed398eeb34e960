"""What is wrong with a split, counted: empty lines, duplicates, leaks, lengths, unseen words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from .cleaning import match_key
from .corpus import Side

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Quality:
    """Counts for the sentences of one style in one part. Equality is that of ``match_key``."""

    part: str
    style: str
    rows: int
    removed: int  # by decontamination, repetitions among them; not among the rows
    empty: int
    duplicates: int  # rows that repeat an earlier row
    other_style: int  # rows that also occur in this part with the other style
    test_overlap: int  # test sentences of the same style that also occur here; 0 for test itself
    unchanged: int  # rows with a reference that equals the sentence
    words: tuple[int, float, float, int]  # blank-separated: min, mean, median, max
    references: tuple[int, int]  # fewest and most human rewrites of a row
    oov: float  # share of running words that the training split of both styles does not have


def words(sentence: str) -> list[str]:
    """Words and punctuation marks, lower-cased: what vocabularies are counted in.

    >>> words("It's fine.")
    ["it's", 'fine', '.']
    """
    return _WORD.findall(sentence.lower())


def measure(
    sides: Mapping[tuple[str, int], Side], styles: tuple[str, str], training: str
) -> tuple[Quality, ...]:
    """Count every side that was read.

    Args:
        sides: (part, style index) -> its sentences; the test part must be among them.
        styles: names of the two styles.
        training: the part whose words are the known ones.
    """
    known = {
        word
        for (part, _), side in sides.items()
        if part == training
        for text in side.texts
        for word in words(text)
    }
    keys = {place: [match_key(text) for text in side.texts] for place, side in sides.items()}
    distinct = {place: set(found) for place, found in keys.items()}
    rows = []
    for (part, style), side in sides.items():
        own = keys[part, style]
        test = keys["test", style] if part != "test" else []
        lengths = [len(text.split()) for text in side.texts]
        counts = [len(refs) for refs in side.references]
        running = [word for text in side.texts for word in words(text)]
        rows.append(
            Quality(
                part=part,
                style=styles[style],
                rows=len(own),
                removed=side.removed + side.repeats,
                empty=sum(not text.strip() for text in side.texts),
                duplicates=len(own) - len(distinct[part, style]),
                other_style=_count_in(own, distinct[part, 1 - style]),
                test_overlap=_count_in(test, distinct[part, style]),
                unchanged=sum(
                    any(match_key(ref) == key for ref in refs)
                    for key, refs in zip(own, side.references, strict=True)
                ),
                words=(min(lengths), fmean(lengths), median(lengths), max(lengths)),
                references=(min(counts), max(counts)),
                oov=_share(word not in known for word in running),
            )
        )
    return tuple(rows)


def _count_in(keys: Iterable[str], known: set[str]) -> int:
    return sum(key in known for key in keys)


def _share(flags: Iterable[bool]) -> float:
    every = list(flags)
    return sum(every) / max(len(every), 1)
