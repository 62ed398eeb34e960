"""The pairs that a supervised system learns from: the dataset's own, or mined ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...datasets_scripts.catalog import DATASETS, language_of
from ...datasets_scripts.load import Pair, TrainingData
from ...errors import InputError, require
from ...metrics.text import preparation
from .selection import Sides, check_sides

PairsFrom = Literal["auto", "data", "mined"]
Mine = Callable[[Sides], list[Pair]]


@dataclass(frozen=True)
class Paired:
    """Pairs (source, target), prepared: cleaned and lower-cased.

    Attributes:
        train: to learn from.
        held_out: to choose weights with. Drawn from the training pairs, none of their sources is
            in ``train``; a dataset's own validation split is taken as published, and a few of its
            sources may be among the training sources too.
        mined: whether they are pseudo-pairs.
    """

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    mined: bool

    @classmethod
    def of(
        cls,
        data: TrainingData,
        choice: PairsFrom,
        mine: Mine,
        *,
        hold_out: int,
        seed: int,
        system: str,
    ) -> Paired:
        """Prepare the pairs of the data, or mine some.

        Args:
            data: of one direction.
            choice: ``data``, ``mined``, or ``auto``: the data's, or mined ones if it has none.
            mine: finds pseudo-pairs among prepared training sentences.
            hold_out: pairs to choose weights with: of the validation split if it has pairs with
                two sides, otherwise drawn from the rest, at most a tenth of it.
            seed: of what is drawn.
            system: its name, for messages.

        Raises:
            InputError: no pairs, or too few.
        """
        prepare = preparation(language_of(data.direction)).for_classifier
        own = data.train.pairs
        if choice == "data" and not own:
            raise InputError(no_pairs(data, system))
        mined = choice == "mined" or not own
        if mined:
            sides = Sides(*(tuple(prepare(s)) for s in (data.train.source, data.train.target)))
            check_sides(data, sides)
            pairs = [p for p in dict.fromkeys(mine(sides)) if all(p)]
        else:
            pairs = prepared_pairs(own, prepare)
        ready: list[Pair] = []
        if not mined and data.validation is not None:
            ready = prepared_pairs(data.validation.pairs, prepare)
        if ready and pairs:
            return cls(tuple(pairs), tuple(ready[:hold_out]), mined)
        sources = list(dict.fromkeys(source for source, _ in pairs))
        size = min(hold_out, len(sources) // 10)
        if size < 1:
            kind = "pairs could be mined" if mined else "pairs are there"
            raise InputError(
                f"only {len(pairs)} {kind} to learn {data.direction} from: at least 10 are needed"
            )
        drawn = np.random.default_rng([seed, 17]).choice(len(sources), size, replace=False)
        out = {sources[i] for i in drawn}
        train = tuple(pair for pair in pairs if pair[0] not in out)
        return cls(train, tuple(pair for pair in pairs if pair[0] in out), mined)


def prepared_pairs(
    pairs: Sequence[Pair], prepare: Callable[[Sequence[str]], list[str]]
) -> list[Pair]:
    """Pairs with both sides prepared; those with an empty side are left out."""
    sources, targets = (prepare([pair[side] for pair in pairs]) for side in (0, 1))
    return [pair for pair in zip(sources, targets, strict=True) if all(pair)]


def no_pairs(data: TrainingData, system: str) -> str:
    """The message that there are none."""
    parallel = ", ".join(facts.name for facts in DATASETS.values() if facts.parallel)
    return (
        f"{data.direction.dataset} has no pairs to learn from, and {system} needs them. Datasets "
        f"with pairs: {parallel}. Or learn from mined pseudo-pairs: --pairs mined"
    )


# Pseudo-pairs: for a sentence, the most similar one of the other style (Liu and Chen 2022).
#
# No one has rewritten anything: two people said nearly the same thing in two styles. Similar by
# letters (section 3.1.1 of the paper) or by meaning (3.1.2).


Vectors = Callable[[Sequence[str]], np.ndarray]  # N sentences -> (N, D), unit rows


def lexical_pairs(
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    window: int = 15,
    shared: int = 2,
    most: int | None = None,
) -> list[Pair]:
    """Each source and the target with the smallest edit distance, by characters.

    Only words of more than 3 characters are compared.

    Args:
        sources: of one style.
        targets: of the other.
        window: a target's compared text is less than this much longer or shorter, in characters.
        shared: words of more than one character that both must have; other pairs are dropped.
        most: stop at this many pairs.

    Raises:
        MissingExtraError: rapidfuzz is not installed.
    """
    fuzz = require("rapidfuzz", "train")
    distance = fuzz.distance.Levenshtein.distance
    keyed = sorted((len(key := _long_words(text)), key, text) for text in dict.fromkeys(targets))
    keyed = [one for one in keyed if one[0]]
    lengths, keys = [one[0] for one in keyed], [one[1] for one in keyed]
    found: list[Pair] = []
    for source in dict.fromkeys(sources):
        if most is not None and len(found) >= most:
            break
        key = _long_words(source)
        first = bisect_right(lengths, len(key) - window)
        last = bisect_left(lengths, len(key) + window)
        if not key or first == last:
            continue
        _, _, index = fuzz.process.extractOne(key, keys[first:last], scorer=distance)
        target = keyed[first + index][2]
        if len(_words(source) & _words(target)) >= shared:
            found.append((source, target))
    return found


def semantic_pairs(
    sources: Sequence[str],
    targets: Sequence[str],
    vectors: Vectors,
    *,
    similarity: float = 0.85,
    words: int = 5,
    chunk: int = 1024,
) -> list[Pair]:
    """Each source and the target with the closest vector, if they are close enough.

    Args:
        sources: of one style.
        targets: of the other.
        vectors: a sentence encoder.
        similarity: cosine above which a pair is kept.
        words: sentences of this many words or fewer are left out.
        chunk: sources compared at once.
    """
    long = [
        [text for text in dict.fromkeys(side) if len(text.split()) > words]
        for side in (sources, targets)
    ]
    if not all(long):
        return []
    left, right = vectors(long[0]), vectors(long[1])
    found: list[Pair] = []
    for start in range(0, len(left), chunk):
        cosines = left[start : start + chunk] @ right.T
        for row, best in enumerate(cosines.argmax(axis=1)):
            if cosines[row, best] > similarity:
                found.append((long[0][start + row], long[1][best]))
    return found


def clear_in_style(
    sentences: Sequence[str], own: Callable[[Sequence[str]], np.ndarray], least: float = 0.7
) -> list[str]:
    """The sentences whose own style a classifier gives more than ``least``.

    Args:
        sentences: N of one style.
        own: their probability of that style, (N).
        least: probability.
    """
    if not sentences:
        return []
    return [text for text, p in zip(sentences, own(sentences), strict=True) if p > least]


def _long_words(text: str) -> str:
    """What is compared.

    >>> _long_words("the food was really good")
    'food really good'
    """
    return " ".join(word for word in text.split() if len(word) > 3)


def _words(text: str) -> set[str]:
    return {word for word in text.split() if len(word) > 1}
