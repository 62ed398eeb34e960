"""Where a suite's jobs run: in this process, or elsewhere, such as on the nodes of a Ray cluster.

Ray (https://docs.ray.io, extra ``ray``) starts a job as soon as what it comes after is over and a
node has the cores, GPUs and memory that it takes; a job whose node dies is started again elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from dataclasses import replace
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Protocol, Self

from ..console import say
from ..datasets_scripts import catalog
from ..datasets_scripts.catalog import parse_direction
from ..errors import InputError, TSTBenchError, require
from ..files import home, write_text
from ..trainers.load import ask_if_long
from ..trainers.train import system_config
from .jobs import Job, Outcome, Work, Workplace
from .storage import Files, Storage
from .suite_file import SystemCell
from .worker import Shared, do, versions

_RETRIES = 20  # of a job whose worker or node died; a job that fails is not tried again
_PATIENCE = 60.0  # seconds: a cluster that is there answers sooner
_LOOK = 5.0  # seconds between two questions to the head node
_OURS = (  # never a key
    *("TSTBENCH_HOME", "TSTBENCH_SOURCES", "TSTBENCH_GYAFC", "TSTBENCH_WNC"),
    *("HF_HOME", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
)


class Engine(Protocol):
    """Does jobs whose time has come; a context, which ends what is still running."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def start(self, jobs: Sequence[Job]) -> None:
        """Look at all jobs before the first.

        Raises:
            InputError: one of them can never be done here.
        """

    def submit(self, job: Job) -> None:
        """Take a job; what it comes after is over."""

    def wait(self) -> list[Outcome]:
        """Outcomes of jobs that were taken: at least one, as soon as there is one."""

    def status(self) -> str:
        """What is running where, in a few words; empty where nobody has to be told."""


class InProcess:
    """One job after the other, in the suite's order."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._waiting: list[Job] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is running."""

    def start(self, jobs: Sequence[Job]) -> None:
        """Any job can be done here."""

    def submit(self, job: Job) -> None:
        """Take a job."""
        self._waiting.append(job)

    def wait(self) -> list[Outcome]:
        """Do the first job."""
        job = min(self._waiting, key=lambda one: one.place)
        self._waiting.remove(job)
        return [self._workplace.do(job)]

    def status(self) -> str:
        """A job says itself how far it is."""
        return ""


class Elsewhere(ABC):
    """Jobs that other machines do; those that only this process can do, one after the other here.

    Args:
        workplace: this process's.
        work: what the jobs share.
        storage: where files travel through; ``None`` if all machines share a disk.
    """

    def __init__(self, workplace: Workplace, work: Work, storage: Storage | None) -> None:
        self._workplace = workplace
        self._work = replace(work, root=work.root.absolute())
        self._storage = storage
        self._running: dict[Any, Job] = {}
        self._here: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._over: queue.SimpleQueue[Outcome | Exception] = queue.SimpleQueue()
        self._busy_here = 0
        self._objects: dict[str, dict[str, str]] = {}  # files of jobs that are over
        self._jobs: dict[str, Job] = {}

    def __enter__(self) -> Self:
        threading.Thread(target=self._do_here, daemon=True).start()
        return self

    def submit(self, job: Job) -> None:
        """Take a job."""
        try:
            job = self._workplace.ready(job)
            # A folder of this machine, or work that is done: nothing has to travel.
            if self._is_here(job):
                self._busy_here += 1
                self._here.put(job)
                return
            if job.kind == "train" and not self._has_gpu(job):
                _ask_if_long(job)
            self._running[self._send(job, self._files_for(job))] = job
        except TSTBenchError as error:
            self._busy_here += 1
            self._over.put(Outcome(job.id, "left out", str(error)))

    def _is_here(self, job: Job) -> bool:
        return job.here or bool(self._storage and (_is_local(job) or self._workplace.is_done(job)))

    @abstractmethod
    def _has_gpu(self, job: Job) -> bool:
        """Whether what a job would run on has a GPU."""

    @abstractmethod
    def _send(self, job: Job, files: Files) -> Any:
        """Start a job elsewhere; returns what it is called there."""

    def _over_here(self, *, block: bool) -> list[Outcome]:
        """What was done here, or could not be sent."""
        found = list[Outcome]()
        with contextlib.suppress(queue.Empty):
            over = self._over.get(block=block)
            self._busy_here -= 1
            if isinstance(over, Exception):
                raise over
            found.append(over)
        return found

    def _taken(self, job: Job, outcome: Outcome) -> Outcome:
        """An outcome that came from elsewhere, with its files here."""
        if outcome.state != "left out":
            try:
                if self._storage:
                    self._storage.get(outcome.files)
            except TSTBenchError as error:
                return replace(outcome, state="left out", why=str(error))
            self._objects[job.id] = {**outcome.files}
            said = [line for line in outcome.log.splitlines() if line.startswith("careful: ")]
            say(
                "\n".join(
                    (*said, f"{outcome.state}: {job.id}, {outcome.where}, {outcome.seconds:.1f} s")
                )
            )
            return outcome
        log = self._log(job)
        write_text(log, f"{job.id}, {outcome.where}\n{outcome.log}\n{outcome.why}\n")
        say(f"failed: {job.id}, {outcome.where}; log: {log}")
        return outcome

    def _log(self, job: Job) -> Path:
        return self._work.root / "logs" / f"{job.id.replace(' ', '-').replace('/', '-')}.log"

    def _files_for(self, job: Job) -> dict[str, str]:
        """What a job needs of those before it, and what there is of itself; stored."""
        if self._storage is None:
            return {}
        found = self._storage.put(self._workplace.files(job))
        for name in job.needs:
            before = self._jobs[name]
            if before.kind == "transfer":
                continue  # a score has the texts
            if name not in self._objects:
                self._objects[name] = self._storage.put(self._workplace.files(before))
            found |= self._objects[name]
        return found

    def _do_here(self) -> None:
        while True:
            job = self._here.get()
            try:
                self._over.put(self._workplace.do(job))
            except Exception as error:  # a defect: raised where somebody waits
                self._over.put(error)


