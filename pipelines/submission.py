"""Scoring a submission: the same checks as the command line, the embedded profile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..datasets_scripts.load import load_test_set
from .evaluate import evaluate
from .outputs import read_outputs
from .report import SystemInfo
from .results import system_folder
from .scoring import scoring


def score_submission(
    path: Path,
    direction: str,
    system: SystemInfo,
    out: Path,
    progress: Callable[[float, str], None],
) -> Path:
    """Validate and score one file of predictions; returns its report folder in ``out``.

    Raises:
        TSTBenchError: the file cannot be scored; the message says why, without our paths.
    """
    progress(0.05, "reading")
    test_set = load_test_set(direction)
    outputs = read_outputs(path, test_set, system.name)
    progress(0.15, f"scoring {len(test_set)} sentences")
    evaluate([outputs], test_set, scoring(), {system.name: system}, out)
    return system_folder(out, test_set.direction, system.name)
