"""Scoring a submission: the same checks as the command line, the embedded profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..datasets_scripts.load import load_test_set
from .evaluate import evaluate, write_evaluation
from .outputs import read_outputs
from .report import SystemInfo
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
    outputs = replace(read_outputs(path, test_set), system=system.name)
    how = scoring()
    progress(0.15, f"scoring {len(test_set)} sentences")
    evaluation = evaluate([outputs], test_set, how, {system.name: system})
    progress(0.95, "writing the report")
    return write_evaluation(evaluation, out)[0]
