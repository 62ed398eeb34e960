"""Joint: style, content and fluency in one number, with its three parts."""

import tstbench.metrics.module

_DESCRIPTION = """
Joint = (ACC x BLEU x 1/ln PPL)^(1/3), with ACC and BLEU as fractions, multi-BLEU if a sentence
has several references and r-BLEU otherwise. It is 0 if ACC or BLEU is 0; fluency counts as 1 if
PPL is e or less.
"""

_ARGUMENTS = """
    weights (list of 3 floats): relative weights of ACC, BLEU and fluency; equal by default.
    calibration (str): "calibrated-v1", or a file of `tstbench calibrate`: joint_calibrated instead.
    mean (str): "geometric", "harmonic", "arithmetic" or "minimum" of each sentence's style, content
        and fluency: joint_sentence instead. Meant for profile="lm".
    protocol (str): BLEU protocol, see tstbench/bleu.
    norm (str): normalisation of perplexity, see tstbench/ppl.
Returns:
    joint (float or None): fraction 0 to 1, higher is better; None if no sentence has a
        reference. acc, ppl, and multi_bleu or r_bleu: its parts. details: interval, signature.
Examples:
    >>> joint = evaluate.load("tstbench/joint")
    >>> results = joint.compute(
    ...     predictions=["the soup was hot and lovely."],
    ...     sources=["the soup was cold and awful."],
    ...     references=[["the soup was hot and great.", "the soup was hot and good."]],
    ...     direction="mini/negative-to-positive",
    ... )
    >>> import math
    >>> fluency = 1 / math.log(results["ppl"])
    >>> by_hand = (results["acc"] / 100 * results["multi_bleu"] / 100 * fluency) ** (1 / 3)
    >>> math.isclose(results["joint"], by_hand, abs_tol=1e-6)
    True
"""


class Joint(tstbench.metrics.module.StyleTransferMetric):
    """The geometric mean of ACC, BLEU and 1/ln PPL, a fraction."""

    family = "joint"
    description = _DESCRIPTION
    arguments = _ARGUMENTS

    def _compute(
        self, *, predictions, sources, references, protocol=None, norm=None, mean=None, **options
    ):
        return self.measured(
            ["joint_sentence", "target_style", "s_meaning", "fluency"]
            if mean
            else ["joint_calibrated"]
            if options.get("calibration")
            else ["joint", "acc", "r_bleu", "multi_bleu", "ppl"],
            predictions,
            sources,
            references,
            others={"bleu": {"protocol": protocol}, "ppl": {"norm": norm}},
            mean=mean,
            **options,
        )
