"""CoLA: the share of predictions that a classifier considers acceptable English."""

import tstbench.metrics.module

_DESCRIPTION = """
CoLA is the percentage of predictions that a classifier trained on the Corpus of Linguistic
Acceptability finds acceptable.
"""

_ARGUMENTS = """
    protocol (str): how predictions are read: "paper" (lower case, white space folded; the default)
        or "cleaned" (the dataset's cleaning, case kept).
Returns:
    cola (float): percent, 0 to 100, higher is better; details: interval, signature.
Examples:
    >>> cola = evaluate.load("tstbench/cola")
    >>> results = cola.compute(
    ...     predictions=["the soup was lovely.", "soup the lovely was lovely and."]
    ... )
    >>> results["cola"]
    50.0
"""

_CITATION = """\
@article{warstadt2019neural,
  title = {Neural Network Acceptability Judgments},
  author = {Warstadt, Alex and Singh, Amanpreet and Bowman, Samuel R.},
  journal = {Transactions of the ACL},
  year = {2019}
}
@inproceedings{krishna2020reformulating,
  title = {Reformulating Unsupervised Style Transfer as Paraphrase Generation},
  author = {Krishna, Kalpesh and Wieting, John and Iyyer, Mohit},
  booktitle = {Proceedings of EMNLP},
  year = {2020}
}
"""


class Cola(tstbench.metrics.module.StyleTransferMetric):
    """Share of acceptable predictions, in percent."""

    family = "cola"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
