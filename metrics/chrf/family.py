"""s-chrF, r-chrF and multi-chrF: overlap of character n-grams.

Sources: Popović (2015, 2017); Post (2018) for the implementation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ...errors import InputError
from ..contract import Context, Family, Options
from ..facts import MetricFacts
from ..signature import exact
from ..text import preparation
from ..views import compared_with, reference_count, view_facts, view_left_out

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


@dataclass(frozen=True, kw_only=True)
class ChrfOptions(Options):
    """Options of ``chrf``; the defaults are sacreBLEU's, on cleaned text.

    Attributes:
        beta: how many times as important recall is as precision.
        char_order: the longest n-grams of characters.
        word_order: the longest n-grams of words; 2 is chrF++.
        lowercase: whether case is ignored.
        clean: whether "it 's great ." is first written as "it's great.". Spaces do not matter to
            chrF, but they do to the words of chrF++.
    """

    beta: float = 2.0
    char_order: int = 6
    word_order: int = 0
    lowercase: bool = False
    clean: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise InputError(f"chrf.beta is {self.beta:g}: it must be above 0")
        for name, value, least in (
            ("char_order", self.char_order, 1),
            ("word_order", self.word_order, 0),
        ):
            if not least <= value <= 20:
                raise InputError(f"chrf.{name} is {value}: it must be from {least} to 20")


class Chrf(Family[ChrfOptions]):
    """ChrF under sacreBLEU's rules."""

    name = "chrf"
    title = "chrF"
    options = ChrfOptions
    libraries = ("sacrebleu",)
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts("chrf", "chrF", "chrF", "percent")

    def left_out(self, metric: str, inputs: Inputs, options: ChrfOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def fields(self, metric: str, inputs: Inputs, options: ChrfOptions) -> dict[str, object]:
        """The orders, the weight of recall, case, cleaning, and the number of references."""
        return {
            "beta": exact(options.beta),
            "nc": options.char_order,
            "nw": options.word_order,
            "case": "lower" if options.lowercase else "mixed",
            "text": preparation(inputs.language).compared_name(clean=options.clean),
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: ChrfOptions, context: Context
    ) -> Statistics:
        """Corpus chrF, in percent."""
        from ..functional.chrf import chrf_statistics  # needs sacrebleu

        prepare = partial(preparation(inputs.language).compared, clean=options.clean)
        return chrf_statistics(
            prepare(inputs.predictions),
            [prepare(some) for some in compared_with(metric, inputs)],
            beta=options.beta,
            char_order=options.char_order,
            word_order=options.word_order,
            lowercase=options.lowercase,
        )


FAMILY = Chrf()
