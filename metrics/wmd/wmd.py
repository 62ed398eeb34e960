"""Word mover's distance and five other measures of content, on whole or style-masked texts."""

import tstbench.metrics.module

_DESCRIPTION = """
Word mover's distance, METEOR, embedding average, greedy matching, vector extrema and sentence BLEU
against the source and the first reference, as Mir et al. (2019) compared them; style words can be
masked or removed first.
"""

_ARGUMENTS = """
    mask (str): style words of both texts are left ("none"), become <customstyle> ("masked") or
        are left out ("removed").
    placeholder (str): the vector of <customstyle>: "learned" by word2vec on masked sentences
        (default, published), or the "centroid" of the style words' vectors.
    tokens (str): "words", cleaned, lower-cased and split; or "whitespace", as the texts are.
    synonyms (str): METEOR's third stage, "auto", "wordnet" or "no".
    meteor (str): METEOR's parameters: those of "2007" (default), or of METEOR "1.5".
Returns:
    s_wmd, r_wmd (float or None): distance, from 0 to 2, lower is better;
    s_meteor, r_meteor, s_embedding_average, r_embedding_average, s_greedy_matching,
    r_greedy_matching, s_vector_extrema, r_vector_extrema, s_sentence_bleu, r_sentence_bleu (float
        or None): at most 1, higher is better; None if no sentence has a reference; details:
        interval, signature.
Examples:
    >>> wmd = evaluate.load("tstbench/wmd")
    >>> results = wmd.compute(
    ...     predictions=["the soup was hot and great."],
    ...     sources=["the soup was cold and bad."],
    ...     references=[["the soup was hot and great.", "hot soup, and good."]],
    ...     direction="mini/negative-to-positive",
    ... )
    >>> results["r_wmd"], 0 < results["s_wmd"] < 1, round(results["s_meteor"], 3)
    (0.0, True, 0.637)
"""

_CITATION = """\
@inproceedings{mir2019evaluating,
  title = {Evaluating Style Transfer for Text},
  author = {Mir, Remi and Felbo, Bjarke and Obradovich, Nick and Rahwan, Iyad},
  booktitle = {Proceedings of NAACL-HLT},
  year = {2019}
}
@inproceedings{kusner2015from,
  title = {From Word Embeddings To Document Distances},
  author = {Kusner, Matt J. and Sun, Yu and Kolkin, Nicholas I. and Weinberger, Kilian Q.},
  booktitle = {Proceedings of ICML},
  year = {2015}
}
"""


class Wmd(tstbench.metrics.module.StyleTransferMetric):
    """Word mover's distance and its family against the source and the first reference."""

    family = "wmd"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION
