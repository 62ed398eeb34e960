"""PPL: perplexity under an n-gram language model of the target style."""

import tstbench.metrics.measure
import tstbench.metrics.module

_DESCRIPTION = """
PPL is the perplexity of the predictions under a 5-gram modified Kneser-Ney model of the target
style's training sentences. Low is fluent or merely frequent: read it beside CoLA.
"""

_ARGUMENTS = """
    direction (str): such as "yelp/negative-to-positive".
    profile (str): "embedded" or "paper".
    normalisation (str): "words" (the paper's: the end of a sentence is scored, not counted) or
        "words+1" (as kenlm's own perplexity).
Returns:
    ppl (float): perplexity, 1 upwards, lower is better; details: interval, per_sentence, signature.
Examples:
    >>> ppl = evaluate.load("tstbench/ppl")
    >>> fluent = ppl.compute(predictions=["the soup was lovely."], direction="mini/negative-to-positive")
    >>> clumsy = ppl.compute(predictions=["lovely the was soup."], direction="mini/negative-to-positive")
    >>> fluent["ppl"] < clumsy["ppl"]
    True
"""

_CITATION = """\
@inproceedings{heafield2013scalable,
  title = {Scalable Modified {Kneser-Ney} Language Model Estimation},
  author = {Heafield, Kenneth and Pouzyrevsky, Ivan and Clark, Jonathan H. and Koehn, Philipp},
  booktitle = {Proceedings of ACL},
  year = {2013}
}
"""


class Ppl(tstbench.metrics.module.StyleTransferMetric):
    """Corpus perplexity under a language model of the target style."""

    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION

    def _compute(self, predictions, direction=None, profile="embedded", normalisation="words"):
        return tstbench.metrics.module.compute(
            ["ppl"],
            predictions=predictions,
            direction=direction,
            profile=profile,
            options=tstbench.metrics.measure.Options(ppl=normalisation),
        )
