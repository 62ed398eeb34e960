"""The replicates beside a report, and whether it says what they say.

``replicates.parquet`` has a column for each score: its value, unrounded, and below it the
replicates that the interval is made of. Values and intervals that were edited differ from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError
from ..metrics.result import finite
from ..metrics.statistics import LEVEL, RESAMPLES
from .ranking import Bootstrapped
from .report import Report, Score, score_recipe


def parse_replicates(content: bytes, where: object, keys: Sequence[str]) -> dict[str, Bootstrapped]:
    """Value and replicates of each score by key, unrounded.

    Args:
        content: of ``replicates.parquet``.
        where: it is, for the error.
        keys: of the report's scores.

    Raises:
        InputError: the file is damaged, or lacks a score.
    """
    try:
        # Neither pq.read_table nor to_numpy: they import pandas, which takes a second.
        file = pq.ParquetFile(pa.BufferReader(content))
        rows = file.metadata.num_rows  # of a small file there can be billions
        if keys and rows != 1 + RESAMPLES:
            raise ValueError(f"it does not have one value and {RESAMPLES} replicates")
        table = file.read(list(keys), use_threads=False)
        stored = {key: np.from_dlpack(table[key].combine_chunks()) for key in keys}
        for name, array in stored.items():
            if array.shape != (1 + RESAMPLES,) or array.dtype != np.float64:
                raise ValueError(f"{name} does not have one value and {RESAMPLES} replicates")
    except (ValueError, TypeError, KeyError, OSError, pa.ArrowException) as error:
        raise InputError(f"{where} is damaged: {error}. Evaluate the system again") from error
    return {name: Bootstrapped(float(a[0]), a[1:]) for name, a in stored.items()}


def differing(report: Report, found: Mapping[str, Bootstrapped]) -> str | None:
    """What a report says otherwise than its replicates and signatures: the first such thing.

    Args:
        report: of one system.
        found: its replicates, see :func:`parse_replicates`.
    """
    for score in report.scores:
        if finite(found[score.key].value) != score.value:
            return f"the value of {score.key} differs from replicates.parquet"
        wanted = score_recipe(report.outputs_sha256, report.data.fingerprint, score.signature)
        if score.recipe != wanted:
            return f"the recipe of {score.key} does not match its signature"
    for score in _wrong_intervals(report.scores, found):
        return f"the interval of {score.key} differs from replicates.parquet"
    return None


def _wrong_intervals(scores: Sequence[Score], found: Mapping[str, Bootstrapped]) -> Iterator[Score]:
    """The scores whose interval is not that of their replicates, as far as a report writes it."""
    told = [(score, score.interval) for score in scores if score.interval is not None]
    if not told:
        return
    replicates = np.array([found[score.key].replicates for score, _ in told])
    tails = [100 * (1 - LEVEL) / 2, 100 * (1 + LEVEL) / 2]
    with np.errstate(invalid="ignore"):  # of infinite ones, which are done again below
        bounds = np.percentile(replicates, tails, axis=1).T  # all at once: a tenth of the time
    for (score, interval), draws, wanted in zip(told, replicates, bounds, strict=True):
        if not np.isfinite(draws).all():
            draws = draws[np.isfinite(draws)]
            wanted = np.percentile(draws, tails) if len(draws) else np.full(2, np.nan)
        off = np.abs(wanted - (interval.low, interval.high))
        if interval.level != LEVEL or not (off <= 2e-6 + 1e-9 * np.abs(wanted)).all():
            yield score
