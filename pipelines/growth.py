"""How results grow: new scores are merged into the existing ones, and nothing is lost.

A score stays until the same question has a newer answer. Two scores ask the same question when
their signatures differ only in the metric's version and the hashes of scorers. With different
options or scorers they ask different questions and are kept side by side.

Scores of other predictions, or of another test set, are dropped when the new ones are scored. What
they were is kept beside the report, one line each in ``history.jsonl``, oldest first.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, ValidationError

from ..console import say
from ..datasets_scripts.directions import Direction
from ..errors import InputError, TSTBenchError
from ..files import (
    atomic_file,
    atomic_folder,
    lock_if_writable,
    read_lines,
    restore,
    write_bytes,
    write_text,
)
from ..metrics.base import finite
from ..metrics.registry import METRICS
from ..metrics.signature import Signature, column_of
from ..records import Strict
from ..version import __version__
from .ranking import Bootstrapped
from .report import (
    DataInfo,
    NewerReportError,
    Omission,
    Report,
    Sample,
    Score,
    SystemInfo,
    further_key,
    predictions_sha256,
    samples_content,
)
from .results import (
    HISTORY_FILE,
    REPLICATES_FILE,
    SAMPLES_FILE,
    Stored,
    is_result,
    read_whole,
    system_folder,
)


class EarlierScore(Strict):
    """One number that was dropped."""

    metric: str
    value: float | None
    unit: str
    signature: str


class Earlier(Strict):
    """Results that newer ones replaced.

    Attributes:
        until: the day on which they were replaced, UTC.
        why: ``its predictions changed``.
        outputs_sha256, data: of the outputs and of the test set.
        tstbench: the version that wrote them.
    """

    until: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    why: str
    outputs_sha256: str
    data: str
    tstbench: str
    scores: tuple[EarlierScore, ...]


def earlier(report: Report, why: str) -> Earlier:
    """A report as it goes into the history, today."""
    return Earlier(
        until=datetime.now(UTC).strftime("%Y-%m-%d"),
        why=why,
        outputs_sha256=report.outputs_sha256,
        data=report.data.fingerprint,
        tstbench=report.tstbench,
        scores=tuple(
            EarlierScore(metric=s.metric, value=s.value, unit=s.unit, signature=s.signature)
            for s in report.scores
        ),
    )


def history_content(folder: Path, new: Earlier | None = None) -> bytes:
    """The content of a folder's ``history.jsonl``, with one more line; empty if there is none.

    Lines that are there are taken as they are: a damaged one must not stop an evaluation.
    """
    path = folder / HISTORY_FILE
    known = path.read_bytes() if path.is_file() else b""
    line = json.dumps(new.model_dump(mode="json"), ensure_ascii=False) + "\n" if new else ""
    return known + line.encode()


def read_history(folder: Path) -> tuple[Earlier, ...]:
    """The earlier results of a system's folder, oldest first; none if it has no history.

    Raises:
        InputError: a line is not one that was written here.
    """
    path = folder / HISTORY_FILE
    if not path.is_file():
        return ()
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            found.append(Earlier.model_validate_json(line))
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: not an earlier result: {error}") from error
    return tuple(found)


# Fields of a signature that tell answers apart, not questions: the metric's version, the systems
# that a metric compared when it was asked, and the reference that predictions are themselves.
_ANSWERS = ("v", "cohort", "without")


@dataclass(frozen=True)
class Scored:
    """A score with everything that belongs to it.

    Attributes:
        score: the corpus value.
        per_sentence: shape (N,), NaN where it is undefined; ``None`` for a corpus-only metric.
        bootstrapped: value and replicates, unrounded.
    """

    score: Score
    per_sentence: np.ndarray | None
    bootstrapped: Bootstrapped


@dataclass(frozen=True)
class Texts:
    """N sentences, column by column: of a million, records would take gigabytes."""

    ids: tuple[str, ...]
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    predictions: tuple[str, ...]


@dataclass(frozen=True)
class SystemResults:
    """Everything known about one system on one direction: the content of its folder.

    Attributes:
        texts: N sentences.
        without: the reference that the predictions are themselves; ``None`` also if not known.
        on_disk: the report in their folder; ``None`` before they are written.
    """

    direction: Direction
    system: SystemInfo
    data: DataInfo
    texts: Texts
    scored: tuple[Scored, ...]
    left_out: tuple[Omission, ...]
    warnings: tuple[str, ...] = ()
    without: str | None = None
    on_disk: Report | None = None

    @cached_property
    def outputs_sha256(self) -> str:
        """The hash of the predictions."""
        return predictions_sha256(self.texts.predictions)

    def samples(self) -> Iterator[Sample]:
        """The sentences, each with its scores by key."""
        columns = {s.score.key: s.per_sentence for s in self.scored if s.per_sentence is not None}
        texts = self.texts
        rows = zip(texts.ids, texts.sources, texts.references, texts.predictions, strict=True)
        for number, (name, source, references, prediction) in enumerate(rows):
            yield Sample.model_construct(
                id=name,
                source=source,
                references=references,
                prediction=prediction,
                scores={key: finite(column[number]) for key, column in columns.items()},
            )

    @cached_property
    def samples_sha256(self) -> str:
        """The hash of ``samples.jsonl``."""
        digest = hashlib.sha256()
        for lines in samples_content(self.samples()):
            digest.update(lines)
        return digest.hexdigest()

    @cached_property
    def replicates(self) -> bytes:
        """The content of ``replicates.parquet``."""
        # Not rounded: where two systems tie in a replicate, a p-value hangs on the last digit.
        columns = {
            s.score.key: np.concatenate([[s.bootstrapped.value], s.bootstrapped.replicates])
            for s in self.scored
        }
        content = io.BytesIO()
        pq.write_table(pa.table(columns), content)
        return content.getvalue()

    @cached_property
    def report(self) -> Report:
        """The report, with the hashes of the files beside it."""
        return self.on_disk or Report(
            tstbench=__version__,
            direction=self.direction.name,
            system=self.system,
            data=self.data,
            outputs_sha256=self.outputs_sha256,
            samples_sha256=self.samples_sha256,
            replicates_sha256=hashlib.sha256(self.replicates).hexdigest(),
            scores=tuple(s.score for s in self.scored),
            left_out=self.left_out,
            warnings=self.warnings,
        )

    @property
    def told(self) -> tuple[object, ...]:
        """The report's content, independent of the schema and version it was written with."""
        scores = tuple(one.score for one in self.scored)
        return self.system, self.data, self.outputs_sha256, scores, self.left_out, self.warnings

    @property
    def recipes(self) -> frozenset[str]:
        """The recipes of all scores and omissions: what need not be computed again."""
        scores = (one.score.recipe for one in self.scored)
        return frozenset([*scores, *(one.recipe for one in self.left_out)])


