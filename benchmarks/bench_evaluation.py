"""The whole evaluation, as ratios in one run: against the usual way, and against the floor.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/bench_evaluation.py [--repeat 3] [--threads 2]
        [--only job | growth] [--systems 8]

All sides work on the same texts (job.py), with the same all-MiniLM-L6-v2 weights as encoder, as
style classifier and as acceptability classifier (the two with a random head each: an untrained
model costs the same), with the same number of threads. Loading is not timed; every run starts with
empty caches.

- ours: ``evaluate`` with all ten metrics, the reports with their intervals, and the rankings.
- usual: what usual_way.py does. The metrics' values only.
- floor: what bare.py does: forward passes over the distinct sentences of each model.

Then growth: the cost of further systems, as a ratio to bare passes over the sentences that only
they have. README.md explains the output. The exit code is 1 if a value differs, otherwise 0.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import transformers
from bare import BareModel, Batch
from job import SYSTEMS, Job, load_job
from models import LAYER, PROFILE, Models, make_models
from timing import Seconds, Stopwatch, load_average, read_options
from usual_way import UsualBertScore, UsualClassifier, UsualPerplexity, usual_bleu

from tstbench.metrics.base import Measurement
from tstbench.metrics.measure import measure
from tstbench.metrics.registry import benchmark_metrics
from tstbench.metrics.text import folded, preparation
from tstbench.pipelines.evaluate import Evaluation, evaluate, inputs_of
from tstbench.pipelines.scoring import scoring

GROWTH = (1, 2, 4, 8, 16)
TOLERANCES = {"acc": 0.0, "cola": 0.0, "bleu": 1e-9, "bert": 1e-5, "ppl": 1e-9}
Values = dict[tuple[str, str], np.ndarray]  # (system, metric) -> corpus value, or hits (N,)


# -- ours --------------------------------------------------------------------------------------


def forget() -> None:
    """Clear every memory of the library, as in a new process."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "tstbench":
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def run_ours(job: Job, watch: Stopwatch) -> Evaluation:
    forget()
    how = replace(scoring(benchmark_metrics()), profile=PROFILE)
    scorers = how.scorers(job.test_set.direction)
    for role in ("encoder", "classifier", "acceptability", "language_model"):
        scorers.load(role)  # not timed on any side

    def work() -> Evaluation:
        evaluation = evaluate(job.systems, job.test_set, how)
        for system in evaluation.systems:
            _ = system.results.report
        _ = evaluation.standings
        return evaluation

    return watch("ours", len(job.systems), work)


def time_intervals(job: Job, watch: Stopwatch) -> None:
    """The intervals of all metrics: of one system, and of all."""
    how = replace(scoring(benchmark_metrics()), profile=PROFILE)
    scorers = how.scorers(job.test_set.direction)
    measured = [
        [
            one
            for one in measure(
                benchmark_metrics(), inputs_of(system, job.test_set), scorers
            ).values()
            if isinstance(one, Measurement)
        ]
        for system in job.systems
    ]
    for n in (1, len(measured)):
        forget()  # the draws too
        watch("intervals", n, lambda n=n: [m.interval() for some in measured[:n] for m in some])


# -- the usual way -------------------------------------------------------------------------------


class UsualWay:
    """The usual way's models, loaded."""

    def __init__(self, job: Job, models: Models) -> None:
        self._job = job
        self._target = job.test_set.direction.target_style
        self._classifier = UsualClassifier(models.classifier)
        self._acceptability = UsualClassifier(models.acceptability)
        self._bertscore = UsualBertScore(models.encoder, LAYER)
        self._perplexity = UsualPerplexity.load(models.language_model)

    def run(self, watch: Stopwatch) -> Values:
        values: Values = {}
        for system in self._job.systems:
            for metric, work in self._parts(system.predictions).items():
                values[system.system, metric] = watch("usual", (system.system, metric), work)
        return values

    def _parts(self, predictions: tuple[str, ...]) -> dict[str, Callable[[], np.ndarray]]:
        """What is called for one system; preparing the texts is not timed."""
        test_set = self._job.test_set
        read, style = folded(predictions), preparation().for_classifier(predictions)
        words = preparation().reading("ppl").prepare(predictions)
        against = {
            "s": [[source] for source in test_set.sources],
            "r": [list(some[:1]) for some in test_set.references],
            "multi": [list(some) for some in test_set.references],
        }
        parts: dict[str, Callable[[], np.ndarray]] = {
            "acc": lambda: _hits(self._classifier.labels(style), self._target),
            "cola": lambda: _hits(self._acceptability.labels(read), "acceptable"),
            "ppl": lambda: np.array(self._perplexity.perplexity(words)),
        }
        for view, texts in against.items():
            others = [folded(some) for some in texts]
            parts[f"{view}_bleu"] = lambda t=texts: np.array(usual_bleu(predictions, t))
            parts[f"{view}_bert"] = lambda t=others: self._bertscore.f1(read, t).mean()
        return parts


