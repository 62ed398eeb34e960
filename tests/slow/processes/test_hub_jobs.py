"""A suite by Hub Jobs, through the real client: what one process would have left, to the byte.

A job is a process of this machine with its own home, beside the double of the Hub. Endpoints and
answers are those that ``huggingface_hub`` asks for and reads. Instead of an image and what ``uv``
installs, a job has this environment; nothing else of its command is changed.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from answering import answering
from hub_double import CREATED, TOKEN, DoubleHandler, HubDouble
from prepared import DIRECTION, prepared_home
from suite_runs import check_equal, of_ones_own

from tstbench.pipelines.hub.serve import AnswerError
from tstbench.pipelines.hub_jobs import is_here
from tstbench.pipelines.jobs import Job

STORAGE = ("--engine", "hf-jobs", "--storage", "hf://datasets/we/suite")
SUITE = f"""
metrics = ["acc", "s_bleu"]
directions = ["{DIRECTION}"]

[[system]]
system = "copy"

[[system]]
system = "delete-retrieve"
resources = {{ flavor = "t4-small", timeout = "90m" }}

[[system]]
system = "reference-2"
"""


PRICES = {"cpu-basic": 0.000167, "t4-small": 0.006667, "h200": 0.083333}  # US$ a minute


@dataclass
class Asked:
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
    jobs: dict[str, Asked] = field(default_factory=dict)
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
        job = machines.jobs[name] = Asked(asked, machines.folder / name)
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


@pytest.fixture
def hub(tmp_path_factory, monkeypatch):
    """A Hub with machines."""
    with answering(HubWithJobs(tmp_path_factory.mktemp("machines"))) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")  # the double speaks git-LFS
        yield server
        for job in server.machines.jobs.values():
            job.process.kill()
            job.process.wait()


def run(suite, *options, code=0):
    """Output and messages, in a process of its own: the client reads HF_ENDPOINT once."""
    command = [sys.executable, "-m", "tstbench", "run", str(suite), *options]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert ended.returncode == code, ended.stderr
    return ended.stdout, ended.stderr


@pytest.fixture
def suite(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path / "suite.toml"


def test_the_hubs_machines_leave_what_one_process_leaves(suite, hub):
    there = suite.parent / "results"
    out, err = run(suite, *STORAGE)
    asked = {one.asked["labels"]["tstbench"]: one.asked for one in hub.machines.jobs.values()}
    flavors = sorted((one["flavor"], one["timeoutSeconds"]) for one in asked.values())
    assert flavors == [("cpu-basic", 10800)] * 4 + [("t4-small", 5400)] * 2
    repository = hub.repos["dataset", "we/suite"]
    assert repository.private
    sent = (
        b"".join(repository.files.values())
        + json.dumps([[one["command"], one["environment"]] for one in asked.values()]).encode()
    )
    assert TOKEN.encode() not in sent
    assert TOKEN not in err + "".join(log.read_text() for log in (there / "logs").iterdir())
    report = f"{DIRECTION}/delete-retrieve/report.json"
    assert repository.files[report] == (there / report).read_bytes()
    assert f"{DIRECTION}: scored 3 of 3 systems; kept 0 scores, computed 6" in err
    there.rename(suite.parent / "by-the-hub")
    assert run(suite)[0] == out
    check_equal(there, suite.parent / "by-the-hub", but="logs")
    before = len(hub.machines.jobs)
    assert (run(suite, *STORAGE)[0], len(hub.machines.jobs)) == (out, before)  # nothing is left


def test_a_dataset_and_outputs_of_ones_own_travel(suite, hub, manners, monkeypatch):
    of_ones_own(suite)
    monkeypatch.setenv("TSTBENCH_DATA", str(manners))
    there = suite.parent / "results"
    run(suite, *STORAGE)
    assert len(hub.machines.jobs) >= 3
    there.rename(suite.parent / "by-the-hub")
    run(suite)
    check_equal(there, suite.parent / "by-the-hub", but="logs")


def test_a_dry_run_says_what_each_job_takes_and_starts_none(suite, hub):
    out, err = run(suite, *STORAGE, "--dry-run", "--timeout", "2h")
    rows = [line.split() for line in out.splitlines() if DIRECTION in line]
    assert ["train", DIRECTION, "delete-retrieve", "t4-small", "90m", "0.60"] in rows
    assert ["score", DIRECTION, "copy", "cpu-basic", "2h", "0.02"] in rows
    assert ["rank", DIRECTION, "here"] in rows
    assert "python -m tstbench.pipelines.hub_jobs hf://datasets/we/suite" in err
    assert "HF_TOKEN" in err
    assert TOKEN not in out + err
    assert not hub.machines.jobs
    assert ("dataset", "we/suite") not in hub.repos


def test_what_the_hub_refuses_or_ends_is_left_out_and_the_rest_is_done(suite, hub):
    suite.write_text(
        SUITE + '\n[[system]]\nsystem = "random-target"\nresources = { flavor = "h200" }\n'
    )
    hub.machines.instead["t4-small"] = "raise SystemExit(3)"
    hub.machines.refused["h200"] = (402, "Pre-paid credit balance is insufficient")
    _, err = run(suite, *STORAGE, code=1)
    assert "left out: random-target" in err
    assert "Pre-paid credit balance is insufficient" in err
    assert "left out: delete-retrieve" in err
    assert "the Hub ended its job as ERROR; see " in err
    assert f"{DIRECTION}: scored 2 of 2 systems" in err
    assert TOKEN not in err


def test_a_job_refuses_what_was_changed_after_it_was_asked(suite, hub):
    suite.write_text(f'directions = ["{DIRECTION}"]\n[[system]]\nsystem = "copy"\n')
    hub.machines.changes_questions = True
    _, err = run(suite, *STORAGE, code=1)
    assert "the Hub ended its job as ERROR" in err
    (log,) = (job.place / "log" for job in hub.machines.jobs.values())
    assert "has another content under" in log.read_text()


def test_a_server_that_repeats_the_token_is_told_without_it(suite, hub):
    hub.refuse["we/suite"] = (403, "the token {token} may not write")
    out, err = run(suite, *STORAGE, code=2)
    assert "the token *** may not write" in err
    assert TOKEN not in out + err
    assert not hub.machines.jobs


def test_jobs_on_licensed_texts_and_scores_that_compare_systems_stay_here():
    def stays(direction, kind="score", **more):
        return is_here(Job(kind=kind, direction=direction, **more))

    assert stays("gyafc_em/informal-to-formal")
    assert stays("gyafc_em/informal-to-formal", "train")
    assert stays("yelp/negative-to-positive", after=("transfer yelp/negative-to-positive copy",))
    assert stays("yelp/negative-to-positive", here=True)
    assert not stays("yelp/negative-to-positive")
    assert not stays("yelp/negative-to-positive", "prepare", after=("prepare yelp/a",))


def test_ctrl_c_cancels_what_is_running(suite, hub):
    hub.machines.instead["cpu-basic"] = "import time; time.sleep(600)"
    command = [sys.executable, "-m", "tstbench", "run", str(suite), *STORAGE]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as ctrl_c:
        for line in ctrl_c.stderr:
            if line.startswith("on the Hub: transfer"):
                break
        time.sleep(1)
        ctrl_c.send_signal(signal.SIGINT)
        rest = ctrl_c.stderr.read()
    assert ctrl_c.returncode == 130, rest
    stages = {one.stage for one in hub.machines.jobs.values()}
    assert "CANCELED" in stages <= {"CANCELED", "COMPLETED"}
    assert "cancelled on the Hub: transfer" in rest


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--engine", "hf-jobs"), "--storage hf://datasets/OWNER/NAME"),
        (("--engine", "hf-jobs", "--storage", "s3://we/suite"), "hf://datasets/OWNER/NAME"),
        ((*STORAGE[:-1], "hf://datasets/we/suite@dev"), "hf://datasets/OWNER/NAME"),
        ((*STORAGE, "--timeout", "soon"), "--timeout soon"),
        (("--flavor", "t4-small"), "--flavor is not for this engine: add --engine hf-jobs"),
    ],
)
def test_a_mistake_is_named_before_anything_starts(options, named, suite, hub):
    _, err = run(suite, *options, code=2)
    assert named in err
    assert not hub.requests


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_flavor_that_the_hub_has_not_is_named(more, suite, hub):
    _, err = run(suite, *STORAGE, "--flavor", "cpu-basc", *more, code=2)
    assert "unknown flavor of Hub Jobs 'cpu-basc'" in err
    assert "cpu-basic" in err
    assert not hub.machines.jobs


def test_without_a_token_nothing_starts(suite, hub, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN_PATH", "/nowhere/token")
    _, err = run(suite, *STORAGE, code=2)
    assert "no Hub token" in err
    assert not hub.requests
