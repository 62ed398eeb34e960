"""Exact word mover's distance of 5,000 pairs, against gensim's ``wmdistance`` in the same run.

    python benchmarks/bench_wmd.py [--repeat 3]

Both sides get the same tokenised sentences and the same word vectors (word2vec, trained here on the
training sentences, not timed), and both compute the exact distance; the values must agree to 1e-6.

- rewrites: outputs of systems, and two human rewrites, against their sources (job.py).
- unrelated: the same outputs against the source of another sentence.

ours is ``compare("wmd", ...)`` on all pairs, from tokens to distances; gensim is one call per pair.
Each side's time is the best of the repeats. The exit code is 1 if a value differs, or if the
rewrites are not at least 20 times faster.
"""

from __future__ import annotations

import argparse

import numpy as np
import ot  # noqa: F401 - both sides load it when first used
from gensim.models import KeyedVectors
from job import load_job
from timing import Stopwatch, load_average, read_options

from tstbench.datasets_scripts.load import load_styles
from tstbench.metrics.scorers.word_vectors import WordVectors, fit_word_vectors
from tstbench.metrics.text import tokenized
from tstbench.metrics.wmd.wmd import compare

SYSTEMS = 10  # times 500 sentences
TARGET = 20
TOLERANCE = 1e-6

Pairs = list[tuple[list[str], list[str]]]


def load_pairs(*, smoke: bool) -> tuple[str, dict[str, Pairs], WordVectors]:
    job = load_job(smoke=smoke).with_systems(2 if smoke else SYSTEMS)
    sources = [text.split() for text in tokenized(job.test_set.sources)]
    outputs = [[text.split() for text in tokenized(s.predictions)] for s in job.systems]
    others = [*sources[1:], sources[0]]
    kinds = {
        "rewrites": [pair for some in outputs for pair in zip(some, sources, strict=True)],
        "unrelated": [pair for some in outputs for pair in zip(some, others, strict=True)],
    }
    training = load_styles(job.test_set.direction.dataset).training.texts
    return job.name, kinds, fit_word_vectors(tokenized(training))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = read_options(parser, repeat=1)
    name, kinds, vectors = load_pairs(smoke=arguments.smoke)
    theirs = KeyedVectors(vectors.dimensions)
    theirs.add_vectors(list(vectors.rows), vectors.vectors)
    theirs.fill_norms()
    watch, good = Stopwatch(), True
    print(
        f"{name}, {len(vectors):,} words of {vectors.dimensions} numbers, load {load_average():.1f}"
    )
    for kind, pairs in kinds.items():
        for _ in range(arguments.repeat):
            ours = watch("ours", kind, lambda p=pairs: compare("wmd", p, vectors))
            expected = watch(
                "gensim", kind, lambda p=pairs: [theirs.wmdistance(a, b) for a, b in p]
            )
        both = np.isfinite(expected)  # gensim: infinite where a sentence has no known word
        apart = float(np.abs(ours[both] - np.array(expected)[both]).max())
        mine, other = watch.unit("ours", kind), watch.unit("gensim", kind)
        ratio = other / mine
        copies = sum(a == b for a, b in pairs)
        shared = np.mean([len({*a} & {*b}) / max(1, len({*a})) for a, b in pairs])
        print(
            f"{kind:10}{len(pairs):6,} pairs, {copies:,} copies, {shared:4.0%} of words shared: "
            f"ours {mine.wall:.3f} s, gensim {other.wall:.2f} s; gensim / ours "
            f"{ratio.wall:.0f} by the clock, {ratio.cpu:.0f} in processor time; values apart "
            f"{apart:.0e}, {int((~both).sum())} without a known word"
        )
        good &= apart <= TOLERANCE and (
            kind != "rewrites" or ratio.wall >= TARGET or arguments.smoke
        )
    mine, other = watch.total("ours"), watch.total("gensim")
    ratio = other / mine
    print(
        f"both kinds: gensim / ours {ratio.wall:.0f} by the clock, {ratio.cpu:.0f} in processor "
        "time"
    )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
