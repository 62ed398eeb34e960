"""Fluency: how probable a classifier finds it that a prediction is acceptable English."""

import tstbench.metrics.module

_DESCRIPTION = """
Fluency is the mean probability, over predictions, that a sentence is acceptable English, from the
classifier that CoLA counts with, or how likely a language model finds it, or the mean of both. It
needs no reference.
"""

_ARGUMENTS = """
    combine (str): "acceptable" (default), "likely" or "mean", the default of profile="lm".
Returns:
    fluency (float): fraction, 0 to 1, higher is better; details: interval, signature.
Examples:
    >>> fluency = evaluate.load("tstbench/fluency")
    >>> results = fluency.compute(
    ...     predictions=["the soup was lovely.", "soup the lovely was lovely and."],
    ...     per_sentence=True,
    ... )
    >>> first, second = results["details"]["fluency"]["per_sentence"]
    >>> first > second
    True
"""

_CITATION = """\
@article{warstadt2019neural,
  title = {Neural Network Acceptability Judgments},
  author = {Warstadt, Alex and Singh, Amanpreet and Bowman, Samuel R.},
  journal = {Transactions of the ACL},
  year = {2019}
}
"""


class Fluency(tstbench.metrics.module.StyleTransferMetric):
    """Mean probability that a prediction is acceptable."""

    family = "fluency"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
