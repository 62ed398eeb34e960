"""The language model, as ratios in one run: estimation against lmplz, scoring against kenlm.

    python benchmarks/bench_language_model.py

Corpus: the 63,483 Yelp validation lines below TSTBENCH_SOURCES, else as many generated ones.
"""

import argparse
import os
import random
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

import kenlm
import numpy as np
from timing import read_options

from tstbench.files import read_lines
from tstbench.metrics.scorers.language_model import (
    NgramLanguageModel,
    find_lmplz,
    train_language_model,
)

YELP = "FayeXXX/A-Benchmark-of-Text-Style-Transfer/Dataprepro/datasets/yelp"
SYSTEMS, SENTENCES = 8, 500  # outputs to score: systems agree on many sentences, references recur


def corpus(most: int) -> tuple[str, list[str]]:
    sources = os.environ.get("TSTBENCH_SOURCES")
    if sources:
        files = [Path(sources, YELP, name) for name in ("dev.0", "dev.1")]
        return "Yelp validation", [line for file in files for line in read_lines(file)][:most]
    rng = random.Random(0)
    words = [f"w{i}" for i in range(8_000)]
    weights = [1 / (i + 1) for i in range(8_000)]
    lines = [" ".join(rng.choices(words, weights, k=rng.randint(4, 14))) for _ in range(most)]
    return "generated", lines


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    return min(timeit.repeat(work, number=1, repeat=repeat))


def bench_estimation(lines: list[str], folder: Path) -> None:
    own = seconds(lambda: train_language_model(lines, folder / "own"))
    print(f"own estimator, order 5, ARPA written: {own:.2f} s")
    if find_lmplz() is None:
        print("lmplz is not on PATH: no comparison")
        return
    other = seconds(lambda: train_language_model(lines, folder / "lmplz", estimator="lmplz"))
    print(f"lmplz (several threads):              {other:.2f} s; own / lmplz = {own / other:.2f}")
    rows = [
        [line.split("\t") for line in read_lines(folder / name / "model.arpa") if "\t" in line]
        for name in ("own", "lmplz")
    ]
    if [row[1] for row in rows[0]] != [row[1] for row in rows[1]]:
        raise SystemExit("the two models hold different n-grams")
    ours, theirs = (np.array([float(row[0]) for row in some]) for some in rows)
    gap = np.abs(ours - theirs).max()
    print(f"largest difference over {len(ours):,} n-grams: {gap:.1e} in log10")


def bench_scoring(lines: list[str], folder: Path) -> None:
    rng = random.Random(0)
    pool = lines[:SENTENCES]
    outputs = [rng.choice(pool) for _ in range(SYSTEMS * SENTENCES)]
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    plain = kenlm.Model(str(folder / "own" / "model.arpa"), config)
    first, warm = [], []
    for _ in range(5):
        scorer = NgramLanguageModel(folder / "own")  # a fresh one remembers nothing
        first.append(seconds(lambda s=scorer: s.log10_probability(outputs), repeat=1))
        warm.append(seconds(lambda s=scorer: s.log10_probability(outputs), repeat=1))
    line_by_line = seconds(lambda: [plain.score(line) for line in outputs], repeat=5)
    if scorer.log10_probability(outputs).tolist() != [plain.score(line) for line in outputs]:
        raise SystemExit("the scorer's numbers are not kenlm's")
    print(f"kenlm line by line, {len(outputs):,} outputs:   {line_by_line * 1e3:.2f} ms")
    for name, times in (("first call", first), ("again", warm)):
        ratio = line_by_line / min(times)
        print(f"scorer, {name:<10} {min(times) * 1e3:.2f} ms; kenlm / scorer = {ratio:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=63_483, help="so many at most")
    name, lines = corpus(read_options(parser, lines=500).lines)
    print(f"corpus: {name}, {len(lines):,} lines, {sum(len(x.split()) for x in lines):,} words")
    with tempfile.TemporaryDirectory() as folder:
        bench_estimation(lines, Path(folder))
        bench_scoring(lines, Path(folder))


if __name__ == "__main__":
    main()
