"""What a meta-evaluation found: flat records, and the file that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from pydantic import ValidationError

from ...datasets_scripts.judgments.schema import first_problem
from ...errors import InputError
from ...files import write_json
from ...records import Strict
from ...untrusted import read_json

Level = Literal["sentence", "system"]
LEVELS: tuple[Level, ...] = get_args(Level)
MEAN_OF_MODELS = "mean of models"
QUOTED = ("study", "direction", "aspect", "level", "metric", "coefficient", "value", "low", "high")


class MetaScore(Strict):
    """The agreement of one metric with people on one aspect, by one coefficient.

    Attributes:
        study: of the human scores.
        direction: in full; ``None`` if the study's directions are pooled.
        model: whose settings are compared; ``None`` for all, :data:`MEAN_OF_MODELS` for the mean of
            the models' coefficients.
        aspect: what people were asked, by the study's name.
        level: ``sentence``: outputs are compared; ``system``: means of systems.
        metric: the metric, oriented so that a positive value is agreement.
        coefficient: ``pearson``, ``spearman``, ``kendall_b``, ``kendall_c``, ``accuracy``.
        value: -1 to 1, accuracy 0 to 1; ``None`` where it is undefined.
        low: 95% percentile bootstrap over source sentences.
        high: the same.
        low_systems: 95% percentile bootstrap over systems; system level only.
        high_systems: the same.
        outputs: outputs that people and metric scored.
        items: distinct source sentences.
        systems: systems.
        epsilon: differences up to this count as ties of the metric; accuracy only.
        pairs: pairs compared; accuracy only.
    """

    study: str
    direction: str | None
    model: str | None
    aspect: str
    level: Level
    metric: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    low_systems: float | None = None
    high_systems: float | None = None
    outputs: int
    items: int
    systems: int
    epsilon: float | None = None
    pairs: int | None = None


class MetaDifference(Strict):
    """How much better ``first`` agrees with people than ``second``, on the same outputs.

    Attributes:
        study, direction, model, aspect, level: see :class:`MetaScore`.
        coefficient: ``pearson``.
        first: the metric with the higher coefficient.
        second: the other.
        difference: of the coefficients, oriented as there.
        low: 95% percentile bootstrap over source sentences.
        high: the same.
        p_bootstrap: two-sided, paired bootstrap over source sentences.
        p_permutation: two-sided, PERM-BOTH.
        p_williams: two-sided; takes the outputs for independent.
    """

    study: str
    direction: str | None
    model: str | None
    aspect: str
    level: Level
    coefficient: str
    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    p_bootstrap: float | None
    p_permutation: float | None
    p_williams: float | None


class Left(Strict):
    """A metric that could not be compared with a study's direction, and why."""

    study: str
    direction: str | None
    metric: str
    why: str


class MetaReport(Strict):
    """A whole meta-evaluation.

    Attributes:
        schema_version: of this file.
        made_with: version of this package.
        date: ISO date of the computation.
        resamples: of every interval and test.
        seed: of the resampling.
        terms: study to citation, licence and provenance.
        signatures: metric to the signature of each study and direction, both in the key.
        scores: see :class:`MetaScore`.
        differences: see :class:`MetaDifference`; p-values are not corrected for their number.
        left_out: see :class:`Left`.
    """

    schema_version: Literal[1] = 1
    made_with: str
    date: str
    resamples: int
    seed: int
    terms: dict[str, str]
    signatures: dict[str, dict[str, str]]
    scores: tuple[MetaScore, ...]
    differences: tuple[MetaDifference, ...]
    left_out: tuple[Left, ...]

    def of(
        self,
        metric: str,
        *,
        level: Level = "sentence",
        coefficient: str = "pearson",
        whole: bool = True,
    ) -> tuple[MetaScore, ...]:
        """What was measured about one metric.

        Args:
            metric: its name.
            level: sentence or system.
            coefficient: which one.
            whole: only whole studies where directions are pooled, or else every direction; no
                single models.
        """
        found = [
            score
            for score in self.scores
            if (score.metric, score.level, score.coefficient) == (metric, level, coefficient)
            and (not whole or score.model is None)
        ]
        return whole_studies(found) if whole else tuple(found)

    def summary(self) -> MetaReport:
        """What is shown beside a metric's name: Pearson and Spearman on whole studies, no tests."""
        names = metrics_in(self.scores)
        kept = tuple(
            score
            for name in names
            for level in LEVELS
            for coefficient in ("pearson", "spearman")
            for score in self.of(name, level=level, coefficient=coefficient)
        )
        return self.model_copy(update={"scores": kept, "differences": (), "left_out": ()})

    def quoted(self) -> tuple[MetaScore, ...]:
        """What is quoted of a study: its sentence level, or that of systems if it has no other."""
        scores = self.summary().scores
        compared = {score.study for score in scores if score.level == "sentence"}
        found = (s for s in scores if s.level == "sentence" or s.study not in compared)
        return tuple(sorted(found, key=lambda score: (score.study, score.aspect)))


def whole_studies(scores: Iterable[MetaScore]) -> tuple[MetaScore, ...]:
    """A study's directions only where they are not pooled; scores of one metric, level and name."""
    found = tuple(scores)
    pooled = {(score.study, score.aspect) for score in found if score.direction is None}
    return tuple(
        score
        for score in found
        if score.direction is None or (score.study, score.aspect) not in pooled
    )


def write_report(path: Path, report: MetaReport) -> None:
    """Write a report as JSON, atomically."""
    write_json(path, report.model_dump(mode="json"))


def read_report(path: Path) -> MetaReport:
    """Read a report.

    Raises:
        MissingFileError: no such file.
        InputError: not a report of this schema.
    """
    try:
        return MetaReport.model_validate(read_json(path), strict=False)
    except ValidationError as error:
        raise InputError(f"{path}: not a meta-evaluation: {first_problem(error)}") from error


def rounded(value: float | None, digits: int = 6) -> float | None:
    """The value as a file keeps it; ``None`` for NaN and infinities."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return round(float(value), digits)


def metrics_in(scores: Iterable[MetaScore]) -> tuple[str, ...]:
    """The metrics, in the order of first mention."""
    return tuple(dict.fromkeys(score.metric for score in scores))
