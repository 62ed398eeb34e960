"""STI: how far outputs move between styles, and whether towards the target."""

import tstbench.metrics.module

_DESCRIPTION = """
Style transfer intensity: the earth mover's distance between a classifier's style distributions of
source and output, negated where the output moves away from the target style. A copy scores 0. With
it comes the mean probability of the target style, which looks at the source with `of` alone.
"""

_ARGUMENTS = """
    ground (str): the distance between styles: "uniform" (default), "ordinal", or a JSON file.
    temperature (float): log-probabilities are divided by it first; default: 1, the paper's.
    of (str): what has the target style: the "whole" output (default) or its "least" part, so that
        a copy with "I love it!" behind it has not.
Returns:
    sti (float): -1 to 1 for uniform distances, higher is better.
    target_style (float): fraction, higher is better; details: interval, signature.
Examples:
    >>> sti = evaluate.load("tstbench/sti")
    >>> results = sti.compute(
    ...     predictions=["the soup was cold .", "the soup was lovely ."],
    ...     sources=["the soup was cold .", "the soup was cold ."],
    ...     direction="mini/negative-to-positive",
    ...     per_sentence=True,
    ... )
    >>> copied, rewritten = results["details"]["sti"]["per_sentence"]
    >>> copied, rewritten > 0
    (0.0, True)
"""

_CITATION = """\
@inproceedings{mir2019evaluating,
  title = {Evaluating Style Transfer for Text},
  author = {Mir, Remi and Felbo, Bjarke and Obradovich, Nick and Rahwan, Iyad},
  booktitle = {Proceedings of NAACL-HLT},
  year = {2019}
}
"""


class Sti(tstbench.metrics.module.StyleTransferMetric):
    """Style transfer intensity and target style score."""

    family = "sti"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
