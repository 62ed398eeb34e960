"""The order in which a rater sees the outputs: blind, after a common start a different one each."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass

from .study import TASKS, Item, Study

COMMON = 12  # outputs that all raters judge first, in each task


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

    Each task begins with the same :data:`COMMON` outputs for every rater, spread over the
    directions, so that agreement can be computed early. Then directions follow one another, so that
    the target style does not change on every screen. Rewrites of one source are shown together,
    as in the protocol, in an order drawn from the study's seed, the rater and the source.
    The other tasks mix all outputs of a direction, so that a source rarely reappears soon; the
    pair task leaves out copies, which cannot differ.
    """
    screens: list[Question] = []
    for task in study.tasks:
        directions = list(study.directions)
        own: dict[str, list[Question]] = {}
        for direction in directions:
            groups = _groups(study, rater, task, direction)
            _random(study, task, direction).shuffle(groups)
            common = 0
            while groups and common < COMMON / len(directions):
                group = groups.pop()
                common += len(group)
                screens += group
            _random(study, rater, task, direction).shuffle(groups)
            own[direction] = [question for group in groups for question in group]
        _random(study, rater, task).shuffle(directions)
        screens += [question for direction in directions for question in own[direction]]
    return tuple(screens)


def _random(study: Study, *parts: str) -> random.Random:
    return random.Random("|".join((str(study.seed), *parts)))


def _groups(study: Study, rater: str, task: str, direction: str) -> list[list[Question]]:
    """What is shown together: the outputs of a source, or in the other tasks one output."""
    items = [item for item in study.items if item.direction == direction]
    layout = TASKS[task].layout
    if layout != "rewrite":
        return [
            [Question(task, item, output_first=_random(study, rater, task, item.id).random() < 0.5)]
            for item in items
            if not (layout == "pair" and item.copied)
        ]
    by_source: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_source[item.sample_id].append(item)
    groups = []
    for sample_id, outputs in sorted(by_source.items()):
        _random(study, rater, task, direction, sample_id).shuffle(outputs)
        groups.append(
            [Question(task, item, number, len(outputs)) for number, item in enumerate(outputs, 1)]
        )
    return groups
