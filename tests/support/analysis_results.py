"""Results by hand for the tests of the analysis: seeded scores, some missing, bounds beside."""

from pathlib import Path

import numpy as np
from leaderboard_results import THERE, report, sample, write

from tstbench.datasets_scripts.judgments.schema import Judgment

SENTENCES = 40
SYSTEMS = ("alpha", "beta", "gamma", "delta", "cae@5", "cae@10", "cae@1")
METRICS = ("acc", "s_bleu", "multi_bleu", "ppl", "joint")


def sentence_values(seed: int) -> dict[str, np.ndarray]:
    """Scores of single sentences; every seventh BLEU is missing."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=SENTENCES)
    bleu = np.clip(40 + 15 * quality + rng.normal(size=SENTENCES) * 8, 0, 100)
    bleu[::7] = np.nan
    return {
        "acc": 100.0 * (rng.random(SENTENCES) < 0.6),
        "s_bleu": np.clip(50 - 10 * quality + rng.normal(size=SENTENCES), 0, 100),
        "multi_bleu": bleu,
        "ppl": np.exp(4 - 0.5 * quality + rng.normal(size=SENTENCES)),
    }


def corpus_values(seed: int) -> dict[str, float]:
    """Corpus scores, to two decimals."""
    rng = np.random.default_rng(1000 + seed)
    values = {"acc": 60 + 30 * rng.random(), "s_bleu": 20 + 40 * rng.random(),
              "multi_bleu": 10 + 30 * rng.random(), "ppl": 50 + 400 * rng.random(),
              "joint": 0.2 + 0.3 * rng.random()}  # fmt: skip
    return {name: round(value, 2) for name, value in values.items()}


def handmade(
    root: Path, direction: str = THERE, *, systems=SYSTEMS, metrics=METRICS, shift=0, texts=True
) -> Path:
    """A results folder of these systems, and a bound that would change every correlation."""
    for seed, name in enumerate((*systems, "copy")):
        scores = sentence_values(seed + shift)
        corpus = corpus_values(seed + shift)
        if name == "copy":
            corpus = dict.fromkeys(corpus, 99.0)
        samples = [
            sample(
                n,
                f"source {n} is here",
                f"source {n} IS here"
                if name == "copy" or n % 10 == seed
                else f"{name} says {n} =1",
                (f"reference {n}", f"a reference {n} again"),
                **{
                    m: None if np.isnan(v[n]) else float(v[n])
                    for m, v in scores.items()
                    if m in metrics
                },
            )
            for n in range(SENTENCES)
        ]
        one = report(
            name,
            {m: corpus[m] for m in metrics},
            direction,
            info={"family": "rule" if name == "copy" else "fpft"},
        )
        write(root, one, samples if texts else ())
    return root


def judgment(system, number, score, *, aspect="style", output=None, study="ours", rater="rater-1"):
    return Judgment(
        study=study,
        dataset="mini",
        direction=THERE,
        system=system,
        sample_id=f"s-{number}",
        source=None,
        output=output,
        aspect=aspect,
        scale="interval 1-5",
        rater=rater,
        score=score,
    )
