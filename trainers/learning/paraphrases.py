"""Paraphrases to learn from: a corpus, its filters, and rules where there is no corpus."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError, MissingFileError
from ...files import read_lines

Pair = tuple[str, str]
_WORD = re.compile(r"'?\w+(?:['’-]\w+)*")
_ENDING = re.compile(r"[.!?]*\s*$")


def read_paraphrases(file: Path | str) -> list[Pair]:
    """Pairs of a text file: sentence, tab, paraphrase; further columns are ignored.

    Raises:
        MissingFileError: no such file.
        InputError: a line has no tab, or an empty side; names the line.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise MissingFileError(f"there is no file of paraphrases {path}")
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) < 2 or not parts[0] or not parts[1]:
            raise InputError(f"{path}, line {number}: a sentence, a tab and a paraphrase expected")
        pairs.append((parts[0], parts[1]))
    return pairs


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of the second's words that the first has too, each as often as it has it.

    >>> overlap("the cat sat".split(), "the the dog sat".split())
    0.5
    """
    if not second:
        return 0.0
    return sum((Counter(first) & Counter(second)).values()) / len(second)


def kendall_tau(first: Sequence[str], second: Sequence[str]) -> float | None:
    """How alike two sentences order their common words: 1 for the same order, -1 for the reverse.

    The n-th occurrence of a word stands for the n-th in the other sentence.

    Returns:
        Kendall's tau; ``None`` with fewer than two common words.

    >>> kendall_tau("a b c x".split(), "c b y a".split())
    -1.0
    """
    places = _occurrences(second)
    order = [places[word] for word in _occurrences(first) if word in places]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    if not pairs:
        return None
    return sum(1 if a < b else -1 for a, b in pairs) / len(pairs)


def is_diverse(pair: Pair, *, max_overlap: float, max_tau: float, max_difference: int) -> bool:
    """Whether a paraphrase says it in other words, in another order, at about the same length.

    The filters of Krishna et al. (2020), section 2.1. A pair with fewer than two common words has
    no order to compare.
    """
    first, second = (side.lower().split() for side in pair)
    tau = kendall_tau(first, second)
    return (
        overlap(first, second) < max_overlap
        and (tau is None or tau < max_tau)
        and abs(len(first) - len(second)) <= max_difference
    )


def _occurrences(words: Sequence[str]) -> dict[tuple[str, int], int]:
    """(word, which of its occurrences) -> place."""
    seen: Counter[str] = Counter()
    found = {}
    for place, word in enumerate(words):
        found[word, seen[word]] = place
        seen[word] += 1
    return found


@dataclass(frozen=True)
class RuleParaphraser:
    """Strips style by rules, for want of paraphrases to learn from: no paraphraser by any standard.

    The words that mark a style are left out, which is most of what a paraphraser does to style; so
    are a share of the others and the punctuation inside, and neighbours change places, so that the
    inverse paraphraser learns to write more than it reads. A sentence always has the same
    paraphrase.

    Attributes:
        markers: words that mark one style or another, in lower case.
        drop: share of the other words that are left out.
        shuffle: how far words move: each is sorted by its place plus a number below this.
    """

    markers: frozenset[str]
    drop: float
    shuffle: float

    @classmethod
    def of(
        cls,
        styles: Sequence[Sequence[str]],
        *,
        salience: float,
        min_count: int,
        drop: float,
        shuffle: float,
    ) -> RuleParaphraser:
        """Find the markers: frequent words that one style has more often than all others.

        Args:
            styles: sentences of each.
            salience: ratio of frequencies that makes a marker (Li et al. 2018, equation 1, with a
                smoothing of 1 and counts relative to the size of the style).
            min_count: occurrences in a style, below which a word is taken for content.
            drop: see the attributes.
            shuffle: see the attributes.
        """
        counts = [Counter(w for t in texts for w in _WORD.findall(t.lower())) for texts in styles]
        total = sum(counts, Counter())
        n_words = total.total()
        markers = set()
        for count in counts:
            size = count.total()
            scale = size / max(1, n_words - size)  # what the others have, at this style's size
            markers |= {
                word
                for word, n in count.items()
                if n >= min_count and (n + 1) / ((total[word] - n) * scale + 1) >= salience
            }
        return cls(frozenset(markers), drop, shuffle)

    def paraphrased(self, sentences: Sequence[str]) -> list[str]:
        """Their paraphrases, in order."""
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: str) -> str:
        draw = random.Random(sentence)
        words = [w for w in _WORD.findall(sentence) if w.lower() not in self.markers]
        kept = [w for w in words if draw.random() >= self.drop]
        keys = [i + draw.uniform(0, self.shuffle) for i in range(len(kept))]
        moved = " ".join(word for _, word in sorted(zip(keys, kept, strict=True)))
        ending = _ENDING.search(sentence)
        return moved + (ending.group().strip() if ending else "") or sentence
