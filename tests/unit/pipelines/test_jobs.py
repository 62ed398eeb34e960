"""A suite as a list of jobs, and the order in which an engine is given them."""

from dataclasses import replace

import httpx
import pytest
from huggingface_hub.errors import HfHubHTTPError
from prepared import BACK, DIRECTION

from tstbench.pipelines import hub_jobs
from tstbench.pipelines.engines import InProcess, run
from tstbench.pipelines.jobs import Job, Left, Outcome, Work, Workplace
from tstbench.pipelines.suite import open_suite

TRAINED = f"""
metrics = ["acc"]
directions = ["{DIRECTION}", "{BACK}"]

[[system]]
system = "stytrans"
preset = "tiny"
resources = {{ cpus = 2, gpus = 0.5, memory = 3 }}

[[system]]
system = "copy"
"""


def plan(tmp_path, text=TRAINED):
    (tmp_path / "suite.toml").write_text(text)
    suite, root, groups = open_suite(tmp_path / "suite.toml")
    return Workplace(Work(suite.scoring(), root)).plan(groups, Left())


def test_a_suite_is_jobs_that_say_what_they_come_after(tmp_path):
    """stytrans learns both ways at once; scorers of a dataset are trained once."""
    jobs = {job.id: job for job in plan(tmp_path)}
    there, back = DIRECTION, BACK
    assert list(jobs) == [
        f"train {there} stytrans",
        f"transfer {there} stytrans",
        f"transfer {there} copy",
        f"prepare {there}",
        f"score {there} stytrans",
        f"score {there} copy",
        f"rank {there}",
        f"transfer {back} stytrans",
        f"transfer {back} copy",
        f"prepare {back}",
        f"score {back} stytrans",
        f"score {back} copy",
        f"rank {back}",
    ]
    assert jobs[f"transfer {back} stytrans"].needs == (f"train {there} stytrans",)
    assert jobs[f"score {back} copy"].needs == (f"transfer {back} copy", f"prepare {back}")
    assert jobs[f"score {back} copy"].after == ()
    assert jobs[f"prepare {back}"].after == (f"prepare {there}",)
    assert jobs[f"rank {back}"].after == (f"score {back} stytrans", f"score {back} copy")
    trained = jobs[f"transfer {back} stytrans"]
    assert (trained.cpus, trained.gpus, trained.gpus_if_any, trained.memory) == (2, 0.5, 0, 3)
    assert jobs[f"transfer {back} copy"].gpus_if_any == 0  # nothing of it runs on a GPU


def test_a_score_that_compares_systems_comes_after_all_that_write(tmp_path):
    jobs = {job.id: job for job in plan(tmp_path, TRAINED.replace("acc", "naturalness_unigram"))}
    assert jobs[f"score {BACK} copy"].after == (
        f"transfer {BACK} stytrans",
        f"transfer {BACK} copy",
    )


def test_a_reason_without_a_cell_is_none():
    left = Left()
    left.out("a/b", [], "no disk")
    left.check(3)


class Recorded(InProcess):
    """Does no job, but says which could not be done."""

    def __init__(self, *failing):
        self._waiting = []
        self._workplace = self
        self.failing, self.did = failing, []

    def do(self, job):
        self.did.append(job.id)
        failed = job.id in self.failing
        return Outcome(job.id, "left out" if failed else "done", "no disk" * failed)


def test_what_needs_a_job_that_failed_is_left_out_and_what_comes_after_is_not():
    one = Job(kind="train", direction="a/b", place=3)
    jobs = [
        Job(kind="rank", direction="a/b", after=("score a/b",), place=0),
        Job(kind="score", direction="a/b", needs=("transfer a/b", "prepare a/b"), place=1),
        Job(kind="transfer", direction="a/b", needs=("train a/b",), place=2),
        one,
        replace(one, kind="prepare", place=4),
    ]
    engine = Recorded("train a/b")
    found = {one.id: (one.state, one.why) for one in run(jobs, engine)}
    assert found == {
        "train a/b": ("left out", "no disk"),
        "prepare a/b": ("done", ""),
        "transfer a/b": ("left out", "no disk"),
        "score a/b": ("left out", "no disk"),
        "rank a/b": ("done", ""),
    }
    assert sorted(engine.did) == ["prepare a/b", "rank a/b", "train a/b"]
    assert engine.did[-1] == "rank a/b"


@pytest.mark.parametrize("status", [409, 412, 429, 500, 502, 503, 504, 400, 401, 403, 404, None])
def test_the_hub_is_asked_again_where_that_may_help(status, monkeypatch):
    waits = []
    monkeypatch.setattr(hub_jobs.time, "sleep", waits.append)

    def fail():
        if status is None:
            raise ConnectionError
        answer = httpx.Response(status, request=httpx.Request("GET", "http://hub"))
        raise HfHubHTTPError("no", response=answer)

    with pytest.raises((HfHubHTTPError, ConnectionError)):
        hub_jobs.retried(fail)
    assert waits == ([] if status in (400, 401, 403, 404) else [1, 2, 4, 8, 16])
