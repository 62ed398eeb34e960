"""PPL: perplexity under an n-gram language model of the target style.

Source: TSTBench paper, section 3.3.1.

Source: TSTBench paper, section 3.3.1; normalised as in its evaluation code: the probability of
the end of the sentence is included, but the end is not counted as a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tstbench.errors import InputError
from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics, divide
from tstbench.metrics.text import Reading, TextProtocol, preparation


def ppl_statistics(
    log10_probability: np.ndarray, words: np.ndarray, normalisation: str = "words"
) -> Statistics:
    """Corpus perplexity 10^(-sum log10 P / sum words): an average over words, not sentences.

    Args:
        log10_probability: log10 P(sentence, end), shape (N,).
        words: number of words of each sentence, shape (N,).
        normalisation: ``words`` (the paper's), or ``words+1``, as ``kenlm.Model.perplexity`` does.

    Returns:
        Per-sentence perplexities beside the corpus value; NaN for a sentence without words under
        ``words``.

    >>> ppl_statistics(np.array([-4.0, -2.0]), np.array([2, 1])).value
    100.0
    """
    if normalisation not in ("words", "words+1"):
        raise InputError(f"normalisation must be 'words' or 'words+1', not {normalisation!r}")
    counted = np.asarray(words, dtype=np.float64) + (normalisation == "words+1")
    rows = np.stack([log10_probability, counted], axis=1)  # float64, as the counts are
    return Statistics(rows, _perplexity, _perplexity(rows))


def _perplexity(sums: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a very improbable sentence may overflow to inf
        return 10.0 ** -divide(sums[..., 0], sums[..., 1])


Normalisation = Literal["words", "words+1"]
# The model that has learned sentences as the protocol reads them.
_ROLES: dict[TextProtocol, str] = {"paper": "language_model", "cleaned": "cleaned_language_model"}


@dataclass(frozen=True, kw_only=True)
class PplOptions(Options):
    """Options of ``ppl``.

    Attributes:
        protocol: how texts are read: ``paper`` (lower case, NLTK's words; the model learns the
            training lines as upstream wrote them; the default for English) or ``cleaned`` (the
            dataset's cleaning, lower case, sacreBLEU's words, on both sides).
        norm: ``words`` (the paper's: the end of a sentence is scored but not counted) or ``words+1``
            (like kenlm's own perplexity).
    """

    protocol: TextProtocol | None = None
    norm: Normalisation = "words"


class Ppl(Family[PplOptions]):
    """Perplexity."""

    name = "ppl"
    title = "perplexity"
    options = PplOptions
    libraries = ("kenlm", "nltk", "sacrebleu")  # the tokenisers of the two protocols
    description = """
PPL is the perplexity of the predictions under a 5-gram modified Kneser-Ney model of the target
style's training sentences. A low value means fluent or merely frequent text: read it beside CoLA.
"""
    example = """
>>> ppl = evaluate.load("tstbench/ppl")
>>> fluent = ppl.compute(predictions=["the soup was lovely."], direction="mini/negative-to-positive")
>>> clumsy = ppl.compute(predictions=["lovely the was soup."], direction="mini/negative-to-positive")
>>> fluent["ppl"] < clumsy["ppl"]
True
"""
    citation = """\
@inproceedings{heafield2013scalable,
  title = {Scalable Modified {Kneser-Ney} Language Model Estimation},
  author = {Heafield, Kenneth and Pouzyrevsky, Ivan and Clark, Jonathan H. and Koehn, Philipp},
  booktitle = {Proceedings of ACL},
  year = {2013}
}
"""
    metrics = (
        MetricFacts(
            name="ppl",
            title="PPL",
            unit="perplexity",
            higher_is_better=False,
            aspect="fluency",
            meaning="perplexity under a target-style 5-gram model",
            version=2,
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: PplOptions) -> tuple[Need, ...]:
        """Predictions as words."""
        reading = _reading(inputs, options)
        return (Need(_ROLES[reading.protocol], lambda: reading.prepare(inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: PplOptions) -> dict[str, object]:
        """Normalisation, and how texts are prepared."""
        return {"norm": options.norm, **_reading(inputs, options).fields}

    def measure(
        self, metric: str, inputs: Inputs, options: PplOptions, context: Context
    ) -> Statistics:
        """Corpus perplexity."""
        (need,) = self.needs(metric, inputs, options)
        model = context.scorer(need.role)
        return ppl_statistics(
            model.log10_probability(need.texts), model.words(need.texts), options.norm
        )


def _reading(inputs: Inputs, options: PplOptions) -> Reading:
    return preparation(inputs.language).reading("ppl", options.protocol)


FAMILY = Ppl()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("ppl")