class Ray(Elsewhere):
    """Jobs on a Ray cluster; those that only this process can do, one after the other here.

    All nodes must see the results folder at the same path, unless there is a storage.

    Args:
        workplace: this process's.
        work: what the jobs share.
        address: ``host:port`` of a cluster, or ``auto`` on one of its nodes; ``None`` starts one on
            this machine, which ends with the suite.
        storage: where files travel through, see :mod:`.storage`.

    Raises:
        InputError: nobody answers at the address, or the storage takes no file.
        MissingExtraError: Ray is not installed.
    """

    def __init__(
        self,
        workplace: Workplace,
        work: Work,
        address: str | None = None,
        storage: str | None = None,
    ) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._ray: Any = require("ray", "ray")
        super().__init__(
            workplace, work, Storage(storage, work.root.absolute()) if storage else None
        )
        self._mark = self._work.root / f".running-{secrets.token_hex(8)}"  # each run has its own
        if self._storage:
            self._storage.check()  # before a cluster is started
        self._connect(address)

    def __exit__(self, *error: object) -> None:
        """Leave the cluster, which ends what is running; what it has written so far is kept."""
        self._mark.unlink(missing_ok=True)
        self._ray.shutdown()

    def start(self, jobs: Sequence[Job]) -> None:
        """Check that the cluster has what each job takes, and send what all jobs share."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        gpus = any(node.get("GPU", 0) for node in nodes)
        self._gpus = gpus and self._work.how.placement.device != "cpu"
        for job in jobs:
            asked = {} if job.here else self._resources(job)
            names = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
            wanted = {names[name]: amount for name, amount in asked.items() if amount}
            if not any(all(node.get(k, 0) >= v for k, v in wanted.items()) for node in nodes):
                most = {k: max((node.get(k, 0) for node in nodes), default=0) for k in wanted}
                raise InputError(
                    f"{job.id} takes {_in_words(wanted)}, and no node of the cluster has that: at "
                    f"most {_in_words(most)}, on one or another. Change 'resources' of "
                    f"{job.system or 'the system'} in the suite, or add a node"
                )
        used = {job.direction.split("/")[0] for job in jobs}
        corpora: Any = tuple(one for name, one in catalog.REGISTERED.items() if name in used)
        url, files = "", dict[str, str]()
        if self._storage:
            url = self._storage.url
            corpora, files = self._storage.put_paths(corpora)
        self._jobs = {job.id: job for job in jobs}
        shared = Shared(self._work, corpora, versions(), self._mark, Path.cwd(), url, files)
        self._shared = self._ray.put(shared)
        self._do = self._ray.remote(max_retries=_RETRIES)(do)
        write_text(self._mark, "")

    def wait(self) -> list[Outcome]:
        """Wait for a job, here or there."""
        while True:
            found = self._over_here(block=not self._running)
            if not found:
                ready, _ = self._ray.wait(
                    list(self._running), timeout=0.1 if self._busy_here else _LOOK
                )
                if not ready and time.monotonic() > self._answered + _LOOK:
                    self._check_head()
                found = [self._outcome(future) for future in ready]
            if found:
                return found

    def status(self) -> str:
        """How many jobs have been given to the cluster, and how many are done here."""
        return f"{len(self._running)} on the cluster, {self._busy_here} here"

    def _outcome(self, future: Any) -> Outcome:
        job = self._running.pop(future)
        try:
            outcome: Outcome = self._ray.get(future)
        except self._ray.exceptions.RayError as error:  # its worker died again and again
            return Outcome(job.id, "left out", f"{type(error).__name__}: {str(error).strip()}")
        return self._taken(job, outcome)

    def _has_gpu(self, job: Job) -> bool:
        del job
        return self._gpus

    def _send(self, job: Job, files: Files) -> Any:
        task = self._do.options(name=job.id, **self._resources(job))
        # In a list, Ray does not open it for each job anew.
        return task.remote([self._shared], job, files)

    def _resources(self, job: Job) -> dict[str, float]:
        gpus = job.gpus or (job.gpus_if_any if self._gpus else 0)
        return {"num_cpus": job.cpus, "num_gpus": gpus, "memory": int(job.memory * 2**30)}

    def _connect(self, address: str | None) -> None:
        env = {name: os.environ[name] for name in _OURS if name in os.environ}
        env |= {"TSTBENCH_HOME": str(home().absolute())}
        if self._storage:  # each machine has its own
            env = {}
        host, _, port = (address or "").rpartition(":")
        if host and port.isdigit():
            try:
                socket.create_connection((host, int(port)), 10).close()
            except OSError as error:
                raise InputError(
                    f"nobody answers at {address}: {error}. 'ray status' on the head node says "
                    "whether the cluster runs; without --address one is started on this machine"
                ) from error
        start = partial(
            self._ray.init,
            address=address or "local",
            runtime_env={"env_vars": env},
            log_to_driver=False,
            logging_level="ERROR",
            **({} if address else {"include_dashboard": False}),
        )
        try:
            _within(_PATIENCE, start) if address else start()
        except (OSError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            raise InputError(
                f"no Ray cluster at {address}: {error}. If it was started with a token, it takes "
                "RAY_AUTH_MODE=token and the same ~/.ray/auth_token here"
            ) from error
        self._head = self._ray.get_runtime_context().gcs_address
        self._answered = time.monotonic()

    def _check_head(self) -> None:
        """Ask whether the head node is there: Ray would end this process after a minute.

        Raises:
            InputError: it has not answered for half a minute.
        """
        now = time.monotonic()
        try:
            host, _, port = self._head.rpartition(":")
            socket.create_connection((host, int(port)), _LOOK).close()
            self._answered = now
        except OSError as error:
            if now - self._answered > _PATIENCE / 2:
                raise InputError(
                    f"the head node of the cluster, {self._head}, does not answer any more: "
                    f"{error}. What is complete is kept: start the cluster again, and the same "
                    "command goes on"
                ) from error


def _within(seconds: float, call: Callable[[], object]) -> None:
    """Do something that may wait without end, and that nothing can interrupt.

    Raises:
        TimeoutError: it takes longer; it is left alone.
    """
    future: futures.Future[object] = futures.Future()

    def in_a_thread() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=in_a_thread, daemon=True).start()
    futures.wait([future], seconds)
    if not future.done():
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")
    future.result()


def _ask_if_long(job: Job) -> None:
    """Ask before a training of hours; a worker has no terminal."""
    if isinstance(job.cell, SystemCell):
        learned, chosen = parse_direction(job.direction), job.cell.choice
        config = system_config(job.cell.name, learned, chosen.settings, preset=chosen.preset)
        ask_if_long(job.cell.name, learned, config, "cpu")


def _is_local(job: Job) -> bool:
    """Whether a job's system is a folder of this machine, of one's own or of the Hub's cache."""
    return job.kind == "transfer" and isinstance(job.cell, SystemCell) and bool(job.cell.stored)


def _in_words(resources: Mapping[str, float]) -> str:
    units = {"CPU": "CPUs", "GPU": "GPUs"}
    return ", ".join(
        f"{amount / 2**30:.1f} GiB of memory" if name == "memory" else f"{amount:g} {units[name]}"
        for name, amount in resources.items()
    )


def run(jobs: Sequence[Job], engine: Engine) -> Iterator[Outcome]:
    """Have an engine do all jobs, each when what it comes after is over.

    A job that needs one that was left out is left out, for the same reason.
    """
    by_id = {job.id: job for job in jobs}
    failed: dict[str, str] = {}
    busy = 0
    order = TopologicalSorter({job.id: {*job.needs, *job.after} for job in jobs})
    order.prepare()
    engine.start(jobs)
    while order.is_active():
        found = []
        for name in order.get_ready():
            why = next((failed[one] for one in by_id[name].needs if one in failed), None)
            if why is None:
                engine.submit(by_id[name])
                busy += 1
            else:
                found.append(Outcome(name, "left out", why))
        if busy and not found:
            found = engine.wait()
            busy -= len(found)
        for one in found:
            if one.state == "left out":
                failed[one.id] = one.why
            order.done(one.id)
            yield one
