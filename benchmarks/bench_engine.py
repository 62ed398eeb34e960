"""A suite's jobs on Ray: what a second core gives, and what a job costs over Ray's own price.

    python benchmarks/bench_engine.py [--systems 120] [--jobs 1000]

- nodes: independent scoring jobs on one node with one core and on two such nodes, both on this
  machine, which must have two idle cores. Starting the nodes is not timed, the workers' is.
- overhead: jobs that do nothing, through TSTBench's engine and as bare Ray tasks, on one core.
- process: scoring in this process, by jobs and by ``evaluate`` for all systems at once, processor
  time; both write their results.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # as many as a job's cores
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from ray.cluster_utils import Cluster

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.engines import Engine, InProcess, Ray, run
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.jobs import Job, Work, Workplace
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.report import SystemInfo
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.suite_file import FileCell

DIRECTION = "mini/negative-to-positive"
HOW = scoring(["acc", "bleu", "ppl", "bertscore"])


@contextlib.contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """The address of a head that does no job and of some nodes with a core each."""
    found = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    try:
        for _ in range(nodes):
            found.add_node(num_cpus=1)
        yield found.address
    finally:
        found.shutdown()


def scores(count: int, word: str) -> list[Job]:
    """Jobs that score the same number of sentences each, all of them different."""
    test_set = load_test_set(DIRECTION)
    found = []
    for number in range(count):
        info = SystemInfo(name=f"system-{number}")
        texts = tuple(f"{text} {word}{number}" for text in test_set.sources)
        cell = FileCell(DIRECTION, info, Path())
        written = info, Outputs(info.name, texts)
        found.append(
            Job(kind="score", direction=DIRECTION, cell=cell, written=written, place=number)
        )
    return found


def nothing(count: int) -> list[Job]:
    """Jobs without anything to do: no metric needs a scorer."""
    cells = (FileCell(DIRECTION, SystemInfo(name=f"s{i}"), Path()) for i in range(count))
    return [Job(kind="prepare", direction=DIRECTION, cell=cell) for cell in cells]


def seconds(jobs: Sequence[Job], engine: Engine) -> float:
    """What an engine takes for jobs."""
    with engine:
        began = time.perf_counter()
        left_out = [one for one in run(jobs, engine) if one.state == "left out"]
        passed = time.perf_counter() - began
    if left_out:
        raise SystemExit(left_out[0].why)
    return passed


def on_ray(jobs: Sequence[Job], work: Work, address: str) -> float:
    """What a cluster takes for jobs."""
    work.root.mkdir(parents=True)
    return seconds(jobs, Ray(Workplace(work), work, address))


def bare(count: int, address: str) -> float:
    """What as many bare tasks of Ray take."""
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    task: Any = ray.remote(lambda: None)
    began = time.perf_counter()
    ray.get([task.remote() for _ in range(count)])
    passed = time.perf_counter() - began
    ray.shutdown()
    return passed


def processor(count: int, folder: Path) -> tuple[float, float]:
    """Processor seconds of scoring in this process: by jobs, and by one evaluation."""
    jobs, others = scores(count, "a"), scores(count, "b")
    test_set = load_test_set(DIRECTION)
    evaluate([job.written[1] for job in scores(1, "c") if job.written], test_set, HOW)  # loads
    began = time.process_time()
    seconds(jobs, InProcess(Workplace(Work(HOW, folder / "jobs"))))
    middle = time.process_time()
    written = [job.written[1] for job in others if job.written]
    evaluate(written, test_set, HOW, root=folder / "evaluation")
    return middle - began, time.process_time() - middle


def main() -> int:
    """Print the ratios; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--systems", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--smoke", action="store_true", help="the least work; no target")
    given = parser.parse_args()
    systems, count = (2, 20) if given.smoke else (given.systems, given.jobs)
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(said):
        folder = Path(name)
        os.environ["TSTBENCH_HOME"] = str(folder / "home")
        HOW.prepare(load_test_set(DIRECTION).direction)
        jobs = scores(systems, "x")
        with cluster(1) as address:
            one = on_ray(jobs, Work(HOW, folder / "one"), address)
            free = Work(scoring(["s_bleu"]), folder / "free")
            each = (on_ray(nothing(count), free, address) - bare(count, address)) / count * 1000
        with cluster(2) as address:
            two = on_ray(jobs, Work(HOW, folder / "two"), address)
        by_jobs, at_once = processor(systems, folder)
    print(f"{systems} scoring jobs: two nodes of one core are {one / two:.2f} times as fast as one")
    print(f"{count} jobs that do nothing: {each:.1f} ms each over Ray's own tasks")
    print(f"{systems} scoring jobs in this process: {by_jobs / at_once:.2f} times one evaluation")
    return int(not given.smoke and (one / two < 1.8 or each > 5))


if __name__ == "__main__":
    sys.exit(main())
