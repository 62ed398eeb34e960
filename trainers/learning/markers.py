"""Style markers: the n-grams that occur far more often in one style, and sentences without them.

Li, Jia, He and Liang (NAACL 2018), "Delete, Retrieve, Generate", section 3.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Ngram = tuple[str, ...]

# The salience above which an n-gram is a marker. Yelp, Amazon: Li et al. 2018, section 4.3; mini:
# so that a word seen three times in one style and never in the other is a marker.
GAMMA = {"yelp": 15.0, "amazon": 5.5, "mini": 3.5}


@dataclass(frozen=True)
class Deletion:
    """A sentence without its markers: content words, markers, and where the first one was."""

    content: tuple[str, ...]
    markers: tuple[Ngram, ...]
    position: int

    @property
    def marker_words(self) -> tuple[str, ...]:
        """All words of the markers, in their order."""
        return tuple(word for marker in self.markers for word in marker)


def ngrams(words: Sequence[str], longest: int) -> Iterator[tuple[int, Ngram]]:
    """Every n-gram of at most ``longest`` words, with the place of its first word."""
    for start in range(len(words)):
        for size in range(1, min(longest, len(words) - start) + 1):
            yield start, tuple(words[start : start + size])


def count_ngrams(texts: Iterable[str], longest: int) -> Counter[Ngram]:
    """How often each n-gram occurs in tokenised texts."""
    return Counter(ngram for text in texts for _, ngram in ngrams(text.split(), longest))


def salience(
    own: Counter[Ngram], other: Counter[Ngram], smoothing: float, least: float
) -> dict[Ngram, float]:
    """Equation 1: the smoothed ratio of an n-gram's counts in the two styles.

    N-grams below ``least`` are left out: storing them would waste space.

    >>> salience(Counter({("bad",): 3, ("the",): 2}), Counter({("the",): 2}), 1.0, 2.0)
    {('bad',): 4.0}
    """
    values = (
        (ngram, (count + smoothing) / (other[ngram] + smoothing)) for ngram, count in own.items()
    )
    return {ngram: value for ngram, value in values if value >= least}


def delete_markers(
    words: tuple[str, ...], salient: Mapping[Ngram, float], gamma: float, longest: int
) -> Deletion:
    """Delete greedily from left to right, the longest marker first, even if nothing stays.

    Args:
        words: of a sentence.
        salient: n-grams and their salience.
        gamma: an n-gram above it is a marker.
        longest: words of the longest marker.
    """
    content: list[str] = []
    markers: list[Ngram] = []
    position = start = 0
    while start < len(words):
        for size in range(min(longest, len(words) - start), 0, -1):
            ngram = words[start : start + size]
            if salient.get(ngram, 0.0) > gamma:
                if not markers:
                    position = len(content)
                markers.append(ngram)
                start += size
                break
        else:
            content.append(words[start])
            start += 1
    return Deletion(tuple(content), tuple(markers), position)
