"""From answers to judgments: the schema that every human study shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ...datasets_scripts.catalog import parse_direction
from ...datasets_scripts.judgments.schema import (
    ASPECTS,
    Judgment,
    without_licensed_text,
    write_judgments,
)
from ...errors import InputError
from ...pipelines.human import derived_overalls
from .answers import Answer, AnswerLog, Answers
from .study import ANSWERS_FOLDER, TASKS, Item, Study, load_study


def open_logs(folder: Path, study: Study) -> dict[str, AnswerLog]:
    """The answers of each rater; files are named after pseudonyms, never after people.

    Raises:
        InputError: an answer is not to a question of this study.
    """
    logs = {r: AnswerLog(folder / ANSWERS_FOLDER / f"{r}.jsonl") for r in study.raters}
    items = {item.id for item in study.items}
    for log in logs.values():
        for (task, item), answer in log.latest.items():
            known = task in study.tasks and item in items
            asked = {aspect.name for aspect in TASKS[task].aspects} if known else set()
            if not known or not (answer.skipped or set(answer.scores) == asked):
                message = f"{log.path} has an answer to {task} of {item}"
                raise InputError(f"{message}, which is not part of this study")
    return logs


def judgments(study: Study, answers: Mapping[str, Answers]) -> list[Judgment]:
    """All judgments by direction, sample, system, aspect and rater.

    Where style, content and fluency are asked and no overall score, it is derived from them.
    An output that several systems share gives a row for each of them.
    """
    rows = []
    for item in study.items:
        for task in study.tasks:
            for rater, said in answers.items():
                answer = said.get((task, item.id))
                if answer is not None:
                    rows += [
                        row
                        for system in item.systems
                        for row in _rows(study, item, answer, rater, system)
                    ]
    rows += derived_overalls(rows)
    order = {name: number for number, name in enumerate(ASPECTS)}
    rows.sort(key=lambda r: (r.direction, r.sample_id, r.system, order[r.aspect], r.rater))
    return [without_licensed_text(row) for row in rows]  # an export may be published


def _rows(study: Study, item: Item, answer: Answer, rater: str, system: str) -> Iterator[Judgment]:
    marks = ["skipped"] * answer.skipped + ["flagged"] * answer.flagged
    note = ": ".join([" ".join(marks)] * bool(marks) + [answer.comment] * bool(answer.comment))
    for aspect in TASKS[answer.task].aspects:
        yield Judgment(
            study=study.name,
            dataset=parse_direction(item.direction).dataset,
            direction=item.direction,
            system=system,
            sample_id=item.sample_id,
            source=item.source,
            output=item.output,
            aspect=aspect.name,
            scale=aspect.scale,
            rater=rater,
            score=answer.scores.get(aspect.name),
            note=note or None,
        )


def export(study_folder: Path | str, path: Path | str) -> list[Judgment]:
    """Write the answers collected so far as judgments, with pseudonyms for raters.

    Texts of licensed datasets (GYAFC) are left out, raters' remarks too, which may quote them;
    their sample ids identify the sentences.

    Returns:
        The judgments written.
    """
    folder = Path(study_folder)
    study = load_study(folder)
    rows = judgments(study, {r: log.latest for r, log in open_logs(folder, study).items()})
    write_judgments(path, rows)
    return rows
