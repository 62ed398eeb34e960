"""Length ratio and copy rate: whether a system rewrites at all."""

import tstbench.metrics.module

_DESCRIPTION = """
Two numbers to read before any other: the words of all outputs over the words of all sources, and
the percentage of outputs that equal their source.
"""

_ARGUMENTS = """
    equal (str): when an output is a copy: "letters" (default; case and spaces do not matter),
        "clean" (the cleaned texts are equal) or "raw".
Returns:
    length_ratio (float): 1 is as long as the sources.
    copy_rate (float): percent; details: interval, signature.
Examples:
    >>> surface = evaluate.load("tstbench/surface")
    >>> results = surface.compute(
    ...     predictions=["The soup was cold.", "lovely soup ."],
    ...     sources=["the soup was cold .", "the soup was cold ."],
    ... )
    >>> results["length_ratio"], results["copy_rate"]
    (0.8, 50.0)
"""


class Surface(tstbench.metrics.module.StyleTransferMetric):
    """Length ratio and copy rate."""

    family = "surface"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
