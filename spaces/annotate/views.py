"""What a browser receives: never a system, an item's id, or anything about another rater."""

from __future__ import annotations

from typing import Literal

from ...datasets_scripts.judgments.aspects import NATURALNESS, RATED, Aspect
from ...datasets_scripts.known import dataset_facts, parse_direction
from ...pipelines.human.overall import COPY_PENALTY
from ...records import Strict
from .answers import Answer
from .order import Question
from .study import TASKS, Layout

Role = Literal["source", "reference", "output", "first", "second", "text"]


class TextView(Strict):
    """One text on the screen."""

    role: Role
    text: str


class AspectView(Strict):
    """One question; ``choices`` lowest first, ``anchors`` by choice."""

    name: str
    title: str
    question: str
    choices: tuple[int, ...]
    anchors: dict[int, str]


class AnswerView(Strict):
    """The rater's own earlier answer."""

    scores: dict[str, int]
    skipped: bool
    flagged: bool
    comment: str


class ScreenView(Strict):
    """One screen.

    Attributes:
        position: from 0.
        total: number of screens of this rater.
        done: number of screens answered or skipped.
        next_open: the first unanswered position after this one, or from the start; ``None`` when
            all are answered.
        skipped: positions that were skipped.
        overall_factor: factor from the mean of the scores to the derived overall; ``None`` if none
            is derived.
    """

    position: int
    total: int
    done: int
    next_open: int | None
    skipped: tuple[int, ...]
    layout: Layout
    dataset: str | None
    source_style: str | None
    target_style: str | None
    number: int
    of: int
    texts: tuple[TextView, ...]
    aspects: tuple[AspectView, ...]
    overall_factor: float | None
    answer: AnswerView | None


PAIR = Aspect(
    NATURALNESS.name,
    "Naturalness",
    NATURALNESS.question,
    "nominal 1-2",
    {1: "the first text", 2: "the second text"},
)


def shown_aspects(task: str) -> tuple[Aspect, ...]:
    """The questions as a rater sees them: the pair task asks for a position, not a role."""
    return (PAIR,) if TASKS[task].layout == "pair" else TASKS[task].aspects


def place(score: int, output_first: bool) -> int:
    """From "the output is more natural" (1 or 0) to the chosen position, 1 or 2."""
    return 1 if bool(score) == output_first else 2


def chose_output(place: int, output_first: bool) -> int:
    """From the chosen position back to 1 if that was the output, otherwise 0.

    >>> [chose_output(place(s, first), first) for s in (0, 1) for first in (True, False)]
    [0, 0, 1, 1]
    """
    return int((place == 1) == output_first)


def aspect_view(aspect: Aspect) -> AspectView:
    """An aspect as the page shows it."""
    return AspectView(
        name=aspect.name,
        title=aspect.title,
        question=aspect.question,
        choices=tuple(aspect.choices()),
        anchors=aspect.anchors,
    )


def screen_view(
    question: Question,
    answer: Answer | None,
    *,
    references_shown: bool,
    position: int,
    total: int,
    done: int,
    next_open: int | None,
    skipped: tuple[int, ...],
) -> ScreenView:
    """The screen of a question; see :class:`ScreenView`."""
    item, task = question.item, TASKS[question.task]
    direction = parse_direction(item.direction)
    # Styles would reveal which text of a pair is the rewrite, and bias a masked comparison.
    told = direction if task.layout == "rewrite" else None
    return ScreenView(
        position=position,
        total=total,
        done=done,
        next_open=next_open,
        skipped=skipped,
        layout=task.layout,
        dataset=dataset_facts(told.dataset).title if told else None,
        source_style=told.source_style if told else None,
        target_style=told.target_style if told else None,
        number=question.number,
        of=question.of,
        texts=_texts(question, references_shown),
        aspects=tuple(aspect_view(aspect) for aspect in shown_aspects(question.task)),
        overall_factor=(COPY_PENALTY if item.copied else 1.0) if task.aspects == RATED else None,
        answer=None if answer is None else _answer_view(question, answer),
    )


def _texts(question: Question, references_shown: bool) -> tuple[TextView, ...]:
    item, layout = question.item, TASKS[question.task].layout
    if layout == "output":
        return (TextView(role="text", text=item.output),)
    if layout == "rewrite":
        seen = item.references if references_shown else ()
        references = [TextView(role="reference", text=text) for text in seen]
        source = TextView(role="source", text=item.source)
        return (source, *references, TextView(role="output", text=item.output))
    if question.task == "content_masked":
        assert item.masked is not None  # noqa: S101 - the study's validator made sure
        pair = (item.masked.source, item.masked.output)
    else:
        pair = (item.source, item.output)
    if layout == "pair" and question.output_first:
        pair = pair[::-1]
    return (TextView(role="first", text=pair[0]), TextView(role="second", text=pair[1]))


def _answer_view(question: Question, answer: Answer) -> AnswerView:
    scores = dict(answer.scores)
    if TASKS[question.task].layout == "pair":
        scores = {name: place(score, question.output_first) for name, score in scores.items()}
    return AnswerView(
        scores=scores, skipped=answer.skipped, flagged=answer.flagged, comment=answer.comment
    )
