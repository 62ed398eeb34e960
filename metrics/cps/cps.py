"""CPS: similarity of sentence embeddings, with or without style words."""

import tstbench.metrics.module

_DESCRIPTION = """
CPS, the content preservation score, is the cosine of the sentence embeddings of source and output.
Style words of both can be masked or removed first: those that a style classifier's decision rests
on, by integrated gradients.
"""

_ARGUMENTS = """
    mask (str): "none" (default), "masked" or "removed"; both need a transformer classifier.
    threshold (float): the part of a sentence's style, 0 to 1, that decides what is masked; 0.3.
    rule (str): "published" (default: words whose cumulative share is at most the threshold, or the
        first alone) or "covering" (the word that crosses the threshold too).
    unit (str): "pieces" (default, published) of the classifier's words, or whole "words".
    placeholder (str): what "masked" writes in the place of a word; "[PAD]".
    steps (int): the points at which gradients are computed; 50.
    baseline (str): "pad" (default), "mask" or "zero": what carries no information.
    output (str): "probability" (default) or "logit": what is explained.
Returns:
    cps (float): fraction, higher is better, 1 is a copy; details: interval, signature.
Examples:
    >>> cps = evaluate.load("tstbench/cps")
    >>> results = cps.compute(
    ...     predictions=["the soup was hot and good."],
    ...     sources=["the soup was cold and bad."],
    ... )
    >>> round(results["cps"], 3)
    0.842
"""

_CITATION = """\
@misc{reed2022automated,
  title = {Automated Metrics for Evaluating Text Style Transfer},
  author = {Reed, Andrew and Beck, Melanie},
  howpublished = {Cloudera Fast Forward Labs},
  year = {2022}
}
@inproceedings{sundararajan2017axiomatic,
  title = {Axiomatic Attribution for Deep Networks},
  author = {Sundararajan, Mukund and Taly, Ankur and Yan, Qiqi},
  booktitle = {Proceedings of ICML},
  year = {2017}
}
"""


class Cps(tstbench.metrics.module.StyleTransferMetric):
    """Cosine of the sentence embeddings of source and output."""

    family = "cps"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
