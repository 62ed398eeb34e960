"""s-BLEU, r-BLEU and multi-BLEU: n-gram overlap with the source and with human rewrites."""

import tstbench.metrics.module

_DESCRIPTION = """
Corpus BLEU in three views: against the source (s-BLEU: how much was kept), against the first
reference (r-BLEU) and against all references (multi-BLEU). The protocol, on which published
numbers differ by a factor of two, is chosen by name and printed in the signature.
"""

_ARGUMENTS = """
    protocol (str): "tstbench" (lower-case, nltk tokens, no smoothing; the default for English),
        "tstbench-punkt", "whitespace" (tokens between spaces, mixed case), "13a" (sacreBLEU's
        default, on cleaned texts), or another of sacreBLEU's tokenizers: "intl", "char", "zh",
        "ja-mecab", "ko-mecab".
Returns:
    s_bleu, r_bleu, multi_bleu (float or None): percent, 0 to 100, higher is better; None if no
        sentence has a reference (r_bleu) or several (multi_bleu); details: interval,
        signature.
Examples:
    >>> bleu = evaluate.load("tstbench/bleu")
    >>> results = bleu.compute(
    ...     predictions=["the soup was hot and good."],
    ...     sources=["the soup was cold and bad."],
    ...     references=[["the soup was hot and great.", "hot soup, and good."]],
    ... )
    >>> results["s_bleu"], round(results["r_bleu"], 1), round(results["multi_bleu"], 1)
    (0.0, 64.3, 79.5)
"""

_CITATION = """\
@inproceedings{papineni2002bleu,
  title = {{BLEU}: a Method for Automatic Evaluation of Machine Translation},
  author = {Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing},
  booktitle = {Proceedings of ACL},
  year = {2002}
}
@inproceedings{post2018call,
  title = {A Call for Clarity in Reporting {BLEU} Scores},
  author = {Post, Matt},
  booktitle = {Proceedings of WMT},
  year = {2018}
}
"""


class Bleu(tstbench.metrics.module.StyleTransferMetric):
    """BLEU against the source, the first reference and all references, in percent."""

    family = "bleu"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
