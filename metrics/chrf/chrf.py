"""s-chrF, r-chrF and multi-chrF: overlap of character n-grams."""

import tstbench.metrics.module

_DESCRIPTION = """
chrF in three views: against the source, the first reference and all references. Character n-grams
notice a shared stem where words are different, and need no tokeniser.
"""

_ARGUMENTS = """
    beta (float): how many times as important recall is as precision; default: 2.
    char_order (int): the longest n-grams of characters; default: 6.
    word_order (int): the longest n-grams of words; default: 0. 2 is chrF++.
    lowercase (bool): whether case is ignored; default: False.
    clean (bool): whether spaces around punctuation are repaired first; default: True.
Returns:
    s_chrf, r_chrf, multi_chrf (float or None): percent, higher is better; None if no sentence
        has a reference (r_chrf) or several (multi_chrf); details: interval, signature.
Examples:
    >>> chrf = evaluate.load("tstbench/chrf")
    >>> results = chrf.compute(
    ...     predictions=["the soup was hot and good."],
    ...     sources=["the soup was cold and bad."],
    ...     references=[["the soup was hot and great.", "hot soup, and good."]],
    ... )
    >>> round(results["s_chrf"], 1), round(results["r_chrf"], 1), round(results["multi_chrf"], 1)
    (48.2, 75.7, 75.7)
"""

_CITATION = """\
@inproceedings{popovic2015chrf,
  title = {{chrF}: Character n-gram {F}-score for Automatic {MT} Evaluation},
  author = {Popovi{\\'c}, Maja},
  booktitle = {Proceedings of the Tenth Workshop on Statistical Machine Translation},
  year = {2015}
}
"""


class Chrf(tstbench.metrics.module.StyleTransferMetric):
    """chrF against the source, the first reference and all references."""

    family = "chrf"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
