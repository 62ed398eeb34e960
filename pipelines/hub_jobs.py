"""A suite's jobs on the Hub's hardware, by Hub Jobs; files travel through a dataset repository.

A job of the suite is a job of the Hub: a container that installs what is installed here, takes what
it needs from the repository, does its work and commits what it made. Scores are there as a results
folder too, which ``tstbench leaderboard`` opens by the repository's name.

https://huggingface.co/docs/huggingface_hub/guides/jobs
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huggingface_hub import CommitOperationAdd, HfApi, constants, get_token
from huggingface_hub.errors import EntryNotFoundError, HTTPError
from pydantic import JsonValue

from ..console import say
from ..datasets_scripts import catalog
from ..datasets_scripts.catalog import load_data
from ..datasets_scripts.corpus import Corpus
from ..errors import InputError, IntegrityError, TSTBenchError, unknown_name
from ..hub import is_repo_id
from ..records import Strict
from ..trainers.load import Choice
from ..trainers.system import Generation
from .engines import Elsewhere
from .hub.push import PushError, explained
from .jobs import Job, Kind, Outcome, Work, Workplace
from .outputs import Outputs
from .report import SystemInfo
from .storage import Files, Storage, digest_of, paths_in
from .suite_file import TIMEOUT, Resources, Suite, SuiteSystem, SystemCell, WrittenCell
from .worker import check_versions, done, suite_folder, versions

if TYPE_CHECKING:
    from huggingface_hub import JobInfo

URL = "hf://datasets/"  # of a storage for these jobs
_LOOK = 5.0  # seconds between two questions about running jobs
_TRIES = 6  # of a request, with longer and longer pauses: half a minute in all
_AGAIN = {409, 412, 429, 500, 502, 503, 504}  # others commit too, or the Hub is busy
_EXTRAS = ("embedded", "train", "llm", "vectors")  # that jobs install
_OVER = ("COMPLETED", "CANCELED", "ERROR", "DELETED")


@dataclass(frozen=True)
class Hardware:
    """What jobs run on unless their system's ``resources`` say otherwise.

    Attributes:
        flavor: one of ``hf jobs hardware``.
        timeout: after which the Hub ends a job: a number with ``s``, ``m``, ``h`` or ``d``.
        image: a container image that has ``uv``.
        install: a requirement for ``uv`` that brings TSTBench.

    Raises:
        InputError: the timeout is none.
    """

    flavor: str = "cpu-basic"
    timeout: str = "3h"
    image: str = (
        f"ghcr.io/astral-sh/uv:python{sys.version_info.major}.{sys.version_info.minor}-bookworm"
    )
    install: str = ""

    def __post_init__(self) -> None:
        if not re.match(TIMEOUT, self.timeout):
            raise InputError(f"--timeout {self.timeout}: write it like 90m or 3h")

    def of(self, job: Job) -> tuple[str, str]:
        """The flavour and the timeout of a job."""
        asked = job.cell.resources if isinstance(job.cell, SystemCell) else Resources()
        if job.kind in ("train", "transfer"):
            return asked.flavor or self.flavor, asked.timeout or self.timeout
        return self.flavor, self.timeout

    def command(self, *arguments: str) -> list[str]:
        """What a container runs."""
        pinned = versions(_EXTRAS)
        ours = f"tstbench[{','.join(_EXTRAS)}]"
        number = pinned.pop("tstbench")
        wanted = [self.install or f"{ours}=={number}"]
        wanted += [f"{name}=={version}" for name, version in pinned.items()]
        installs = [part for one in wanted for part in ("--with", one)]
        return ["uv", "run", *installs, "python", "-m", __name__, *arguments]


class Asked(Strict):
    """A system on a direction, as a job is asked about it; see :class:`.SystemCell`."""

    name: str
    seed: int
    generation: dict[str, JsonValue]
    preset: str | None
    settings: dict[str, JsonValue]
    called: str | None
    split: str | None
    steps: tuple[str, ...]
    runs_of: str | None
    device: str


class Question(Strict):
    """What a job on the Hub is asked.

    Attributes:
        suite: for how to score: its system is none of the job's.
        metrics: of the suite, those of the run.
        direction: of the job's system.
        learned: the job's own: a training may learn several at once.
        info: of the system, if the job is about one.
        asked: the system, if it has to learn or to write.
        predictions: to score.
        files: that the job needs, in the repository.
        data: places of the data files of one's own datasets.
        versions: of the packages that decide about numbers.
    """

    kind: Kind
    suite: Suite
    metrics: tuple[str, ...]
    direction: str
    learned: str
    info: SystemInfo | None
    asked: Asked | None
    predictions: tuple[str, ...] | None
    files: dict[str, str]
    data: tuple[str, ...]
    versions: dict[str, str]

    def job(self) -> Job:
        """The job."""
        job = Job(kind=self.kind, direction=self.learned)
        if self.info is None:
            return job
        if self.asked is None:
            outputs = Outputs(self.info.name, self.predictions or ())
            cell = WrittenCell(self.direction, self.info, lambda _: outputs.predictions)
            return replace(job, cell=cell, written=(self.info, outputs))
        one = self.asked
        return replace(
            job,
            cell=SystemCell(
                self.direction,
                self.info,
                one.name,
                None,
                Generation(seed=one.seed, settings=one.generation),
                Choice(one.preset, one.settings, one.called, one.split),
                one.steps,
                one.runs_of,
                one.device,
            ),
        )


def asked_of(cell: SystemCell) -> Asked:
    """A system, as a job is asked about it."""
    chosen, written = cell.choice, cell.generation
    return Asked(
        name=cell.name,
        seed=written.seed,
        generation={**written.settings},
        preset=chosen.preset,
        settings={**chosen.settings},
        called=chosen.called,
        split=chosen.split,
        steps=cell.steps,
        runs_of=cell.runs_of,
        device=cell.device,
    )


class Repository(Storage):
    """A dataset repository, private when it is made here; what belongs together is one commit."""

    def __init__(self, url: str, out: Path) -> None:
        super().__init__(url, out)
        self.name = url.removeprefix(URL)
        self._api = HfApi()

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """What the Hub refuses, without the token, which a server may repeat."""
        with in_words(f"--storage {self.url} {what}"):
            yield

    def check(self) -> None:
        """Make the repository, unless it is there."""
        with self._told("cannot be made"):
            self._api.create_repo(self.name, repo_type="dataset", private=True, exist_ok=True)

    def put(self, files: Iterable[Path]) -> dict[str, str]:
        """Store files of this machine; scores stand in their places of a results folder too."""
        contents = {self._place(file): file.read_bytes() for file in files}
        results = {
            place.removeprefix("out/"): content
            for place, content in contents.items()
            if place.startswith("out/") and Path(place).parts[1] not in _NO_RESULTS
        }
        self.commit(contents.values(), results)
        return {place: digest_of(content) for place, content in contents.items()}

    def put_data(self, corpus: Corpus) -> tuple[str, dict[str, str]]:
        """Store a dataset of one's own: the place of its data file, and all its files by place.

        Raises:
            InputError: a file is not in the folder of the data file.
        """
        origin = Path(corpus.origin)
        mark = digest_of(origin.read_bytes())
        contents = dict[str, bytes]()
        for file in (origin, *paths_in(corpus)):
            try:
                name = file.absolute().relative_to(origin.absolute().parent).as_posix()
            except ValueError as error:
                raise InputError(
                    f"{file} is not in the folder of {origin}: jobs on the Hub get that folder's "
                    "files. Move it there"
                ) from error
            contents[f"out/.data/{mark}/{name}"] = file.read_bytes()
        self.commit(contents.values(), {})
        digests = {place: digest_of(content) for place, content in contents.items()}
        return f"out/.data/{mark}/{origin.name}", digests

    def commit(self, objects: Iterable[bytes], named: dict[str, bytes]) -> None:
        """Commit objects, and files by their names; what is there is not sent again."""
        contents = {f"objects/{digest_of(one)}": one for one in objects} | named
        if not contents:
            return
        with self._told("does not take a file"):
            retried(
                self._api.create_commit,
                self.name,
                [CommitOperationAdd(name, content) for name, content in contents.items()],
                commit_message="A suite's job",
                repo_type="dataset",
            )

    def read(self, name: str) -> bytes:
        """A file of the repository.

        Raises:
            EntryNotFoundError: there is none of that name.
        """
        file = self._api.hf_hub_download(self.name, name, repo_type="dataset")  # it tries again
        return Path(file).read_bytes()

    def write(self, content: bytes) -> str:
        """Store one object; returns its digest."""
        self.commit([content], {})
        return digest_of(content)

    def get_object(self, digest: str) -> bytes:
        """An object.

        Raises:
            IntegrityError: its content is not what its name says.
        """
        with self._told("cannot be read"):
            content = self.read(f"objects/{digest}")
        if digest_of(content) != digest:
            raise IntegrityError(
                f"{self.url} has another content under {digest[:16]}...: delete that object"
            )
        return content

    _write, _read = write, get_object


_NO_RESULTS = ("predictions", ".data")  # of what is in a results folder


def retried(call: Any, *arguments: Any, **options: Any) -> Any:
    """What a request gives, tried again where that may help."""
    for number in range(_TRIES - 1):
        try:
            return call(*arguments, **options)
        except (HTTPError, OSError) as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status is not None and status not in _AGAIN:
                raise
        time.sleep(2.0**number)
    return call(*arguments, **options)


class HubJobs(Elsewhere):
    """Jobs on the Hub's hardware; those that only this process can do, one after the other here.

    Done here are, besides what asks a server: jobs on a licensed corpus, whose texts go nowhere,
    systems that are folders of this machine, and scores that compare systems.

    Args:
        workplace: this process's.
        suite: how to score.
        storage: ``hf://datasets/OWNER/NAME``; jobs are the owner's, who pays for them.
        hardware: what jobs run on.

    Raises:
        InputError: another kind of URL, or the repository takes nothing.
        PushError: there is no token.
    """

    def __init__(
        self, workplace: Workplace, suite: Suite, storage: str | None, hardware: Hardware
    ) -> None:
        work = Work(workplace.how, workplace.root)
        self._suite = suite.model_copy(update={"system": (SuiteSystem(system="copy"),), "data": ()})
        self._repository = Repository(checked(storage), work.root.absolute())
        super().__init__(workplace, work, self._repository)
        self._api, self._hardware = HfApi(), hardware
        self._namespace = self._repository.name.split("/")[0]
        self._token = get_token()
        if not self._token:
            raise PushError(
                "no Hub token: set HF_TOKEN or run `hf auth login`; the token needs write access "
                f"to {self._repository.name} and the right to start jobs"
            )
        self._repository.check()
        self._sent: dict[str, str] = {}  # what the Hub calls a job -> the digest of its question

    def __exit__(self, *error: object) -> None:
        """Cancel what is running; what it has committed so far is kept."""
        for name, job in self._running.items():
            try:
                self._api.cancel_job(job_id=name, namespace=self._namespace)
            except (HTTPError, OSError):
                say(f"could not cancel {job.id}: see {constants.ENDPOINT}/jobs/{self._namespace}")
            else:
                say(f"cancelled on the Hub: {job.id}")

    def start(self, jobs: Sequence[Job]) -> None:
        """Check what jobs run on, and send what all share."""
        checked_prices(jobs, self._hardware)
        self._jobs = {job.id: job for job in jobs}
        used = {job.direction.split("/")[0] for job in jobs}
        corpora = [one for name, one in catalog.REGISTERED.items() if name in used]
        self._data = [self._repository.put_data(one) for one in corpora]

    def wait(self) -> list[Outcome]:
        """Wait for a job, here or there."""
        while True:
            found = self._over_here(block=not self._running)
            for name in () if found else [*self._running]:
                with in_words(f"the job {name}"):
                    info = retried(self._api.inspect_job, job_id=name, namespace=self._namespace)
                if info.status.stage in _OVER:
                    found.append(self._outcome(name, info))
            if found:
                return found
            time.sleep(0.1 if self._busy_here else _LOOK)

    def status(self) -> str:
        """How many jobs have been given to the Hub, and how many are done here."""
        return f"{len(self._running)} on the Hub, {self._busy_here} here"

    def _is_here(self, job: Job) -> bool:
        compares = job.compared is not None
        return compares or is_here(job) or super()._is_here(job)

    def _has_gpu(self, job: Job) -> bool:
        return not self._hardware.of(job)[0].startswith("cpu")

    def _send(self, job: Job, files: Files) -> str:
        cell = job.cell if isinstance(job.cell, SystemCell) and job.kind != "score" else None
        question = Question(
            kind=job.kind,
            suite=self._suite,
            metrics=self._work.how.metrics,
            direction=job.cell.direction if job.cell else job.direction,
            learned=job.direction,
            info=job.written[0] if job.written else job.cell.info if job.cell else None,
            asked=asked_of(cell) if cell else None,
            predictions=job.written[1].predictions if job.written else None,
            files={**files, **{name: one for _, some in self._data for name, one in some.items()}},
            data=tuple(place for place, _ in self._data),
            versions=versions(_EXTRAS),
        )
        digest = self._repository.write(question.model_dump_json().encode())
        flavor, timeout = self._hardware.of(job)
        with in_words(job.id):
            info = self._api.run_job(
                image=self._hardware.image,
                command=self._hardware.command(self._repository.url, digest),
                env={} if constants.ENDPOINT == _PUBLIC else {"HF_ENDPOINT": constants.ENDPOINT},
                secrets={"HF_TOKEN": self._token},
                flavor=flavor,
                timeout=timeout,
                labels={"tstbench": digest[:16]},
                namespace=self._namespace,
            )
        self._sent[info.id] = digest
        say(f"on the Hub: {job.id}, {flavor}: {info.url}")
        threading.Thread(target=self._follow, args=(job, info.id), daemon=True).start()
        return info.id

    def _follow(self, job: Job, name: str) -> None:
        """Write a job's log beside the results as it grows."""
        log = self._log(job)
        log.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Exception), log.open("w", encoding="utf-8") as stream:
            for line in self._api.fetch_job_logs(
                job_id=name, namespace=self._namespace, follow=True
            ):
                stream.write(f"{line}\n")
                stream.flush()
                if line.startswith("careful: "):
                    say(line)

    def _outcome(self, name: str, info: JobInfo) -> Outcome:
        job, digest = self._running.pop(name), self._sent.pop(name)
        where = f"{info.flavor} on the Hub"
        try:
            found = json.loads(self._repository.read(f"outcomes/{digest}.json"))
        except EntryNotFoundError:
            said = f": {info.status.message}" if info.status.message else ""
            why = f"the Hub ended its job as {info.status.stage}{said}; see {info.url}"
            return Outcome(job.id, "left out", why, where=where)
        outcome = Outcome(
            job.id, found["state"], found["why"], found["seconds"], where, files=found["files"]
        )
        if outcome.state == "left out":
            say(f"failed: {job.id}, {where}; log: {self._log(job)}")
            return outcome
        outcome = self._taken(job, outcome)
        if job.kind == "score" and outcome.state != "left out":
            evaluated = self._workplace.do(job).evaluated  # read: nothing has to be computed
            if evaluated:
                evaluated = replace(evaluated, computed=found["computed"])
            outcome = replace(outcome, evaluated=evaluated)
        return outcome


