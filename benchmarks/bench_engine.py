"""A suite's jobs on Ray: what a second core gives, and what a job costs over Ray's own price.

    python benchmarks/bench_engine.py [--systems 120] [--jobs 1000]

- nodes: independent scoring jobs on one node with one core and on two such nodes, both on this
  machine, which must have two idle cores. Each job is a system with 500 sentences and 4 references,
  as many as Yelp has, made of the words of ``mini``. Starting the nodes is not timed, the workers'
  is: libraries from their bytecode, scorers from disk.
- overhead: jobs that do nothing, through TSTBench's engine and as bare Ray tasks, on one core.
- process: scoring in this process, by jobs and by ``evaluate`` for all systems at once, processor
  time; both write their results. A sixth of the systems.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # as many as a job's cores
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a worker would compile its libraries each time

import ray
from job import generated_job
from ray.cluster_utils import Cluster

from tstbench.datasets_scripts.catalog import load_data
from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.mini import mini
from tstbench.files import write_text
from tstbench.pipelines.engines import Engine, InProcess, Ray, run
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.jobs import Job, Work, Workplace
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.report import SystemInfo
from tstbench.pipelines.scoring import Scoring, scoring
from tstbench.pipelines.suite_file import WrittenCell

DIRECTION = "generated/negative-to-positive"
MINI = Path(mini.__file__).with_name("data")


def register(folder: Path, sentences: int) -> None:
    """Make the dataset: the texts that other benchmarks have without TSTBENCH_SOURCES."""
    test_set = generated_job().first(sentences).test_set
    columns = [test_set.sources, *zip(*test_set.references, strict=True)]
    files = [folder / f"{number}.txt" for number in range(len(columns))]
    for file, lines in zip(files, columns, strict=True):
        write_text(file, "".join(f"{line}\n" for line in lines))
    sources, *references = (json.dumps(str(file)) for file in files)
    write_text(
        folder / "generated.toml",
        f"""name = "generated"
styles = ["negative", "positive"]
[train]
negative = {json.dumps(str(MINI / "train.0"))}
positive = {json.dumps(str(MINI / "train.1"))}
[[direction]]
from = "negative"
to = "positive"
test = {{ sources = {sources}, references = [{", ".join(references)}] }}
""",
    )
    load_data(folder / "generated.toml")


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """A head that does no job and a node with a core."""
    found = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    try:
        found.add_node(num_cpus=1)
        yield found
    finally:
        found.shutdown()


def scores(count: int, word: str) -> list[Job]:
    """Jobs that score the same number of sentences each, all of them different."""
    test_set = load_test_set(DIRECTION)
    found = []
    for number in range(count):
        info = SystemInfo(name=f"system-{number}")
        texts = tuple(f"{text} {word}{number}" for text in test_set.sources)
        cell = WrittenCell(DIRECTION, info, len)
        written = info, Outputs(info.name, texts)
        found.append(
            Job(kind="score", direction=DIRECTION, cell=cell, written=written, place=number)
        )
    return found


def nothing(count: int) -> list[Job]:
    """Jobs without anything to do: no metric needs a scorer."""
    cells = (WrittenCell(DIRECTION, SystemInfo(name=f"s{i}"), len) for i in range(count))
    return [Job(kind="prepare", direction=DIRECTION, cell=cell) for cell in cells]


def seconds(jobs: Sequence[Job], engine: Engine) -> tuple[float, float]:
    """What an engine takes for jobs, and the median of what a job takes of it."""
    with engine:
        began = time.perf_counter()
        outcomes = list(run(jobs, engine))
        passed = time.perf_counter() - began
    for one in outcomes:
        if one.state == "left out":
            raise SystemExit(one.why)
    return passed, statistics.median(one.seconds for one in outcomes)


def on_ray(jobs: Sequence[Job], work: Work, address: str) -> tuple[float, float]:
    """What a cluster takes for jobs, and for one."""
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


def processor(count: int, how: Scoring, folder: Path) -> tuple[float, float]:
    """Processor seconds of scoring in this process: by jobs, and by one evaluation."""
    jobs, others = scores(count, "a"), scores(count, "b")
    test_set = load_test_set(DIRECTION)
    evaluate([job.written[1] for job in scores(1, "c") if job.written], test_set, how)  # loads
    began = time.process_time()
    seconds(jobs, InProcess(Workplace(Work(how, folder / "jobs"))))
    middle = time.process_time()
    written = [job.written[1] for job in others if job.written]
    evaluate(written, test_set, how, root=folder / "evaluation")
    return middle - began, time.process_time() - middle


def main() -> int:
    """Print the ratios; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--systems", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--smoke", action="store_true", help="the least work; no target")
    given = parser.parse_args()
    systems, count = (2, 20) if given.smoke else (given.systems, given.jobs)
    metrics = ["acc", "bleu", "ppl"] if given.smoke else ["acc", "bleu", "ppl", "bertscore"]
    how, said = scoring(metrics), io.StringIO()
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(said):
        folder = Path(name)
        os.environ["TSTBENCH_HOME"] = str(folder / "home")
        if not given.smoke:
            os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        register(folder, 8 if given.smoke else 500)
        how.prepare(load_test_set(DIRECTION).direction)
        jobs = scores(systems, "x")
        with cluster() as nodes:
            if not given.smoke:
                bytecode = Work(how, folder / "bytecode is written")
                on_ray(scores(1, "w"), bytecode, nodes.address)
            one, alone = on_ray(jobs, Work(how, folder / "one"), nodes.address)
            free = Work(scoring(["s_bleu"]), folder / "free")
            ours, _ = on_ray(nothing(count), free, nodes.address)
            each = (ours - bare(count, nodes.address)) / count * 1000
            nodes.add_node(num_cpus=1)
            two, beside = on_ray(jobs, Work(how, folder / "two"), nodes.address)
        some = max(1, systems // 6)
        by_jobs, at_once = processor(some, how, folder)
    print(f"{systems} scoring jobs: two nodes of one core are {one / two:.2f} times as fast as one")
    print(
        f"  {one:.1f} s and {two:.1f} s; a job takes {alone:.2f} s, beside another {beside:.2f} s"
    )
    print(f"{count} jobs that do nothing: {each:.1f} ms each over Ray's own tasks")
    print(f"{some} scoring jobs in this process: {by_jobs / at_once:.2f} times one evaluation")
    return int(not given.smoke and (one / two < 1.8 or each > 5))


if __name__ == "__main__":
    sys.exit(main())
