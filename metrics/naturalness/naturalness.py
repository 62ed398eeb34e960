"""Naturalness: outputs that look more human than their sources."""

import tstbench.metrics.module

_DESCRIPTION = """
Naturalness is the percentage of outputs that look more natural than their sources: to a classifier
of words or of sentence embeddings that was trained to tell human texts from outputs of systems, on
other sentences; or to language models of both styles. A copy counts half.
"""

_ARGUMENTS = """
    systems (dict): outputs of other systems on the same sources, by name, lists of N texts; the
        classifiers learn from them too. Without them, only the predictions are known outputs.
    human (str): what is known to be human text: "sources+references" (default), "references" or
        "sources".
    folds (int): how many classifiers; each scores only sentences it did not see; 10.
    unigram_penalty, neural_penalty (float): scikit-learn's C; 1.0 and 0.01.
    seed (int): of the division into folds; 0.
Returns:
    naturalness_unigram, naturalness_neural, naturalness_lm (float): percent, 0 to 100, higher is
        better, 50 is a copy; details: interval, signature.
Examples:
    >>> naturalness = evaluate.load("tstbench/naturalness")
    >>> sources = ["the soup was cold.", "we waited an hour.", "the waiter was rude."]
    >>> results = naturalness.compute(
    ...     predictions=["the soup was lovely.", "we waited we waited lovely.", "the waiter was kind."],
    ...     sources=sources,
    ...     references=[["the soup was hot."], ["we never waited."], ["the waiter was polite."]],
    ...     direction="mini/negative-to-positive",
    ...     folds=3,
    ... )
    >>> round(results["naturalness_lm"], 1)
    66.7
"""

_CITATION = """\
@inproceedings{mir2019evaluating,
  title = {Evaluating Style Transfer for Text},
  author = {Mir, Remi and Felbo, Bjarke and Obradovich, Nick and Rahwan, Iyad},
  booktitle = {Proceedings of NAACL},
  year = {2019}
}
"""


class Naturalness(tstbench.metrics.module.StyleTransferMetric):
    """Share of outputs that look more natural than their sources, in percent."""

    family = "naturalness"
    columns = ("sources", "references")
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION

    def _compute(self, *, predictions, sources, references, systems=None, **options):
        metrics = ["naturalness_unigram", "naturalness_neural", "naturalness_lm"]
        return self.measured(metrics, predictions, sources, references, systems=systems, **options)
