"""How fast a meta-evaluation with 10,000 resamples is, against scipy resample by resample.

    python benchmarks/bench_meta_evaluate.py [--resamples 10000] [--loop 20]

Four studies of the published sizes (the scores are generated: only their number, ties and layout
matter): 2,928 outputs of 244 sentences by 12 systems, 3,200 of 400 by 8, 200 of 99 by one, and 50
scores of 8 to 13 systems on seven directions. One metric for each aspect: every coefficient,
interval and level. The loop does the same work for one study's aspect as a published script would:
draw sentences, put their outputs one after the other, call scipy; it is timed for a few resamples.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats
from timing import Stopwatch, load_average, read_options

from tstbench import __version__
from tstbench.datasets_scripts.judgments.schema import Judgment
from tstbench.pipelines.meta.coefficients import COEFFICIENTS, Pairs, Settings, draw, replicates
from tstbench.pipelines.meta.columns import Column, RatedOutput
from tstbench.pipelines.meta.evaluate import meta_evaluate
from tstbench.pipelines.meta.result import Left

YELP = ("yelp/negative-to-positive", "yelp/positive-to-negative")
SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_b": stats.kendalltau,
    "kendall_c": lambda x, h: stats.kendalltau(x, h, variant="c"),
}


def study(
    name: str,
    directions: Sequence[str],
    sentences: int,
    systems: int,
    steps: int,
    aspects: Sequence[str] = ("style", "content", "fluency"),
) -> Iterator[Judgment]:
    """A study of that layout; scores have ``steps`` steps from 1 to 5."""
    stream = np.random.RandomState(0)
    for direction in directions:
        for sentence in range(sentences):
            for system in range(systems):
                for aspect in aspects:
                    yield Judgment(
                        study=name,
                        dataset=direction.split("/")[0],
                        direction=direction,
                        system=f"system-{system}",
                        sample_id=str(sentence),
                        source=f"sentence {sentence}",
                        output=f"sentence {sentence} by {system}",
                        aspect=aspect,
                        scale="interval 1-5",
                        rater="rater-1",
                        score=1 + 4 * round(float(stream.rand()) * steps) / steps,
                    )


def score(outputs: Sequence[RatedOutput]) -> tuple[list[Column], list[Left]]:
    """One metric for each aspect that people were asked: their score and noise."""
    stream = np.random.RandomState(1)
    aspects = dict.fromkeys(aspect for one in outputs for aspect in one.scores)
    return [
        Column(
            name=f"metric of {aspect}",
            aspect=aspect,
            sentence=np.array([one.scores[aspect] for one in outputs]) + stream.randn(len(outputs)),
        )
        for aspect in aspects
    ], []


def loop(metric: np.ndarray, human: np.ndarray, items: np.ndarray, resamples: int) -> None:
    """The usual way, one resample after the other."""
    members = [np.flatnonzero(items == item) for item in range(items.max() + 1)]
    stream = np.random.RandomState(2)
    for _ in range(resamples):
        drawn = stream.randint(0, len(members), len(members))
        rows = np.concatenate([members[item] for item in drawn])
        for name in COEFFICIENTS:
            SCIPY[name](metric[rows], human[rows])


def main() -> None:
    """Time both sides, then everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--loop", type=int, default=20, help="resamples of the loop that are timed")
    arguments = read_options(parser, resamples=100, loop=1)

    items = np.tile(np.arange(244), 12)
    stream = np.random.RandomState(3)
    human = 1 + np.round(stream.rand(len(items)) * 12) / 3
    metric = human + stream.randn(len(items))
    watch = Stopwatch()

    def ours() -> object:
        pairs = Pairs(human, items, draw(244, arguments.resamples))
        return replicates(COEFFICIENTS, metric, pairs)

    for _ in range(2):
        watch("usual", "one aspect", lambda: loop(metric, human, items, arguments.loop))
        watch("ours", "one aspect", ours)
    ratio = watch.total("usual") / watch.total("ours")
    scale = arguments.resamples / arguments.loop

    judgments = [
        *study("mir", YELP, 122, 12, 12),
        *study("li", YELP, 200, 8, 4),
        *study("pauli", ["pauli2025/neutral-to-catchy"], 200, 1, 12, ("style", "content")),
        *(
            row
            for number in range(7)
            for row in study(f"tst{number}", YELP[:1], 50, 13, 8, ("style", "content", "fluency"))
        ),
    ]
    settings = Settings(resamples=arguments.resamples)
    report = watch("studies", "all", lambda: meta_evaluate(judgments, score, settings))
    whole = watch.total("studies")
    print(
        json.dumps(
            {
                "benchmark": "meta_evaluate",
                "tstbench": __version__,
                "python": platform.python_version(),
                "resamples": arguments.resamples,
                "usual / ours, wall": round(scale * ratio.wall, 1),
                "usual / ours, cpu": round(scale * ratio.cpu, 1),
                "all studies, seconds, wall": round(whole.wall, 1),
                "all studies, seconds, cpu": round(whole.cpu, 1),
                "numbers": len(report.scores),
                "load": round(load_average(), 1),
            }
        )
    )


if __name__ == "__main__":
    main()