_PUBLIC = "https://huggingface.co"


def is_here(job: Job) -> bool:
    """Whether a job never leaves this machine: the texts of a licensed corpus go nowhere."""
    facts = catalog.DATASETS.get(job.direction.split("/")[0])
    compares = job.kind == "score" and bool(job.after)
    return job.here or compares or bool(facts and facts.licensed)


def checked(storage: str | None) -> str:
    """The URL of a storage for these jobs.

    Raises:
        InputError: it is that of no dataset repository.
    """
    if not (storage and storage.startswith(URL) and is_repo_id(storage.removeprefix(URL))):
        raise InputError(
            f"--engine hf-jobs takes --storage {URL}OWNER/NAME: a dataset repository, through "
            "which files travel; it is made, private, if it is not there"
        )
    return storage


@contextmanager
def in_words(what: str) -> Iterator[None]:
    """What the Hub refuses, as a message for users."""
    try:
        yield
    except Exception as error:
        known = explained(error, what, get_token())
        if known is None:
            raise
        raise known from error


def checked_prices(jobs: Sequence[Job], hardware: Hardware) -> dict[str, float]:
    """US$ a minute of each flavour; empty if the Hub does not say.

    Raises:
        UnknownNameError: the Hub has no flavour that a job asks for.
    """
    minutes = {"second": 1 / 60, "minute": 1, "hour": 60}
    prices: dict[str, float] = {}
    with suppress(HTTPError, OSError):
        for one in HfApi().list_jobs_hardware():
            prices[one.name] = one.unit_cost_usd / minutes.get(one.unit_label, math.nan)
    for flavor in dict.fromkeys(hardware.of(job)[0] for job in jobs if not is_here(job)):
        if prices and flavor not in prices:
            raise unknown_name("flavor of Hub Jobs", flavor, [*prices])
    return prices


