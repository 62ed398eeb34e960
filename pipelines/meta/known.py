"""The measured agreement that comes with the package: what is shown beside a metric's name.

``agreement.json`` holds runs of ``tstbench meta-evaluate ... --summary FILE``. A later run replaces
what it measured again, the same metric on the same study, and leaves the rest as it was. Of each
number the file says the study, aspect, level, coefficient, interval, how many outputs, and the
command, date, resamples and signatures of its run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from ...datasets_scripts.judgments.schema import DERIVED_OVERALL, first_problem
from ...errors import InputError
from ...files import write_text
from ...metrics.joint.calibration import Calibration, load_calibration
from ...metrics.joint.joint import JointOptions
from ...metrics.registry import METRICS, is_neutral
from ...records import Strict
from ...untrusted import read_json
from .result import NATURAL, Level, MetaReport, MetaScore, whole_studies

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


ASPECTS = ("overall", "style", "content", "fluency", "other")
MARK = "\N{DOUBLE DAGGER}"
MINUS = "\N{MINUS SIGN}"
RHO = "\N{GREEK SMALL LETTER RHO}"
WHAT = (
    f"{RHO} is Spearman's correlation of a metric's scores of single outputs with human scores "
    "of the same aspect, in the study with most rated outputs (of systems: of mean scores, for a "
    "metric that has none of single outputs); +1 is full agreement, 0 none."
)
DOUBT = (
    f"{MARK} In at least one study the interval of {RHO} is not above 0: there the metric "
    "does not agree with people"
)


def measured(metric: str, signature: str = "") -> tuple[MetaScore, ...]:
    """What was measured of the aspect that a metric is for; empty for one that is no quality.

    Args:
        metric: its name.
        signature: of a score, beside which only what was measured on a task like its own may stand:
            with a style in common. What was measured on its very direction comes first.
    """
    facts = METRICS.get(metric)
    if facts is None:
        return ()
    found = [s for s in agreement_of(metric) if NATURAL.get(s.aspect) == facts.aspect]
    if not signature:
        return tuple(found)
    own = f"|{signature}|".partition("|direction:")[2].partition("|")[0]
    if (
        metric == "joint_calibrated"
        and f"|weights:{shipped_calibration().signed}|" not in f"{signature}|"
    ):
        return ()  # somebody's own, which nobody has compared with people
    if metric == "joint_sentence" and "|target_style.classifier:lm:" not in signature:
        return ()  # another reader of style than was compared
    alike = [s for s in found if any(_styles(own) & _styles(there) for there in where(s))]
    return tuple(sorted(alike, key=lambda score: score.direction != own))


def _styles(direction: str) -> set[str]:
    return {*direction.rpartition("/")[2].split("-to-")} - {"neutral", ""}


def short(metric: str, signature: str = "") -> str:
    """``0.60``, with a mark if another study finds no agreement; empty if nothing was measured."""
    found = measured(metric, signature)
    main = headline(found)
    return "" if main is None else f"{signed(main.value)}{MARK if doubtful(found) else ''}"


def beside(metric: str, signature: str = "") -> str:
    """``rho 0.60`` and below it ``people``, with the letter; empty if nothing was measured."""
    if not (text := short(metric, signature)):
        return ""
    below = "systems" if measured(metric)[0].level == "system" else "people"
    return f"{RHO} {text}\n{below}"


def ranking_place(metric: str, signature: str, lacking: int = 0) -> tuple[float, ...]:
    """The sort key of metrics that may order a table: the first one does.

    Overall ones first, and of those one that no system lacks and that agrees best with people on
    systems, where that was measured on such a task; then style, content, fluency. Within one aspect
    in the benchmark's order, those of which neither way is better last.

    Args:
        metric: its name.
        signature: of its scores.
        lacking: how many of the ranked systems have no such score.
    """
    facts, known = METRICS.get(metric), list(METRICS)
    overall = facts is not None and facts.aspect == "overall"
    main = headline(measured(metric, signature)) if overall and signature else None
    return (
        ASPECTS.index(facts.aspect if facts else "other"),
        lacking if overall else 0,
        -(main.value or 0.0) if main and main.level == "system" else 0.0,
        is_neutral(metric),
        known.index(metric) if facts else len(known),
    )


def one_line(metric: str) -> str:
    """The headline number: interval, study, aspect, level, how many; for a table in a file."""
    main = headline(measured(metric))
    if main is None:
        return ""
    number = main.systems if main.level == "system" else main.outputs
    return f"{with_interval(main)} {main.study} {_asked(main)} {main.level} n={number}"


def in_full(metric: str, signature: str = "") -> str:
    """Every study in a sentence each; empty if nothing was measured."""
    found = measured(metric, signature)
    if not found:
        return ""
    said = "; ".join(
        f"{study_title(s.study)}, {_asked(s)}: {with_interval(s)}, {of_how_many(s)}"
        for s in _widest_first(found)
    )
    what = "means of systems" if found[0].level == "system" else "single outputs"
    return f"Agreement with people, {what}, Spearman's {RHO} with 95% interval. {said}"


def of_how_many(score: MetaScore) -> str:
    """``3,200 outputs of 8 systems``, or ``8 systems`` where systems are compared."""
    systems = f"{score.systems} system{'s' * (score.systems != 1)}"
    return systems if score.level == "system" else f"{score.outputs:,} outputs of {systems}"


def by_study(metric: str) -> dict[str, MetaScore]:
    """The number to show for each study: where it asked twice, of the aspect with most outputs."""
    found: dict[str, MetaScore] = {}
    for score in _widest_first(measured(metric)):
        found.setdefault(score.study, score)
    return found


def study_title(name: str) -> str:
    """A study as people cite it.

    >>> study_title("li2018"), study_title("my-study")
    ('Li 2018', 'my-study')
    """
    parts = re.fullmatch(r"([a-z]+)(\d{4})", name)
    return f"{parts[1].capitalize()} {parts[2]}" if parts else name


def signed(value: float | None) -> str:
    """Two decimals, with a true minus sign; a dash if it is undefined.

    >>> signed(0.6), signed(-0.004)
    ('0.60', '0.00')
    """
    if value is None:
        return "\N{EN DASH}"
    text = f"{abs(value):.2f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text


def with_interval(score: MetaScore) -> str:
    """``0.64 [0.16, 1.00]``."""
    low, high = interval_of(score)
    return f"{signed(score.value)} [{signed(low)}, {signed(high)}]"


def _asked(score: MetaScore) -> str:
    where = f" {score.direction}" if score.direction else ""
    return f"{score.aspect.replace('_', ' ')}{where}"


def _widest_first(scores: Sequence[MetaScore]) -> list[MetaScore]:
    return sorted(scores, key=lambda score: -score.outputs)
