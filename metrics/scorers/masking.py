"""From attributions of word pieces to a text without its style words.

A sentence's style words are those that a style classifier's decision rests on: those with the largest
shares of the attributions. Source: Cloudera Fast Forward Labs (2022), "Automated Metrics for Evaluating
Text Style Transfer", section Content Preservation, and ``mask_style_tokens`` of its released code
(fastforwardlabs/text-style-transfer, ``src/inference.py``). There, pieces of one word are judged one by
one, which its authors name as a fault; here, their attributions can also be added up to words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, get_args

import numpy as np

from ...errors import InputError, unknown_name

# A word with its apostrophes, or one other sign: what is masked is a whole word, never its full stop.
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")

Span = tuple[int, int]
Rule = Literal["published", "covering"]


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


def style_words(attributions: np.ndarray, threshold: float, rule: Rule = "published") -> list[int]:
    """The words (or word pieces) that are masked: indices, largest share first.

    Shares are absolute attributions, divided by their sum; of equal shares the earlier word comes
    first. Nothing is taken if all attributions are 0.

    Args:
        attributions: shape (W,).
        threshold: 0 to 1.
        rule: ``published`` takes the words whose cumulative share is at most the threshold, and the
            first word alone if its share is larger. ``covering`` goes on until the words hold the
            threshold: the word that crosses it is taken too; 0 takes none, 1 all that are not 0.

    Raises:
        InputError: a threshold outside 0 to 1, or an attribution that is not a number.
        UnknownNameError: no such rule.

    >>> values = np.array([0.1, -0.6, 0.3])
    >>> [style_words(values, 0.7, rule) for rule in ("published", "covering")]
    [[1], [1, 2]]
    """
    if rule not in get_args(Rule):
        raise unknown_name("rule of masking", rule, get_args(Rule))
    if not 0 <= threshold <= 1:
        raise InputError(f"the threshold of attribution is {threshold}: it must be from 0 to 1")
    sizes = np.abs(np.asarray(attributions, dtype=np.float64))
    if not np.isfinite(sizes).all():
        raise InputError("an attribution is not a number: the classifier's gradient overflowed")
    total = sizes.sum()
    if total == 0:
        return []
    order = np.argsort(-sizes, kind="stable")
    shares = np.cumsum(sizes[order]) / total
    # Rounding must not decide about a word at exactly the threshold.
    if rule == "published":
        taken = order[: max(1, int((shares <= threshold + 1e-12).sum()))]
    else:
        before = np.concatenate([[0.0], shares[:-1]])
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
