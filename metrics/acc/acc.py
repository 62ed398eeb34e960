"""ACC: the share of predictions that a classifier assigns to the target style."""

import tstbench.metrics.module

_DESCRIPTION = """
ACC is the percentage of predictions that a style classifier assigns to the target style. Read it
beside a content metric: a system that always answers with the same cheerful sentence scores 100.
"""

_ARGUMENTS = """
    direction (str): for example "yelp/negative-to-positive".
    profile (str): "embedded" or "paper".
    protocol (str): how texts are read, "cleaned" or "paper"; by default the profile's.
    batch_size (int): the most sentences that a model scores at once; no score depends on it.
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

    description = _DESCRIPTION
    arguments = _ARGUMENTS

    def _compute(
        self,
        predictions,
        direction=None,
        profile="embedded",
        protocol=None,
        batch_size=None,
        language=None,
    ):
        return tstbench.metrics.module.compute(
            ["acc"],
            predictions=predictions,
            direction=direction,
            language=language,
            profile=profile,
            batch_size=batch_size,
            acc={"protocol": protocol},
        )
