"""Word mover's distance and its family: content preserved, on whole, masked or shortened texts.

Source: Mir, Felbo, Obradovich and Rahwan (2019), section 4.3. Here are vectors for the words of two
tokenised sentences, and what becomes of sentences of which nothing is left. Each distinct pair is
measured once. Vector extrema are of Forgues, Pineau, Larcheveque and Tremblay (2014), greedy
matching of Rus and Lintean (2012), both by way of Sharma, El Asri, Schulz and Zumer (2017), section
3.2; word mover's distance of Kusner et al. (2015) is in :mod:`.transport`.

Sentence BLEU is as in the scores they released, which is no protocol of corpus BLEU: tokens as
given, n-grams of 1 to 4 words, an order without a match counts 0.01 matches, and a prediction that
is too short to have four words scores 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, log
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np

from tstbench.errors import InputError, MissingFileError, unknown_name
from tstbench.metrics.base import (
    Context,
    Family,
    MetricFacts,
    Need,
    Options,
    compared_with,
    reference_count,
    view_left_out,
)
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics
from tstbench.metrics.text import COMPOSED, MASK, composed, preparation
from tstbench.metrics.wmd.meteor import Version, meteor
from tstbench.metrics.wmd.transport import transport_distances

if TYPE_CHECKING:
    from tstbench.metrics.scorers.word_vectors import WordVectors

ORDER = 4
NO_MATCH = 0.01


def sentence_bleu(prediction: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU of two tokenised sentences, from 0 to 1.

    >>> round(sentence_bleu("a b c d e".split(), "a b c d f".split()), 4)  # (4/5 3/4 2/3 1/2)^(1/4)
    0.6687
    """
    if len(prediction) < ORDER:
        return 0.0
    logs = 0.0
    for n in range(1, ORDER + 1):
        ours, theirs = _ngrams(prediction, n), _ngrams(reference, n)
        matched = sum((ours & theirs).values())
        logs += log((matched or NO_MATCH) / (len(prediction) - n + 1))
    brevity = min(0.0, 1 - len(reference) / len(prediction))
    return exp(brevity + logs / ORDER)


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def embedding_average(one: np.ndarray, two: np.ndarray) -> float:
    """Cosine of the means of the words' vectors: (L, D) and (M, D), from -1 to 1.

    >>> embedding_average(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 2.0]])).__round__(6)
    1.0
    """
    return _cosine(one.sum(axis=0), two.sum(axis=0))


def vector_extrema(one: np.ndarray, two: np.ndarray) -> float:
    """Cosine of the most extreme values of each dimension: (L, D) and (M, D), from -1 to 1.

    Of a dimension's largest and smallest value, the one further from 0 is taken; the larger if they
    are equally far.
    """
    return _cosine(_extrema(one), _extrema(two))


