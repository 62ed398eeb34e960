"""BERTScore of 8 systems in three views, as ratios in one run.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/bench_bertscore.py [--repeat 3] [--quick]

Views: against the source, the first reference, all 4 references. All sides read the same texts
(job.py) with the same all-MiniLM-L6-v2 weights, layer 6, float32; loading is not timed.

- ours: ``bertscore`` called for each system and view; the encoder remembers nothing at first.
- floor: bare forward passes over the distinct sentences (bare.py). Nothing is matched.
- package: bert-score's ``BERTScorer.score`` called for each system and view, in batches of 64.
- script: what the benchmark paper's script does: as package for the first two views, then one
  ``BERTScorer.score`` call per sentence for all references.
- loop: one ``BERTScorer.score`` call per sentence and view. For this and the last, one sentence in
  ten is timed.

Each side is cut into as many units, the sides take turns, and a side's time is the sum over units
of the best of the repeats; README.md says how to read it. The exit code is 1 if a value differs.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from bare import BareModel
from job import Job, load_job
from timing import Seconds, Stopwatch, load_average, read_options
from usual_way import UsualBertScore

from tstbench.metrics.bertscore.bertscore import bertscore
from tstbench.metrics.scorers.encoder import TransformerEncoder, load_encoder
from tstbench.metrics.scorers.find import split_layer
from tstbench.metrics.scorers.profile import PROFILES
from tstbench.metrics.text import preparation

ENCODER, LAYER = split_layer(PROFILES["embedded"].scorers["encoder"])
VIEWS = ("source", "first", "multi")
SAMPLED = 10  # loops are timed on every tenth sentence
TOLERANCE = 1e-5

Scores = dict[tuple[str, str], np.ndarray]  # (system, view) -> F1 of each sentence


@dataclass(frozen=True)
class Texts:
    """What BERTScore reads: predictions by system, and what each view compares them with."""

    systems: dict[str, list[str]]
    against: dict[str, list[list[str]]]

    @classmethod
    def of(cls, job: Job) -> Texts:
        references = [preparation().clean(some) for some in job.test_set.references]
        against = {
            "source": [[source] for source in preparation().clean(job.test_set.sources)],
            "first": [some[:1] for some in references],
            "multi": references,
        }
        return cls({s.system: preparation().clean(s.predictions) for s in job.systems}, against)

    @property
    def distinct(self) -> list[str]:
        compared = [text for view in self.against.values() for some in view for text in some]
        return list(dict.fromkeys(compared + [p for some in self.systems.values() for p in some]))


def run_ours(texts: Texts, folder: Path, watch: Stopwatch) -> Scores:
    encoder = TransformerEncoder(folder, LAYER)
    scores = {}
    for system, predictions in texts.systems.items():
        for view, against in texts.against.items():
            found = watch(
                "ours",
                (system, view),
                lambda p=predictions, a=against: bertscore(p, a, encoder, "max"),
            )
            scores[system, view] = found.f1
    return scores


def run_floor(model: BareModel, batches: list, units: int, watch: Stopwatch) -> None:
    for unit in range(units):
        watch("floor", unit, lambda u=unit: model.forward(batches[u::units]))


def run_package(
    texts: Texts, scorer: UsualBertScore, systems: Sequence[str], watch: Stopwatch
) -> Scores:
    scores = {}
    for system in systems:
        for view, against in texts.against.items():
            predictions = texts.systems[system]
            scores[system, view] = watch(
                f"package {view}", system, lambda p=predictions, a=against: scorer.f1(p, a)
            )
    return scores


def run_loop(
    texts: Texts, scorer: UsualBertScore, systems: Sequence[str], watch: Stopwatch
) -> None:
    for system in systems:
        for view, against in texts.against.items():
            for i in range(0, len(against), SAMPLED):
                one, compared = texts.systems[system][i : i + 1], against[i : i + 1]
                watch(f"loop {view}", (system, i), lambda p=one, a=compared: scorer.f1(p, a))


def compare(texts: Texts, ours: Scores, theirs: Scores, scorer: UsualBertScore) -> bool:
    """Say how far apart the values are, and account for each sentence that differs.

    In bert-score, a token all of whose cosines are negative scores 0 where the other sentence is
    padded and less where it is not. A pair longer than the rest makes sure that all are padded.
    """
    means = max(abs(ours[unit].mean() - f1.mean()) for unit, f1 in theirs.items())
    apart = [
        (unit, i)
        for unit, f1 in theirs.items()
        for i in np.flatnonzero(np.abs(f1 - ours[unit]) > TOLERANCE)
    ]
    filler = max(texts.distinct, key=len) + " and so on" * 20
    padded = 0.0
    for (system, view), i in apart:
        predictions = [texts.systems[system][i], filler]
        f1 = scorer.f1(predictions, [texts.against[view][i], [filler]])[0]
        padded = max(padded, abs(f1 - ours[system, view][i]))
    n_scores = sum(len(f1) for f1 in theirs.values())
    print(f"values: largest difference of {len(theirs)} corpus values {means:.1e}")
    print(
        f"values: of {n_scores:,} sentences, {len(apart)} differ by more than {TOLERANCE}: those "
        "whose value in the package depends on how long the others of their batch are. Padded, "
        f"they differ by at most {padded:.1e}"
    )
    return max(means, padded) <= TOLERANCE


def show(seconds: dict[str, Seconds]) -> None:
    print(f"{'':10}{'clock':>9}{'cpu':>10}    x floor: clock, cpu     x ours: clock, cpu")
    for side, taken in seconds.items():
        floor, own = taken / seconds["floor"], taken / seconds["ours"]
        print(
            f"{side:10}{taken.wall:8.1f}s{taken.cpu:9.1f}s"
            f"{floor.wall:14.2f}{floor.cpu:9.2f}{own.wall:14.2f}{own.cpu:9.2f}"
        )


def times(seconds: Seconds, factor: float) -> Seconds:
    return Seconds(seconds.wall * factor, seconds.cpu * factor)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--quick", action="store_true", help="two systems for package and loops")
    arguments = read_options(parser, repeat=1)
    torch.set_num_threads(arguments.threads)
    os.environ.setdefault("RAYON_NUM_THREADS", str(arguments.threads))  # the tokenizers' threads
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    texts = Texts.of(job := load_job(smoke=arguments.smoke))
    folder = load_encoder(ENCODER, LAYER).folder
    scorer, bare = UsualBertScore(folder, LAYER), BareModel(folder, classifies=False)
    batches, watch = bare.batches(texts.distinct), Stopwatch()
    timed = list(texts.systems)[-2:] if arguments.quick else list(texts.systems)
    print(
        f"{job.name}: {len(texts.systems)} systems x {len(job.test_set)} sentences, "
        f"{len(texts.distinct):,} distinct; {arguments.threads} threads of {os.cpu_count()} cores, "
        f"load {load_average():.1f}"
    )
    for _ in range(arguments.repeat):
        for _ in range(2):
            ours = run_ours(texts, folder, watch)
            run_floor(bare, batches, len(VIEWS) * len(texts.systems), watch)
        theirs = run_package(texts, scorer, timed, watch)
        run_loop(texts, scorer, timed, watch)
    whole = len(texts.systems) / len(timed)
    package = {view: times(watch.total(f"package {view}"), whole) for view in VIEWS}
    loop = {view: times(watch.total(f"loop {view}"), whole * SAMPLED) for view in VIEWS}
    nothing = Seconds(0, 0)
    show(
        {
            "floor": watch.total("floor"),
            "ours": watch.total("ours"),
            "package": sum(package.values(), nothing),
            "script": package["source"] + package["first"] + loop["multi"],
            "loop": sum(loop.values(), nothing),
        }
    )
    print("target: package at least 6 times ours, loop at least 20 times ours")
    equal = compare(texts, ours, theirs, scorer)
    print(f"load at the end: {load_average():.1f}")
    return 0 if equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
