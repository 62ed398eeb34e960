"""What the intervals and p-values of the benchmark's sizes are recorded for, and tested against.

The texts are drawn word by word from a fixed stream: no file, and the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tstbench.metrics.bleu.bleu import bleu_statistics
from tstbench.metrics.chrf.chrf import chrf_statistics
from tstbench.metrics.joint.joint import joint_statistics
from tstbench.metrics.ppl.ppl import ppl_statistics
from tstbench.metrics.statistics import Statistics, mean_statistics, share_statistics

SIZES = (20, 500, 1500, 6000)
SEEDS = (12345, 3)
_WORDS = (
    "the food was not very good , but we didn't hate it . \" Great '' service : 5 stars ! "
    "cannot café it's ( really ) awful , I'd say ... wanna go ? no -- never 'tis 9,50 $ u.s."
).split()


@dataclass(frozen=True)
class Case:
    """Two systems, measured by one metric on the same sentences."""

    metric: str
    size: int
    first: Statistics
    second: Statistics


def texts(n: int, seed: int) -> list[str]:
    """N sentences of 0 to 14 words."""
    stream = np.random.RandomState(seed)
    lengths = stream.randint(0, 15, size=n)
    return [" ".join(_WORDS[i] for i in stream.randint(0, len(_WORDS), size=k)) for k in lengths]


def cases() -> Iterator[Case]:
    """Metrics with sums of every kind: hits, log-probabilities, means, n-grams, and all of them."""
    for size in SIZES:
        first, second = _system(size, 1), _system(size, 2)
        for metric in first:
            yield Case(metric, size, first[metric](), second[metric]())


def _system(n: int, seed: int) -> dict[str, Callable[[], Statistics]]:
    stream = np.random.RandomState(100 + seed)
    sources, others = texts(n, 50), texts(n, 51)
    # Rewrites: every other sentence keeps the half of its source, so that n-grams match.
    made = texts(n, 10 + seed)
    halves = [text[: len(text) // 2] for text in sources]
    made = [
        f"{half} {text}" if i % 2 else text
        for i, (half, text) in enumerate(zip(halves, made, strict=True))
    ]
    references = [[a, b][: i % 3] for i, (a, b) in enumerate(zip(sources, others, strict=True))]
    acc = share_statistics(stream.dirichlet([1, 1 + seed], n), 1)
    ppl = ppl_statistics(-20 * stream.rand(n), stream.randint(1, 15, n))
    graded = stream.rand(n)
    graded[::11] = np.nan

    def joint() -> Statistics:
        return joint_statistics(acc, bleu_statistics(made, [[s] for s in sources]), ppl)

    if n > 1500:  # chrF counts slowly
        chrf: dict[str, Callable[[], Statistics]] = {}
    else:
        chrf = {"chrf": lambda: chrf_statistics(made, references)}
    return {
        "acc": lambda: acc,
        "ppl": lambda: ppl,
        "mean": lambda: mean_statistics(graded),
        "s_bleu": lambda: bleu_statistics(made, [[s] for s in sources]),
        "bleu_13a": lambda: bleu_statistics(made, references, "13a"),
        "joint": joint,
        **chrf,
    }
