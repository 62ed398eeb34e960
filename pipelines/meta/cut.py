"""What is compared together: the outputs of a study, or a part of it, with one aspect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from ...errors import InputError
from ...metrics.statistics import SEED, too_few
from .aspects import NATURAL
from .coefficients import draw
from .columns import Column
from .rated import RatedOutput

FEWEST = 3  # outputs, or systems, below which no coefficient says anything
RESAMPLES = 1000

_draw = lru_cache(maxsize=4)(draw)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is computed.

    Attributes:
        resamples: bootstrap replicates and permutations.
        seed: of both.
        all_aspects: compare every metric with every aspect, not only with those it measures.
        differences: test pairs of metrics.
    """

    resamples: int = RESAMPLES
    seed: int = SEED
    all_aspects: bool = False
    differences: bool = True

    def __post_init__(self) -> None:
        """Check the number of resamples.

        Raises:
            InputError: too few for an interval, or too many for the memory.
        """
        if not 100 <= self.resamples <= 100_000:
            raise InputError(f"{self.resamples} resamples: from 100 to 100,000 make sense")


@dataclass(frozen=True, eq=False)
class Cut:
    """The outputs of a study that are compared together, with the scores of one aspect.

    Attributes:
        study, direction, model, aspect: see :class:`MetaScore`.
        outputs: those that people scored.
        human: shape (N,).
        columns: metrics, cut to the same outputs.
        settings: see :class:`Settings`.
    """

    study: str
    direction: str | None
    model: str | None
    aspect: str
    outputs: Sequence[RatedOutput]
    places: np.ndarray
    columns: Sequence[Column]
    settings: Settings = field(default_factory=Settings)

    @cached_property
    def human(self) -> np.ndarray:
        """Mean human scores: shape (N,)."""
        return np.array([one.scores[self.aspect] for one in self.outputs])

    @cached_property
    def items(self) -> np.ndarray:
        """The number of each output's source sentence: shape (N,)."""
        return numbered([one.item for one in self.outputs])

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names, in the order of first mention."""
        return tuple(dict.fromkeys(one.system for one in self.outputs))

    @cached_property
    def system_codes(self) -> np.ndarray:
        """The number of each output's system: shape (N,)."""
        return numbered([one.system for one in self.outputs])

    def counts(self, items: np.ndarray) -> np.ndarray:
        """How often each item is drawn in each replicate; no replicate of too few items."""
        size = int(items.max()) + 1
        return _draw(size, 0 if too_few(size) else self.settings.resamples, self.settings.seed)

    def where(self) -> dict[str, str | None]:
        """What every record of this cut says."""
        return {
            "study": self.study,
            "direction": self.direction,
            "model": self.model,
            "aspect": self.aspect,
        }


def numbered(names: Sequence[object]) -> np.ndarray:
    """Numbers of names in the order of first mention: shape (N,).

    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    number: dict[object, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in names])


def cuts(
    study: str, outputs: Sequence[RatedOutput], columns: Sequence[Column], settings: Settings
) -> Iterator[Cut]:
    """The whole study, its directions and its models, by aspect.

    Directions are pooled only where every system rewrote all of them: otherwise a difference
    between directions would look like one between systems.
    """
    directions = tuple(dict.fromkeys(one.direction for one in outputs))
    of = {d: {one.system for one in outputs if one.direction == d} for d in directions}
    pooled = len(directions) > 1 and len({frozenset(some) for some in of.values()}) == 1
    models = tuple(dict.fromkeys(one.model for one in outputs if one.model is not None))
    parts: list[tuple[str | None, str | None]] = [(None, None)] if pooled else []
    parts += [(direction, None) for direction in directions]
    parts += [(None, model) for model in models]
    for aspect in dict.fromkeys(aspect for one in outputs for aspect in one.scores):
        natural = NATURAL.get(aspect)
        some = [
            column
            for column in columns
            if settings.all_aspects or natural is None or column.aspect in (natural, "other")
        ]
        for direction, model in parts:
            places = np.array(
                [
                    number
                    for number, one in enumerate(outputs)
                    if aspect in one.scores
                    and direction in (None, one.direction)
                    and model in (None, one.model)
                ],
                dtype=int,
            )
            if len(places) and some:
                chosen = [outputs[i] for i in places]
                yield Cut(study, direction, model, aspect, chosen, places, some, settings)
