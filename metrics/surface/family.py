"""Length ratio and copy rate: two numbers that say whether a system rewrites at all.

Source: Xie et al. (2025), TSTBench, Table 5, has lengths and copies of every system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inputs import Inputs
    from ..statistics import Statistics

Equal = Literal["letters", "clean", "raw"]


@dataclass(frozen=True, kw_only=True)
class SurfaceOptions(Options):
    """Options of ``surface``.

    Attributes:
        equal: when an output is a copy: if it has the same characters but for case and spaces
            (``letters``), if the cleaned texts are equal (``clean``), or if the texts are, but for
            spaces at their ends (``raw``). Only ``copy_rate`` uses it.
    """

    equal: Equal = "letters"

    def __post_init__(self) -> None:
        if self.equal not in get_args(Equal):
            raise unknown_name("value of surface.equal", self.equal, get_args(Equal))


class Surface(Family[SurfaceOptions]):
    """Length ratio and copy rate. Neither is a quality: a good rewrite has its own length."""

    name = "surface"
    title = "length and copies"
    options = SurfaceOptions
    metrics = (
        MetricFacts(
            name="length_ratio",
            title="length ratio",
            unit="number",
            higher_is_better=True,  # how tables sort; 1 is as long, and no length is the best
            neutral=True,
            aspect="other",
            meaning="words of outputs over words of sources",
            reads=("sources",),
        ),
        MetricFacts(
            name="copy_rate",
            title="copies",
            unit="percent",
            higher_is_better=False,
            aspect="other",
            meaning="share of outputs equal to their source",
            reads=("sources",),
        ),
    )

    def fields(self, metric: str, inputs: Inputs, options: SurfaceOptions) -> dict[str, object]:
        """How words are separated and empty outputs count, or when two texts are equal."""
        text = preparation(inputs.language)
        if metric == "length_ratio":
            return {"text": text.language_model_name, "empty": "no-words"}
        return {
            "equal": options.equal,
            "text": "raw" if options.equal == "raw" else text.compared_name(),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: SurfaceOptions, context: Context
    ) -> Statistics:
        """A ratio of sums, or a share in percent."""
        from ..functional.surface import copy_rate, length_ratio

        pair: list[Sequence[str]] = [inputs.predictions, inputs.sources or ()]
        text = preparation(inputs.language)
        if metric == "length_ratio":
            words = [[len(t.split()) for t in text.for_language_model(some)] for some in pair]
            return length_ratio(*words)
        return copy_rate(*(_comparable(some, options.equal, inputs.language) for some in pair))


def _comparable(texts: Sequence[str], equal: Equal, language: str) -> list[str]:
    from ...datasets_scripts.cleaning import match_key

    if equal == "raw":
        return [text.strip() for text in texts]
    clean = preparation(language).compared(texts)
    return clean if equal == "clean" else [match_key(text) for text in clean]


FAMILY = Surface()
