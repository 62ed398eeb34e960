"""ACC: the share of predictions that a classifier assigns to the target style."""

import tstbench.metrics.module

_DESCRIPTION = """
ACC is the percentage of predictions that a style classifier assigns to the target style. Read it
beside a content metric: a system that always answers with the same cheerful sentence scores 100.
"""

_ARGUMENTS = """
    protocol (str): how texts are read, "cleaned" or "paper"; by default the profile's.
Returns:
    acc (float): percent, 0 to 100, higher is better; details: interval, signature.
Examples:
    >>> acc = evaluate.load("tstbench/acc")
    >>> results = acc.compute(predictions=["the soup was lovely."], direction="mini/negative-to-positive")
    >>> results["acc"]
    100.0
"""


class Acc(tstbench.metrics.module.StyleTransferMetric):
    """Style accuracy, in percent."""

    family = "acc"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
