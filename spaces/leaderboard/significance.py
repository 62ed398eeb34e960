"""Rank ranges: which places a system could take, given the sentences that were drawn.

A system's best possible rank is one more than the number of systems that are significantly
better, its worst the number of systems minus those that are significantly worse (paired
bootstrap, two-sided, 5%). Systems that cannot be told apart overlap instead of being put in an
order that the next test set would turn round.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from ...errors import InputError
from ...files import read_lines
from ...metrics.statistics import RESAMPLES, Statistics, mean_statistics, resample
from .data import Entry

ALPHA = 0.05
_SAME = 1e-6  # relative: how near the mean of sentence scores must be to the corpus score

Ranks = tuple[int, int]
Name = TypeVar("Name", bound=Hashable)


def rank_ranges(systems: Mapping[Name, Statistics], higher_is_better: bool) -> dict[Name, Ranks]:
    """First and last possible rank of each system.

    The test is that of :func:`tstbench.metrics.statistics.paired_p_value`, for all pairs at once.

    Args:
        systems: statistics over the same sentences in the same order.
        higher_is_better: the metric's.

    Raises:
        InputError: numbers of sentences differ.
    """
    if not systems:
        return {}
    lengths = {len(statistics.rows) for statistics in systems.values()}
    if len(lengths) > 1:
        raise InputError(f"paired comparison needs the same sentences, got {sorted(lengths)}")
    counts = resample(lengths.pop())
    sign = 1.0 if higher_is_better else -1.0
    values = sign * np.array([s.value for s in systems.values()])
    replicates = sign * np.stack([s.replicates(counts) for s in systems.values()])
    n = len(values)
    better = np.zeros((n, n), dtype=bool)  # [i, j]: i is significantly better than j
    for i in range(n - 1):
        observed = values[i] - values[i + 1 :]
        shifted = np.abs(replicates[i] - replicates[i + 1 :] - observed[:, None])
        extreme = (shifted >= np.abs(observed)[:, None] - 1e-12).sum(axis=1)
        defined = np.isfinite(observed) & np.isfinite(shifted).all(axis=1)
        significant = defined & ((extreme + 1) / (RESAMPLES + 1) < ALPHA)
        better[i, i + 1 :] = significant & (observed > 0)
        better[i + 1 :, i] = significant & (observed < 0)
    first, last = 1 + better.sum(axis=0), n - better.sum(axis=1)
    return {
        name: (int(a), int(b))
        for name, a, b in zip(systems, first, last, strict=True)  # in the order of the rows above
    }


def plain_ranks(values: Mapping[Name, float], higher_is_better: bool) -> dict[Name, Ranks]:
    """Places by value alone; equal values share theirs. Nothing is tested.

    >>> plain_ranks({"a": 3.0, "b": 5.0, "c": 3.0}, higher_is_better=True)
    {'a': (2, 3), 'b': (1, 1), 'c': (2, 3)}
    """
    array = np.array(list(values.values()), dtype=float) * (1 if higher_is_better else -1)
    ordered = np.sort(-array)
    first = np.searchsorted(ordered, -array, side="left") + 1
    last = np.searchsorted(ordered, -array, side="right")
    return {n: (int(a), int(b)) for n, a, b in zip(values, first, last, strict=True)}


def sentence_scores(entry: Entry) -> dict[str, np.ndarray] | None:
    """Per-sentence scores by metric, shape (N,) in the order of the ids; ``None`` without texts.

    Only the numbers are read, without checking the texts: this runs over every system of a
    direction at once.
    """
    if not entry.has_samples:
        return None
    try:
        rows = [json.loads(line) for line in read_lines(entry.folder / "samples.jsonl")]
        rows.sort(key=lambda row: row["id"])
        metrics = rows[0]["scores"] if rows else {}
        return {
            metric: np.array([_number(row["scores"].get(metric)) for row in rows])
            for metric in metrics
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # the sample browser says which line is wrong


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def computed_ranks(
    entries: Mapping[str, Entry], scores: Mapping[str, Mapping[str, np.ndarray] | None]
) -> dict[str, dict[str, Ranks]]:
    """Rank ranges for the metrics whose corpus score is the mean of its sentence scores.

    That is checked, not assumed: where the two differ (BLEU, perplexity), the sentence scores
    would test another quantity than the one shown, and the metric is left out.

    Args:
        entries: by label.
        scores: :func:`sentence_scores` by label.

    Returns:
        Metric to label to ranks.
    """
    found = {}
    metrics = {s.metric: s.higher_is_better for e in entries.values() for s in e.report.scores}
    for metric, higher_is_better in metrics.items():
        statistics = {}
        for label, entry in entries.items():
            score, own = entry.report.score(metric), scores.get(label)
            if score is None or score.value is None:
                continue
            if own is None or metric not in own or not _is_mean(own[metric], score.value):
                break
            statistics[label] = mean_statistics(own[metric])
        else:
            if len({len(s.rows) for s in statistics.values()}) == 1:
                found[metric] = rank_ranges(statistics, higher_is_better)
    return found


def _is_mean(sentences: np.ndarray, corpus: float) -> bool:
    defined = sentences[~np.isnan(sentences)]
    return bool(len(defined)) and abs(defined.mean() - corpus) <= _SAME * max(1.0, abs(corpus))
