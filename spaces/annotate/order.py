"""The order in which a rater sees the outputs: blind, and different for every rater."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass

from .study import Item, Study


@dataclass(frozen=True)
class Question:
    """One screen of one rater.

    Attributes:
        task: one of :data:`.study.TASKS`.
        item: the item to judge.
        number: number of this output among those of its source, from 1.
        of: number of outputs of this source.
        output_first: in the pair task, whether the output is the first text shown.
    """

    task: str
    item: Item
    number: int = 1
    of: int = 1
    output_first: bool = False


def questions(study: Study, rater: str) -> tuple[Question, ...]:
    """All screens of a rater, deterministic for a study and rater.

    Directions follow one another, so that the target style does not change on every screen.
    Rating shows the outputs of one source together, as in the protocol, in an order drawn from
    the study's seed, the rater and the source. The relative tasks mix all outputs of a direction,
    so that a source rarely reappears soon; the pair task leaves out copies, which cannot differ.
    """
    screens: list[Question] = []
    for task in study.tasks:
        directions = list(study.directions)
        _random(study, rater, task).shuffle(directions)
        for direction in directions:
            items = [item for item in study.items if item.direction == direction]
            block = _ratings if task == "rating" else _mixed
            screens += block(study, rater, task, items)
    return tuple(screens)


def _random(study: Study, *parts: str) -> random.Random:
    return random.Random("|".join((str(study.seed), *parts)))


def _ratings(study: Study, rater: str, task: str, items: list[Item]) -> list[Question]:
    by_source: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_source[item.sample_id].append(item)
    sources = sorted(by_source)
    direction = items[0].direction
    _random(study, rater, task, direction).shuffle(sources)
    screens = []
    for sample_id in sources:
        outputs = by_source[sample_id]
        _random(study, rater, task, direction, sample_id).shuffle(outputs)
        screens += [
            Question(task, item, number, len(outputs))
            for number, item in enumerate(outputs, start=1)
        ]
    return screens


def _mixed(study: Study, rater: str, task: str, items: list[Item]) -> list[Question]:
    shown = [item for item in items if not (task == "naturalness" and item.copied)]
    _random(study, rater, task, items[0].direction).shuffle(shown)
    return [
        Question(task, item, output_first=_random(study, rater, task, item.id).random() < 0.5)
        for item in shown
    ]
