"""s-sim, r-sim and multi-sim: cosine of sentence embeddings.

Source: Reimers and Gurevych (2019), "Sentence-BERT".

Source: Reimers and Gurevych (2019), "Sentence-BERT", section 3: mean pooling over all tokens and
cosine similarity. With all-MiniLM-L6-v2 at its last layer, values equal those of the
sentence-transformers package for sentences of up to 256 word pieces, where it cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tstbench.metrics.contract import Context, Family, Need, Options
from tstbench.metrics.facts import MetricFacts
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.scorers.base import Encoder
from tstbench.metrics.statistics import Statistics, mean_statistics
from tstbench.metrics.text import preparation
from tstbench.metrics.views import Reduce, compared_with, reference_count, view_facts, view_left_out


def similarity(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: Encoder,
    reduce: Reduce = "max",
) -> Statistics:
    """Mean cosine of each prediction with what it is compared with, -1 to 1.

    Args:
        predictions: N sentences; an empty one has similarity 0.
        references: 0 to n sentences for each of them; without any, the sentence is left out.
        encoder: gives the sentence vectors, of unit length.
        reduce: several references: the best, or their mean.
    """
    owners = [i for i, some in enumerate(references) for _ in some]
    against = [text for some in references for text in some]
    per_sentence = np.full(len(predictions), np.nan)
    if not against:
        return mean_statistics(per_sentence)
    vectors = encoder.sentence_vectors([*predictions, *against]).astype(np.float64)
    ours, theirs = vectors[: len(predictions)][owners], vectors[len(predictions) :]
    cosines = np.einsum("nd,nd->n", ours, theirs)
    empty = [
        not (predictions[i].strip() and text.strip())
        for i, text in zip(owners, against, strict=True)
    ]
    cosines[np.array(empty)] = 0.0
    cosines = np.clip(cosines, -1.0, 1.0)
    start = 0
    for i, some in enumerate(references):
        if some:
            own = cosines[start : start + len(some)]
            per_sentence[i] = own.max() if reduce == "max" else own.mean()
            start += len(some)
    return mean_statistics(per_sentence)


@dataclass(frozen=True, kw_only=True)
class SimOptions(Options):
    """Options of ``sim``; the profile or ``--scorer encoder=...`` sets encoder and layer.

    Attributes:
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    reduce: Reduce = "max"


class Sim(Family[SimOptions]):
    """Cosine of sentence embeddings."""

    name = "sim"
    title = "sentence similarity"
    options = SimOptions
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

    def left_out(self, metric: str, inputs: Inputs, options: SimOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: SimOptions) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return preparation(inputs.language).clean([*inputs.predictions, *against])

        return (Need("encoder", prepare),)

    def fields(self, metric: str, inputs: Inputs, options: SimOptions) -> dict[str, object]:
        """Pooling, how references are combined, how texts are prepared and empty ones count."""
        return {
            "pool": "mean",
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
            "empty": "zero",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: SimOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' cosines."""
        clean = preparation(inputs.language).clean
        against = [clean(some) for some in compared_with(metric, inputs)]
        encoder = context.scorer("encoder")
        return similarity(clean(inputs.predictions), against, encoder, options.reduce)


FAMILY = Sim()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("sim")
