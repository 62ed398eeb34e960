"""What a study shows and takes: who may see and answer what. Independent of HTTP.

A browser never receives a system, an item's id, or anything about another rater.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...datasets_scripts.catalog import dataset_facts, parse_direction
from ...datasets_scripts.judgments.schema import (
    ASPECTS,
    NATURALNESS,
    RATED,
    Aspect,
    Judgment,
)
from ...errors import InputError, MissingExtraError
from ...metrics.statistics import FEWEST
from ...pipelines.human import COPY_PENALTY, Agreement, SystemMean, agreement, system_means
from ..web import NotThereError
from .ratings import Answer, Answers, Choices, Ratings, judgments
from .study import TASKS, Item, Study, load_private, load_study

COMMON = 12  # outputs that all raters judge first, in each task
RESAMPLES = 200  # enough for the owner's page; the library's own default is finer
PAIR = Aspect(
    NATURALNESS.name,
    "Naturalness",
    NATURALNESS.question,
    "nominal 1-2",
    {1: "the first text", 2: "the second text"},
)


class AccessError(NotThereError):
    """No such link, or a page that this link does not give access to."""


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


def place(score: int, output_first: bool) -> int:
    """From "the output is more natural" (1 or 0) to the chosen position, 1 or 2."""
    return 1 if bool(score) == output_first else 2


def chose_output(place: int, output_first: bool) -> int:
    """From the chosen position back to 1 if that was the output, otherwise 0.

    >>> [chose_output(place(s, first), first) for s in (0, 1) for first in (True, False)]
    [0, 0, 1, 1]
    """
    return int((place == 1) == output_first)


class Service:
    """One study being annotated."""

    def __init__(self, folder: Path | str) -> None:
        """Open a study folder.

        Raises:
            MissingFileError: there is no study, or not all of it.
            InputError: the study or its answers are damaged.
        """
        self.folder = Path(folder)
        self.study: Study = load_study(self.folder)
        private = load_private(self.folder)
        if set(private.raters) != set(self.study.raters):
            raise InputError(f"{self.folder}: study.json and private.json name different raters")
        self._ratings = Ratings(self.folder, self.study)
        self._ratings.check_writable()
        self._questions = {rater: questions(self.study, rater) for rater in self.study.raters}
        self._raters = {_digest(s.token): rater for rater, s in private.raters.items()}
        self._names = {rater: secret.name for rater, secret in private.raters.items()}
        self._owner = _digest(private.owner_token)

    def is_owner(self, key: str) -> bool:
        """Whether this is the key of the study's owner."""
        return _digest(key) == self._owner

    def enter(self, key: str) -> dict[str, Any]:
        """Return what a rater reads first, and where to resume.

        ``drafts`` is the name under which a browser keeps what this rater has not saved yet.

        Raises:
            AccessError: no rater's key.
        """
        rater = self._rater(key)
        latest = self._ratings.of(rater)
        return {
            "study": self.study.name,
            "started": bool(latest),
            "total": len(self._questions[rater]),
            "next_open": self._next_open(rater, latest, -1),
            "drafts": _digest(f"{self.study.fingerprint} {key}").hex(),
            "references_shown": self.study.references_shown and self.study.shows_styles,
            "guide": [TASKS[task].guide for task in self.study.tasks],
            "scales": [
                _aspect(aspect)
                for task in self.study.tasks
                for aspect in TASKS[task].aspects
                if 5 in aspect.anchors
            ],
        }

    def screen(self, key: str, position: int) -> dict[str, Any]:
        """One screen of the rater with this key.

        Returns:
            ``position``, from 0, of ``total``, with ``done`` answered or skipped; ``skipped``,
            positions; ``layout``, see :class:`.study.Task`; ``dataset`` and styles, unless they
            would give the rewrite away; ``number`` of how many outputs ``of`` the source;
            ``texts``, each with its ``role``; ``aspects``, with ``choices``, lowest first, and
            ``anchors`` by choice; ``overall_factor`` from the mean of the scores to the derived
            overall, ``None`` if none is derived; the rater's own earlier ``answer``.

        Raises:
            AccessError: no rater's key.
            NotThereError: no such position.
        """
        rater = self._rater(key)
        question = self._question(rater, position)
        latest = self._ratings.of(rater)
        mine = [latest.get((q.task, q.item.id)) for q in self._questions[rater]]
        item, task = question.item, TASKS[question.task]
        direction = parse_direction(item.direction)
        # Styles would reveal which text of a pair is the rewrite, and bias a masked comparison.
        told = direction if task.layout == "rewrite" else None
        return {
            "position": position,
            "total": len(mine),
            "done": sum(answer is not None for answer in mine),
            "skipped": [i for i, a in enumerate(mine) if a is not None and a.skipped],
            "layout": task.layout,
            "dataset": dataset_facts(told.dataset).title if told else None,
            "source_style": told.source_style if told else None,
            "target_style": told.target_style if told else None,
            "number": question.number,
            "of": question.of,
            "texts": _texts(question, self.study.references_shown),
            "aspects": [_aspect(aspect) for aspect in _shown_aspects(question.task)],
            "overall_factor": (COPY_PENALTY if item.copied else 1.0)
            if task.aspects == RATED
            else None,
            "answer": _own_answer(question, mine[position]),
        }

    def save(self, key: str, position: int, choices: Any) -> dict[str, Any]:
        """Save an answer; ``next_open`` is the next position to answer, ``None`` at the end.

        Raises:
            AccessError: no rater's key.
            NotThereError: no such position.
            InputError: not what a browser sends, or scores that do not fit this screen.
            OSError: it could not be kept.
        """
        rater = self._rater(key)
        answer = _read_answer(self._question(rater, position), choices)
        self._ratings.add(rater, answer)
        return {"next_open": self._next_open(rater, self._ratings.of(rater), position)}

    def overview(self, key: str) -> dict[str, Any]:
        """The owner's view: progress of each rater, comments, agreement and mean scores.

        ``agreement`` is empty, and ``problem`` says why, if what computes it is not installed.

        Raises:
            AccessError: not the owner's key.
        """
        self._require_owner(key)
        answers = self._ratings.all()
        items = {item.id: item for item in self.study.items}
        rows = judgments(self.study, answers)
        means = system_means(rows)
        judged = {mean.aspect for mean in means}
        try:
            agreed, problem = _agreement(self.study, rows), None
        except MissingExtraError as error:
            agreed, problem = {}, str(error)
        return {
            "study": self.study,
            "progress": [self._progress(rater, latest) for rater, latest in answers.items()],
            "remarks": [
                {"rater": rater, "answer": answer, "item": items[answer.item]}
                for rater, latest in answers.items()
                for answer in latest.values()
                if answer.skipped or answer.flagged
            ],
            "agreement": agreed,
            "problem": problem,
            "means": _by_system(means),
            "titles": {name: aspect.title for name, aspect in ASPECTS.items()},
            "columns": [name for name in ASPECTS if name in judged],
            "resamples": RESAMPLES,
            "fewest": FEWEST,
        }

    def judgments(self, key: str) -> list[Judgment]:
        """The owner's export, as :func:`.ratings.export` writes it.

        Raises:
            AccessError: not the owner's key.
        """
        self._require_owner(key)
        return judgments(self.study, self._ratings.all())

    def _progress(self, rater: str, latest: Answers) -> dict[str, Any]:
        answers = latest.values()
        return {
            "rater": rater,
            "name": self._names[rater],
            "done": len(answers),
            "total": len(self._questions[rater]),
            "skipped": sum(answer.skipped for answer in answers),
            "flagged": sum(answer.flagged for answer in answers),
            "last": max((answer.at for answer in answers), default=None),
        }

    def _require_owner(self, key: str) -> None:
        if not self.is_owner(key):
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

    def _next_open(self, rater: str, latest: Answers, position: int) -> int | None:
        mine = self._questions[rater]
        order = [*range(position + 1, len(mine)), *range(position)]
        return next((i for i in order if (mine[i].task, mine[i].item.id) not in latest), None)


