"""s-Meaning, r-Meaning and multi-Meaning: how much of the content is kept, whatever the style."""

import tstbench.metrics.module

_DESCRIPTION = """
How much of what a text says another one keeps, whatever its style: the mean of a learned comparison,
which notices one changed content word in a rewrite, and the cosine of sentence embeddings.
"""

_ARGUMENTS = """
    combine (str): "mean" of both parts, or one of them: "kept" or "cosine".
    reduce (str): how several references are combined, "max" or "mean".
Returns:
    s_meaning, r_meaning, multi_meaning (float or None): fraction, higher is better; None if no
        sentence has a reference (r_meaning) or several (multi_meaning); details: interval,
        signature.
Examples:
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

_CITATION = """\
@inproceedings{hu2022lora,
  title = {{LoRA}: Low-Rank Adaptation of Large Language Models},
  author = {Hu, Edward J. and Shen, Yelong and Wallis, Phillip and Allen-Zhu, Zeyuan and Li, Yuanzhi
    and Wang, Shean and Wang, Lu and Chen, Weizhu},
  booktitle = {Proceedings of ICLR},
  year = {2022}
}
"""


class Meaning(tstbench.metrics.module.StyleTransferMetric):
    """Meaning kept against the source, the first reference and all references."""

    family = "meaning"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
