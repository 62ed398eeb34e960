"""Which systems are better: all systems of a direction, compared pairwise by signature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..files import write_json
from ..metrics.registry import METRICS
from .ranking import Bootstrapped, Rank, rank_values
from .results import read_direction
from .seeds import Measured, pooled

SIGNIFICANCE_FILE = "significance.json"


def rank_stored(systems: Sequence[Measured]) -> dict[str, list[Rank]]:
    """The ranking of a direction's systems by each score, by signature.

    Only numbers with equal signatures are compared; bounds are not ranked. Runs of one system are
    ranked one by one: :func:`.seeds.pooled` makes them one system. There is no ranking by a
    score for which a system has no replicates beside its report, nor by a metric that is not
    installed here: which way is better is never read from a report.
    """
    groups: dict[str, tuple[bool, dict[str, Bootstrapped]]] = {}
    untested: set[str] = set()
    for stored in systems:
        if stored.report.system.is_bound:
            continue
        found = stored.bootstrapped()
        for score in (s for s in stored.report.scores if s.metric in METRICS):
            higher = METRICS[score.metric].higher_is_better
            _, group = groups.setdefault(score.signature, (higher, {}))
            if score.key in found:
                group[stored.report.system.name] = found[score.key]
            else:
                untested.add(score.signature)
    return {
        signature: rank_values(some, higher_is_better=higher)
        for signature, (higher, some) in groups.items()
        if signature not in untested
    }


def write_significance(folder: Path) -> None:
    """Compare all systems of a direction and write ``significance.json``, by signature.

    Several seeds of one system are one system there.
    """
    record = {
        signature: {
            "test": "paired bootstrap, two-sided, alpha 0.05, uncorrected",
            "ranks": {r.system: [r.low, r.high] for r in some},
            "p_best": {r.system: r.p_best for r in some if np.isfinite(r.p_best)},
        }
        for signature, some in rank_stored(pooled(read_direction(folder))).items()
    }
    write_json(folder / SIGNIFICANCE_FILE, record)
