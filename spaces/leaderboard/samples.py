"""Sentences side by side: one source, and each system's rewrite of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from ...errors import InputError
from ...metrics.registry import METRICS
from ...pipelines.report import Report, Sample
from ...pipelines.results import SAMPLES_FILE, Stored
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
        rewrites: by label; a system without this sentence is left out.
        mean: of the metric over systems; ``None`` if no system has a value.
        spread: standard deviation of the metric over systems (of ln PPL for perplexity).
    """

    id: str
    source: str
    references: tuple[str, ...]
    rewrites: Mapping[str, Sample]
    mean: float | None
    spread: float


def load_samples(entry: Entry) -> Mapping[str, Sample]:
    """The sentences of an entry by id, with the scores of its report, by metric.

    They are read and checked once, until the file changes.

    Raises:
        InputError: the file does not match the report, or a line is not a sample.
    """
    file = entry.folder / SAMPLES_FILE
    try:
        return _load(entry.folder, entry.report, file.stat().st_mtime_ns)
    except FileNotFoundError as error:  # moved away since the board was read
        raise InputError(f"{file} is not there any more") from error


@lru_cache(maxsize=64)
def _load(
    folder: Path,
    report: Report,
    modified: int,  # noqa: ARG001 (part of the key)
) -> Mapping[str, Sample]:
    metrics = {score.key: score.metric for score in report.scores}
    samples = Stored(folder, report).samples()
    return {sample.id: _by_metric(sample, metrics) for sample in samples}


def _by_metric(sample: Sample, metrics: Mapping[str, str]) -> Sample:
    """The sample with the scores of these keys, named after their metrics."""
    scores = {metrics[key]: value for key, value in sample.scores.items() if key in metrics}
    return sample if scores == sample.scores else sample.model_copy(update={"scores": scores})


def sentence_metrics(samples: Iterable[Mapping[str, Sample]]) -> list[str]:
    """The metrics that have per-sentence scores, in the benchmark's order."""
    found = {m for by_id in samples for sample in by_id.values() for m in sample.scores}
    known = list(METRICS)
    return sorted(found, key=lambda m: (known.index(m) if m in METRICS else len(known), m))


def sides(systems: Mapping[str, Mapping[str, Sample]], metric: str) -> list[Side]:
    """All sentences of all systems, in the order of the first system that has them.

    Args:
        systems: label to :func:`load_samples`.
        metric: the metric whose mean and spread are computed.
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
    """The sentences that contain the text, in the requested order; ties as in the test set.

    Args:
        found: all sentences.
        order: a key of :data:`ORDERS`.
        higher_is_better: of the metric that gave their means.
        text: searched in source, references and rewrites, ignoring case.
    """
    wanted = text.casefold().strip()
    kept = [side for side in found if not wanted or wanted in _all_text(side)]
    if order == "source":
        return kept
    if order == "disagreement":
        return sorted(kept, key=lambda side: -side.spread)
    rising = (order == "worst") == higher_is_better
    means = {side.id: side.mean if rising else -side.mean for side in kept if side.mean is not None}
    return sorted(kept, key=lambda side: means.get(side.id, math.inf))


def _all_text(side: Side) -> str:
    rewrites = (sample.prediction for sample in side.rewrites.values())
    return "\n".join((side.source, *side.references, *rewrites)).casefold()


def _scaled(metric: str, score: float) -> float:
    """Perplexities vary over orders of magnitude, so their logarithm is averaged."""
    return math.log(max(score, 1.0)) if metric == "ppl" else score
