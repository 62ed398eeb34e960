"""Sentences side by side: one source, and what each system made of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from ...metrics.result import METRICS
from ...pipelines.report import Sample, read_samples
from .data import Entry

Order = Literal["disagreement", "worst", "best", "source"]
ORDERS: dict[Order, str] = {
    "disagreement": "where systems disagree most",
    "worst": "worst on average",
    "best": "best on average",
    "source": "as in the test set",
}


@dataclass(frozen=True)
class Side:
    """One source with its references and every system's rewrite of it.

    Attributes:
        rewrites: by label; a system without this sentence is not there.
        mean: of the metric over systems; ``None`` where none has it.
        spread: standard deviation of the metric over systems (of ln PPL for perplexity).
    """

    id: str
    source: str
    references: tuple[str, ...]
    rewrites: Mapping[str, Sample]
    mean: float | None
    spread: float


def load_samples(entry: Entry) -> Mapping[str, Sample]:
    """The sentences of an entry by id; read once for as long as the file stays the same.

    Raises:
        InputError: a line is no sample; file and line are named.
    """
    return _load(entry.folder, (entry.folder / "samples.jsonl").stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _load(folder: Path, modified: int) -> Mapping[str, Sample]:  # noqa: ARG001 (part of the key)
    return {sample.id: sample for sample in read_samples(folder)}


def sentence_metrics(samples: Iterable[Mapping[str, Sample]]) -> list[str]:
    """The metrics that have a score for single sentences, in the benchmark's order."""
    found = {m for by_id in samples for sample in by_id.values() for m in sample.scores}
    known = list(METRICS)
    return sorted(found, key=lambda m: (known.index(m) if m in METRICS else len(known), m))


def sides(systems: Mapping[str, Mapping[str, Sample]], metric: str) -> list[Side]:
    """All sentences of all systems, in the order of the first system that has them.

    Args:
        systems: label to :func:`load_samples`.
        metric: whose mean and spread are computed.
    """
    ids = dict.fromkeys(id_ for by_id in systems.values() for id_ in by_id)
    found = []
    for id_ in ids:
        rewrites = {label: by_id[id_] for label, by_id in systems.items() if id_ in by_id}
        one = next(iter(rewrites.values()))
        scores = [s.scores.get(metric) for s in rewrites.values()]
        scaled = [_scaled(metric, score) for score in scores if score is not None]
        present = [score for score in scores if score is not None]
        mean = sum(present) / len(present) if present else None
        spread = float(np.std(scaled)) if len(scaled) > 1 else 0.0
        found.append(Side(id_, one.source, one.references, rewrites, mean, spread))
    return found


def arrange(
    found: Sequence[Side], order: Order, *, higher_is_better: bool, text: str = ""
) -> list[Side]:
    """The sentences that contain the text, in the order asked for; ties as in the test set.

    Args:
        found: all sentences.
        order: a key of :data:`ORDERS`.
        higher_is_better: of the metric that gave their means.
        text: looked for in source, references and rewrites, without regard to case.
    """
    wanted = text.casefold().strip()
    kept = [side for side in found if not wanted or wanted in _all_text(side)]
    if order == "source":
        return kept
    if order == "disagreement":
        return sorted(kept, key=lambda side: -side.spread)
    sign = 1 if (order == "worst") == higher_is_better else -1
    return sorted(kept, key=lambda s: math.inf if s.mean is None else sign * s.mean)


def _all_text(side: Side) -> str:
    rewrites = (sample.prediction for sample in side.rewrites.values())
    return "\n".join((side.source, *side.references, *rewrites)).casefold()


def _scaled(metric: str, score: float) -> float:
    """Perplexities spread over orders of magnitude: their logarithm is what can be averaged."""
    return math.log(max(score, 1.0)) if metric == "ppl" else score
