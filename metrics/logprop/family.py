r"""LogProp: how likely a causal language model finds the output after the source.

With y_1..y_T the tokens of a blank, the output and an end of line, after a prompt that holds the source
x and, for ``logprop``, the names of both styles s:

    logprop       = 1/T sum_t ln P(y_t | prompt(x, s), y_<t)
    logprop_plain = 1/T sum_t ln P(y_t | prompt(x), y_<t)

and with ``subtract="source"`` the same less 1/T sum_t ln P(y_t | prompt without x, y_<t): what is left is
due to the source, not to how frequent the words are (pointwise mutual information for each token).

Source: in the spirit of LogProp, Pauli, Augenstein and Assent (2025), which takes the likelihood under a
small language model with the style in the prompt; wording and definition are our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics

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

    def __post_init__(self) -> None:
        if self.subtract not in get_args(Subtract):
            raise unknown_name("value of logprop.subtract", self.subtract, get_args(Subtract))


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
        from .prompt_files import load_prompts

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
        from ..functional.logprop import logprop_statistics

        model = context.scorer("causal_lm")
        scores = model.log_probabilities(_questions(metric, inputs, options))
        count = len(inputs.predictions)
        alone = scores[count:] if options.subtract == "source" else None
        return logprop_statistics(scores[:count], alone, inputs.failed, model.vocabulary)


def _questions(metric: str, inputs: Inputs, options: LogPropOptions) -> list[str]:
    """N questions with the source; where it is subtracted, N more without."""
    from ..scorers.causal_lm import question
    from .prompt_files import load_prompts

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
