"""Scoring a submission with the pipeline: the same checks and numbers as the command line's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...datasets_scripts.load import load_test_set
from ...metrics.facts import METRICS
from ...metrics.scorers.profile import parse_profile
from ...pipelines.evaluate import evaluate, write_evaluation
from ...pipelines.outputs import read_outputs
from ...pipelines.prepare import prepare
from ...pipelines.report import SystemInfo
from .submission import Progress


@dataclass(frozen=True)
class PipelineScoring:
    """Scores as ``tstbench evaluate --profile embedded`` does; a :class:`ScoreSubmission`.

    Attributes:
        profile: which scorers.
        metrics: which scores.
    """

    profile: str = "embedded"
    metrics: Sequence[str] = tuple(METRICS)

    def __call__(
        self, path: Path, direction: str, system: SystemInfo, out: Path, progress: Progress
    ) -> Path:
        """Read, prepare what is not there, measure, write; see :class:`ScoreSubmission`."""
        profile = parse_profile(self.profile)
        test_set = load_test_set(direction)
        outputs = read_outputs(path, test_set, system.name)
        progress(0.1, "Getting the scorers ready")
        prepare(test_set.direction, profile, self.metrics)
        progress(0.4, "Scoring")
        infos = {system.name: system}
        evaluation = evaluate([outputs], test_set, profile, self.metrics, infos=infos)
        progress(0.9, "Writing the report")
        return write_evaluation(evaluation, out)[0]