def _digest(token: str) -> bytes:
    """Tokens are compared as hashes, so that timing reveals nothing about them."""
    return hashlib.sha256(str(token).encode("utf-8", "replace")).digest()


def _shown_aspects(task: str) -> tuple[Aspect, ...]:
    """The questions as a rater sees them: the pair task asks for a position, not a role."""
    return (PAIR,) if TASKS[task].layout == "pair" else TASKS[task].aspects


def _aspect(aspect: Aspect) -> dict[str, Any]:
    return {
        "name": aspect.name,
        "title": aspect.title,
        "question": aspect.question,
        "choices": list(aspect.choices()),
        "anchors": aspect.anchors,
    }


def _texts(question: Question, references_shown: bool) -> list[dict[str, str]]:
    item, layout = question.item, TASKS[question.task].layout
    if layout == "output":
        shown = [("text", item.output)]
    elif layout == "rewrite":
        references = item.references if references_shown else ()
        shown = [("source", item.source), *(("reference", text) for text in references)]
        shown.append(("output", item.output))
    else:
        texts = item.masked if question.task == "content_masked" else item
        assert texts is not None  # noqa: S101 - the study's validator made sure
        first, second = texts.source, texts.output
        if layout == "pair" and question.output_first:
            first, second = second, first
        shown = [("first", first), ("second", second)]
    return [{"role": role, "text": text} for role, text in shown]