def read_results(
    root: Path, direction: Direction, system: str, *, quiet: bool = False
) -> SystemResults | None:
    """What a results folder has for a system; ``None`` if it has nothing usable.

    Damaged results are reported, unless ``quiet`` is set, and treated as missing.

    Raises:
        InputError: the system's folder has another system's results, or a report whose schema
            only a later version can read. Neither is overwritten.
    """
    folder = system_folder(root, direction, system)
    restore(folder)
    if not os.path.lexists(folder / "report.json"):
        return None
    try:
        return _loaded(read_whole(folder), direction, system)
    except (NewerReportError, _OtherSystemError):
        raise
    except TSTBenchError as error:
        if not quiet:
            say(f"{system} is scored again: {error}")
        return None


def keep(root: Path, fresh: SystemResults) -> SystemResults:
    """Merge results into a results folder; the system's folder is replaced as a whole.

    Returns:
        What the folder has now. The folder is not touched if there is nothing new.
    """
    folder = system_folder(root, fresh.direction, fresh.system.name)
    # Two processes that add to one system do not undo each other.
    with lock_if_writable(folder):
        old = read_results(root, fresh.direction, fresh.system.name, quiet=True)
        if old is None and os.path.lexists(folder / "report.json") and is_result(folder):
            _set_aside(root, folder)
        whole, changes = merged(old, fresh)
        why = _other_work(old, fresh) if old else None
        history = history_content(folder, earlier(old.report, why) if old and why else None)
        for change in changes:
            say(f"{fresh.system.name}: {change}")
        if old is not None and whole.told == old.told:
            return old
        with atomic_folder(folder, ours=is_result) as scratch:
            with atomic_file(scratch / SAMPLES_FILE) as stream:
                stream.writelines(samples_content(whole.samples()))
            write_bytes(scratch / REPLICATES_FILE, whole.replicates)
            if history:
                write_bytes(scratch / HISTORY_FILE, history)
            write_text(scratch / "report.json", whole.report.model_dump_json(indent=2) + "\n")
    return replace(whole, on_disk=whole.report)


def _set_aside(root: Path, folder: Path) -> None:
    """Move damaged results out of the way: somebody may still want what is whole of them."""
    place = root / "damaged" / folder.relative_to(root)
    number = 1
    while (there := place.with_name(f"{place.name}-{number}")).exists():
        number += 1
    there.parent.mkdir(parents=True, exist_ok=True)
    folder.replace(there)
    say(f"{folder.name}: damaged results are now in {there}; what was asked for is scored again")


