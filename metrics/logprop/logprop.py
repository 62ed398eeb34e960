"""LogProp: how likely a causal language model finds the output after the source."""

import tstbench.metrics.module

_DESCRIPTION = """
LogProp is the mean log-probability of the output's tokens under a causal language model that has read the
source, with and without the target style in the prompt.
"""

_ARGUMENTS = """
    model (str): a causal language model: a Hub id, or a folder with safetensors weights.
    prompts (str): "v1", or a .toml file of your own.
    subtract (str): "nothing", or "source": less the same without the source in the prompt.
Returns:
    logprop, logprop_plain (float): nats for each token, higher is better; details: interval,
        signature.
Examples:
    >>> logprop = evaluate.load("tstbench/logprop")  # doctest: +SKIP
    >>> logprop.compute(
    ...     predictions=["the soup was lovely."],
    ...     sources=["the soup was awful."],
    ...     direction="mini/negative-to-positive",
    ...     model="openai-community/gpt2",
    ... )  # doctest: +SKIP
"""

_CITATION = """\
@article{pauli2025mind,
  title = {Mind the Style Gap: Meta-Evaluation of Style and Attribute Transfer Metrics},
  author = {Pauli, Amalie Brogaard and Augenstein, Isabelle and Assent, Ira},
  journal = {arXiv preprint arXiv:2502.15022},
  year = {2025}
}
"""


class LogProp(tstbench.metrics.module.StyleTransferMetric):
    """Mean log-probability of the output's tokens, given the source."""

    family = "logprop"
    model_role = "causal_lm"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
