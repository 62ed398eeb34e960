"""How the scores of single sentences are distributed: by system, and by setting of one metric.

Source: the STI and CPS study (Cloudera Fast Forward Labs, 2022), figures 6 and 8 (scores of outputs
beside those of people's rewrites) and 5 (CPS by threshold and way of masking).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...metrics.signature import Signature
from ..standings import Column
from .results import DirectionResults, sentence_ids, sentence_scores

_GRADES = 3  # different values, at least: a share of yes and no has no shape


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """The scores of single sentences, finite ones only.

    Attributes:
        name: of the system, or the setting.
        bound: whether it is a bound's.
        signature: of the score.
    """

    name: str
    bound: bool
    signature: str
    values: np.ndarray

    @property
    def quantiles(self) -> tuple[float, ...]:
        """5th, 25th, 50th, 75th and 95th percentile."""
        return tuple(float(q) for q in np.percentile(self.values, [5, 25, 50, 75, 95]))


@dataclass(frozen=True, kw_only=True)
class DistributionPanel:
    """The distributions of one metric, which share an axis.

    Attributes:
        title: of the metric; numbered where it is of one of several signatures.
        column: the unit, and of :func:`by_system` the score.
    """

    title: str
    column: Column
    rows: tuple[Distribution, ...]


def by_system(results: DirectionResults) -> tuple[DistributionPanel, ...]:
    """Every graded metric, all runs, bounds last; of several signatures that of most systems."""
    runs = [r for r in results.runs if r.system.name in results.samples]
    runs.sort(key=lambda r: r.system.is_bound)
    ids = sentence_ids(results) or tuple(s.id for some in results.samples.values() for s in some)
    panels = []
    for metric in dict.fromkeys(c.metric for c in results.columns):
        column = results.column([metric])
        if column is None:
            continue
        rows = zip(runs, sentence_scores(results, column, ids, runs), strict=True)
        found = tuple(
            Distribution(
                name=run.system.name,
                bound=run.system.is_bound,
                signature=column.signature,
                values=values[np.isfinite(values)],
            )
            for run, values in rows
            if np.isfinite(values).any()
        )
        if _graded(found):
            panels.append(DistributionPanel(title=column.title, column=column, rows=found))
    return tuple(panels)


def by_setting(results: DirectionResults) -> tuple[DistributionPanel, ...]:
    """Every metric with several signatures, over the outputs of the runs that have all of them."""
    ids = sentence_ids(results)
    panels = []
    for metric in dict.fromkeys(c.metric for c in results.columns):
        columns = [c for c in results.columns if c.metric == metric]
        if len(columns) < 2:
            continue
        tables = np.array([sentence_scores(results, column, ids) for column in columns])
        there = np.isfinite(tables).any(axis=2).all(axis=0)
        rows = tuple(
            Distribution(
                name=name,
                bound=False,
                signature=column.signature,
                values=table[there][np.isfinite(table[there])],
            )
            for name, column, table in zip(settings(columns), columns, tables, strict=True)
        )
        if there.any() and _graded(rows):
            rows = tuple(sorted(rows, key=lambda row: row.name))
            title = columns[0].title.removesuffix(" (1)")
            panels.append(DistributionPanel(title=title, column=columns[0], rows=rows))
    return tuple(panels)


def settings(columns: Sequence[Column]) -> list[str]:
    """What tells columns of one metric apart: the fields of their signatures that differ.

    A field that only some have, and all of these alike, follows from another and is left out.
    """
    fields = []
    for column in columns:
        try:
            fields.append(dict(Signature.parse(column.signature).fields))
        except InputError:
            fields.append({})
    names = dict.fromkeys(name for some in fields for name in some)
    apart = [n for n in names if len({some[n] for some in fields if n in some}) > 1]
    shown = [" ".join(f"{n}={some[n]}" for n in apart if n in some) for some in fields]
    numbers = [re.sub(r".*\((\d+)\)$", r"\1", column.title) for column in columns]
    return [
        text if text and shown.count(text) == 1 else f"{text} ({number})".strip()
        for text, number in zip(shown, numbers, strict=True)
    ]


def _graded(rows: Sequence[Distribution]) -> bool:
    return bool(rows) and len(np.unique(np.concatenate([r.values for r in rows]))) >= _GRADES
