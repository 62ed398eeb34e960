"""LogProp: how likely a causal language model finds the output after the source.

With y_1..y_T the tokens of a blank, the output and an end of line, after a prompt that holds the source
x and, for ``logprop``, the names of both styles s:

    logprop       = 1/T sum_t ln P(y_t | prompt(x, s), y_<t)
    logprop_plain = 1/T sum_t ln P(y_t | prompt(x), y_<t)

and with ``subtract="source"`` the same less 1/T sum_t ln P(y_t | prompt without x, y_<t): what is left is
due to the source, not to how frequent the words are (pointwise mutual information for each token).

Source: in the spirit of LogProp, Pauli, Augenstein and Assent (2025), which takes the likelihood under a
small language model with the style in the prompt; wording and definition are our own.

Source: the idea of Pauli, Augenstein and Assent (2025): what a small language model expects after the
source and the style asked for tells a rewrite that keeps the content from one that does not. The
definition here is our own, in :mod:`tstbench.metrics.logprop.logprop`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics, divide, mean_statistics
from tstbench.metrics.text import preparation


def logprop_statistics(
    given: np.ndarray, alone: np.ndarray | None, failed: np.ndarray, vocabulary: int
) -> Statistics:
    """The mean over sentences of ln P(output | before) / tokens, less the same without the source.

    Args:
        given: shape (N, 2): sum of the tokens' ln P after the prompt with the source, and tokens.
        alone: the same after the prompt without the source; ``None``: nothing is subtracted.
        failed: which outputs are empty: shape (N,), bool. Their score is that of a model that knows
            nothing: -ln(vocabulary), or a difference of 0.
        vocabulary: tokens that the model chooses from.
    """
    score = divide(given[:, 0], given[:, 1])
    if alone is not None:
        score = score - divide(alone[:, 0], alone[:, 1])
    floor = 0.0 if alone is not None else -float(np.log(vocabulary))
    return mean_statistics(np.where(failed, floor, score))


Subtract = Literal["nothing", "source"]


@dataclass(frozen=True, kw_only=True)
class LogPropOptions(Options):
    """Options of ``logprop``; ``--scorer causal_lm=HUB_ID_OR_FOLDER`` chooses the model.

    Attributes:
        prompts: prompt file: a name, or a ``.toml`` file of your own.
        subtract: ``source`` subtracts the output's log-likelihood without the source.
    """

    prompts: str = "v1"
    subtract: Subtract = "nothing"


def _facts(name: str, title: str, meaning: str, reads: tuple[Any, ...]) -> MetricFacts:
    return MetricFacts(
        name=name,
        title=title,
        unit="number",
        higher_is_better=True,
        aspect="content",
        meaning=meaning,
        reads=reads,
    )


class LogProp(Family[LogPropOptions]):
    """Conditional log-likelihood for each token, with and without the target style."""

    name = "logprop"
    title = "LogProp"
    options = LogPropOptions
    libraries = ("torch", "transformers", "tokenizers")
    description = """
LogProp is the mean log-probability of the output's tokens under a causal language model that has read the
source, with and without the target style in the prompt.
"""
    example = """
>>> logprop = evaluate.load("tstbench/logprop")  # doctest: +SKIP
>>> logprop.compute(
...     predictions=["the soup was lovely."],
...     sources=["the soup was awful."],
...     direction="mini/negative-to-positive",
...     model="openai-community/gpt2",
... )  # doctest: +SKIP
"""
    citation = """\
@article{pauli2025mind,
  title = {Mind the Style Gap: Meta-Evaluation of Style and Attribute Transfer Metrics},
  author = {Pauli, Amalie Brogaard and Augenstein, Isabelle and Assent, Ira},
  journal = {arXiv preprint arXiv:2502.15022},
  year = {2025}
}
"""
    model = (
        "model",
        "causal_lm",
        "a causal language model: a Hub id, or a folder with safetensors weights.",
    )
    metrics = (
        _facts(
            "logprop",
            "LogProp",
            "mean ln P of the output's tokens after the source and the target style",
            ("sources", "direction"),
        ),
        _facts(
            "logprop_plain",
            "LogProp plain",
            "mean ln P of the output's tokens after the source, no style named",
            ("sources",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: LogPropOptions) -> tuple[Need, ...]:
        """Each output after its source; with ``subtract`` also without it."""
        return (Need("causal_lm", partial(_questions, metric, inputs, options)),)

    def fields(self, metric: str, inputs: Inputs, options: LogPropOptions) -> dict[str, object]:
        """The prompt's words, what is subtracted, and how texts are prepared."""
        from tstbench.metrics.logprop.prompt_files import load_prompts

        prompts = load_prompts(options.prompts)
        return {
            "prompts": f"{prompts.name}#{prompts.sha256[:12]}",
            "subtract": options.subtract,
            "norm": "tokens",
            "empty": "uniform" if options.subtract == "nothing" else "zero",
            "text": preparation(inputs.language).clean_name,
        }

    def measure(
        self, metric: str, inputs: Inputs, options: LogPropOptions, context: Context
    ) -> Statistics:
        """The mean over sentences, in nats for each token."""
        model = context.scorer("causal_lm")
        scores = model.log_probabilities(_questions(metric, inputs, options))
        count = len(inputs.predictions)
        alone = scores[count:] if options.subtract == "source" else None
        return logprop_statistics(scores[:count], alone, inputs.failed, model.vocabulary)


def _questions(metric: str, inputs: Inputs, options: LogPropOptions) -> list[str]:
    """N questions with the source; where it is subtracted, N more without."""
    from tstbench.metrics.logprop.prompt_files import load_prompts
    from tstbench.metrics.scorers.causal_lm import question

    prompts, clean = load_prompts(options.prompts), preparation(inputs.language).clean
    direction = inputs.direction if metric == "logprop" else None
    outputs = [prompts.after(text) for text in clean(inputs.predictions)]
    before = prompts.before(clean(inputs.sources or ()), direction)
    found = [question(*pair) for pair in zip(before, outputs, strict=True)]
    if options.subtract == "source":
        alone = prompts.alone(direction)
        found += [question(alone, output) for output in outputs]
    return found


FAMILY = LogProp()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("logprop")
