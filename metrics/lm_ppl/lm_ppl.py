"""LM-PPL: perplexity under any causal language model."""

import tstbench.metrics.module

_DESCRIPTION = """
LM-PPL is the perplexity of the predictions under a causal language model of transformers. A low value means
fluent or merely frequent text.
"""

_ARGUMENTS = """
    model (str): a causal language model: a Hub id, a folder with safetensors weights, or a GGUF file.
    first (str): "bos": the first token counts too, after the model's start token; "skip": it does not.
    average (str): "tokens" (a corpus' perplexity), or "sentences" (the mean of their perplexities).
Returns:
    lm_ppl (float): perplexity, at least 1, lower is better; details: interval, signature.
Examples:
    >>> lm_ppl = evaluate.load("tstbench/lm_ppl")  # doctest: +SKIP
    >>> lm_ppl.compute(
    ...     predictions=["the soup was lovely."], model="openai-community/gpt2"
    ... )  # doctest: +SKIP
"""

_CITATION = """\
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


class LmPpl(tstbench.metrics.module.StyleTransferMetric):
    """Perplexity under a causal language model."""

    family = "lm_ppl"
    model_role = "causal_lm"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