def _own_answer(question: Question, answer: Answer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    scores = answer.scores
    if TASKS[question.task].layout == "pair":
        scores = {name: place(score, question.output_first) for name, score in scores.items()}
    return {**answer.model_dump(include=set(Choices.model_fields)), "scores": scores}


def _read_answer(question: Question, sent: Any) -> Answer:
    """The answer to a question that a browser sent."""
    try:
        chosen = Choices.model_validate(sent, strict=True)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = [".".join(map(str, problem["loc"]))] * bool(problem["loc"])
        said = ": ".join([*where, problem["msg"].removeprefix("Value error, ")])
        raise InputError(f"this is not a valid answer: {said}") from None
    scores = chosen.scores
    if not chosen.skipped:
        wanted = {aspect.name: aspect.choices() for aspect in _shown_aspects(question.task)}
        if scores.keys() != wanted.keys():
            raise InputError(f"score every aspect ({', '.join(wanted)}) or skip the item")
        for name, score in scores.items():
            if score not in wanted[name]:
                raise InputError(f"{name}: {score} is not one of {list(wanted[name])}")
    if TASKS[question.task].layout == "pair":
        scores = {n: chose_output(score, question.output_first) for n, score in scores.items()}
    return Answer(
        task=question.task,
        item=question.item.id,
        scores=scores,
        skipped=chosen.skipped,
        flagged=chosen.flagged,
        comment=chosen.comment.strip(),
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )


def _agreement(study: Study, rows: list[Judgment]) -> dict[str | None, list[Agreement]]:
    """By direction, of each aspect; where there are several, also pooled, under ``None``."""
    # An output that several systems share was judged once, so it counts once.
    first = {(i.direction, i.sample_id, i.systems[0]) for i in study.items}
    outputs = [row for row in rows if (row.direction, row.sample_id, row.system) in first]
    agreed = agreement(outputs, resamples=RESAMPLES)
    if len({row.direction for row in outputs}) > 1:
        agreed += agreement(outputs, pooled=True, resamples=0)
    by_direction: dict[str | None, list[Agreement]] = {}
    for row in agreed:
        by_direction.setdefault(row.direction, []).append(row)
    return by_direction


def _by_system(means: list[SystemMean]) -> dict[str, dict[str, dict[str, SystemMean]]]:
    """By direction, system and aspect."""
    tables: dict[str, dict[str, dict[str, SystemMean]]] = {}
    for mean in sorted(means, key=lambda mean: (mean.direction, mean.system)):
        tables.setdefault(mean.direction, {}).setdefault(mean.system, {})[mean.aspect] = mean
    return tables
