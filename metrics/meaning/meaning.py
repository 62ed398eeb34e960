"""s-Meaning, r-Meaning and multi-Meaning: how much of the content is kept, whatever the style.

The comparison (:class:`~tstbench.metrics.scorers.meaning.MeaningModel`) sees one hidden change of
content; the cosine grades how close two sentences are that differ in many words. The score is the
mean of both: neither part is weighted on human scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from tstbench.errors import InputError
from tstbench.metrics.contract import Context, Family, Need, Options
from tstbench.metrics.facts import MetricFacts
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics
from tstbench.metrics.text import preparation
from tstbench.metrics.views import Reduce, compared_with, reference_count, view_facts, view_left_out

Combine = Literal["mean", "kept", "cosine"]


class KeepsMeaning(Protocol):
    """What the arithmetic needs of a scorer."""

    def kept(self, sources: Sequence[str], outputs: Sequence[str]) -> np.ndarray:
        """P(meaning is kept) and sentence cosine: shape (N, 2)."""
        ...


def combined(scores: np.ndarray, combine: Combine = "mean") -> np.ndarray:
    """One number per pair, a fraction.

    Args:
        scores: P(meaning is kept) and sentence cosine, shape (N, 2); a cosine below 0 counts as 0.
        combine: ``mean`` of both, or one of them.

    Raises:
        InputError: another name, or another shape.

    >>> combined(np.array([[0.5, 0.9], [0.5, -0.2]])).tolist()
    [0.7, 0.25]
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != 2:
        raise InputError(f"scores of shape {scores.shape}: two columns are needed")
    kept, cosine = scores[:, 0], np.clip(scores[:, 1], 0.0, 1.0)
    parts = {"mean": (kept + cosine) / 2, "kept": kept, "cosine": cosine}
    if combine not in parts:
        raise InputError(f"unknown combination {combine!r}: use {', '.join(parts)}")
    return parts[combine]


def meaning_kept(
    predictions: Sequence[str],
    against: Sequence[Sequence[str]],
    scorer: KeepsMeaning,
    *,
    combine: Combine = "mean",
    reduce: Reduce = "max",
) -> np.ndarray:
    """How much of what it is compared with each prediction keeps.

    Args:
        predictions: N texts.
        against: 0 to n texts for each of them: the source, or references.
        scorer: see :class:`KeepsMeaning`.
        combine: see :func:`combined`.
        reduce: the best of several references, or their mean.

    Returns:
        Shape (N,), fractions, NaN where there is nothing to compare with.

    Raises:
        InputError: unequal lengths or an unknown reduction.
    """
    if len(predictions) != len(against):
        raise InputError(f"{len(predictions)} predictions but {len(against)} lists: not aligned")
    if reduce not in ("max", "mean"):
        raise InputError(f"unknown reduction {reduce!r} of several references: use max or mean")
    first = [text for some in against for text in some]
    second = [text for text, some in zip(predictions, against, strict=True) for _ in some]
    values = combined(scorer.kept(first, second), combine)
    found, start = np.full(len(predictions), np.nan), 0
    for i, some in enumerate(against):
        if some:
            mine = values[start : start + len(some)]
            found[i] = mine.max() if reduce == "max" else mine.mean()
            start += len(some)
    return found


@dataclass(frozen=True, kw_only=True)
class MeaningOptions(Options):
    """Options of ``meaning``; ``--scorer meaning=FOLDER`` sets another scorer.

    Attributes:
        combine: ``mean`` of P(meaning is kept) and sentence cosine, or one: ``kept``, ``cosine``.
        reduce: how several references are combined.
    """

    combine: Combine = "mean"
    reduce: Reduce = "max"


class Meaning(Family[MeaningOptions]):
    """Content kept, by a comparison learned from made pairs."""

    name = "meaning"
    title = "meaning kept"
    options = MeaningOptions
    libraries = ("torch", "transformers", "tokenizers")
    description = """
How much of what a text says another one keeps, whatever its style: the mean of a learned comparison,
which notices one changed content word in a rewrite, and the cosine of sentence embeddings.
"""
    example = """
>>> meaning = evaluate.load("tstbench/meaning")
>>> results = meaning.compute(
...     predictions=["Wow! House prices climb!", "Wow! House prices fall!"],
...     sources=["The prices of houses rise."] * 2,
...     references=[[], []],
...     per_sentence=True,
... )
>>> kept, changed = results["details"]["s_meaning"]["per_sentence"]
>>> kept > changed
True
"""
    citation = """\
@inproceedings{hu2022lora,
  title = {{LoRA}: Low-Rank Adaptation of Large Language Models},
  author = {Hu, Edward J. and Shen, Yelong and Wallis, Phillip and Allen-Zhu, Zeyuan and Li, Yuanzhi
    and Wang, Shean and Wang, Lu and Chen, Weizhu},
  booktitle = {Proceedings of ICLR},
  year = {2022}
}
"""
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "meaning", "Meaning", "meaning kept", "fraction"
    )

    def left_out(self, metric: str, inputs: Inputs, options: MeaningOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: MeaningOptions) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return preparation(inputs.language).clean([*inputs.predictions, *against])

        return (Need("meaning", prepare),)

    def fields(self, metric: str, inputs: Inputs, options: MeaningOptions) -> dict[str, object]:
        """How parts and references are combined, how texts are prepared and empty ones count."""
        return {
            "combine": options.combine,
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
            "empty": "zero",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: MeaningOptions, context: Context
    ) -> Statistics:
        """The mean over sentences."""
        from tstbench.metrics.statistics import mean_statistics

        clean = preparation(inputs.language).clean
        against = [clean(some) for some in compared_with(metric, inputs)]
        scores = meaning_kept(
            clean(inputs.predictions),
            against,
            context.scorer("meaning"),
            combine=options.combine,
            reduce=options.reduce,
        )
        return mean_statistics(scores)


FAMILY = Meaning()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("meaning")
