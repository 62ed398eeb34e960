"""The three views of content metrics: against the source, the first reference, all references.

A :class:`PairwiseFamily` compares each prediction with one text after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ..errors import InputError
from .contract import Context, Family, Need, O
from .facts import Column, MetricFacts, Unit
from .inputs import Inputs
from .statistics import Statistics, mean_statistics
from .text import preparation

View = Literal["s", "r", "multi"]
Reduce = Literal["max", "mean"]  # how several references are combined: the best, or their mean
_AGAINST = {"s": "the source", "r": "the first reference", "multi": "all references"}


def view_facts(
    suffix: str, title: str, name: str, unit: Unit, version: int = 1
) -> tuple[MetricFacts, ...]:
    """The facts of a content metric's views.

    >>> [facts.title for facts in view_facts("bleu", "BLEU", "BLEU", "percent")]
    ['s-BLEU', 'r-BLEU', 'multi-BLEU']
    """
    found = []
    for view in get_args(View):
        reads: Column = "sources" if view == "s" else "references"
        facts = MetricFacts(
            name=f"{view}_{suffix}",
            title=f"{view}-{title}",
            unit=unit,
            higher_is_better=True,
            aspect="content",
            meaning=f"{name} against {_AGAINST[view]}",
            version=version,
            reads=(reads,),
        )
        found.append(facts)
    return tuple(found)


def view_of(metric: str) -> View:
    """The view with which a metric's name begins."""
    view = metric.split("_")[0]
    if view not in get_args(View):
        raise InputError(f"{metric} is not a view of a content metric")
    return view  # type: ignore[return-value]


def view_left_out(metric: str, inputs: Inputs) -> str | None:
    """Why a view does not apply to these references; ``None`` if it does."""
    view, most = view_of(metric), inputs.most_references
    if view != "s" and most == 0:
        return "no sentence has a reference"
    if view == "multi" and most == 1:
        return "no sentence has several references"
    return None


def compared_with(metric: str, inputs: Inputs) -> list[list[str]]:
    """The texts that a view compares each prediction with: N lists of 0 to n."""
    view = view_of(metric)
    if view == "s":
        return [[source] for source in inputs.sources or ()]
    keep = 1 if view == "r" else inputs.most_references
    return [list(some[:keep]) for some in inputs.references or ()]


def reference_count(metric: str, inputs: Inputs) -> str:
    """What a signature states about the references of a view."""
    view = view_of(metric)
    if view != "multi":
        return {"s": "source", "r": "first"}[view]
    fewest, most = inputs.fewest_references, inputs.most_references
    return str(most) if fewest == most else f"{fewest}-{most}"


class PairwiseFamily(Family[O]):
    """Compares a prediction with one text at a time: of several references the best, or the mean.

    Its options have ``reduce``. A subclass says how texts are read, and scores pairs.

    Attributes:
        role: of its scorer.
    """

    role: ClassVar[str]

    def left_out(self, metric: str, inputs: Inputs, options: O) -> str | None:  # noqa: ARG002
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def reader(self, inputs: Inputs, options: O) -> Callable[[Sequence[str]], list[str]]:  # noqa: ARG002
        """How texts are prepared: cleaned, case kept."""
        return preparation(inputs.language).clean

    def needs(self, metric: str, inputs: Inputs, options: O) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return self.reader(inputs, options)([*inputs.predictions, *against])

        return (Need(self.role, prepare),)

    def pairs(
        self, predictions: Sequence[str], others: Sequence[str], options: O, scorer: Any
    ) -> np.ndarray:
        """The scores of M prepared predictions, each beside another text: shape (M,), M > 0."""
        raise NotImplementedError

    def compared(
        self,
        predictions: Sequence[str],
        against: Sequence[Sequence[str]],
        options: Any,
        scorer: Any,
    ) -> np.ndarray:
        """The scores of N prepared predictions: shape (N,), NaN without a text to compare with.

        Args:
            predictions: N texts.
            against: 0 to n texts for each of them: the source, or references.
            options: of the family.
            scorer: of the role.
        """
        repeated = [text for text, some in zip(predictions, against, strict=True) for _ in some]
        others = [text for some in against for text in some]
        scores = self.pairs(repeated, others, options, scorer) if others else np.empty(0)
        combine = np.max if options.reduce == "max" else np.mean
        each = np.split(scores, np.cumsum([len(some) for some in against])[:-1])
        return np.array([combine(own) if len(own) else np.nan for own in each])

    def measure(self, metric: str, inputs: Inputs, options: O, context: Context) -> Statistics:
        """The mean of the sentences' scores."""
        read = self.reader(inputs, options)
        against = [read(some) for some in compared_with(metric, inputs)]
        scorer = context.scorer(self.role)
        return mean_statistics(self.compared(read(inputs.predictions), against, options, scorer))
