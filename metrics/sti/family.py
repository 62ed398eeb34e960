"""Style transfer intensity, and the target style score it is compared with.

Source: Mir, Felbo, Obradovich and Rahwan (2019), sections 5.1 and 5.3.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, get_args

from ...errors import InputError, unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..signature import exact
from ..text import preparation
from .ground import read_ground

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


Of = Literal["whole", "least"]
_KEPT, _MANY = 0.8, 3  # share of the source's words; words before and behind them
_WORD = re.compile(r"[぀-鿿]|[^\W぀-鿿]+(?:'\w+)?")  # of Chinese and Japanese, a character
_SENTENCES = re.compile(r"(?<=[^.][.!?])\s+|(?<=[。！？])")


@dataclass(frozen=True, kw_only=True)
class StiOptions(Options):
    """Options of ``sti``.

    Attributes:
        ground: distance between styles: ``uniform``, ``ordinal``, or a JSON file; see
            :func:`~.ground.read_ground`. ``target_style`` does not use it.
        temperature: log-probabilities are divided by it first; 1 is the paper's.
        of: what has the target style in ``target_style``: the ``whole`` output, or its ``least``
            part. Its parts are the whole, its sentences, and what it is without three words or more
            before and behind a source that is nearly all there. A reader of whole texts is content
            with a copy that has "I love it!" behind it. The profile ``lm`` takes the least.
    """

    ground: str = "uniform"
    temperature: float = 1.0
    of: Of = "whole"

    def __post_init__(self) -> None:
        read_ground(self.ground)
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise InputError(f"sti.temperature is {self.temperature:g}: it must be above 0")
        if self.of not in get_args(Of):
            raise unknown_name("part of an output", self.of, get_args(Of))


class Sti(Family[StiOptions]):
    """Style transfer intensity and target style score."""

    name = "sti"
    title = "style transfer intensity"
    options = StiOptions
    libraries = ("scipy",)
    metrics = (
        MetricFacts(
            name="sti",
            title="STI",
            unit="number",
            higher_is_better=True,
            aspect="style",
            meaning="how far the style moves towards the target",
            reads=("sources", "direction"),
        ),
        MetricFacts(
            name="target_style",
            title="P(target)",
            unit="fraction",
            higher_is_better=True,
            aspect="style",
            meaning="mean probability of the target style",
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: StiOptions) -> tuple[Need, ...]:
        """Predictions, and for ``sti`` sources, prepared like the classifiers' training sentences.

        For the least part, the parts of all predictions.
        """
        prepare = preparation(inputs.language).for_classifier

        def read() -> list[str]:
            if metric == "sti":
                return prepare([*inputs.predictions, *(inputs.sources or ())])
            if options.of == "whole":
                return prepare(inputs.predictions)
            return prepare([part for some in _parts_of(inputs) for part in some])

        return (Need("classifier", read),)

    def fields(self, metric: str, inputs: Inputs, options: StiOptions) -> dict[str, object]:
        """Ground distance, temperature, how texts are prepared, and how empty predictions count."""
        return {
            "ground": read_ground(options.ground).name if metric == "sti" else None,
            "temperature": exact(options.temperature),
            "of": options.of if metric == "target_style" and options.of != "whole" else None,
            "text": preparation(inputs.language).classifier_name,
            "empty": "0-or-less" if metric == "sti" else "0",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: StiOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' values."""
        import numpy as np

        from ..functional.sti import style_transfer_intensity, target_probability, tempered

        assert inputs.direction is not None  # noqa: S101 - ``reads`` has checked it
        classifier = context.scorer("classifier")
        wanted = classifier.styles.index(inputs.direction.target_style)
        (need,) = self.needs(metric, inputs, options)
        both = tempered(classifier.distribution(need.texts), options.temperature)
        if metric == "target_style":
            if options.of == "least":
                ends = np.cumsum([len(some) for some in _parts_of(inputs)])[:-1]
                least = [rows[:, wanted].argmin() for rows in np.split(both, ends)]
                both = both[np.array(least) + np.array([0, *ends])]
            return target_probability(both, wanted, inputs.failed)
        n = len(inputs.predictions)
        distances = read_ground(options.ground).matrix(classifier.styles)
        return style_transfer_intensity(both[n:], both[:n], wanted, distances, inputs.failed)


def _parts_of(inputs: Inputs) -> list[list[str]]:
    """By prediction, the texts that should all have the target style; the prediction is the first."""
    sources = inputs.sources or [""] * len(inputs.predictions)
    found = []
    for text, source in zip(inputs.predictions, sources, strict=True):
        parts = [*_SENTENCES.split(text), *_without_addition(text, source)]
        long = [part for part in parts if len(_WORD.findall(part)) > 2]  # others say too little
        found.append(list(dict.fromkeys([text, *long])))
    return found


def _without_addition(text: str, source: str) -> list[str]:
    """What is left of a text without the words put before and behind its source, if they are many.

    Only where nearly all of the source is left, and its beginning (its end) next to them: else it
    was rewritten. What is put between its words is not found.

    >>> _without_addition("the soup was cold , but i love it !", "the soup was cold .")
    ['the soup was cold']
    >>> _without_addition("so happy , the soup was cold , love it", "the soup was cold .")
    ['the soup was cold']
    >>> _without_addition("the soup was hot and i love it !", "the soup was cold .")
    []
    """
    words = list(_WORD.finditer(text))
    copied = [word.lower() for word in _WORD.findall(source)]
    match = SequenceMatcher(None, copied, [word[0].lower() for word in words], autojunk=False)
    *blocks, _ = match.get_matching_blocks()
    if sum(block.size for block in blocks) < _KEPT * max(len(copied), 1):
        return []
    start, end = blocks[0], blocks[-1]
    first = start.b if start.a == 0 else 0
    last = end.b + end.size if end.a + end.size == len(copied) else len(words)
    if len(words) - (last - first) < _MANY:
        return []
    return [text[words[first].start() : words[last - 1].end()]]


FAMILY = Sti()
