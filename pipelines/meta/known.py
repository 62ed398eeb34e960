"""The measured agreement that comes with the package: what is shown beside a metric's name.

``agreement.json`` holds runs of ``tstbench meta-evaluate ... --summary FILE``. A later run replaces
what it measured again, the same metric on the same study, and leaves the rest as it was. Of each
number the file says the study, aspect, level, coefficient, interval, how many outputs, and the
command, date, resamples and signatures of its run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from ...datasets_scripts.judgments.schema import DERIVED_OVERALL, first_problem
from ...errors import InputError
from ...files import write_text
from ...metrics.joint.calibration import Calibration, load_calibration
from ...metrics.joint.family import JointOptions
from ...records import Strict
from ...untrusted import read_json
from .result import Level, MetaReport, MetaScore, whole_studies

ELSEWHERE = "calibrated, fitted on other directions"
FILE = Path(__file__).with_name("agreement.json")


class MeasuredRun(Strict):
    """One run of ``tstbench meta-evaluate``.

    Attributes:
        command: that prints these numbers again.
        made_with: version of this package.
        date: ISO date of the computation.
        resamples: of every interval.
        seed: of the resampling.
        signatures: metric to the signature of each study and direction, both in the key.
        scores: Pearson and Spearman on whole studies; see :class:`MetaScore`.
    """

    command: str
    made_with: str
    date: str
    resamples: int
    seed: int
    signatures: dict[str, dict[str, str]]
    scores: tuple[MetaScore, ...]

    def without(self, measured: set[tuple[str, str]]) -> MeasuredRun:
        """The run without these metrics on these studies: pairs of both names."""
        kept = tuple(s for s in self.scores if (s.metric, s.study) not in measured)
        own = {
            name: {w: text for w, text in given.items() if (name, w.split()[0]) not in measured}
            for name, given in self.signatures.items()
        }
        signatures = {name: given for name, given in own.items() if given}
        return self.model_copy(update={"scores": kept, "signatures": signatures})


class Agreement(Strict):
    """Runs whose numbers stand side by side; no metric is twice on one study.

    Attributes:
        schema_version: of this file.
        terms: study to citation, licence and provenance.
        runs: see :class:`MeasuredRun`.
    """

    schema_version: Literal[1] = 1
    terms: dict[str, str] = {}
    runs: tuple[MeasuredRun, ...] = ()

    def with_run(self, report: MetaReport, command: str) -> Agreement:
        """The same with a further run, which replaces what it measured again."""
        short = report.summary()
        run = MeasuredRun(
            command=command,
            made_with=short.made_with,
            date=short.date,
            resamples=short.resamples,
            seed=short.seed,
            signatures=short.signatures,
            scores=short.scores,
        )
        measured = {(score.metric, score.study) for score in run.scores}
        older = (one.without(measured) for one in self.runs)
        return Agreement(
            terms={**self.terms, **short.terms},
            runs=(*(one for one in older if one.scores), *([run] if run.scores else [])),
        )

    def of(
        self, metric: str, *, level: Level = "sentence", coefficient: str = "spearman"
    ) -> tuple[MetaScore, ...]:
        """What was measured about one metric, whole studies where directions are pooled."""
        return whole_studies(
            score
            for run in self.runs
            for score in run.scores
            if (score.metric, score.level, score.coefficient) == (metric, level, coefficient)
        )


def read_agreement(path: Path) -> Agreement:
    """Read such a file.

    Raises:
        MissingFileError: no such file.
        InputError: not a file of this schema; the message says where it differs.
    """
    try:
        return Agreement.model_validate(read_json(path), strict=False)
    except ValidationError as error:
        raise InputError(f"{path}: not measured agreement: {first_problem(error)}") from error


def write_agreement(path: Path, agreement: Agreement) -> None:
    """Write the file atomically, one number a line, so that changes can be read in a diff."""
    record = agreement.model_dump(mode="json", exclude_defaults=True)
    runs = []
    for run in record.pop("runs", ()):
        scores = ",\n".join(_line(score) for score in run.pop("scores"))
        runs.append(f'{_line(run)[:-1]}, "scores": [\n{scores}\n]}}')
    head = _line({"schema_version": agreement.schema_version, **record})
    write_text(path, f'{head[:-1]}, "runs": [\n' + ",\n".join(runs) + "\n]}\n")


def add_run(path: Path, report: MetaReport, command: str) -> None:
    """Add a run to a file, which is made if there is none.

    Raises:
        InputError: the file is something else.
    """
    known = read_agreement(path) if path.exists() else Agreement()
    write_agreement(path, known.with_run(report, command))


@cache
def known_agreement() -> Agreement:
    """What comes with the package; without any run if this installation has no such file."""
    return read_agreement(FILE) if FILE.exists() else Agreement()


def agreement_of(metric: str, coefficient: str = "spearman") -> tuple[MetaScore, ...]:
    """A metric's agreement with people: one number for each study and aspect.

    Sentence level; system level, direction by direction, for a metric that scores no single
    outputs, such as the paper's Joint, and for the two Joints that are compared with it: the
    calibrated one's is of curves that were fitted on other directions. Empty for one that was not
    measured.
    """
    agreement = known_agreement()
    if metric == "joint_calibrated" and agreement.runs:
        return tuple(score for score in _held_out() if score.coefficient == coefficient)
    sentences = agreement.of(metric, coefficient=coefficient)
    if metric == "joint_sentence":
        sentences = ()
    return sentences or agreement.of(metric, level="system", coefficient=coefficient)


@cache
def _held_out() -> tuple[MetaScore, ...]:
    """Agreement of the calibrated Joint on directions that its curves have not seen, on systems."""
    evidence: Any = shipped_calibration().evidence
    rows = [{"model": None, **one} for one in evidence["overall"]]
    scores = TypeAdapter(list[MetaScore]).validate_python(rows)
    held_out = (s for s in scores if (s.metric, s.level) == (ELSEWHERE, "system"))
    return tuple(s.model_copy(update={"metric": "joint_calibrated"}) for s in held_out)


def shipped_calibration() -> Calibration:
    """The calibration that ``joint_calibrated`` has unless told otherwise."""
    return load_calibration(JointOptions.calibration)


def where(score: MetaScore) -> tuple[str, ...]:
    """The directions that a number of this file was measured on."""
    if score.direction:
        return (score.direction,)
    keys = (key for run in known_agreement().runs for key in run.signatures.get(score.metric, ()))
    pairs = (key.split(maxsplit=1) for key in keys)
    return tuple(direction for study, direction in pairs if study == score.study)


def headline(scores: Sequence[MetaScore]) -> MetaScore | None:
    """The one number to show: of the study with most rated outputs; ``None`` if there is none.

    The same rule for every metric, so that no metric is shown with the study it likes best. A
    derived overall score counts where no study has asked for one.
    """
    defined = [score for score in scores if score.value is not None]
    derived = DERIVED_OVERALL.name
    return max(defined, key=lambda score: (score.aspect != derived, score.outputs), default=None)


def doubtful(scores: Sequence[MetaScore]) -> tuple[MetaScore, ...]:
    """The numbers whose interval is not above 0: there the metric does not agree with people."""
    lows = ((score, interval_of(score)[0]) for score in scores)
    return tuple(score for score, low in lows if low is None or low <= 0)


def interval_of(score: MetaScore) -> tuple[float | None, float | None]:
    """The interval to quote: over source sentences, or over systems where systems are compared."""
    if score.level == "system":
        return score.low_systems, score.high_systems
    return score.low, score.high


def _line(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)
