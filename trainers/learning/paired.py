"""The pairs that a supervised system learns from: the dataset's own, or mined ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...datasets_scripts.catalog import DATASETS, language_of
from ...datasets_scripts.training import Pair, TrainingData
from ...errors import InputError
from ...metrics.text import preparation
from .selection import Sides

PairsFrom = Literal["auto", "data", "mined"]
Mine = Callable[[Sides], list[Pair]]


@dataclass(frozen=True)
class Paired:
    """Pairs (source, target), prepared: cleaned and lower-cased.

    Attributes:
        train: to learn from.
        held_out: to choose weights with. Drawn from the training pairs, none of their sources is
            in ``train``; a dataset's own validation split is taken as published, and a few of its
            sources may be among the training sources too.
        mined: whether they are pseudo-pairs.
    """

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    mined: bool

    @classmethod
    def of(
        cls,
        data: TrainingData,
        choice: PairsFrom,
        mine: Mine,
        *,
        hold_out: int,
        seed: int,
        system: str,
    ) -> Paired:
        """Prepare the pairs of the data, or mine some.

        Args:
            data: of one direction.
            choice: ``data``, ``mined``, or ``auto``: the data's, or mined ones if it has none.
            mine: finds pseudo-pairs among prepared training sentences.
            hold_out: pairs to choose weights with: of the validation split if it has pairs with
                two sides, otherwise drawn from the rest, at most a tenth of it.
            seed: of what is drawn.
            system: its name, for messages.

        Raises:
            InputError: no pairs, or too few.
        """
        prepare = preparation(language_of(data.direction)).for_classifier
        own = data.train.pairs
        if choice == "data" and not own:
            raise InputError(no_pairs(data, system))
        mined = choice == "mined" or not own
        if mined:
            sides = Sides(*(tuple(prepare(s)) for s in (data.train.source, data.train.target)))
            check_sides(data, sides)
            pairs = [p for p in dict.fromkeys(mine(sides)) if all(p)]
        else:
            pairs = prepared_pairs(own, prepare)
        ready: list[Pair] = []
        if not mined and data.validation is not None:
            ready = prepared_pairs(data.validation.pairs, prepare)
        if ready and pairs:
            return cls(tuple(pairs), tuple(ready[:hold_out]), mined)
        sources = list(dict.fromkeys(source for source, _ in pairs))
        size = min(hold_out, len(sources) // 10)
        if size < 1:
            kind = "pairs could be mined" if mined else "pairs are there"
            raise InputError(
                f"only {len(pairs)} {kind} to learn {data.direction} from: at least 10 are needed"
            )
        drawn = np.random.default_rng([seed, 17]).choice(len(sources), size, replace=False)
        out = {sources[i] for i in drawn}
        train = tuple(pair for pair in pairs if pair[0] not in out)
        return cls(train, tuple(pair for pair in pairs if pair[0] in out), mined)


def check_sides(data: TrainingData, sides: Sides) -> None:
    """Raise :class:`InputError` if a style has no sentences."""
    for style, part in zip(
        (data.direction.source_style, data.direction.target_style), sides, strict=True
    ):
        if not part:
            raise InputError(f"{data.direction} has no {style} sentences to learn from")


def prepared_pairs(
    pairs: Sequence[Pair], prepare: Callable[[Sequence[str]], list[str]]
) -> list[Pair]:
    """Pairs with both sides prepared; those with an empty side are left out."""
    sources, targets = (prepare([pair[side] for pair in pairs]) for side in (0, 1))
    return [pair for pair in zip(sources, targets, strict=True) if all(pair)]


def no_pairs(data: TrainingData, system: str) -> str:
    """The message that there are none."""
    parallel = ", ".join(facts.name for facts in DATASETS.values() if facts.parallel)
    return (
        f"{data.direction.dataset} has no pairs to learn from, and {system} needs them. Datasets "
        f"with pairs: {parallel}. Or learn from mined pseudo-pairs: --pairs mined"
    )
