"""Hub Jobs beside the double of the Hub: a job is a process of this machine with its own home.

Endpoints and answers are those that ``huggingface_hub`` asks for and reads. Instead of an image and
what ``uv`` installs, a job has this environment; nothing else of its command is changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from answering import answering
from hub_double import CREATED, DoubleHandler, HubDouble

from tstbench.pipelines.hub.serve import AnswerError

PRICES = {"cpu-basic": 0.000167, "t4-small": 0.006667, "h200": 0.083333}  # US$ a minute


@dataclass
class Job:
    asked: dict
    place: Path
    process: subprocess.Popen | None = None
    cancelled: bool = False

    @property
    def stage(self) -> str:
        if self.process is None or (code := self.process.poll()) is None:
            return "RUNNING"
        return "CANCELED" if self.cancelled else "ERROR" if code else "COMPLETED"


@dataclass
class Machines:
    """What was asked for, and what refuses."""

    folder: Path
    jobs: dict[str, Job] = field(default_factory=dict)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)  # by flavour
    instead: dict[str, str] = field(default_factory=dict)  # by flavour: what a machine runs
    changes_questions: bool = False  # somebody writes to the repository meanwhile


class JobsHandler(DoubleHandler):
    routes = {
        "/api/jobs/hardware": "hardware",
        "/api/jobs/([^/]+)": "run",
        "/api/jobs/([^/]+)/([^/]+)": "inspect",
        "/api/jobs/([^/]+)/([^/]+)/logs": "logs",
        "/api/jobs/([^/]+)/([^/]+)/cancel": "cancel",
        **DoubleHandler.routes,
    }
    posted = (*DoubleHandler.posted, "run", "cancel")

    def hardware(self):
        return [
            {
                "name": name,
                "prettyName": name,
                "cpu": "2 vCPU",
                "ram": "16 GB",
                "accelerator": None,
                "unitCostMicroUSD": round(price * 1e6),
                "unitCostUSD": price,
                "unitLabel": "minute",
            }
            for name, price in PRICES.items()
        ]

    def run(self, owner):
        self.check_token(owner, writing=True)
        asked, machines = json.loads(self.body), self.server.machines
        if asked["flavor"] in machines.refused:
            status, message = machines.refused[asked["flavor"]]
            raise AnswerError(status, message)
        name = f"{len(machines.jobs):024x}"
        job = machines.jobs[name] = Job(asked, machines.folder / name)
        job.place.mkdir(parents=True)
        command = asked["command"]
        assert command[:2] == ["uv", "run"], command
        run = command[command.index("python") + 1 :]
        if machines.changes_questions:
            *_, url, digest = command
            repo = self.server.repos["dataset", url.removeprefix("hf://datasets/")]
            path = f"objects/{digest}"
            repo.commit({**repo.files, path: repo.files[path].replace(b"copy", b"mine")}, "changed")
        if asked["flavor"] in machines.instead:
            run = ["-c", machines.instead[asked["flavor"]]]
        ours = ("PATH", "PYTHONPATH", "HOME", "OMP_NUM_THREADS", "TSTBENCH_SOURCES", "TMPDIR")
        ours += ("HF_HUB_DISABLE_XET", "HF_HUB_OFFLINE")
        env = {key: os.environ[key] for key in ours if key in os.environ}
        env |= {"TSTBENCH_HOME": str(job.place / "home"), "HF_HOME": str(job.place / "hf")}
        job.process = subprocess.Popen(
            [sys.executable, *run],
            env={**env, **asked["environment"], **asked["secrets"]},
            cwd=job.place,
            stdout=(job.place / "log").open("wb"),
            stderr=subprocess.STDOUT,
        )
        return self.facts(owner, name)

    def facts(self, owner, name):
        job = self.server.machines.jobs.get(name)
        if job is None:
            raise AnswerError(404, "Job not found")
        return {
            "id": name,
            "createdAt": CREATED,
            "dockerImage": job.asked.get("dockerImage"),
            "command": job.asked["command"],
            "arguments": [],
            "environment": job.asked["environment"],
            "secrets": dict.fromkeys(job.asked["secrets"], "***"),
            "flavor": job.asked["flavor"],
            "labels": job.asked.get("labels"),
            "status": {"stage": job.stage, "message": None},
            "owner": {"id": "0" * 24, "name": owner, "type": "user"},
        }

    def inspect(self, owner, name):
        return self.facts(owner, name)

    def logs(self, owner, name):
        self.facts(owner, name)
        lines = (self.server.machines.jobs[name].place / "log").read_text("utf-8").splitlines()
        events = [f"data: {json.dumps({'data': one, 'timestamp': CREATED})}\n\n" for one in lines]
        self.send_body(200, "".join(events).encode(), {"Content-Type": "text/event-stream"})

    def cancel(self, owner, name):
        self.facts(owner, name)
        job = self.server.machines.jobs[name]
        job.cancelled = True
        job.process.terminate()
        job.process.wait()
        return {}


class HubWithJobs(HubDouble):
    handler = JobsHandler

    def __init__(self, folder: Path):
        self.machines = Machines(folder)
        super().__init__()


@contextmanager
def running() -> Iterator[HubWithJobs]:
    """A Hub with machines, until the block ends."""
    with (
        tempfile.TemporaryDirectory() as folder,
        answering(HubWithJobs(Path(folder))) as server,
    ):
        yield server
        for job in server.machines.jobs.values():
            job.process.kill()
            job.process.wait()
