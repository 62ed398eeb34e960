"""The replicates beside a report.

``replicates.parquet`` has a column for each score: its value, unrounded, and below it the
replicates that the interval is made of.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError
from ..metrics.statistics import RESAMPLES
from .ranking import Bootstrapped


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