def planned(
    jobs: Sequence[Job], hardware: Hardware
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows: each job's hardware, and what it costs at most, as far as the Hub says."""
    prices = checked_prices(jobs, hardware)
    rows = list[tuple[str, ...]]()
    for job in jobs:
        if is_here(job):
            rows.append((job.id, "here", "", ""))
            continue
        flavor, timeout = hardware.of(job)
        minutes = float(timeout[:-1]) * {"s": 1 / 60, "m": 1, "h": 60, "d": 1440}[timeout[-1]]
        cost = f"{prices[flavor] * minutes:.2f}" if flavor in prices else "?"
        rows.append((job.id, flavor, timeout, cost))
    return ("job", "flavor", "timeout", "US$ at most"), rows


def main(url: str, digest: str) -> None:
    """Do one job, in a container of the Hub.

    What it is asked is an object of the repository, and its SHA-256 part of the command: only who
    started the job has written it.
    """
    root = suite_folder(url)
    repository = Repository(url, root)
    question = Question.model_validate_json(repository.get_object(digest))
    job = question.job()
    try:
        check_versions(question.versions)
        repository.get(question.files)
        for place in question.data:
            load_data(repository.path(place))
        how = replace(question.suite.scoring(), metrics=question.metrics)
        outcome = done(Workplace(Work(how, root)), repository, job, {})
    except TSTBenchError as error:
        outcome = Outcome(job.id, "left out", str(error))
    evaluated = outcome.evaluated
    told = {
        "state": outcome.state,
        "why": outcome.why,
        "seconds": outcome.seconds,
        "files": {**outcome.files},
        "computed": evaluated.computed if evaluated else 0,
    }
    repository.commit({}, {f"outcomes/{digest}.json": json.dumps(told).encode()})


if __name__ == "__main__":
    os.environ.setdefault("TSTBENCH_HOME", "/tmp/tstbench")  # noqa: S108 - in a container
    main(*sys.argv[1:])
