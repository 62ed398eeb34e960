"""The results folder: what evaluations write, and leaderboards read.

Layout: ``<root>/<dataset>/<source>-to-<target>/<system>/`` with ``report.json`` (scores,
intervals, signatures), ``samples.jsonl`` (one line a sentence) and ``replicates.parquet`` (every
corpus score and its bootstrap replicates, so that systems scored in different years can still be
compared pairwise); and beside the systems ``significance.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..files import atomic_folder, write_json
from ..metrics.result import finite
from ..metrics.statistics import RESAMPLES
from .ranking import Bootstrapped, Rank, rank
from .report import (
    MAX_NAME,
    Report,
    Sample,
    predictions_sha256,
    read_report,
    read_samples,
    write_report,
)
from .talk import say

REPLICATES_FILE = "replicates.parquet"
SIGNIFICANCE_FILE = "significance.json"
RESULT_FILES = {"report.json", "samples.jsonl", REPLICATES_FILE}


@dataclass(frozen=True)
class Stored:
    """One system's results on disk."""

    folder: Path
    report: Report

    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """Value and replicates of each metric, unrounded; empty where the folder has none."""
        path = self.folder / REPLICATES_FILE
        if not path.is_file():
            return {}
        try:
            table = pq.read_table(path)
            stored = {s.metric: table[s.metric].to_numpy() for s in self.report.scores}
            for name, array in stored.items():
                if array.shape != (1 + RESAMPLES,) or array.dtype != np.float64:
                    raise ValueError(f"{name} is not a value and {RESAMPLES} replicates")
        except (ValueError, TypeError, KeyError, OSError, pa.ArrowException) as error:
            raise InputError(f"{path} is damaged: {error}. Evaluate the system again") from error
        return {name: Bootstrapped(float(a[0]), a[1:]) for name, a in stored.items()}

    def check_whole(self) -> None:
        """Check that report, samples and replicates are all there and tell of the same work.

        Raises:
            TSTBenchError: a file is missing, damaged, or was changed afterwards.
        """
        values = {name: finite(one.value) for name, one in self.bootstrapped().items()}
        told = {score.metric: score.value for score in self.report.scores}
        predictions = [sample.prediction for sample in read_samples(self.folder)]
        if values != told or predictions_sha256(predictions) != self.report.outputs_sha256:
            raise InputError(f"{self.folder} was changed after it was written")


def is_result(folder: Path) -> bool:
    """Whether a folder holds nothing but what :func:`write_system` writes."""
    return {file.name for file in folder.iterdir()} <= RESULT_FILES


def direction_folder(root: Path, direction: Direction) -> Path:
    """Where the systems of a direction lie."""
    return root / direction.dataset / direction.config


def folder_name(system: str) -> str:
    """A system's name as a folder name: it never leaves its parent.

    >>> folder_name("GPT-4 (few shot)"), folder_name("../../etc")
    ('GPT-4_few_shot', 'etc')
    """
    name = re.sub(r"[^A-Za-z0-9.+-]+", "_", system).strip("._")
    if not name:
        raise InputError(f"system {system!r} needs a letter or a digit in its name")
    return name[:100]


def check_names(systems: Sequence[str]) -> None:
    """Check that each system has a name, and its results a folder, of its own.

    Raises:
        InputError: a name that is none, is too long, or is another system's too.
    """
    owners: dict[str, str] = {}
    for name in systems:
        if len(name) > MAX_NAME:
            raise InputError(f"{name[:30]!r}... has {len(name)} characters; {MAX_NAME} are allowed")
        folder = folder_name(name).casefold()  # some file systems do not tell A from a
        if folder in owners:
            both = f"{owners[folder]!r} and {name!r} would share a folder"
            what = f"two systems are called {name!r}" if owners[folder] == name else both
            raise InputError(f"{what}: give each a name of its own, such as NAME=PATH")
        owners[folder] = name


def write_system(
    root: Path,
    direction: Direction,
    report: Report,
    samples: list[Sample],
    replicates: Mapping[str, Bootstrapped],
) -> Path:
    """Write one system's folder, whole or not at all."""
    folder = direction_folder(root, direction) / folder_name(report.system.name)
    # Not rounded: where two systems tie in a replicate, a p-value hangs on the last digit.
    columns = {n: np.concatenate([[one.value], one.replicates]) for n, one in replicates.items()}
    with atomic_folder(folder, ours=is_result) as scratch:
        pq.write_table(pa.table(columns), scratch / REPLICATES_FILE)
        write_report(scratch, report, samples)
    return folder


def read_direction(folder: Path) -> list[Stored]:
    """The systems of a direction, by name; what cannot be read is said and left out."""
    found = []
    for file in sorted(folder.glob("*/report.json")):
        if file.parent.name.startswith("."):  # half-written
            continue
        try:
            found.append(Stored(file.parent, read_report(file)))
        except InputError as error:
            say(f"left out: {error}")
    return found


def rank_stored(systems: Sequence[Stored]) -> dict[str, list[Rank]]:
    """The ranking of a direction's systems by each metric.

    Only numbers with equal signatures are compared: a system is ranked among its own.
    """
    groups: dict[tuple[str, str], dict[str, Bootstrapped]] = {}
    for stored in systems:
        signatures = {s.metric: s.signature for s in stored.report.scores}
        for metric, one in stored.bootstrapped().items():
            group = groups.setdefault((metric, signatures[metric]), {})
            group[stored.report.system.name] = one
    ranks: dict[str, list[Rank]] = {}
    for (metric, _), some in groups.items():
        ranks.setdefault(metric, []).extend(rank(metric, some))
    return ranks


def write_significance(folder: Path) -> None:
    """Compare all systems of a direction pairwise and write ``significance.json``.

    Beside each system's rank range stands the signature of the number it was ranked by: ranks of
    different signatures are no ranking.
    """
    systems = read_direction(folder)
    signatures = {
        (stored.report.system.name, score.metric): score.signature
        for stored in systems
        for score in stored.report.scores
    }
    record = {
        metric: {
            "test": "paired bootstrap, two-sided, alpha 0.05, uncorrected",
            "ranks": {r.system: [r.low, r.high] for r in some},
            "p_best": {r.system: r.p_best for r in some if np.isfinite(r.p_best)},
            "signatures": {r.system: signatures[r.system, metric] for r in some},
        }
        for metric, some in rank_stored(systems).items()
    }
    write_json(folder / SIGNIFICANCE_FILE, record)
