"""s-Meaning, r-Meaning and multi-Meaning: how much of the content is kept, whatever the style.

The comparison (:class:`~tstbench.metrics.scorers.meaning.MeaningModel`) sees one hidden change of
content; the cosine grades how close two sentences are that differ in many words. The score is the
mean of both: neither part is weighted on human scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tstbench.metrics.base import (
    MetricFacts,
    Options,
    PairwiseFamily,
    Reduce,
    reference_count,
    view_facts,
)
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.text import preparation

Combine = Literal["mean", "kept", "cosine"]


def combined(scores: np.ndarray, combine: Combine = "mean") -> np.ndarray:
    """One number per pair, a fraction.

    Args:
        scores: P(meaning is kept) and sentence cosine, shape (N, 2); a cosine below 0 counts as 0.
        combine: ``mean`` of both, or one of them.

    >>> combined(np.array([[0.5, 0.9], [0.5, -0.2]])).tolist()
    [0.7, 0.25]
    """
    kept, cosine = np.asarray(scores, dtype=np.float64).T
    cosine = np.clip(cosine, 0.0, 1.0)
    return {"mean": (kept + cosine) / 2, "kept": kept, "cosine": cosine}[combine]


@dataclass(frozen=True, kw_only=True)
class MeaningOptions(Options):
    """Options of ``meaning``; ``--scorer meaning=FOLDER`` sets another scorer.

    Attributes:
        combine: ``mean`` of P(meaning is kept) and sentence cosine, or one: ``kept``, ``cosine``.
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    combine: Combine = "mean"
    reduce: Reduce = "max"


class Meaning(PairwiseFamily[MeaningOptions]):
    """Content kept, by a comparison learned from made pairs."""

    name = "meaning"
    title = "meaning kept"
    options = MeaningOptions
    role = "meaning"
    libraries = ("torch", "transformers", "tokenizers")
    description = """
How much of what a text says another one keeps, whatever its style: the mean of a learned comparison,
which notices one changed content word in a rewrite, and the cosine of sentence embeddings.
"""
    example = """
>>> meaning = evaluate.load("tstbench/meaning")
>>> results = meaning.compute(
...     predictions=["Wow! House prices climb!", "Wow! House prices fall!"],
...     sources=["The prices of houses rise."] * 2,
...     references=[[], []],
...     per_sentence=True,
... )
>>> kept, changed = results["details"]["s_meaning"]["per_sentence"]
>>> kept > changed
True
"""
    citation = """\
@inproceedings{hu2022lora,
  title = {{LoRA}: Low-Rank Adaptation of Large Language Models},
  author = {Hu, Edward J. and Shen, Yelong and Wallis, Phillip and Allen-Zhu, Zeyuan and Li, Yuanzhi
    and Wang, Shean and Wang, Lu and Chen, Weizhu},
  booktitle = {Proceedings of ICLR},
  year = {2022}
}
"""
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "meaning", "Meaning", "meaning kept", "fraction"
    )

    def fields(self, metric: str, inputs: Inputs, options: MeaningOptions) -> dict[str, object]:
        """How parts and references are combined, how texts are prepared and empty ones count."""
        return {
            "combine": options.combine,
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
            "empty": "zero",
        }

    def pairs(
        self,
        predictions: Sequence[str],
        others: Sequence[str],
        options: MeaningOptions,
        scorer: Any,
    ) -> np.ndarray:
        """P(meaning is kept), sentence cosine, or the mean of both: fractions."""
        return combined(scorer.kept(others, predictions), options.combine)


FAMILY = Meaning()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("meaning")