def _hits(labels: list[str], wanted: str) -> np.ndarray:
    """100 for a sentence with the wanted label, else 0: shape (N,)."""
    return np.array([100.0 * (label == wanted) for label in labels])


# -- the floor -----------------------------------------------------------------------------------


class Floor:
    """Bare forward passes over the distinct sentences of each model."""

    def __init__(self, models: Models) -> None:
        self._encoder = BareModel(models.encoder, classifies=False)
        self._classifier = BareModel(models.classifier, classifies=True)
        self._acceptability = BareModel(models.acceptability, classifies=True)

    def batches(self, job: Job, without: Job | None = None) -> list[tuple[BareModel, list[Batch]]]:
        """The batches of each model, less the sentences that another job has already."""
        known = _sentences(without) if without else [set(), set(), set()]
        models = (self._encoder, self._classifier, self._acceptability)
        return [
            (model, model.batches(text for text in texts if text not in seen))
            for model, texts, seen in zip(models, _sentences(job), known, strict=True)
        ]


def run_floor(batches: list[tuple[BareModel, list[Batch]]], watch: Stopwatch, n: int = 0) -> None:
    watch("floor", n, lambda: [model.forward(some) for model, some in batches])


def _sentences(job: Job) -> list[dict[str, None]]:
    """The distinct texts that encoder, classifier and acceptability classifier read."""
    predictions = [text for system in job.systems for text in system.predictions]
    test_set = job.test_set
    compared = [*test_set.sources, *(text for some in test_set.references for text in some)]
    read = folded(predictions)
    encoded = dict.fromkeys([*read, *folded(compared)])
    return [encoded, dict.fromkeys(preparation().for_classifier(predictions)), dict.fromkeys(read)]


# -- what is printed -----------------------------------------------------------------------------


def differences(evaluation: Evaluation, usual: Values) -> dict[str, float]:
    """The largest difference from the usual way's values, by family of metrics.

    Of ACC and CoLA every decision is compared, of the others the corpus value.
    """
    found = dict.fromkeys(TOLERANCES, 0.0)
    for (name, metric), theirs in usual.items():
        system = next(s for s in evaluation.systems if s.info.name == name)
        ours = next(one for one in system.results.scored if one.score.metric == metric)
        values = np.array(ours.per_sentence if theirs.ndim else ours.bootstrapped.value)
        family = metric.split("_")[-1]
        found[family] = max(found[family], float(np.abs(values - theirs).max()))
    return found


def show(label: str, seconds: Seconds, floor: Seconds) -> None:
    ratio = seconds / floor
    print(
        f"{label:<34}{seconds.wall:8.2f} s{seconds.cpu:8.2f} s cpu"
        f"{ratio.wall:8.2f} x floor{ratio.cpu:8.2f} x floor, cpu"
    )


