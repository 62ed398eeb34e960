"""s-chrF, r-chrF and multi-chrF: overlap of character n-grams.

Sources: Popović (2015, 2017); Post (2018) for the implementation.

Source: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović
(2017), "chrF++". sacreBLEU counts; only the score of summed counts is computed here, so that a
thousand resampled corpora are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from tstbench.metrics.base import (
    Context,
    Family,
    MetricFacts,
    Options,
    compared_with,
    reference_count,
    view_facts,
    view_left_out,
)
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.signature import exact
from tstbench.metrics.statistics import BLOCK, Statistics, in_blocks
from tstbench.metrics.text import preparation
from tstbench.settings import Positive

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

CHAR_ORDER = 6


def chrf_statistics(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    beta: float = 2.0,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    lowercase: bool = False,
) -> Statistics:
    """Corpus chrF, in percent; per sentence too.

    Of several references, the one with the sentence's highest score counts, as in sacreBLEU.

    Args:
        predictions: N texts, which need no tokenisation: spaces are not counted.
        references: 0 to n texts for each of them; without any, the sentence is left out.
        beta: how many times as important recall is as precision.
        char_order: the longest n-grams of characters.
        word_order: the longest n-grams of words: 0 is chrF, 2 is chrF++.
        lowercase: whether case is ignored.
    """
    orders = char_order + word_order
    rows = np.zeros((len(predictions), 3 * orders + 1))
    scored = [i for i, some in enumerate(references) if some]
    # Of a long corpus, the counts of a block's references only, and not kept, as for BLEU.
    make: Callable[..., CHRF] = _counter if len(scored) <= BLOCK else _counter.__wrapped__
    for block in in_blocks(scored):
        kept = tuple(tuple(references[i]) for i in block)
        counter = make(kept, beta, char_order, word_order, lowercase)
        # sacreBLEU's own hook for "sentence statistics now, scores later", as for BLEU.
        counts = counter._extract_corpus_statistics([predictions[i] for i in block], None)
        rows[block, :-1] = np.array(counts).reshape(len(block), -1)
    rows[scored, -1] = 1
    aggregate = partial(_aggregate, beta=beta)
    return Statistics(rows, aggregate, aggregate(rows))


def aggregate_chrf(sums: np.ndarray, beta: float) -> np.ndarray:
    """ChrF in percent from summed counts: shape (..., 3 x orders) to (...).

    For each order: n-grams of the predictions, of the references, and matches. Precision and recall
    are averaged over the orders that both sides have, which is sacreBLEU's rule.
    """
    sums = np.asarray(sums, dtype=np.float64)
    counts = sums.reshape(*sums.shape[:-1], -1, 3)
    made, wanted, matched = counts[..., 0], counts[..., 1], counts[..., 2]
    present = (made > 0) & (wanted > 0)
    orders = np.maximum(present.sum(axis=-1), 1)
    precision = np.where(present, matched / np.where(present, made, 1), 0).sum(axis=-1) / orders
    recall = np.where(present, matched / np.where(present, wanted, 1), 0).sum(axis=-1) / orders
    weighted = beta**2 * precision + recall
    score = 100 * (1 + beta**2) * precision * recall / np.where(weighted > 0, weighted, 1)
    return np.asarray(np.where(weighted > 0, score, 0.0))


def _aggregate(sums: np.ndarray, beta: float) -> np.ndarray:
    """ChrF of resampled corpora; NaN if no sentence in it has a reference."""
    return np.where(sums[..., -1] > 0, aggregate_chrf(sums[..., :-1], beta), np.nan)


@lru_cache(maxsize=16)
def _counter(
    references: tuple[tuple[str, ...], ...],
    beta: float,
    char_order: int,
    word_order: int,
    lowercase: bool,
) -> CHRF:
    """A sacreBLEU object that has counted these references, shared by all systems."""
    from sacrebleu.metrics.chrf import CHRF  # only now: metrics are listed without it

    most = max(len(some) for some in references)
    streams = [[r[k] if k < len(r) else None for r in references] for k in range(most)]
    return CHRF(
        beta=beta,  # type: ignore[arg-type]  # any positive number will do
        char_order=char_order,
        word_order=word_order,
        lowercase=lowercase,
        references=streams,  # type: ignore[arg-type]  # None: that sentence has fewer
    )


@dataclass(frozen=True, kw_only=True)
class ChrfOptions(Options):
    """Options of ``chrf``; the defaults are sacreBLEU's, on cleaned text.

    Attributes:
        beta: how many times as important recall is as precision.
        char_order: the longest n-grams of characters.
        word_order: the longest n-grams of words; 2 is chrF++.
        lowercase: whether case is ignored.
        clean: whether "it 's great ." is first written as "it's great.". Spaces do not matter to
            chrF, but they do to the words of chrF++.
    """

    beta: Positive = 2.0
    char_order: Annotated[int, Field(ge=1, le=20)] = 6
    word_order: Annotated[int, Field(ge=0, le=20)] = 0
    lowercase: bool = False
    clean: bool = True


class Chrf(Family[ChrfOptions]):
    """ChrF under sacreBLEU's rules."""

    name = "chrf"
    title = "chrF"
    options = ChrfOptions
    libraries = ("sacrebleu",)
    description = """
chrF in three views: against the source, the first reference and all references. Character n-grams
notice a shared stem where words are different, and need no tokeniser.
"""
    example = """
>>> chrf = evaluate.load("tstbench/chrf")
>>> results = chrf.compute(
...     predictions=["the soup was hot and good."],
...     sources=["the soup was cold and bad."],
...     references=[["the soup was hot and great.", "hot soup, and good."]],
... )
>>> round(results["s_chrf"], 1), round(results["r_chrf"], 1), round(results["multi_chrf"], 1)
(48.2, 75.7, 75.7)
"""
    citation = """\
@inproceedings{popovic2015chrf,
  title = {{chrF}: Character n-gram {F}-score for Automatic {MT} Evaluation},
  author = {Popovi{\'c}, Maja},
  booktitle = {Proceedings of the Tenth Workshop on Statistical Machine Translation},
  year = {2015}
}
"""
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts("chrf", "chrF", "chrF", "percent")

    def left_out(self, metric: str, inputs: Inputs, options: ChrfOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def fields(self, metric: str, inputs: Inputs, options: ChrfOptions) -> dict[str, object]:
        """The orders, the weight of recall, case, cleaning, and the number of references."""
        return {
            "beta": exact(options.beta),
            "nc": options.char_order,
            "nw": options.word_order,
            "case": "lower" if options.lowercase else "mixed",
            "text": preparation(inputs.language).compared_name(clean=options.clean),
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: ChrfOptions, context: Context
    ) -> Statistics:
        """Corpus chrF, in percent."""
        prepare = partial(preparation(inputs.language).compared, clean=options.clean)
        return chrf_statistics(
            prepare(inputs.predictions),
            [prepare(some) for some in compared_with(metric, inputs)],
            beta=options.beta,
            char_order=options.char_order,
            word_order=options.word_order,
            lowercase=options.lowercase,
        )


FAMILY = Chrf()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("chrf")
