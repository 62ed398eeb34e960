"""s-sim, r-sim and multi-sim: cosine of sentence embeddings."""

import tstbench.metrics.module

_DESCRIPTION = """
The cosine of two sentences' embeddings in three views: of the output with the source, with the
first reference, and with all references.
"""

_ARGUMENTS = """
    reduce (str): how several references are combined, "max" (default) or "mean".
Returns:
    s_sim, r_sim, multi_sim (float or None): -1 to 1, higher is better; None if no sentence has a
        reference (r_sim) or several (multi_sim); details: interval, signature.
Examples:
    >>> sim = evaluate.load("tstbench/sim")
    >>> results = sim.compute(
    ...     predictions=["the soup was hot and good."],
    ...     sources=["the soup was cold and bad."],
    ...     references=[["the soup was hot and great.", "hot soup, and good."]],
    ... )
    >>> round(results["s_sim"], 3), round(results["r_sim"], 3), round(results["multi_sim"], 3)
    (0.842, 0.98, 0.98)
"""

_CITATION = """\
@inproceedings{reimers2019sentencebert,
  title = {Sentence-{BERT}: Sentence Embeddings using {Siamese} {BERT}-Networks},
  author = {Reimers, Nils and Gurevych, Iryna},
  booktitle = {Proceedings of EMNLP-IJCNLP},
  year = {2019}
}
"""


class Sim(tstbench.metrics.module.StyleTransferMetric):
    """Sentence-embedding cosine with the source, the first reference and all references."""

    family = "sim"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
