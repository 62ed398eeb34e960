"""METEOR of pairs of tokenised sentences, with the stages that are installed.

Sources: Banerjee and Lavie (2005); Lavie and Agarwal (2007), sections 2 and 3, whose parameters are
used. Words are aligned stage by stage: equal, then equal Porter stems, then synonyms in WordNet.
The alignment is that of NLTK, which takes the last free word each time and does not search for the
fewest crossings, and looks up the synonyms of stems; values equal those of
``nltk.translate.meteor_score.single_meteor_score``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Literal

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
_WORDNET = "corpora/wordnet"

Synonyms = Literal["auto", "no", "wordnet"]
Keys = Callable[[str], Iterable[str]]


def meteor(prediction: Sequence[str], reference: Sequence[str], *, synonyms: bool = False) -> float:
    """METEOR of two tokenised sentences, from 0 to 1.

    Even a copy stays below 1, by half of 1 / words cubed. Without a matched word, or for an empty
    sentence, it is 0.

    Args:
        prediction: words, in the case in which they are to be compared.
        reference: words.
        synonyms: whether WordNet's synonyms match; :func:`has_wordnet` says whether they can.

    Raises:
        LookupError: NLTK's data has no WordNet.

    >>> round(meteor("he walked home".split(), "he walks home".split()), 4)  # 1 - 0.5 / 27
    0.9815
    """
    matches = _aligned(prediction, reference, synonyms)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(prediction), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    chunks = 1 + sum((b[0] - a[0], b[1] - a[1]) != (1, 1) for a, b in pairwise(matches))
    penalty = float(GAMMA * (chunks / len(matches)) ** BETA)
    return (1 - penalty) * mean


@cache
def has_wordnet() -> bool:
    """Whether NLTK finds WordNet's data on this machine."""
    import nltk

    for name in (_WORDNET, f"{_WORDNET}.zip"):
        try:
            nltk.data.find(name)
        except LookupError:
            continue
        return True
    return False


def _aligned(
    prediction: Sequence[str], reference: Sequence[str], synonyms: bool
) -> list[tuple[int, int]]:
    """Positions of matched words, in the order of the prediction."""
    left = list(range(len(prediction)))
    right = list(range(len(reference)))
    stages: list[tuple[Keys, Callable[[str], str]]] = [
        (lambda word: (word,), lambda word: word),
        (lambda word: (_stem(word),), _stem),
    ]
    if synonyms:
        stages.append((lambda word: _synonyms(_stem(word)), _stem))  # NLTK looks stems up
    matches = []
    for keys_of, key in stages:
        free: dict[str, list[int]] = defaultdict(list)
        for j in right:
            free[key(reference[j])].append(j)
        for i in reversed(left):
            found = [(free[k][-1], k) for k in keys_of(prediction[i]) if free.get(k)]
            if found:
                j, k = max(found)
                free[k].pop()
                matches.append((i, j))
        taken = {i for i, _ in matches}, {j for _, j in matches}
        left = [i for i in left if i not in taken[0]]
        right = [j for j in right if j not in taken[1]]
    return sorted(matches)


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=1 << 16)
def _synonyms(word: str) -> frozenset[str]:
    from nltk.corpus import wordnet

    lemmas = (lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas())
    return frozenset({word, *(name for name in lemmas if "_" not in name)})
