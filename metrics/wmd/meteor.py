"""METEOR of pairs of tokenised sentences, with the stages that are installed.

Sources: Banerjee and Lavie (2005); Lavie and Agarwal (2007), sections 2 and 3; Denkowski and Lavie
(2014) and cmu-mtlab/meteor for METEOR 1.5, which Mir et al. (2019) used. Words are aligned stage by
stage: equal, then equal Porter stems, then synonyms in WordNet. The alignment is that of NLTK, which
takes the last free word each time and does not search for the fewest crossings, and looks up the
synonyms of stems; with the parameters of 2007, values equal those of
``nltk.translate.meteor_score.single_meteor_score``. METEOR 1.5 also has a table of paraphrases, a
search for the best alignment, and another stemmer; these are not here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Literal


@dataclass(frozen=True)
class Parameters:
    """What METEOR's formula leaves open.

    Attributes:
        alpha: the weight of recall, the rest being that of precision.
        beta, gamma: the penalty is gamma times (chunks / matches) to the power of beta.
        delta: the weight of a content word, the rest being that of a function word.
        weights: of an equal word, of one with the same stem, and of a synonym.
        whole: whether a copy, one chunk of all words, has no penalty.
    """

    alpha: float
    beta: float
    gamma: float
    delta: float = 0.5
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    whole: bool = False


Version = Literal["1.5", "2007"]
PARAMETERS: dict[Version, Parameters] = {
    "1.5": Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8), whole=True),  # English, task "rank"
    "2007": Parameters(0.9, 3.0, 0.5),
}
# Words and marks that are commoner in English than one in a thousand, by which METEOR 1.5 tells
# function words; METEOR's own list is not copied. Where Mir et al.'s released values decide about a
# word, it is as they have it: "my", "our" and "!" are content.
_COMMON = """
    a about after all also an and are as at be been but by can could for from had has have he her
    his i if in into is it its more new no not of on one or other out over said she so some than
    that the their there they this time to two up was we were what when which who will with would
    you . , ? : ; ' " - ( ) $ ` `` ''
"""
_FUNCTION_WORDS = frozenset(_COMMON.split())
_WORDNET = "corpora/wordnet"

Synonyms = Literal["auto", "no", "wordnet"]
Keys = Callable[[str], Iterable[str]]


def meteor(
    prediction: Sequence[str],
    reference: Sequence[str],
    *,
    synonyms: bool = False,
    version: Version = "2007",
) -> float:
    """METEOR of two tokenised sentences, from 0 to 1.

    Even a copy stays below 1, by half of 1 / words cubed; by the parameters of 1.5 it has 1. Without
    a matched word, or for an empty sentence, it is 0.

    Args:
        prediction: words, in the case in which they are to be compared.
        reference: words.
        synonyms: whether WordNet's synonyms match; :func:`has_wordnet` says whether they can.
        version: whose parameters.

    Raises:
        LookupError: NLTK's data has no WordNet.

    >>> pair = "he walked home".split(), "he walks home".split()
    >>> round(meteor(*pair), 4)  # 1 - 0.5 / 27
    0.9815
    >>> round(meteor(*pair, version="1.5"), 4)  # (0.25 + 0.6 * 0.75 + 0.75) / 1.75, no penalty
    0.8286
    """
    its = PARAMETERS[version]
    matches = _aligned(prediction, reference, synonyms)
    if not matches:
        return 0.0

    def share(words: Sequence[str], side: int) -> float:
        importance = [1 - its.delta if word in _FUNCTION_WORDS else its.delta for word in words]
        return sum(its.weights[m[2]] * importance[m[side]] for m in matches) / sum(importance)

    precision, recall = share(prediction, 0), share(reference, 1)
    mean = precision * recall / (its.alpha * precision + (1 - its.alpha) * recall)
    chunks = 1 + sum((b[0] - a[0], b[1] - a[1]) != (1, 1) for a, b in pairwise(matches))
    if its.whole and chunks == 1 and len(matches) == len(prediction) == len(reference):
        return mean
    penalty = float(its.gamma * (chunks / len(matches)) ** its.beta)
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
) -> list[tuple[int, int, int]]:
    """Positions of matched words, and the stage, in the order of the prediction."""
    left = list(range(len(prediction)))
    right = list(range(len(reference)))
    stages: list[tuple[Keys, Callable[[str], str]]] = [
        (lambda word: (word,), lambda word: word),
        (lambda word: (_stem(word),), _stem),
    ]
    if synonyms:
        stages.append((lambda word: _synonyms(_stem(word)), _stem))  # NLTK looks stems up
    matches = []
    for stage, (keys_of, key) in enumerate(stages):
        free: dict[str, list[int]] = defaultdict(list)
        for j in right:
            free[key(reference[j])].append(j)
        for i in reversed(left):
            found = [(free[k][-1], k) for k in keys_of(prediction[i]) if free.get(k)]
            if found:
                j, k = max(found)
                free[k].pop()
                matches.append((i, j, stage))
        taken = {i for i, _, _ in matches}, {j for _, j, _ in matches}
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
