"""PPL: perplexity under an n-gram language model of the target style."""

import tstbench.metrics.module

_DESCRIPTION = """
PPL is the perplexity of the predictions under a 5-gram modified Kneser-Ney model of the target
style's training sentences. A low value means fluent or merely frequent text: read it beside CoLA.
"""

_ARGUMENTS = """
    protocol (str): how texts are read: "paper" (lower case, NLTK's words; the model learns the
        training lines as upstream wrote them; the default for English) or "cleaned" (the dataset's
        cleaning, lower case, sacreBLEU's words, on both sides).
    norm (str): "words" (the paper's: the end of a sentence is scored but not counted) or
        "words+1" (like kenlm's own perplexity).
Returns:
    ppl (float): perplexity, at least 1, lower is better; details: interval, signature.
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

    family = "ppl"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
