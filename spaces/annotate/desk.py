"""The annotation desk: who may see and answer what. Independent of HTTP.

A browser never receives a system, an item's id, or anything about another rater.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from pydantic import Field, ValidationError

from ...datasets_scripts.catalog import dataset_facts, parse_direction
from ...datasets_scripts.judgments.schema import (
    ASPECTS,
    NATURALNESS,
    RATED,
    Aspect,
    Judgment,
    judgment_record,
)
from ...errors import InputError
from ...files import lock
from ...metrics.statistics import FEWEST
from ...pipelines.human import COPY_PENALTY, agreement, system_means
from ...records import Strict
from ..web import NotThereError
from .answers import Answer, AnswerLog, Answers
from .export import judgments, open_logs
from .order import Question, questions
from .study import TASKS, Layout, Study, load_private, load_study

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


RESAMPLES = 200  # enough for the owner's page; the library's own default is finer


class AccessError(NotThereError):
    """No such link, or a page that this link does not give access to."""


class Desk:
    """One study being annotated.

    Each rater's answers go to their own file; a lock file keeps other servers out of the folder.
    """

    def __init__(self, folder: Path | str) -> None:
        """Open a study folder.

        Raises:
            MissingFileError: there is no study.
            InputError: the study or an answer file is damaged, or another server is using it.
        """
        self.folder = Path(folder)
        self.study: Study = load_study(self.folder)
        private = load_private(self.folder)
        if set(private.raters) != set(self.study.raters):
            raise InputError(f"{self.folder}: study.json and private.json name different raters")
        self._held = ExitStack()
        if not self._held.enter_context(lock(self.folder, "serving", inside=True, wait=False)):
            message = f"{self.folder} is already served by another process"
            raise InputError(f"{message}: stop that process first")
        try:
            self._logs: dict[str, AnswerLog] = open_logs(self.folder, self.study)
        except BaseException:
            self.close()
            raise
        self._items = {item.id: item for item in self.study.items}
        self._questions = {rater: questions(self.study, rater) for rater in self.study.raters}
        self._raters = {_digest(s.token): rater for rater, s in private.raters.items()}
        self._names = {rater: secret.name for rater, secret in private.raters.items()}
        self._owner = _digest(private.owner_token)
        self._lock = RLock()
        self._saved = 0  # answers since the folder was opened
        self._statistics: tuple[int, dict[str, Any]] | None = None  # and when they were computed

    def close(self) -> None:
        """Release the folder for other processes."""
        self._held.close()

    def enter(self, key: str) -> dict[str, Any]:
        """Whose link this is: ``role``, ``study``, and for a rater the guide and where to resume.

        ``drafts`` is the name under which a browser keeps what this rater has not saved yet.

        Raises:
            AccessError: the key is unknown.
        """
        if self._is_owner(key):
            return {"role": "owner", "study": self.study.name}
        rater = self._rater(key)
        with self._lock:
            started = bool(self._logs[rater].latest)
            next_open = self._next_open(rater, -1)
        return {
            "role": "rater",
            "study": self.study.name,
            "started": started,
            "total": len(self._questions[rater]),
            "next_open": next_open,
            "drafts": _digest(f"{self.study.fingerprint} {key}").hex(),
            "references_shown": self.study.references_shown and self.study.shows_styles,
            "guide": [TASKS[task].guide for task in self.study.tasks],
            "scales": [
                aspect_view(aspect).model_dump(mode="json")
                for task in self.study.tasks
                for aspect in TASKS[task].aspects
                if 5 in aspect.anchors
            ],
        }

    def screen(self, key: str, position: int) -> ScreenView:
        """One screen of the rater with this key.

        Raises:
            AccessError: no rater's key.
            InputError: no such position.
        """
        rater = self._rater(key)
        question = self._question(rater, position)
        with self._lock:
            latest = self._logs[rater].latest
            mine = [latest.get((q.task, q.item.id)) for q in self._questions[rater]]
            return screen_view(
                question,
                mine[position],
                references_shown=self.study.references_shown,
                position=position,
                total=len(mine),
                done=sum(answer is not None for answer in mine),
                next_open=self._next_open(rater, position),
                skipped=tuple(i for i, a in enumerate(mine) if a is not None and a.skipped),
            )

    def screen_json(self, key: str, position: int) -> dict[str, Any]:
        """:meth:`screen` as a browser receives it."""
        return self.screen(key, position).model_dump(mode="json")

    def save(self, key: str, position: int, submission: Any) -> dict[str, Any]:
        """Save an answer; ``next_open`` is the next position, ``None`` if all are answered.

        Raises:
            AccessError: no rater's key.
            InputError: no such position, or scores that do not fit this screen.
        """
        rater = self._rater(key)
        question = self._question(rater, position)
        answer = read_answer(question, submission)
        with self._lock:
            self._logs[rater].append(answer)
            self._saved += 1
            return {"next_open": self._next_open(rater, position)}

    def overview(self, key: str) -> dict[str, Any]:
        """The owner's view of the study: progress of each rater, comments.

        Raises:
            AccessError: not the owner's key.
        """
        self._require_owner(key)
        with self._lock:
            progress = [self._progress(rater) for rater in self.study.raters]
            remarks = [
                self._remark(rater, answer)
                for rater, log in self._logs.items()
                for answer in log.latest.values()
                if answer.skipped or answer.flagged
            ]
        return {
            "study": self.study.name,
            "fingerprint": self.study.fingerprint,
            "seed": self.study.seed,
            "per_system": self.study.per_system,
            "items": len(self.study.items),
            "directions": list(self.study.directions),
            "systems": list(self.study.systems),
            "bounds": list(self.study.bounds),
            "references_shown": self.study.references_shown,
            "progress": progress,
            "remarks": remarks,
        }

    def statistics(self, key: str) -> dict[str, Any]:
        """The owner's agreement and mean scores, cached until another answer arrives.

        Raises:
            AccessError: not the owner's key.
            MissingExtraError: the statistics packages are not installed.
        """
        self._require_owner(key)
        with self._lock:
            saved = self._saved
            if self._statistics is not None and self._statistics[0] == saved:
                return self._statistics[1]
            answers = self._answers()
        rows = judgments(self.study, answers)
        self._statistics = (saved, _statistics(self.study, rows))
        return self._statistics[1]

    def export_lines(self, key: str) -> str:
        """The owner's export, as :func:`.export.export` writes it.

        Raises:
            AccessError: not the owner's key.
        """
        self._require_owner(key)
        with self._lock:
            answers = self._answers()
        rows = judgments(self.study, answers)
        dumped = map(judgment_record, rows)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in dumped)

    def _answers(self) -> dict[str, Answers]:
        """A snapshot: raters continue while the owner's numbers are computed."""
        return {rater: dict(log.latest) for rater, log in self._logs.items()}

    def _progress(self, rater: str) -> dict[str, Any]:
        answers = list(self._logs[rater].latest.values())
        return {
            "rater": rater,
            "name": self._names[rater],
            "done": len(answers),
            "total": len(self._questions[rater]),
            "skipped": sum(answer.skipped for answer in answers),
            "flagged": sum(answer.flagged for answer in answers),
            "last": max((answer.at for answer in answers), default=None),
        }

    def _remark(self, rater: str, answer: Answer) -> dict[str, Any]:
        item = self._items[answer.item]
        return {
            "rater": rater,
            "kind": "skipped" if answer.skipped else "flagged",
            "comment": answer.comment,
            "output": item.output,
            "direction": item.direction,
        }

    def _is_owner(self, key: str) -> bool:
        return _digest(key) == self._owner

    def _require_owner(self, key: str) -> None:
        if not self._is_owner(key):
            raise AccessError("this page is for the study's owner: open the owner's link")

    def _rater(self, key: str) -> str:
        rater = self._raters.get(_digest(key))
        if rater is None:
            raise AccessError("this link is not valid: ask the study's owner for yours")
        return rater

    def _question(self, rater: str, position: int) -> Question:
        mine = self._questions[rater]
        if isinstance(position, bool) or not isinstance(position, int):
            raise NotThereError("an item's position must be a whole number")
        if not 0 <= position < len(mine):
            raise NotThereError(f"there is no item {position + 1}: you have items 1 to {len(mine)}")
        return mine[position]

    def _next_open(self, rater: str, position: int) -> int | None:
        mine, latest = self._questions[rater], self._logs[rater].latest
        order = [*range(position + 1, len(mine)), *range(position + 1)]
        return next((i for i in order if (mine[i].task, mine[i].item.id) not in latest), None)


def _digest(token: str) -> bytes:
    """Tokens are compared as hashes, so that timing reveals nothing about them."""
    return hashlib.sha256(str(token).encode("utf-8", "replace")).digest()


def _statistics(study: Study, rows: list[Judgment]) -> dict[str, Any]:
    # An output that several systems share was judged once, so it counts once.
    first = {(i.direction, i.sample_id, i.systems[0]) for i in study.items}
    outputs = [row for row in rows if (row.direction, row.sample_id, row.system) in first]
    apart = agreement(outputs, resamples=RESAMPLES)
    several = len({row.direction for row in outputs}) > 1
    together = agreement(outputs, pooled=True, resamples=0) if several else []
    return {
        "agreement": [asdict(row) for row in (*apart, *together)],
        "means": [asdict(row) for row in system_means(rows)],
        "titles": {name: aspect.title for name, aspect in ASPECTS.items()},
        "resamples": RESAMPLES,
        "fewest": FEWEST,
    }
