"""What a suite has to do, as jobs: prepare, train, transfer, score and rank.

A job is plain values, and what it makes are files: scorers and systems in ``$TSTBENCH_HOME``,
predictions and scores in the results folder. What is there already is kept, so the same job twice
leaves the same bytes, in whichever process and on whichever machine (:mod:`.engines`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from ..console import say
from ..datasets_scripts.catalog import parse_direction
from ..datasets_scripts.load import TestSet, load_test_set, load_training
from ..errors import MISSING, IncompleteError, TSTBenchError
from ..metrics.base import Cohort
from ..metrics.measure import plan, roles_needed
from ..metrics.registry import metric_facts
from ..metrics.scorers.artefacts import SCORERS, Artefact
from ..metrics.scorers.profile import Scorers
from ..trainers.load import FoundSystem
from ..trainers.prompted import Chat
from ..trainers.system import SYSTEM_STORE
from .evaluate import Evaluated, cohort, evaluate, inputs_of, recipes_of
from .outputs import Outputs
from .report import SystemInfo, read_report
from .results import direction_folder, system_folder
from .scoring import Scoring
from .standings import write_significance
from .suite_file import Answers, Cell, SystemCell

Kind = Literal["prepare", "train", "transfer", "score", "rank"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One step of a suite.

    Attributes:
        direction: its name; of a training, that of the direction that is learned.
        cell: the system on its direction; ``None`` to prepare and to rank.
        written: to score: who wrote, and what; ``None`` until the transfer is over.
        compared: to score: all systems of the direction, if a metric compares them.
        needs: ids of jobs without whose success this one cannot be done.
        after: ids of jobs that must be over, whatever became of them.
        place: in the order of one process.
        cpus: cores that it takes.
        gpus: GPUs that it must have.
        gpus_if_any: GPUs that it takes where there are some.
        memory: in GiB, 0 if that is not known.
        here: whether only the process that was started can do it: a server has one rate and one
            key, and what is printed is printed once.
    """

    kind: Kind
    direction: str
    cell: Cell | None = None
    written: tuple[SystemInfo, Outputs] | None = None
    compared: Cohort | None = None
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    place: int = 0
    cpus: float = 1
    gpus: float = 0
    gpus_if_any: float = 0
    memory: float = 0
    here: bool = False

    @property
    def system(self) -> str:
        """The name of its system, if it has one."""
        return self.cell.info.name if self.cell else ""

    @property
    def id(self) -> str:
        """What it is called: ``score yelp/negative-to-positive tyb-seed1``."""
        return " ".join(filter(None, (self.kind, self.direction, self.system)))


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        id: the job's.
        state: ``done``; ``kept``, if all was there; ``left out``, if it cannot be done.
        why: it was left out.
        seconds: that it took.
        where: the machine, unless it was this process.
        log: what it said there.
        evaluated: what it scored.
        files: that it made and that a storage has, see :mod:`.storage`.
    """

    id: str
    state: Literal["done", "kept", "left out"]
    why: str = ""
    seconds: float = 0
    where: str = ""
    log: str = ""
    evaluated: Evaluated | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Left:
    """The cells that could not be run: each reason is said once, and all are counted."""

    reasons: dict[str, int] = field(default_factory=dict)

    def out(self, direction: str, names: Sequence[str], reason: str) -> None:
        """Leave these systems out."""
        if not names:
            return
        if reason not in self.reasons:
            say(f"left out: {', '.join(names)} on {direction}: {reason}")
        self.reasons[reason] = self.reasons.get(reason, 0) + len(names)

    @contextmanager
    def if_missing(self, direction: str, names: Sequence[str]) -> Iterator[None]:
        """Leave these systems out if something is missing inside."""
        try:
            yield
        except MISSING as error:
            self.out(direction, names, str(error))

    def check(self, count: int) -> None:
        """Raise :class:`IncompleteError` if cells were left out of ``count``."""
        if self.reasons:
            each = "; ".join(f"{number} for: {reason}" for reason, number in self.reasons.items())
            raise IncompleteError(
                f"{sum(self.reasons.values())} of {count} cells were left out. The others are "
                f"done, and the same command runs what is missing. {each}"
            )


@dataclass(frozen=True)
class Work:
    """What all jobs of a suite share: plain values.

    Attributes:
        how: metrics, options and scorers.
        root: the results folder.
    """

    how: Scoring
    root: Path


class Workplace:
    """Does jobs in one process, and has them share what they read and load.

    Attributes:
        jobs: all that were planned here.
        evaluated: what was scored of a direction, by the place of its job.
    """

    def __init__(self, work: Work) -> None:
        self.how, self.root = work.how, work.root
        self.jobs: list[Job] = []
        self.evaluated: dict[str, dict[int, Evaluated]] = {}
        self._made: dict[str, list[Artefact]] = {}  # scorers, by direction
        self._checked: dict[tuple[str, str], Answers] = {}
        # By identity. The store finds, by its recipe, only what was trained last under a name.
        self._trained: dict[str, FoundSystem] = {}
        self._training = lru_cache(2)(load_training)
        self._scorers = lru_cache(1)(self._scorers_of)
        self._cohort = lru_cache(1)(self._cohort_of)
        self._test_set = cache(load_test_set)
        self._compares = any(metric_facts(one).compares_systems for one in self.how.metrics)

    def test_set(self, direction: str) -> TestSet:
        """The test set of a direction."""
        return self._test_set(parse_direction(direction))

    def check(self, cell: Cell) -> Answers:
        """A cell, checked; nothing is trained or asked."""
        test_set = self.test_set(cell.direction)
        return cell.check(test_set, self.root, self._training)

    def plan(self, groups: Mapping[str, Sequence[Cell]], left: Left) -> list[Job]:
        """The jobs of some cells, by direction. What lacks something is left out.

        Raises:
            UnknownNameError, InputError: a mistake in a file or in a setting.
        """
        jobs: dict[str, Job] = {}
        for direction, cells in groups.items():
            with left.if_missing(direction, [cell.info.name for cell in cells]):
                self.test_set(direction)
                self.how.check(parse_direction(direction))
                found: list[Job] = []
                for cell in cells:
                    with left.if_missing(direction, [cell.info.name]):
                        found += self.jobs_of(cell, self.check(cell))
                whole = self._whole(direction, found, jobs) if found else ()
                jobs |= {job.id: job for job in whole if job.id not in jobs}
        self.jobs = [replace(job, place=place) for place, job in enumerate(jobs.values())]
        return self.jobs

    def jobs_of(self, cell: Cell, answers: Answers) -> Iterator[Job]:
        """What a cell takes, without what its direction's cells have in common."""
        score = Job(kind="score", direction=cell.direction, cell=cell, gpus_if_any=0.25)
        if not isinstance(cell, SystemCell) or answers.asked is None or answers.found is None:
            yield replace(score, written=answers.outputs())
            return
        kind, asks = answers.found.kind, cell.resources
        transfer = Job(
            kind="transfer",
            direction=cell.direction,
            cell=cell,
            cpus=asks.cpus or 1,
            gpus=asks.gpus or 0,
            gpus_if_any=float("torch" in kind.LIBRARIES and asks.gpus is None),
            memory=asks.memory or 0,
            here=issubclass(kind, Chat),
        )
        self._checked[cell.direction, cell.info.name] = answers
        if cell.stored is None and kind.Config is not None and answers.asked.finished() is None:
            learned = kind.direction_to_learn(parse_direction(cell.direction)).name
            training = replace(transfer, kind="train", direction=learned)
            yield training
            transfer = replace(transfer, needs=(training.id,))
        yield transfer
        yield replace(score, needs=(transfer.id,))

    def _whole(self, direction: str, found: list[Job], jobs: Mapping[str, Job]) -> Iterator[Job]:
        """All jobs of a direction, in the order of one process."""
        written = [job for job in found if job.kind != "score"]
        yield from written
        # Directions of a dataset share scorers: the second finds what the first has trained.
        before = [job.id for job in jobs.values() if job.kind == "prepare"]
        shared = [name for name in before if name.split()[1].split("/")[0] in direction.split("/")]
        prepare = Job(kind="prepare", direction=direction, after=tuple(shared))
        yield prepare
        transfers = tuple(job.id for job in written if job.kind == "transfer")
        after = transfers if self._compares else ()
        scorers = self.how.scorers(parse_direction(direction))
        asks = "judge" in roles_needed(self.how.metrics, scorers, self.how.choices)
        scores = [
            replace(job, needs=(*job.needs, prepare.id), after=after, here=asks)
            for job in found
            if job.kind == "score"
        ]
        yield from scores
        yield Job(
            kind="rank", direction=direction, after=tuple(job.id for job in scores), here=True
        )

    def do(self, job: Job) -> Outcome:
        """Do a job, unless it is done; what a user can mend leaves it out."""
        by_kind: dict[Kind, Callable[[Job], bool | Evaluated]] = {
            "prepare": self._prepare,
            "train": self._train,
            "transfer": self._transfer,
            "score": self._score,
            "rank": self._rank,
        }
        began = time.monotonic()
        try:
            done = by_kind[job.kind](job)
        except TSTBenchError as error:
            return Outcome(job.id, "left out", str(error), time.monotonic() - began)
        evaluated = done if isinstance(done, Evaluated) else None
        state: Literal["done", "kept"] = "kept"
        if evaluated.computed if evaluated else done:
            state = "done"
        return Outcome(job.id, state, "", time.monotonic() - began, evaluated=evaluated)

    def ready(self, job: Job) -> Job:
        """A job with what those before it have left: a score, with the texts."""
        if job.kind != "score" or job.compared is not None:
            return job
        written = job.written or self._checks(job).outputs()
        return replace(job, written=written, compared=self._cohort(job.direction))

    def is_done(self, job: Job) -> bool:
        """Whether there is nothing to do: all that the job makes is here."""
        direction = parse_direction(job.direction)
        if job.kind == "prepare":
            return not self.how.untrained(direction)
        if job.kind == "train":
            found = self._checks(job).found
            return found is not None and SYSTEM_STORE.find_recipe(found.card) is not None
        if job.kind == "transfer":
            return self._is_written(job)
        if job.kind != "score":
            return False
        others = (one for one in self.jobs if one.kind == "score" if self._compares)
        same = [job, *(one for one in others if one.direction == job.direction)]
        return all(map(self._is_written, same)) and self._is_scored(self.ready(job))

    def _is_written(self, job: Job) -> bool:
        asked = None if job.written else self._checks(job).asked
        return asked is None or asked.finished() is not None

    def _is_scored(self, job: Job) -> bool:
        """Whether a report has the recipes of all scores, and of what is left out."""
        if job.written is None:
            return False
        _, outputs = job.written
        test_set, how = self.test_set(job.direction), self.how
        with suppress(TSTBenchError, OSError):  # no report, or no scorer
            report = read_report(system_folder(self.root, test_set.direction, job.system))
            inputs = inputs_of(outputs, test_set)
            scorers = how.scorers(test_set.direction)  # looked up: nothing is trained
            planned = plan(how.metrics, inputs, scorers, how.choices, job.compared)
            kept = {s.recipe for s in report.scores} | {one.recipe for one in report.left_out}
            return kept >= {*recipes_of(outputs, test_set, planned).values()}
        return False

    def files(self, job: Job) -> list[Path]:
        """The files that a job has made here, as far as it has."""
        direction = parse_direction(job.direction)
        if job.kind == "transfer":
            asked = self._checks(job).asked
            made = [asked.path, asked.card_path] if asked else []
        elif job.kind == "score":
            folder = system_folder(self.root, direction, job.system)
            made = sorted(folder.iterdir()) if folder.is_dir() else []
        elif job.kind == "train":
            found = self._checks(job).found
            model = SYSTEM_STORE.find_recipe(found.card) if found else None
            made = SYSTEM_STORE.files(model) if model else []
        else:
            made = [
                file for one in self._made.get(job.direction, ()) for file in SCORERS.files(one)
            ]
        return [file for file in made if file.is_file()]

    def _prepare(self, job: Job) -> bool:
        direction = parse_direction(job.direction)
        before = SCORERS.named()
        self._made[job.direction] = self.how.prepare(direction)
        return SCORERS.named() != before

    def _train(self, job: Job) -> bool:
        cell, found = job.cell, self._checks(job).found
        if not isinstance(cell, SystemCell) or found is None:
            raise ValueError(f"{job.id}: outputs that exist are not trained")
        self._checked = {
            name: one
            for name, one in self._checked.items()
            if one.found is None or one.found.identity != found.identity
        }
        there = SYSTEM_STORE.find_recipe(found.card)
        stored = there or found.open(cell.device)
        self._trained[found.identity] = FoundSystem(stored.card, found.identity, lambda _: stored)
        return there is None

    def _transfer(self, job: Job) -> bool:
        missing = not self._is_written(job)
        self._checks(job).outputs()
        return missing

    def _score(self, job: Job) -> Evaluated:
        job = self.ready(job)
        if job.written is None:
            raise ValueError(f"{job.id}: nothing is written")
        info, outputs = job.written
        (evaluated,) = evaluate(
            [outputs],
            self.test_set(job.direction),
            self.how,
            {info.name: info},
            self.root,
            job.compared,
            self._scorers(job.direction),
            rank=False,
        ).systems
        return evaluated

    def _rank(self, job: Job) -> bool:
        if self.evaluated.get(job.direction):
            write_significance(direction_folder(self.root, parse_direction(job.direction)))
        return True

    def _checks(self, job: Job) -> Answers:
        """A job's cell, checked again if its system was trained since."""
        if job.cell is None:
            raise ValueError(f"{job.id} is not about a system")
        answers = self._checked.get((job.cell.direction, job.system)) or self.check(job.cell)
        trained = self._trained.get(answers.found.identity) if answers.found else None
        if trained is None or not isinstance(job.cell, SystemCell):
            return answers
        return self.check(replace(job.cell, stored=trained))

    def _scorers_of(self, direction: str) -> Scorers:
        if direction not in self._made:  # another process prepared: what cannot be is found again
            self._made[direction] = self.how.prepare(parse_direction(direction))
        return self.how.scorers(parse_direction(direction))

    def _cohort_of(self, direction: str) -> Cohort | None:
        """All systems of a direction whose outputs are there, for metrics that compare them."""
        if not self._compares:
            return None
        there = [
            (job.written or self._checks(job).outputs())[1]
            for job in self.jobs
            if job.kind == "score" and job.direction == direction and self._is_written(job)
        ]
        return cohort(there, self.test_set(direction), self.how, self.root)
