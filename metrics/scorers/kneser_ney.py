"""Interpolated modified Kneser-Ney smoothing, estimated as KenLM's ``lmplz`` does.

The definition is modified Kneser-Ney of Chen and Goodman 1998 (discounts: equation 26), in the
form of Heafield et al. 2013, "Scalable Modified Kneser-Ney Language Model Estimation", section 3.
The entries equal those of ``lmplz --discount_fallback`` up to its single precision; only a
back-off weight of zero is written as -99, not -inf, which KenLM refuses to read.

How the arrays work: the n-grams of one order are numbered in suffix order (last word compared
first), because then the number of an n-gram is the rank of the pair (number of its suffix, its
first word). One integer per position of the corpus is that number for the current order; the
next order is one sort of integers away, and suffixes and contexts are plain index arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...errors import InputError

SPECIAL_WORDS = (b"<unk>", b"<s>", b"</s>")  # numbered 0, 1, 2, as lmplz does
BEGIN, END = 1, 2
RESERVED_WORDS = frozenset((*SPECIAL_WORDS, b"<UNK>"))  # KenLM reads <UNK> as <unk>
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)  # lmplz's default for --discount_fallback
LOG_ZERO = -99.0  # how ARPA files write the logarithm of zero
MAX_ORDER = 6  # the limit of the kenlm package on PyPI


def split_words(sentence: str) -> list[bytes]:
    r"""The words of a sentence exactly as KenLM's query sees them, in UTF-8.

    Only ASCII whitespace separates (space, ``\t``, ``\n``, ``\v``, ``\f``, ``\r``): a no-break
    space is part of a word, unlike in ``str.split``. Training and querying split with this one
    function, so that both always see the same words.

    Raises:
        InputError: not a string, a NUL character (KenLM would silently drop what follows it), or
            a lone surrogate, which is not Unicode text.

    Example:
        >>> split_words("The food\twas caf\u00e9\u00a0style .")
        [b'The', b'food', b'was', b'caf\xc3\xa9\xc2\xa0style', b'.']
    """
    if not isinstance(sentence, str):
        raise InputError(f"a sentence must be a string, got {type(sentence).__name__}")
    try:
        encoded = sentence.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"not valid Unicode text (a lone surrogate): {sentence!r}") from error
    if b"\0" in encoded:
        raise InputError(f"a NUL character in {sentence!r}: remove it")
    return encoded.split()


@dataclass(frozen=True, eq=False)
class NgramTable:
    """All n-grams of one order, in suffix order; M rows.

    Attributes:
        first_word: (M,) number of the first word in the vocabulary.
        suffix: (M,) row, in the table one order below, of the n-gram without its first word;
            0 for unigrams.
        log10_probability: (M,) of the last word given the others; at most 0.
        log10_backoff: (M,) weight of the order below after this n-gram; 0 where nothing follows.
        discounts: the discounts subtracted from counts of 1, 2, and 3 or more.
    """

    first_word: np.ndarray
    suffix: np.ndarray
    log10_probability: np.ndarray
    log10_backoff: np.ndarray
    discounts: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class NgramModel:
    """A back-off n-gram model.

    Attributes:
        vocabulary: words in UTF-8; ``<unk>``, ``<s>``, ``</s>``, then by first occurrence.
        tables: one for each order, unigrams first.
    """

    vocabulary: tuple[bytes, ...]
    tables: tuple[NgramTable, ...]


@dataclass(frozen=True, eq=False)
class _Ngrams:
    """The distinct n-grams of one order, in suffix order; M rows."""

    first_word: np.ndarray  # (M,)
    suffix: np.ndarray  # (M,) row one order below: all but the first word
    context: np.ndarray  # (M,) row one order below: all but the last word
    raw: np.ndarray  # (M,) occurrences in the corpus


def estimate(sentences: Iterable[str], order: int = 5) -> NgramModel:
    """Estimate a language model with interpolated modified Kneser-Ney smoothing.

    Nothing is pruned. Discounts that the closed form does not give (small or artificial corpora)
    are 0.5, 1 and 1.5, order by order, as ``lmplz --discount_fallback`` decides. The result
    depends only on the sentences and their order: every operation is exact or correctly rounded,
    so all machines get the same bits.

    Args:
        sentences: training text, words separated by ASCII whitespace. An empty sentence is
            evidence for ending at once, as in lmplz.
        order: length of the longest n-grams, 2 to 6.

    Returns:
        The model; ``tstbench.metrics.scorers.language_model.write_arpa`` writes it for KenLM.

    Raises:
        InputError: no sentences, an order out of range, or a sentence (counted from 1) that is
            not a text or contains ``<s>``, ``</s>``, ``<unk>`` or ``<UNK>`` as a word.

    Example:
        >>> model = estimate(["good food", "good"], order=2)
        >>> [word.decode() for word in model.vocabulary]
        ['<unk>', '<s>', '</s>', 'good', 'food']
    """
    check_order(order)
    stream, vocabulary = _number_words(sentences)
    ngrams = list(_collect(stream, len(vocabulary), order))
    counts = _adjust(ngrams)
    discounts = _all_discounts(ngrams, counts)

    uniform = 1.0 / (len(vocabulary) - 1)  # <s> is never predicted
    probabilities, backoffs = [np.array([uniform])], []
    for rows, count, discount in zip(ngrams, counts, discounts, strict=True):
        probability, backoff = _interpolate(rows, count, discount, probabilities[-1])
        if len(probabilities) == 1:
            probability[BEGIN] = 1.0  # lmplz's choice: scoring <s> itself changes nothing
        probabilities.append(probability)
        backoffs.append(backoff)
    backoffs.append(np.ones(len(probabilities[-1])))

    tables = [
        NgramTable(
            first_word=rows.first_word,
            suffix=rows.suffix,
            log10_probability=np.minimum(portable_log10(probabilities[k]), 0.0),
            log10_backoff=portable_log10(backoffs[k]),
            discounts=discounts[k - 1],
        )
        for k, rows in enumerate(ngrams, start=1)
    ]
    return NgramModel(vocabulary, tuple(tables))


def check_order(order: int) -> None:
    """Raise ``InputError`` for an order that KenLM cannot query."""
    if not 2 <= order <= MAX_ORDER:
        raise InputError(f"the order must be 2 to {MAX_ORDER} (KenLM reads no other), got {order}")


def training_words(sentences: Iterable[str]) -> Iterator[list[bytes]]:
    """The words of each training sentence, in UTF-8.

    Raises:
        InputError: one string instead of many, or a sentence that cannot be trained on: see
            ``estimate``.
    """
    if isinstance(sentences, str):
        raise InputError("a list of sentences is needed, got one string: put it into a list")
    for number, sentence in enumerate(sentences, start=1):
        try:
            words = split_words(sentence)
        except InputError as error:
            raise InputError(f"sentence {number} of the training text: {error}") from error
        if not RESERVED_WORDS.isdisjoint(words):
            found = next(word.decode() for word in words if word in RESERVED_WORDS)
            raise InputError(
                f"sentence {number} of the training text contains {found}, a symbol the language "
                f"model uses itself: remove or rename it. The sentence: {sentence!r}"
            )
        yield words


def portable_log10(x: np.ndarray) -> np.ndarray:
    """log10 to 1e-15, from operations that IEEE 754 rounds the same way on every machine.

    Library logarithms differ between processors in the last bit, which is enough to change the
    last printed digit of a model, and so its hash.

    Args:
        x: any shape, float64, not negative; 0 gives -99, as ARPA files write it.

    Returns:
        Same shape, float64.

    Example:
        >>> portable_log10(np.array([1.0, 0.001, 0.0])).tolist()
        [0.0, -3.0, -99.0]
    """
    mantissa, exponent = np.frexp(x)
    small = mantissa < np.sqrt(0.5)
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    s = (mantissa - 1) / (mantissa + 1)  # ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...)
    square, series = s * s, np.zeros_like(s)
    for k in range(23, 0, -2):  # |s| < 0.172, so the first term left out is below 1e-18
        series = series * square + 1 / k
    log10_of_2, log10_of_e = 0.30102999566398120, 0.43429448190325182
    return np.where(x > 0, exponent * log10_of_2 + 2 * log10_of_e * s * series, LOG_ZERO)


def _number_words(sentences: Iterable[str]) -> tuple[np.ndarray, tuple[bytes, ...]]:
    """The corpus as word numbers, each sentence in ``<s> ... </s>``, and the vocabulary."""
    numbers = {word: number for number, word in enumerate(SPECIAL_WORDS)}
    stream: list[int] = []
    for words in training_words(sentences):
        stream.append(BEGIN)
        stream += [numbers.setdefault(word, len(numbers)) for word in words]
        stream.append(END)
    if not stream:
        raise InputError("no sentences to estimate a language model from")
    return np.array(stream, dtype=np.int64), tuple(numbers)


def _collect(stream: np.ndarray, vocabulary_size: int, order: int) -> Iterator[_Ngrams]:
    """The distinct n-grams of each order from 1 to ``order``, with raw counts."""
    nothing = np.zeros(vocabulary_size, dtype=np.int64)
    raw = np.bincount(stream, minlength=vocabulary_size)
    yield _Ngrams(np.arange(vocabulary_size), nothing, nothing, raw)

    position = np.arange(len(stream))
    depth = position - np.maximum.accumulate(np.where(stream == BEGIN, position, 0))
    rank = stream  # at each position, the row of the n-gram that ends there
    for length in range(2, order + 1):
        ends = np.flatnonzero(depth >= length - 1)
        pairs = rank[ends] * vocabulary_size + stream[ends - (length - 1)]
        distinct, seen, inverse, raw = np.unique(
            pairs, return_index=True, return_inverse=True, return_counts=True
        )
        suffix, first_word = np.divmod(distinct, vocabulary_size)
        yield _Ngrams(first_word, suffix, rank[ends[seen] - 1], raw)
        rank = np.empty_like(stream)  # no longer n-gram ends where none of this length does
        rank[ends] = inverse


def _adjust(ngrams: list[_Ngrams]) -> list[np.ndarray]:
    """Adjusted counts of each order (Heafield et al. 2013, section 3.1).

    Raw occurrences for the highest order and after ``<s>``, where nothing can come before; else
    the number of distinct words that come before. The unigram ``<s>`` is not predicted: 0.
    """
    adjusted = []
    for rows, longer in pairwise(ngrams):
        extensions = np.bincount(longer.suffix, minlength=len(rows.raw))
        adjusted.append(np.where(rows.first_word == BEGIN, rows.raw, extensions))
    adjusted[0][BEGIN] = 0
    return [*adjusted, ngrams[-1].raw]


def _all_discounts(
    ngrams: list[_Ngrams], counts: list[np.ndarray]
) -> list[tuple[float, float, float]]:
    """The discounts of each order, from its adjusted counts."""
    statistics = [np.bincount(np.minimum(count, 5), minlength=6) for count in counts]
    # lmplz tallies the n-grams that are still open when its input ends (the last row in suffix
    # order, and the last row that it is the suffix of, and so on) by raw instead of adjusted
    # count. One count in millions, but a tiny corpus shows it, and equal means equal.
    for rows, count, tally in zip(ngrams[:-1], counts, statistics, strict=False):
        tally[min(count[-1], 5)] -= 1
        tally[min(rows.raw[-1], 5)] += 1
        if rows.first_word[-1] == BEGIN:
            break
    return [_discounts(tally) for tally in statistics]


def _discounts(tally: np.ndarray) -> tuple[float, float, float]:
    """Discounts for counts of 1, 2, and 3 or more (Chen and Goodman 1998, equation 26).

    Args:
        tally: how many n-grams have an adjusted count of 0, 1, 2, 3, 4.

    In single precision like lmplz, because whether a discount is still within its range, and
    otherwise replaced, can depend on the last bit.
    """
    n = [np.float32(number) for number in tally]
    if 0 in n[1:4]:
        return FALLBACK_DISCOUNTS
    y = np.float32(n[1] / (float(n[1]) + 2.0 * float(n[2])))
    d1, d2, d3 = (np.float32(j) - np.float32(j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))
    if not (0 <= d1 <= 1 and 0 <= d2 <= 2 and 0 <= d3 <= 3):
        return FALLBACK_DISCOUNTS
    return float(d1), float(d2), float(d3)


def _interpolate(
    rows: _Ngrams, count: np.ndarray, discounts: tuple[float, float, float], lower: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of one order, and the back-off weights of the order below.

    Args:
        rows: M n-grams.
        count: (M,) adjusted counts.
        discounts: for counts of 1, 2, and 3 or more.
        lower: (C,) probabilities one order below.

    Returns:
        (M,) probabilities; (C,) back-off weights, 1 where an n-gram is not a context. Heafield et
        al. 2013, sections 3.2 and 3.3.
    """
    contexts = len(lower)
    total = np.bincount(rows.context, weights=count, minlength=contexts)
    kind = np.minimum(count, 3)
    freed = np.zeros(contexts)
    for j, discount in enumerate(discounts, start=1):
        freed += discount * np.bincount(rows.context[kind == j], minlength=contexts)
    backoff = np.divide(freed, total, out=np.ones(contexts), where=total > 0)
    kept = count - np.array([0.0, *discounts])[kind]
    return kept / total[rows.context] + backoff[rows.context] * lower[rows.suffix], backoff