def merged(old: SystemResults | None, fresh: SystemResults) -> tuple[SystemResults, list[str]]:
    """Merge existing and new results; also returns what the user should know about it.

    Args:
        old: the existing results, if any.
        fresh: the new results; their texts and system facts win.
    """
    changes = []
    if old is not None and (why := _other_work(old, fresh)):
        dropped = len(old.scored)
        changes.append(f"{why}: {dropped} old score{'s' * (dropped != 1)} dropped")
        old = None
    scored = [one for one in old.scored if not _with_itself(one.score, fresh)] if old else []
    if old and (dropped := len(old.scored) - len(scored)):
        what = f"{dropped} old score{'s' * (dropped != 1)} dropped"
        changes.append(f"it was compared with itself: {what}")
    for one in fresh.scored:
        place = _place_of(one.score, scored)
        if place is None:
            scored.append(one)
            continue
        if scored[place].score.recipe != one.score.recipe:
            changes.append(
                f"{one.score.metric} {one.score.signature} replaces {scored[place].score.signature}"
            )
        scored[place] = one
    answered = {one.score.metric for one in fresh.scored} | {o.metric for o in fresh.left_out}
    unanswered = old.left_out if old else ()
    left_out = [*(one for one in unanswered if one.metric not in answered), *fresh.left_out]
    return (
        replace(
            fresh,
            scored=_keyed(scored),
            left_out=tuple(sorted(left_out, key=lambda one: _order(one.metric))),
            on_disk=None,
        ),
        changes,
    )


def same_question(one: str, other: str) -> bool:
    """Whether two signatures differ only in the metric's version and the scorers' hashes.

    >>> same_question("acc|v:1|classifier:linear:x#12ab", "acc|v:2|classifier:linear:x#99ff")
    True
    >>> same_question("ppl|v:1|norm:words", "ppl|v:1|norm:words+1")
    False
    """
    return one == other or _question(one) == _question(other)


def _question(identity: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    parsed = Signature.parse(identity)
    fields = tuple((name, value.split("#")[0]) for name, value in parsed if name not in _ANSWERS)
    return parsed.metric, fields


class _OtherSystemError(InputError):
    """A folder already belongs to another system."""


def _loaded(stored: Stored, direction: Direction, system: str) -> SystemResults:
    report = stored.report
    if report.system.name != system:
        raise _OtherSystemError(
            f"{stored.folder} holds the results of {report.system.name!r}, and {system!r} would "
            "be written there: choose another name"
        )
    texts, columns = _columns(stored.each_sample())
    replicates = stored.bootstrapped()
    scored = (Scored(s, columns.get(s.key), replicates[s.key]) for s in report.scores)
    return SystemResults(
        direction=direction,
        system=report.system,
        data=report.data,
        texts=texts,
        scored=tuple(scored),
        left_out=report.left_out,
        warnings=report.warnings,
        on_disk=report,
    )


def _columns(samples: Iterable[Sample]) -> tuple[Texts, dict[str, np.ndarray]]:
    """The sentences, and their scores by key; of all keys, those that the first sentence has."""
    ids, sources, references, predictions = [], [], [], []
    scores: dict[str, array[float]] = {}
    for sample in samples:
        ids.append(sample.id)
        sources.append(sample.source)
        references.append(sample.references)
        predictions.append(sample.prediction)
        scores = scores or {key: array("d") for key in sample.scores}
        for key, column in scores.items():
            value = sample.scores[key]
            column.append(math.nan if value is None else value)
    texts = Texts(tuple(ids), tuple(sources), tuple(references), tuple(predictions))
    return texts, {key: np.array(column) for key, column in scores.items()}


def _other_work(old: SystemResults, fresh: SystemResults) -> str | None:
    """Why old scores do not apply to the new texts; ``None`` if they do."""
    if old.data.fingerprint != fresh.data.fingerprint:
        return "the test set changed"
    if old.outputs_sha256 != fresh.outputs_sha256:
        return "the predictions changed"
    return None


def _with_itself(score: Score, fresh: SystemResults) -> bool:
    """Whether predictions that are a reference were compared with themselves, as once was done."""
    facts = METRICS.get(score.metric)
    if fresh.without is None or facts is None or "references" not in facts.reads:
        return False
    return column_of(score.signature) == score.signature


def _place_of(score: Score, scored: Sequence[Scored]) -> int | None:
    places = (
        i for i, one in enumerate(scored) if same_question(one.score.signature, score.signature)
    )
    return next(places, None)


def _keyed(scored: Sequence[Scored]) -> tuple[Scored, ...]:
    """Scores in the benchmark's order; a metric's first score has the metric's name as its key."""
    taken: set[str] = set()
    found = []
    for one in sorted(scored, key=lambda one: _order(one.score.metric)):
        metric, identity = one.score.metric, one.score.signature
        key = further_key(metric, identity) if metric in taken else metric
        taken.add(metric)
        found.append(replace(one, score=one.score.model_copy(update={"key": key})))
    return tuple(found)


def _order(metric: str) -> tuple[int, str]:
    known = list(METRICS)
    return (known.index(metric) if metric in METRICS else len(known), metric)
