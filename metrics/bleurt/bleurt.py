"""s-BLEURT, r-BLEURT and multi-BLEURT: a metric learned from people's ratings."""

import tstbench.metrics.module

_DESCRIPTION = """
BLEURT is a BERT that was trained on people's ratings of machine translations. It scores the output
against the source, the first reference, and all references.
"""

_ARGUMENTS = """
    model (str): another checkpoint than the profile's: a Hub id, or a folder with safetensors weights.
    reduce (str): how several references are combined, "max" (default) or "mean".
Returns:
    s_bleurt, r_bleurt, multi_bleurt (float or None): mostly -2 to 1, higher is better; None if no
        sentence has a reference (r_bleurt) or several (multi_bleurt); details: interval, signature.
Examples:
    >>> bleurt = evaluate.load("tstbench/bleurt")  # doctest: +SKIP
    >>> bleurt.compute(
    ...     predictions=["the soup was hot and good."],
    ...     sources=["the soup was cold and bad."],
    ...     references=[["the soup was hot and great.", "hot soup, and good."]],
    ... )  # doctest: +SKIP
"""

_CITATION = """\
@inproceedings{sellam2020bleurt,
  title = {{BLEURT}: Learning Robust Metrics for Text Generation},
  author = {Sellam, Thibault and Das, Dipanjan and Parikh, Ankur P.},
  booktitle = {Proceedings of ACL},
  year = {2020}
}
"""


class Bleurt(tstbench.metrics.module.StyleTransferMetric):
    """BLEURT against the source, the first reference and all references."""

    family = "bleurt"
    model_role = "bleurt"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
