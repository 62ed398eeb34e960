"""CPS: similarity of sentence embeddings, with or without the style words of both sentences.

Source: Cloudera Fast Forward Labs (2022), "Automated Metrics for Evaluating Text Style Transfer",
section Content Preservation, and its released code. Its authors searched thresholds and ways of
masking, and kept none: that is the default here. Where style words are masked, their rule and their
units are the default.

Source: Cloudera Fast Forward Labs (2022), "Automated Metrics for Evaluating Text Style Transfer",
section Content Preservation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tstbench.errors import InputError
from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics, mean_statistics
from tstbench.metrics.text import preparation
from tstbench.settings import Probability


def cps_statistics(
    sources: np.ndarray, predictions: np.ndarray, failed: np.ndarray | None = None
) -> Statistics:
    """The mean cosine of sentence embeddings; a failed output has 0.

    Args:
        sources: shape (N, D), any length but 0.
        predictions: shape (N, D).
        failed: booleans, shape (N,): empty predictions.

    Raises:
        InputError: shapes that differ.

    >>> cps_statistics(np.array([[3.0, 4.0]]), np.array([[4.0, 3.0]])).value
    0.96
    """
    a, b = (np.asarray(one, dtype=np.float64) for one in (sources, predictions))
    if a.shape != b.shape or a.ndim != 2:
        raise InputError(f"embeddings of shapes {a.shape} and {b.shape} cannot be compared")
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.divide((a * b).sum(axis=1), lengths, out=np.zeros(len(a)), where=lengths > 0)
    if failed is not None:
        cosines = np.where(failed, 0.0, cosines)
    return mean_statistics(np.clip(cosines, -1.0, 1.0))


Mask = Literal["none", "masked", "removed"]
Rule = Literal["published", "covering"]
Unit = Literal["pieces", "words"]
Baseline = Literal["pad", "mask", "zero"]
Output = Literal["probability", "logit"]


@dataclass(frozen=True, kw_only=True)
class CpsOptions(Options):
    """Options of ``cps``; all but the first matter only where style words are masked.

    Attributes:
        mask: ``none`` compares whole sentences; ``masked`` replaces their style words by
            ``placeholder``; ``removed`` leaves them out.
        threshold: the part of a sentence's style, 0 to 1, that decides which words are masked.
        rule: ``published`` masks the words whose cumulative share is at most the threshold, or the
            first alone if it has more; ``covering`` masks the word that crosses it too.
        unit: what is masked: the classifier's word ``pieces`` (published), or whole ``words``.
        placeholder: what is written in the place of a word; a token that the encoder knows.
        steps: the points of the line from the baseline to the sentence.
        baseline: what carries no information: padding tokens, mask tokens, or zero vectors.
        output: what the attributions explain: the classifier's ``probability`` or its ``logit``.
    """

    mask: Mask = "none"
    threshold: Probability = 0.3
    rule: Rule = "published"
    unit: Unit = "pieces"
    placeholder: Annotated[str, Field(pattern=r"^[^\s|]+$")] = "[PAD]"
    steps: Annotated[int, Field(ge=1, le=10_000)] = 50
    baseline: Baseline = "pad"
    output: Output = "probability"


class Cps(Family[CpsOptions]):
    """Content preservation score."""

    name = "cps"
    title = "content preservation score"
    options = CpsOptions
    libraries = ("torch", "transformers")
    description = """
CPS, the content preservation score, is the cosine of the sentence embeddings of source and output.
Style words of both can be masked or removed first: those that a style classifier's decision rests
on, by integrated gradients.
"""
    example = """
>>> cps = evaluate.load("tstbench/cps")
>>> results = cps.compute(
...     predictions=["the soup was hot and good."],
...     sources=["the soup was cold and bad."],
... )
>>> round(results["cps"], 3)
0.842
"""
    citation = """\
@misc{reed2022automated,
  title = {Automated Metrics for Evaluating Text Style Transfer},
  author = {Reed, Andrew and Beck, Melanie},
  howpublished = {Cloudera Fast Forward Labs},
  year = {2022}
}
@inproceedings{sundararajan2017axiomatic,
  title = {Axiomatic Attribution for Deep Networks},
  author = {Sundararajan, Mukund and Taly, Ankur and Yan, Qiqi},
  booktitle = {Proceedings of ICML},
  year = {2017}
}
"""
    metrics = (
        MetricFacts(
            name="cps",
            title="CPS",
            unit="fraction",
            higher_is_better=True,
            aspect="content",
            meaning="cosine of the sentence embeddings of source and output",
            reads=("sources",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: CpsOptions) -> tuple[Need, ...]:
        """Both texts: cleaned for the encoder; lower-cased too for the classifier, if it is used."""
        prepare = preparation(inputs.language)
        both = [*inputs.predictions, *(inputs.sources or ())]
        if options.mask == "none":
            return (Need("encoder", partial(prepare.clean, both)),)
        # What the encoder reads is known only when the style words are: it is not warmed up.
        return (
            Need("encoder", ()),
            Need("attribution", partial(prepare.for_classifier, both)),
        )

    def fields(self, metric: str, inputs: Inputs, options: CpsOptions) -> dict[str, object]:
        """How texts are prepared and empty outputs count; how style words are found and treated."""
        text = preparation(inputs.language)
        found: dict[str, object] = {"mask": options.mask, "text": text.clean_name, "empty": "zero"}
        if options.mask != "none":
            found |= {
                "threshold": options.threshold,
                "rule": options.rule,
                "unit": options.unit,
                "placeholder": options.placeholder if options.mask == "masked" else None,
                "steps": options.steps,
                "baseline": options.baseline,
                "output": options.output,
                "attributed": text.classifier_name,
            }
        return found

    def measure(
        self, metric: str, inputs: Inputs, options: CpsOptions, context: Context
    ) -> Statistics:
        """The mean cosine of source and output."""
        predictions, sources = (
            _compared(texts, inputs.language, options, context)
            for texts in (inputs.predictions, inputs.sources or ())
        )
        encoder = context.scorer("encoder")
        return cps_statistics(
            encoder.sentence_vectors(sources), encoder.sentence_vectors(predictions), inputs.failed
        )


def _compared(
    texts: Sequence[str], language: str, options: CpsOptions, context: Context
) -> list[str]:
    """The texts that the encoder reads: cleaned, without their style words if they are masked."""
    clean = preparation(language).clean(texts)
    if options.mask == "none":
        return clean
    from tstbench.metrics.scorers.masking import style_words, without_words, word_spans

    lowered = preparation(language).for_classifier(texts)
    how = {"steps": options.steps, "baseline": options.baseline, "output": options.output}
    scorer = context.scorer("attribution")
    if options.unit == "pieces":
        marked = []
        for one in scorer.attributions(lowered, **how):
            real = [i for i, (start, end) in enumerate(one.pieces) if start < end]  # not [CLS]
            marked.append(([one.pieces[i] for i in real], one.values[real]))
        # Lower-casing may have made two signs of one letter: places are then those of its result.
        read = [a if len(a) == len(b) else b for a, b in zip(clean, lowered, strict=True)]
    else:
        read = [
            a if len(word_spans(a)) == len(word_spans(b)) else b
            for a, b in zip(clean, lowered, strict=True)
        ]
        values = scorer.word_attributions(lowered, **how)
        marked = [(word_spans(text), one) for text, one in zip(read, values, strict=True)]
    mask = options.placeholder if options.mask == "masked" else None
    return [
        without_words(text, spans, style_words(shares, options.threshold, options.rule), mask)
        for text, (spans, shares) in zip(read, marked, strict=True)
    ]


FAMILY = Cps()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("cps")