def bench_job(job: Job, models: Models, repeat: int) -> dict[str, Any]:
    usual_way, watch = UsualWay(job, models), Stopwatch()
    batches = Floor(models).batches(job)
    for _ in range(repeat):
        evaluation = run_ours(job, watch)
        run_floor(batches, watch)
        values = usual_way.run(watch)
        run_floor(batches, watch)
        evaluation = run_ours(job, watch)
        time_intervals(job, watch)
    ours, usual, bare = (watch.total(side) for side in ("ours", "usual", "floor"))
    counts = [len(texts) for texts in _sentences(job)]
    print("distinct sentences of encoder, classifier, acceptability:", *counts)
    for label, seconds in (("floor", bare), ("ours", ours), ("usual", usual)):
        show(label, seconds, bare)
    for metric in sorted({metric for _, metric in values}):
        parts = [watch.unit("usual", (s.system, metric)) for s in job.systems]
        show(f"  usual, {metric}", sum(parts, Seconds(0, 0)), bare)
    speedup, above = usual / ours, ours / bare
    print(f"usual / ours: {speedup.wall:.2f} (cpu {speedup.cpu:.2f}); target: at least 3.5")
    print(f"ours / floor: {above.wall:.2f} (cpu {above.cpu:.2f}); target: at most 1.3")
    one, every = watch.unit("intervals", 1), watch.unit("intervals", len(job.systems))
    share = every.wall / ours.wall
    print(
        f"intervals, 1,000 resamples of {len(job.test_set)} sentences, all metrics: one system "
        f"{one.wall * 1e3:.0f} ms, {len(job.systems)} systems {every.wall * 1e3:.0f} ms, "
        f"{share:.1%} of the job"
    )
    gaps = differences(evaluation, values)
    for family, gap in gaps.items():
        said = "equal" if gap <= TOLERANCES[family] else "DIFFERENT"
        print(f"values, {family}: largest difference {gap:.1e}: {said}")
    return {
        "seconds": {"ours": asdict(ours), "usual": asdict(usual), "floor": asdict(bare)},
        "usual/ours": asdict(speedup),
        "ours/floor": asdict(above),
        "intervals": {"one_system": one.wall, "all_systems": every.wall, "share": share},
        "differences": gaps,
        "equal": all(gap <= TOLERANCES[family] for family, gap in gaps.items()),
    }


def bench_growth(
    job: Job, models: Models, repeat: int, growth: tuple[int, ...] = GROWTH
) -> list[dict[str, Any]]:
    floor, watch = Floor(models), Stopwatch()
    jobs = [job.with_systems(n) for n in growth]
    new = [floor.batches(jobs[0])]
    new += [floor.batches(more, without=fewer) for fewer, more in pairwise(jobs)]
    for _ in range(repeat):
        for some, batches in zip(jobs, new, strict=True):
            run_ours(some, watch)
            run_floor(batches, watch, len(some.systems))
    rows, before, n_before = [], Seconds(0, 0), 0
    for n in growth:
        total = watch.unit("ours", n)
        ratio = (total - before) / watch.unit("floor", n)
        print(
            f"{n:3} systems {total.wall:8.2f} s {total.cpu:8.2f} s cpu; the last {n - n_before} "
            f"cost {ratio.wall:.2f} times (cpu {ratio.cpu:.2f}) the bare passes over the sentences "
            "that only they have"
        )
        rows.append({"systems": n, "seconds": asdict(total), "marginal/floor": asdict(ratio)})
        before, n_before = total, n
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only", choices=("job", "growth"))
    parser.add_argument("--systems", type=int, default=SYSTEMS, help="fewer, for a quick look")
    arguments = read_options(parser, repeat=1, systems=2)
    torch.set_num_threads(arguments.threads)
    os.environ.setdefault("RAYON_NUM_THREADS", str(arguments.threads))  # the tokenizers' threads
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    job, load = load_job(smoke=arguments.smoke).with_systems(arguments.systems), load_average()
    print(
        f"{job.name}: {len(job.systems)} systems x {len(job.test_set)} sentences, ten metrics; "
        f"{arguments.threads} threads of {os.cpu_count()} cores, load {load:.1f}"
    )
    with tempfile.TemporaryDirectory() as home:
        os.environ["TSTBENCH_HOME"] = home
        models = make_models(job)
        result: dict[str, Any] = {}
        if arguments.only != "growth":
            result |= bench_job(job, models, arguments.repeat)
        if arguments.only != "job":
            result["growth"] = bench_growth(
                job, models, arguments.repeat, GROWTH[:2] if arguments.smoke else GROWTH
            )
    loads = [load, load_average()]
    print(f"load at the end: {loads[1]:.1f}")
    print(json.dumps({"job": job.name, "threads": arguments.threads, "load": loads, **result}))
    return 0 if result.get("equal", True) else 1


if __name__ == "__main__":
    raise SystemExit(main())
