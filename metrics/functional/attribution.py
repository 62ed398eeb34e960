"""From attributions of word pieces to a text without its style words.

A sentence's style words are those that a style classifier's decision rests on: the pieces' attributions
are added up to words, and the words with the largest shares are taken until they hold a given part of
the whole. Source: Cloudera Fast Forward Labs (2022), "Automated Metrics for Evaluating Text Style
Transfer", section Content Preservation; there, pieces of one word were judged one by one, which its
authors name as a fault.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from ...errors import InputError

# A word with its apostrophes, or one other sign: what is masked is a whole word, never its full stop.
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")

Span = tuple[int, int]


def word_spans(text: str) -> list[Span]:
    """Where the words of a text are: start and end of each.

    >>> [("it's great.")[a:b] for a, b in word_spans("it's great.")]
    ["it's", 'great', '.']
    """
    return [match.span() for match in _WORD.finditer(text)]


def word_attributions(
    pieces: Sequence[Span], values: Sequence[float] | np.ndarray, words: Sequence[Span]
) -> np.ndarray:
    """Attributions of words: the sums of their pieces', shape (W,), float64.

    Args:
        pieces: start and end in the text of each of P pieces, in order; a special token is (0, 0).
        values: the attribution of each piece, shape (P,).
        words: start and end of each of W words, in order, without overlap.

    A piece counts for each word that it overlaps, in proportion to the signs they share; one that
    overlaps none (a special token) is left out.

    Raises:
        InputError: as many values as pieces are needed.

    >>> word_attributions([(0, 8), (8, 10), (11, 16)], [0.3, 0.1, 0.5], [(0, 10), (11, 16)]).tolist()
    [0.4, 0.5]
    """
    if len(pieces) != len(values):
        raise InputError(f"{len(pieces)} word pieces, but {len(values)} attributions")
    sums = np.zeros(len(words))
    for (start, end), value in zip(pieces, values, strict=True):
        shared = [max(0, min(end, stop) - max(start, begin)) for begin, stop in words]
        if any(shared):
            sums += float(value) * np.array(shared) / sum(shared)
    return sums


def style_words(attributions: np.ndarray, threshold: float) -> list[int]:
    """The words that hold the given part of a sentence's style: indices, largest share first.

    Shares are absolute attributions, divided by their sum. Words are taken, largest first, as long
    as those before hold less than the threshold: at least one, if any attribution is not 0.
    Of equal shares the earlier word comes first.

    Args:
        attributions: shape (W,).
        threshold: 0 to 1: 0 takes none, 1 all whose attribution is not 0.

    Raises:
        InputError: a threshold outside 0 to 1, or an attribution that is not a number.

    >>> style_words(np.array([0.1, -0.6, 0.3]), 0.5), style_words(np.array([0.1, -0.6, 0.3]), 0.7)
    ([1], [1, 2])
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"the threshold of attribution is {threshold}: it must be from 0 to 1")
    sizes = np.abs(np.asarray(attributions, dtype=np.float64))
    if not np.isfinite(sizes).all():
        raise InputError("an attribution is not a number: the classifier's gradient overflowed")
    total = sizes.sum()
    if total == 0:
        return []
    order = np.argsort(-sizes, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(sizes[order])[:-1]]) / total
    # Rounding must not add a word when those before hold exactly the threshold.
    taken = order[(before < threshold - 1e-12) & (sizes[order] > 0)]
    return [int(word) for word in taken]


def without_words(
    text: str, spans: Sequence[Span], chosen: Collection[int], mask: str | None
) -> str:
    """The text with the chosen words replaced by a mask, or removed if that is ``None``.

    >>> without_words("the lovely soup.", word_spans("the lovely soup."), [1], "[PAD]")
    'the [PAD] soup.'
    >>> without_words("the lovely soup.", word_spans("the lovely soup."), [1], None)
    'the soup.'
    """
    parts, done = [], 0
    for word in sorted(chosen):
        start, end = spans[word]
        parts += [text[done:start], "" if mask is None else mask]
        done = end
    joined = "".join([*parts, text[done:]])
    return " ".join(joined.split()) if mask is None else joined
