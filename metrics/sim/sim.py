"""s-sim, r-sim and multi-sim: cosine of sentence embeddings.

Source: Reimers and Gurevych (2019), "Sentence-BERT", section 3: mean pooling over all tokens and
cosine similarity. With all-MiniLM-L6-v2 at its last layer, values equal those of the
sentence-transformers package for sentences of up to 256 word pieces, where it cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

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
from tstbench.metrics.scorers.base import Encoder
from tstbench.metrics.text import preparation


@dataclass(frozen=True, kw_only=True)
class SimOptions(Options):
    """Options of ``sim``; the profile or ``--scorer encoder=...`` sets encoder and layer.

    Attributes:
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    reduce: Reduce = "max"


class Sim(PairwiseFamily[SimOptions]):
    """Cosine of sentence embeddings."""

    name = "sim"
    title = "sentence similarity"
    options = SimOptions
    role = "encoder"
    libraries = ("torch", "transformers", "tokenizers")
    description = """
The cosine of two sentences' embeddings in three views: of the output with the source, with the
first reference, and with all references.
"""
    example = """
>>> sim = evaluate.load("tstbench/sim")
>>> results = sim.compute(
...     predictions=["the soup was hot and good."],
...     sources=["the soup was cold and bad."],
...     references=[["the soup was hot and great.", "hot soup, and good."]],
... )
>>> round(results["s_sim"], 3), round(results["r_sim"], 3), round(results["multi_sim"], 3)
(0.842, 0.98, 0.98)
"""
    citation = """\
@inproceedings{reimers2019sentencebert,
  title = {Sentence-{BERT}: Sentence Embeddings using {Siamese} {BERT}-Networks},
  author = {Reimers, Nils and Gurevych, Iryna},
  booktitle = {Proceedings of EMNLP-IJCNLP},
  year = {2019}
}
"""
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "sim", "sim", "cosine of sentence embeddings", "fraction"
    )

    def fields(self, metric: str, inputs: Inputs, options: SimOptions) -> dict[str, object]:
        """Pooling, how references are combined, how texts are prepared and empty ones count."""
        return {
            "pool": "mean",
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
            "empty": "zero",
        }

    def pairs(
        self,
        predictions: Sequence[str],
        others: Sequence[str],
        options: SimOptions,
        scorer: Encoder,
    ) -> np.ndarray:
        """Cosines, -1 to 1; 0 where a text is empty."""
        vectors = scorer.sentence_vectors([*predictions, *others]).astype(np.float64)
        ours, theirs = np.split(vectors, 2)
        cosines = np.einsum("nd,nd->n", ours, theirs)
        both = zip(predictions, others, strict=True)
        empty = [not (one.strip() and other.strip()) for one, other in both]
        return np.where(empty, 0.0, np.clip(cosines, -1.0, 1.0))


FAMILY = Sim()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("sim")
