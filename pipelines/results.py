"""The results folder: what evaluations write, and leaderboards read.

Layout: ``<root>/<dataset>/<source>-to-<target>/<system>/`` with ``report.json`` (scores,
intervals, signatures), ``samples.jsonl`` (one line a sentence) and ``replicates.npz`` (bootstrap
replicates of every corpus score, so that systems scored in different years can still be compared
pairwise); and beside the systems ``significance.json``.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..files import atomic_folder, write_bytes, write_json
from .ranking import Bootstrapped, Rank, rank
from .report import Report, Sample, read_report, write_report

REPLICATES_FILE = "replicates.npz"
SIGNIFICANCE_FILE = "significance.json"


@dataclass(frozen=True)
class Stored:
    """One system's results on disk."""

    folder: Path
    report: Report

    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """The replicates of each metric; empty where the folder has none."""
        path = self.folder / REPLICATES_FILE
        if not path.is_file():
            return {}
        try:
            with np.load(path, allow_pickle=False) as arrays:
                replicates = {name: arrays[name].astype(np.float64) for name in arrays.files}
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise InputError(f"{path} is damaged: {error}") from error
        values = {s.metric: s.value for s in self.report.scores}
        return {
            name: Bootstrapped(value, some)
            for name, some in replicates.items()
            if (value := values.get(name)) is not None
        }


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


def write_system(
    root: Path,
    direction: Direction,
    report: Report,
    samples: list[Sample],
    replicates: Mapping[str, Bootstrapped],
) -> Path:
    """Write one system's folder, whole or not at all."""
    folder = direction_folder(root, direction) / folder_name(report.system.name)
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {n: one.replicates.astype(np.float32) for n, one in replicates.items()}
    np.savez_compressed(buffer, **arrays)
    with atomic_folder(folder) as scratch:
        write_bytes(scratch / REPLICATES_FILE, buffer.getvalue())
        write_report(scratch, report, samples)
    return folder


def read_direction(folder: Path) -> list[Stored]:
    """The systems of a direction, by name; a folder without a report is no system."""
    files = sorted(folder.glob("*/report.json"))
    return [Stored(file.parent, read_report(file)) for file in files]


def write_significance(folder: Path) -> dict[str, list[Rank]]:
    """Compare all systems of a direction pairwise and write ``significance.json``.

    Only numbers with equal signatures are compared; a system is ranked among its own.
    """
    ranks: dict[str, list[Rank]] = {}
    groups: dict[tuple[str, str], dict[str, Bootstrapped]] = {}
    for stored in read_direction(folder):
        signatures = {s.metric: s.signature for s in stored.report.scores}
        for metric, one in stored.bootstrapped().items():
            group = groups.setdefault((metric, signatures[metric]), {})
            group[stored.report.system.name] = one
    for (metric, _), systems in groups.items():
        ranks.setdefault(metric, []).extend(rank(metric, systems))
    record = {
        metric: {
            "test": "paired bootstrap, two-sided, alpha 0.05, uncorrected",
            "ranks": {r.system: [r.low, r.high] for r in some},
            "p_best": {r.system: r.p_best for r in some if np.isfinite(r.p_best)},
        }
        for metric, some in ranks.items()
    }
    write_json(folder / SIGNIFICANCE_FILE, record)
    return ranks
