"""The three views of content metrics: against the source, the first reference, all references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from ..errors import InputError
from .facts import Column, MetricFacts, Unit

if TYPE_CHECKING:
    from .inputs import Inputs

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