def greedy_matching(one: np.ndarray, two: np.ndarray) -> float:
    """Mean cosine of each word with its most similar word of the other sentence, both ways.

    The means of the two ways are averaged: (L, D) and (M, D), from -1 to 1.
    """
    cosines = _unit(one) @ _unit(two).T
    return float((cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2)


def _extrema(vectors: np.ndarray) -> np.ndarray:
    highest, lowest = vectors.max(axis=0), vectors.min(axis=0)
    return np.where(highest >= -lowest, highest, lowest)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Rows of unit length; a zero row stays one."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1)


def _cosine(one: np.ndarray, two: np.ndarray) -> float:
    return float(_unit(one) @ _unit(two))


Measure = Literal[
    "wmd", "meteor", "embedding_average", "greedy_matching", "vector_extrema", "sentence_bleu"
]
Words = tuple[str, ...]
FARTHEST = 2.0  # the largest distance of two vectors of unit length
_SIMILARITIES = {
    "embedding_average": embedding_average,
    "greedy_matching": greedy_matching,
    "vector_extrema": vector_extrema,
}


def compare(
    measure: Measure,
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    vectors: WordVectors | None = None,
    style_words: Sequence[str] = (),
    *,
    synonyms: bool = False,
    version: Version = "2007",
) -> np.ndarray:
    """One measure of N pairs of tokenised sentences.

    Args:
        measure: ``wmd`` is a distance, from 0 to 2: vectors have unit length. All others
            are similarities, at most 1; embeddings are used as long as they are.
        pairs: prediction and what it is compared with, each a sequence of tokens.
        vectors: of words, for the four measures that need them; words without one are skipped.
        style_words: what a ``<customstyle>`` without a vector of its own stands for: it has their
            centroid.
        synonyms: whether METEOR matches WordNet's synonyms.
        version: whose parameters METEOR has.

    Returns:
        Shape (N,), float64. Equal sentences have distance 0 and similarity 1 (METEOR and BLEU: by
        their formulas, unless both are empty). Where a sentence has no known word and they
        differ, the distance is 2 and the similarity 0.

    Raises:
        UnknownNameError: no such measure.
        InputError: the measure needs vectors.
        MissingExtraError: POT is not installed, and the measure is ``wmd``.
    """
    if measure not in get_args(Measure):
        raise unknown_name("measure of two sentences", measure, get_args(Measure))
    places: dict[tuple[Words, Words], int] = {}
    rows = [places.setdefault((tuple(one), tuple(two)), len(places)) for one, two in pairs]
    distinct = list(places)
    if measure in ("meteor", "sentence_bleu"):
        scored = partial(meteor, synonyms=synonyms, version=version)
        overlap = scored if measure == "meteor" else sentence_bleu
        values = np.array([overlap(one, two) if one or two else 1.0 for one, two in distinct])
        return values[rows]
    if vectors is None:
        raise InputError(f"{measure} needs word vectors")
    bags, points = _known(distinct, vectors, style_words)
    first, second = [bags[one] for one, _ in distinct], [bags[two] for _, two in distinct]
    if measure == "wmd":
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        unit = points / np.where(lengths > 0, lengths, 1)
        values = transport_distances(first, second, unit)
    else:
        similarity = _SIMILARITIES[measure]
        values = np.array(
            [
                similarity(points[one], points[two]) if one and two else np.nan
                for one, two in zip(first, second, strict=True)
            ]
        )
    best, worst = (0.0, FARTHEST) if measure == "wmd" else (1.0, 0.0)
    values = np.where(np.isnan(values), worst, values)
    same = np.array([one == two for one, two in distinct])
    return np.where(same, best, values)[rows]


def _known(
    pairs: Sequence[tuple[Words, Words]], vectors: WordVectors, style_words: Sequence[str]
) -> tuple[dict[Words, list[int]], np.ndarray]:
    """The known words of each text, as rows of the vectors of these words alone: (W, D), float64."""
    texts = dict.fromkeys(text for pair in pairs for text in pair)
    rows: list[int] = []  # of all vectors; the place in this list is the row of those returned
    places: dict[str, int | None] = {}
    for text in texts:
        for token in text:
            if token not in places:
                row = vectors.rows.get(token)
                places[token] = None if row is None else len(rows)
                rows += [] if row is None else [row]
    points = vectors.vectors[rows].astype(np.float64)
    if MASK in places and places[MASK] is None:
        mask = vectors.centroid(style_words)
        if mask.any():
            places[MASK] = len(points)
            points = np.vstack([points, mask])
    bags = {text: [row for t in text if (row := places[t]) is not None] for text in texts}
    return bags, points


Masking = Literal["none", "removed", "masked"]
Tokens = Literal["words", "whitespace"]
Synonyms = Literal["auto", "no", "wordnet"]
Placeholder = Literal["learned", "centroid"]
Meteor = Literal["2007", "1.5"]

# Measure, its title, and what it is in a list.
_MEASURES = (
    ("wmd", "WMD", "word mover's distance"),
    ("meteor", "METEOR", "METEOR"),
    ("embedding_average", "EmbAvg", "cosine of mean word vectors"),
    ("greedy_matching", "Greedy", "each word with its most similar word"),
    ("vector_extrema", "Extrema", "cosine of extreme word-vector values"),
    ("sentence_bleu", "sentBLEU", "mean of single sentences' BLEU"),
)
_WITHOUT_VECTORS = ("meteor", "sentence_bleu")


@dataclass(frozen=True, kw_only=True)
class WmdOptions(Options):
    """Options of ``wmd``.

    ``--scorer lexicon=...``, ``word_vectors=...`` and ``masked_vectors=...`` choose its scorers.

    Attributes:
        mask: what becomes of style words, in both texts: ``none`` leaves them, ``masked`` puts
            ``<customstyle>`` in their place, ``removed`` leaves them out.
        placeholder: the vector of ``<customstyle>``: ``learned`` with all others by word2vec on
            masked sentences (published), or the ``centroid`` of the style words' vectors.
        tokens: ``words`` cleans, lower-cases and splits; ``whitespace`` takes the texts as they are.
        synonyms: METEOR's third stage: ``wordnet``, ``no``, or ``auto``: where NLTK has the data.
        meteor: the parameters of METEOR: those of ``2007``, or of METEOR ``1.5``.
    """

    mask: Masking = "none"
    placeholder: Placeholder = "learned"
    tokens: Tokens = "words"
    synonyms: Synonyms = "auto"
    meteor: Meteor = "2007"


class Wmd(Family[WmdOptions]):
    """Six measures of content against the source and the first reference."""

    name = "wmd"
    title = "word mover's distance"
    options = WmdOptions
    description = """
Word mover's distance, METEOR, embedding average, greedy matching, vector extrema and sentence BLEU
against the source and the first reference, as Mir et al. (2019) compared them; style words can be
masked or removed first.
"""
    example = """
>>> wmd = evaluate.load("tstbench/wmd")
>>> results = wmd.compute(
...     predictions=["the soup was hot and great."],
...     sources=["the soup was cold and bad."],
...     references=[["the soup was hot and great.", "hot soup, and good."]],
...     direction="mini/negative-to-positive",
... )
>>> results["r_wmd"], 0 < results["s_wmd"] < 1, round(results["s_meteor"], 3)
(0.0, True, 0.637)
"""
    citation = """\
@inproceedings{mir2019evaluating,
  title = {Evaluating Style Transfer for Text},
  author = {Mir, Remi and Felbo, Bjarke and Obradovich, Nick and Rahwan, Iyad},
  booktitle = {Proceedings of NAACL-HLT},
  year = {2019}
}
@inproceedings{kusner2015from,
  title = {From Word Embeddings To Document Distances},
  author = {Kusner, Matt J. and Sun, Yu and Kolkin, Nicholas I. and Weinberger, Kilian Q.},
  booktitle = {Proceedings of ICML},
  year = {2015}
}
"""
    metrics = tuple(
        MetricFacts(
            name=f"{view}_{measure}",
            title=f"{view}-{title}",
            unit="number" if measure == "wmd" else "fraction",
            higher_is_better=measure != "wmd",
            aspect="content",
            meaning=f"{what}, against {against}",
            reads=("sources",) if view == "s" else ("references",),
        )
        for measure, title, what in _MEASURES
        for view, against in (("s", "the source"), ("r", "the first reference"))
    )
    libraries = ("numpy", "nltk")

    def left_out(self, metric: str, inputs: Inputs, options: WmdOptions) -> str | None:
        """A reason if there are no references, or METEOR's stems are of another language."""
        if _measure_of(metric) == "meteor" and not preparation(inputs.language).is_english:
            return f"METEOR's stems are English, but the texts are {inputs.language!r}"
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: WmdOptions) -> tuple[Need, ...]:
        """Tokens of all texts, for the lexicon and for the vectors."""

        def prepare() -> list[str]:
            from tstbench.metrics.text import tokenized

            against = [text for some in compared_with(metric, inputs) for text in some]
            texts = [*inputs.predictions, *against]
            return list(dict.fromkeys(tokenized(texts, inputs.language, options.tokens)))

        roles = [_vectors_of(options)] if _measure_of(metric) not in _WITHOUT_VECTORS else []
        roles += ["lexicon"] if options.mask != "none" else []
        return tuple(Need(role, prepare) for role in roles)

    def fields(self, metric: str, inputs: Inputs, options: WmdOptions) -> dict[str, object]:
        """Style words, tokens, empty outputs, and what is particular to the measure."""
        from tstbench.metrics.text import tokens_name

        measure = _measure_of(metric)
        found: dict[str, object] = {
            "mask": options.mask,
            "text": tokens_name(inputs.language, options.tokens),
            "refs": reference_count(metric, inputs),
            "empty": "farthest" if measure == "wmd" else "zero",
        }
        if measure in _WITHOUT_VECTORS:
            found["text"] = f"{found['text']}+{COMPOSED}"
        if measure == "meteor":
            found["params"] = None if options.meteor == "2007" else options.meteor
            return {**found, "stages": "exact+stem" + "+wordnet" * _with_wordnet(options)}
        if measure == "sentence_bleu":
            return {**found, "zero": "0.01"}
        found["norm"] = "unit" if measure == "wmd" else "raw"
        found["unknown"] = "skip"
        found["mask_vector"] = options.placeholder if options.mask == "masked" else None
        return found

    def measure(
        self, metric: str, inputs: Inputs, options: WmdOptions, context: Context
    ) -> Statistics:
        """The mean over sentences; a failed prediction has the worst value."""
        measure = _measure_of(metric)
        role = None if measure in _WITHOUT_VECTORS else _vectors_of(options)
        vectors = context.scorer(role) if role else None
        lexicon = context.scorer("lexicon") if options.mask != "none" else None
        import numpy as np

        from tstbench.metrics.statistics import mean_statistics
        from tstbench.metrics.text import tokenized

        def tokens(texts: list[str]) -> list[list[str]]:
            if vectors is None:  # which know words as their corpus writes them
                texts = composed(texts)
            prepared = tokenized(texts, inputs.language, options.tokens)
            if lexicon is None:
                return [sentence.split() for sentence in prepared]
            marked: list[list[str]] = lexicon.apply(prepared, options.mask)
            return marked

        against = compared_with(metric, inputs)
        scored = [i for i, some in enumerate(against) if some]
        ours = tokens([inputs.predictions[i] for i in scored])
        theirs = tokens([against[i][0] for i in scored])
        if vectors is not None:
            vectors.check_knows(theirs)  # not the outputs: a system may write anything
        values = np.full(len(against), np.nan)
        values[scored] = compare(
            cast("Measure", measure),
            list(zip(ours, theirs, strict=True)),
            vectors,
            tuple(lexicon.weights) if lexicon and options.placeholder == "centroid" else (),
            synonyms=measure == "meteor" and _with_wordnet(options),
            version=options.meteor,
        )
        worst = FARTHEST if measure == "wmd" else 0.0
        return mean_statistics(np.where(inputs.failed & ~np.isnan(values), worst, values))


def _vectors_of(options: WmdOptions) -> str:
    """The role of the word vectors."""
    learned = options.mask == "masked" and options.placeholder == "learned"
    return "masked_vectors" if learned else "word_vectors"


def _measure_of(metric: str) -> str:
    return metric.split("_", 1)[1]


def _with_wordnet(options: WmdOptions) -> bool:
    """Whether METEOR's third stage runs."""
    if options.synonyms == "no":
        return False
    from tstbench.metrics.wmd.meteor import has_wordnet

    if options.synonyms == "wordnet" and not has_wordnet():
        raise MissingFileError(
            "wmd.synonyms=wordnet needs NLTK's WordNet data: python -m nltk.downloader wordnet. "
            "wmd.synonyms=no leaves that stage out"
        )
    return has_wordnet()


FAMILY = Wmd()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("wmd")
