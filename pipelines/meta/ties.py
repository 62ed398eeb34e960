"""Pairwise accuracy with ties, and the threshold below which two metric scores count as tied.

Two outputs of the same sentence are compared: people prefer one, the other, or neither. A metric
is right if it says the same. Real-valued metrics hardly ever say "neither", so a difference of at
most epsilon counts as a tie, and epsilon is the value that makes the metric agree best.

Source: Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with
Pairwise Accuracy and Tie Calibration", sections 5 and 6. Their search over all differences is
done here by one sort: as epsilon grows past a pair's difference, that pair becomes tied, which is
right if people tied it and no longer right if it was ordered as people did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_CANDIDATES = 256  # thresholds among which each replicate chooses again


@dataclass(frozen=True, eq=False)
class TiedAccuracy:
    """Pairwise accuracy at the best threshold.

    Attributes:
        value: the accuracy, averaged over items (the "group by item" of WMT), 0 to 1.
        epsilon: the smallest threshold that gives it.
        uncalibrated: the accuracy if only equal scores are tied.
        pairs: the number of pairs compared.
        items: the number of items that have a pair.
        replicates: shape (R,), with the threshold chosen again in each.
    """

    value: float
    epsilon: float
    uncalibrated: float
    pairs: int
    items: int
    replicates: np.ndarray


def tied_accuracy(
    metric: np.ndarray, human: np.ndarray, items: np.ndarray, counts: np.ndarray | None = None
) -> TiedAccuracy | None:
    """Pairwise accuracy with ties calibrated; ``None`` if people prefer no output of any item.

    Where they have no preference, the threshold that ties everything would be right of any metric.

    Args:
        metric: shape (N,); higher is better.
        human: shape (N,).
        items: shape (N,), the number of the sentence that an output belongs to.
        counts: shape (R, I), how often each item is drawn in each replicate; ``None`` for none.
    """
    first, second = _pairs(items)
    people = human[first] - human[second]
    if not people.any():
        return None
    owner = items[first]
    gap = metric[first] - metric[second]
    distance = np.abs(gap)
    size = int(items.max()) + 1
    per_item = np.bincount(owner, minlength=size).astype(np.float64)
    share = 1 / per_item[owner]
    used = int((per_item > 0).sum())
    ordered = (people != 0) & (np.sign(gap) == np.sign(people))
    gain = (people == 0).astype(np.float64) - ordered
    order = np.argsort(distance, kind="stable")
    curve = (ordered * share).sum() + np.cumsum((gain * share)[order])
    steps = distance[order]
    last = np.append(steps[1:] != steps[:-1], True)  # all pairs of one distance become tied at once
    thresholds, accuracies = steps[last], curve[last]
    if thresholds[0] > 0:  # no two scores are equal: epsilon 0 ties nothing
        thresholds = np.append(0.0, thresholds)
        accuracies = np.append((ordered * share).sum(), accuracies)
    best = int(np.argmax(accuracies > accuracies.max() - 1e-9))
    drawn = np.empty(0)
    if counts is not None:
        chosen = _candidates(thresholds, best)
        # A pair adds its gain from the first chosen threshold on that reaches its distance.
        since = np.searchsorted(chosen, distance)
        cells = owner * (len(chosen) + 1) + since
        flat = np.bincount(cells, weights=gain * share, minlength=size * (len(chosen) + 1))
        gains = np.cumsum(flat.reshape(size, -1)[:, :-1], axis=1)
        right = gains + np.bincount(owner, weights=ordered * share, minlength=size)[:, None]
        with np.errstate(invalid="ignore"):
            drawn = (counts @ right).max(axis=1) / (counts @ (per_item > 0).astype(np.float64))
        drawn[counts @ np.bincount(owner, weights=people != 0, minlength=size) == 0] = np.nan
    return TiedAccuracy(
        value=float(accuracies[best] / used),
        epsilon=float(thresholds[best]),
        uncalibrated=float(accuracies[0] / used),
        pairs=len(first),
        items=used,
        replicates=drawn,
    )


def _candidates(thresholds: np.ndarray, best: int) -> np.ndarray:
    """Some thresholds, ascending and evenly among all, and the best one."""
    some = np.linspace(0, len(thresholds) - 1, min(_CANDIDATES, len(thresholds))).astype(int)
    return thresholds[np.unique(np.append(some, best))]


def _pairs(items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of positions with the same item, each once."""
    order = np.argsort(items, kind="stable")
    cuts = np.flatnonzero(np.diff(items[order])) + 1
    first, second = [], []
    for members in np.split(order, cuts):
        a, b = np.triu_indices(len(members), k=1)
        first.append(members[a])
        second.append(members[b])
    if not first:
        return np.empty(0, dtype=int), np.empty(0, dtype=int)
    return np.concatenate(first), np.concatenate(second)
