"""s-BERT, r-BERT and multi-BERT: token similarity in an encoder's space."""

import tstbench.metrics.module

_DESCRIPTION = """
BERTScore F1 in three views: against the source, the first reference and all references. Each
token is matched to the most similar token of the other text, so that a paraphrase counts.
"""

_ARGUMENTS = """
    protocol (str): how texts are read: "paper" (lower case, white space folded; the default for
        English) or "cleaned" (the dataset's cleaning, case kept).
    reduce (str): how several references are combined, "max" or "mean"; default: the profile's.
Returns:
    s_bert, r_bert, multi_bert (float or None): fraction, higher is better; None if no sentence
        has a reference (r_bert) or several (multi_bert); details: interval, signature.
Examples:
    >>> bertscore = evaluate.load("tstbench/bertscore")
    >>> results = bertscore.compute(
    ...     predictions=["the soup was hot and good."],
    ...     sources=["the soup was cold and bad."],
    ...     references=[["the soup was hot and great.", "hot soup, and good."]],
    ... )
    >>> round(results["s_bert"], 3), round(results["r_bert"], 3), round(results["multi_bert"], 3)
    (0.803, 0.962, 0.962)
"""

_CITATION = """\
@inproceedings{zhang2020bertscore,
  title = {{BERTScore}: Evaluating Text Generation with {BERT}},
  author = {Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and
            Artzi, Yoav},
  booktitle = {Proceedings of ICLR},
  year = {2020}
}
"""


class BertScore(tstbench.metrics.module.StyleTransferMetric):
    """BERTScore F1 against the source, the first reference and all references."""

    family = "bertscore"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
