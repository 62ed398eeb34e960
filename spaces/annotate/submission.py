"""From what a browser sends to a rater's answer."""

from __future__ import annotations

import time
from typing import Any

from pydantic import Field, ValidationError

from ...errors import InputError
from ...records import Strict
from .answers import Answer
from .order import Question
from .study import TASKS
from .views import chose_output, shown_aspects


class Submission(Strict):
    """What a browser sends: the choices made on the screen."""

    scores: dict[str, int] = Field(default_factory=dict)
    skipped: bool = False
    flagged: bool = False
    comment: str = Field(default="", max_length=1900)


def read_answer(question: Question, submission: Any) -> Answer:
    """The answer to a question that a browser sent.

    Raises:
        InputError: not what a browser sends, or scores that do not fit the question.
    """
    try:
        said = Submission.model_validate(submission, strict=True)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise InputError(f"this is not a valid answer: {where}: {problem['msg']}") from None
    scores = dict(said.scores)
    if said.skipped and scores:
        raise InputError("an item is either scored or skipped, not both")
    if not said.skipped:
        wanted = {aspect.name: aspect for aspect in shown_aspects(question.task)}
        if scores.keys() != wanted.keys():
            raise InputError(f"score every aspect ({', '.join(wanted)}) or skip the item")
        for name, score in scores.items():
            if score not in wanted[name].choices():
                raise InputError(f"{name}: {score} is not one of {list(wanted[name].choices())}")
    if TASKS[question.task].layout == "pair":
        scores = {n: chose_output(score, question.output_first) for n, score in scores.items()}
    return Answer(
        task=question.task,
        item=question.item.id,
        scores=scores,
        skipped=said.skipped,
        flagged=said.flagged,
        comment=said.comment.strip(),
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )
