"""BLEU's statistics against sacreBLEU's ``corpus_bleu``, and the memory of a million sentences.

    python benchmarks/bench_statistics.py [--lines 200000] [--repeat 2] [--sentences 1000000]

- speed: ``bleu_statistics`` (the sums' rows and every sentence's own score) against sacreBLEU's
  ``corpus_bleu`` with its defaults (one score), over the same lines, nothing counted before. Under
  the protocol ``13a`` both count the same n-grams, and the values must agree to 1e-9; ``tstbench``
  tokenises as NLTK does.
- memory: in a process of its own, BLEU from the texts of two systems, their Joint with made-up ACC
  and PPL, its interval, and the paired test of the two; the peak is what the system says
  (``ru_maxrss``). 0 sentences leave it out.

Lines are halves of training sentences of Yelp, or of ``mini``, put together by chance: nearly all
differ, as those of a large corpus do. The exit code is 1 if values differ, if ours takes more than
twice sacreBLEU's time, or if the peak is 2 GB or more.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
from sacrebleu import corpus_bleu
from timing import Stopwatch, load_average, read_options

from tstbench.datasets_scripts.load import load_styles
from tstbench.metrics import text
from tstbench.metrics.bleu import bleu
from tstbench.metrics.bleu.bleu import bleu_statistics
from tstbench.metrics.joint.joint import joint_statistics
from tstbench.metrics.ppl.ppl import ppl_statistics
from tstbench.metrics.statistics import Statistics, interval, paired_p_value, share_statistics

SLOWEST = 0.5  # of sacreBLEU's speed
MOST = 2e9  # bytes
TOLERANCE = 1e-9
PROTOCOLS = ("13a", "tstbench")


@dataclass(frozen=True)
class Lines:
    """What two systems wrote, and what they are compared with."""

    first: list[str]
    second: list[str]
    references: list[str]


def recombined(n: int, seed: int = 0) -> Lines:
    """Lines that begin as their reference does, and go on as another sentence."""
    name = "yelp" if os.environ.get("TSTBENCH_SOURCES") else "mini"
    words = [text.split() for text in load_styles(name).training.texts]
    heads = [" ".join(some[: len(some) // 2]) for some in words]
    tails = [" ".join(some[len(some) // 2 :]) for some in words]
    head, *others = np.random.RandomState(seed).randint(0, len(words), size=(4, n)).tolist()
    return Lines(
        *([f"{heads[i]} {tails[k]}" for i, k in zip(head, tail, strict=True)] for tail in others)
    )


def speed(n: int, repeat: int, slowest: float) -> bool:
    """Print the ratios; whether values agree and ours is fast enough."""
    lines, watch, good = recombined(n), Stopwatch(), True
    against = [[text] for text in lines.references]
    for _ in range(repeat):
        usual = watch("sacrebleu", n, lambda: corpus_bleu(lines.first, [lines.references]))
        for protocol in PROTOCOLS:
            _forget()
            ours = watch(protocol, n, lambda p=protocol: bleu_statistics(lines.first, against, p))
            apart = abs(ours.value - usual.score)
            good &= protocol != "13a" or apart <= TOLERANCE
    for protocol in PROTOCOLS:
        ratio = watch.total("sacrebleu") / watch.total(protocol)
        print(
            f"{n:,} lines, {protocol}: {watch.total(protocol).cpu:.1f} s, corpus_bleu "
            f"{watch.total('sacrebleu').cpu:.1f} s of processor time; corpus_bleu / ours "
            f"{ratio.wall:.2f} by the clock, {ratio.cpu:.2f} in processor time"
        )
        good &= ratio.cpu >= slowest
    return good


def _forget() -> None:
    """Every repeat starts cold, as a process that measures one system does."""
    bleu.tokenized.cache_clear()
    bleu._counter.cache_clear()
    for part in (text._first, text._inside, text._last):
        part.cache_clear()


def memory(n: int) -> bool:
    """Measure in a process of its own, and print the peak."""
    command = [sys.executable, __file__, "--measure", str(n)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds = ", ".join(f"{step} {taken:.0f} s" for step, taken in found["seconds"].items())
    print(
        f"{n:,} sentences, two systems: peak {found['peak'] / 1e9:.2f} GB, of which texts and "
        f"libraries {found['start'] / 1e9:.2f} GB; processor time: {seconds}"
    )
    return bool(found["peak"] < MOST)


def measure(n: int) -> None:
    """BLEU, Joint, interval and paired test of two systems: figures as JSON to stdout."""
    lines, stream = recombined(n), np.random.RandomState(1)
    start, seconds, clock = _peak(), {}, time.process_time()

    def joint(made: list[str], strength: float) -> Statistics:
        acc = share_statistics(stream.dirichlet([1, strength], n), 1)
        counted = bleu_statistics(made, [[text] for text in lines.references])
        return joint_statistics(acc, counted, ppl_statistics(-20 * stream.rand(n), np.full(n, 9)))

    def lap(step: str) -> None:
        nonlocal clock
        seconds[step], clock = time.process_time() - clock, time.process_time()

    first, second = joint(lines.first, 2.0), joint(lines.second, 2.01)
    lap("BLEU")
    bounds = interval(first)
    lap("interval")
    p = paired_p_value(first, second)
    lap("paired test")
    if bounds is None or not bounds.low <= first.value <= bounds.high or not 0 < p <= 1:
        raise SystemExit(f"impossible: {first.value} in {bounds}, p {p}")
    print(json.dumps({"peak": _peak(), "start": start, "seconds": seconds}))


def _peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    arguments = read_options(parser, lines=200, repeat=1, sentences=200)
    if arguments.measure is not None:
        measure(arguments.measure)
        return 0
    print(f"load {load_average():.1f}")
    good = speed(arguments.lines, arguments.repeat, SLOWEST * (not arguments.smoke))
    if arguments.sentences:
        good &= memory(arguments.sentences) or arguments.smoke
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
