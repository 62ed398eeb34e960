"""LM-PPL: perplexity under any causal language model.

With y_1..y_T the tokens of a sentence after the model's start token:

    tokens     exp(-sum ln P(y_t | y_<t) / sum T), both over all sentences: a corpus' perplexity
    sentences  the mean over sentences of exp(-1/T sum_t ln P(y_t | y_<t)), as the ``perplexity``
               of Hugging Face's ``evaluate`` is defined

Where ``ppl`` asks an n-gram model of the target style's own training sentences, this asks a model that has
read the world's text and none of the style.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics
from tstbench.metrics.text import preparation

First = Literal["bos", "skip"]
Average = Literal["tokens", "sentences"]


@dataclass(frozen=True, kw_only=True)
class LmPplOptions(Options):
    """Options of ``lm_ppl``; ``--scorer causal_lm=HUB_ID_OR_FOLDER`` chooses the model.

    Attributes:
        first: ``bos`` counts the first token too, after the model's start token; ``skip`` begins with
            the second, for a model without one.
        average: over ``tokens`` (a corpus' perplexity) or over the perplexities of ``sentences``.
    """

    first: First = "bos"
    average: Average = "tokens"


class LmPpl(Family[LmPplOptions]):
    """Perplexity under a causal language model, without references."""

    name = "lm_ppl"
    title = "LM perplexity"
    options = LmPplOptions
    libraries = ("torch", "transformers", "tokenizers")
    description = """
LM-PPL is the perplexity of the predictions under a causal language model of transformers. A low value means
fluent or merely frequent text.
"""
    example = """
>>> lm_ppl = evaluate.load("tstbench/lm_ppl")  # doctest: +SKIP
>>> lm_ppl.compute(
...     predictions=["the soup was lovely."], model="openai-community/gpt2"
... )  # doctest: +SKIP
"""
    citation = """\
@article{jelinek1977perplexity,
  title = {Perplexity---a Measure of the Difficulty of Speech Recognition Tasks},
  author = {Jelinek, Fred and Mercer, Robert L. and Bahl, Lalit R. and Baker, James K.},
  journal = {The Journal of the Acoustical Society of America},
  volume = {62},
  number = {S1},
  pages = {S63},
  year = {1977}
}
"""
    model = (
        "model",
        "causal_lm",
        "a causal language model: a Hub id, a folder with safetensors weights, or a GGUF file.",
    )
    metrics = (
        MetricFacts(
            name="lm_ppl",
            title="LM-PPL",
            unit="perplexity",
            higher_is_better=False,
            aspect="fluency",
            meaning="perplexity under a causal language model",
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: LmPplOptions) -> tuple[Need, ...]:
        """Predictions, cleaned, case kept."""

        def read() -> list[str]:
            from tstbench.metrics.scorers.causal_lm import question

            before = None if options.first == "bos" else ""
            clean = preparation(inputs.language).clean
            return [question(before, text) for text in clean(inputs.predictions)]

        return (Need("causal_lm", read),)

    def fields(self, metric: str, inputs: Inputs, options: LmPplOptions) -> dict[str, object]:
        """Which tokens count, what is averaged, and how texts are prepared."""
        return {
            "first": options.first,
            "average": options.average,
            "empty": "skip",
            "text": preparation(inputs.language).clean_name,
        }

    def measure(
        self, metric: str, inputs: Inputs, options: LmPplOptions, context: Context
    ) -> Statistics:
        """Perplexity; a sentence of which no token counts is left out."""
        import numpy as np

        from tstbench.metrics.ppl.ppl import ppl_statistics
        from tstbench.metrics.statistics import mean_statistics

        (need,) = self.needs(metric, inputs, options)
        scores = context.scorer("causal_lm").log_probabilities(need.texts)
        found = ppl_statistics(scores[:, 0] / np.log(10), scores[:, 1])
        if options.average == "tokens":
            return found
        return mean_statistics(np.asarray(found.per_sentence))


FAMILY = LmPpl()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("lm_ppl")
