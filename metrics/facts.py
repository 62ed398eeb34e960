"""What is fixed about a metric, independent of the data. Nothing heavy is imported here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import InputError, unknown_name

Aspect = Literal["style", "content", "fluency", "overall", "other"]
Unit = Literal["percent", "fraction", "perplexity", "number"]
Column = Literal["sources", "references", "direction"]


@dataclass(frozen=True, kw_only=True)
class MetricFacts:
    """One metric of a family.

    Attributes:
        name: ``s_bleu``, used in tables, files and signatures.
        title: ``s-BLEU``, shown to people.
        unit: always declared, never inferred from a value.
        higher_is_better: whether a higher value is better.
        aspect: which aspect of a rewrite it measures.
        meaning: one line for lists.
        version: raised when the same texts and scorers no longer give the same number.
        reads: the inputs it needs besides predictions.
        compares_systems: whether its numbers depend on the direction's other systems; their
            predictions (the cohort) are then part of its signature.
        neutral: whether it is a number to read, of which neither more nor less is better: no value
            is marked as the best. ``higher_is_better`` then only says how a table is sorted by it.
    """

    name: str
    title: str
    unit: Unit
    higher_is_better: bool
    aspect: Aspect
    meaning: str
    version: int = 1
    reads: tuple[Column, ...] = ()
    compares_systems: bool = False
    neutral: bool = False

    def __post_init__(self) -> None:
        """Check what a report could not say.

        Raises:
            InputError: a name, unit, aspect or direction that is not allowed.
        """
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise InputError(f"metric {self.name!r}: lower-case letters, digits and '_' only")
        if not isinstance(self.higher_is_better, bool):
            raise InputError(f"metric {self.name}: higher_is_better must be True or False")
        for field, value, known in (
            ("unit", self.unit, get_args(Unit)),
            ("aspect", self.aspect, get_args(Aspect)),
        ):
            if value not in known:
                raise unknown_name(f"{field} of metric {self.name}", str(value), known)

    @property
    def better(self) -> Literal["higher", "lower", "neither"]:
        """Which way is better, in a word."""
        if self.neutral:
            return "neither"
        return "higher" if self.higher_is_better else "lower"

    @property
    def arrow(self) -> Literal["↑", "↓", ""]:
        """Which way is better, beside a title."""
        arrows: dict[str, Literal["↑", "↓", ""]] = {"higher": "↑", "lower": "↓", "neither": ""}
        return arrows[self.better]
