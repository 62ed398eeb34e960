"""What a meta-evaluation found: flat records, and the file that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, get_args

from ...files import atomic_folder, write_json, write_text
from ...metrics.statistics import FEWEST, too_few
from ...records import Strict
from ..tables import csv_text, markdown_lines

# What people were asked, by the aspect that metrics declare.
NATURAL: Mapping[str, str] = {
    "style": "style",
    "style_difference": "style",
    "content": "content",
    "content_masked": "content",
    "fluency": "fluency",
    "naturalness": "fluency",
    "naturalness_relative": "fluency",
    "overall": "overall",
    "derived_overall": "overall",
}


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

    def summary(self) -> MetaReport:
        """What is shown beside a metric's name: Pearson and Spearman on whole studies, no tests."""
        kinds: dict[tuple[str, Level, str], list[MetaScore]] = {}
        for one in self.scores:
            if one.model is None:
                kinds.setdefault((one.metric, one.level, one.coefficient), []).append(one)
        kept = tuple(
            score
            for name in dict.fromkeys(one.metric for one in self.scores)
            for level in LEVELS
            for coefficient in ("pearson", "spearman")
            for score in whole_studies(kinds.get((name, level, coefficient), ()))
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


def rounded(value: float | None, digits: int = 6) -> float | None:
    """The value as a file keeps it; ``None`` for NaN and infinities."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return round(float(value), digits)


JSON_FILE = "meta.json"
_HEADS = {"pearson": "r", "spearman": "rho", "kendall_b": "tau-b", "accuracy": "acc-eq"}
_Key = tuple[str, str | None, str | None, str, Level]


def write_folder(folder: Path, report: MetaReport) -> None:
    """Write ``meta.json``, ``scores.csv``, ``differences.csv`` and ``README.md``, all or none.

    Raises:
        InputError: the folder has files that are not a meta-evaluation's.
    """
    with atomic_folder(folder, ours=lambda path: (path / JSON_FILE).is_file()) as scratch:
        write_json(scratch / JSON_FILE, report.model_dump(mode="json"))
        write_text(scratch / "scores.csv", _csv(MetaScore, report.scores))
        write_text(scratch / "differences.csv", _csv(MetaDifference, report.differences))
        write_text(scratch / "README.md", markdown(report))


def _csv(
    kind: type[MetaScore] | type[MetaDifference], rows: Iterable[MetaScore | MetaDifference]
) -> str:
    return csv_text(kind.model_fields, (row.model_dump().values() for row in rows), digits=None)


def tables(report: MetaReport) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """A heading, and a header row with the rows below it, for each cut of a study."""

    def key(score: MetaScore) -> _Key:
        return score.study, score.direction, score.model, score.aspect, score.level

    for (study, direction, model, aspect, level), group in groupby(report.scores, key):
        some = list(group)
        where = " ".join(filter(None, [study, direction, model]))
        size = some[0]
        sentences = "1 sentence" if size.items == 1 else f"{size.items} sentences"
        if too_few(size.items):
            sentences += f" (intervals need {FEWEST})"
        number = (
            f"{size.outputs} outputs of {sentences}"
            if level == "sentence"
            else f"{size.systems} systems, {sentences}"
        )
        heading = f"{where}: {aspect}, {level} level, {number}"
        sentence = level == "sentence"
        over = ("r: 95% interval",) if sentence else ("r: over sentences", "r: over systems")
        yield heading, [("metric", *_HEADS.values(), *over), *_rows(some)]


def _rows(scores: Sequence[MetaScore]) -> Iterator[tuple[str, ...]]:
    for metric, group in groupby(scores, lambda score: score.metric):
        of = {score.coefficient: score for score in group}
        r = of.get("pearson")
        bounds = [(r.low, r.high) if r else (None, None)]
        if scores[0].level == "system":
            bounds.append((r.low_systems, r.high_systems) if r else (None, None))
        intervals = (_interval(low, high) for low, high in bounds)
        outputs = next(iter(of.values())).outputs
        shown = metric if outputs == scores[0].outputs else f"{metric} (n {outputs})"
        yield (shown, *(_number(of.get(name)) for name in _HEADS), *intervals)


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _number(score: MetaScore | None) -> str:
    return "-" if score is None or score.value is None else f"{score.value:.3f}"


def terminal(report: MetaReport) -> str:
    """Plain tables, at most 80 columns wide; long names of metrics are cut.

    Of systems, the interval is that over systems, which is the wider one.
    """
    blocks = []
    for heading, (header, *rows) in tables(report):
        lines = [heading if len(heading) <= 80 else heading.replace(": ", ":\n  ", 1)]
        for row in (header, *rows):
            name, *numbers = row[: 1 + len(_HEADS)]
            interval = row[-1]
            shown = name if len(name) <= 26 else f"{name[:25]}~"
            lines.append(f"  {shown:<26}" + "".join(f"{n:>8}" for n in numbers) + f"  {interval}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def markdown(report: MetaReport) -> str:
    """The whole report as Markdown."""
    parts = [
        "# How far metrics agree with people\n",
        f"Made with {report.made_with} on {report.date}: {report.resamples} resamples, seed "
        f"{report.seed}. `{JSON_FILE}` has everything, `scores.csv` and `differences.csv` one row "
        "per number.\n",
        "r is Pearson's correlation, rho Spearman's, tau-b Kendall's; acc-eq is the share of pairs "
        "(of outputs of one sentence, or of systems) on which metric and people say the same, "
        "better, worse or equal, with the metric's threshold for a tie chosen where it agrees best "
        "(sentence level). Every metric is turned so that a positive number is agreement. "
        "Intervals are 95% percentile bootstraps over source sentences; at system level also over "
        "systems: quote these of systems that were not rated.\n",
        "## Agreement\n",
        *(f"### {heading}\n\n{table(rows)}" for heading, rows in tables(report)),
    ]
    if report.differences:
        parts += ["## Differences between metrics\n", *_difference_table(report.differences)]
    if report.left_out:
        rows = [
            f"- {one.metric} on {one.direction or one.study}: {one.why}" for one in report.left_out
        ]
        parts += ["## Left out\n", "\n".join(rows) + "\n"]
    if report.terms:
        parts += ["## The studies\n", *(f"- {text}\n" for text in report.terms.values())]
    if report.signatures:
        lines = [
            f"- `{signature}`" for of in report.signatures.values() for signature in of.values()
        ]
        parts += ["## Signatures\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def table(rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; the first row is the header, numbers are right-aligned."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return markdown_lines(cells) + "\n"


def _difference_table(differences: Sequence[MetaDifference]) -> Iterator[str]:
    yield (
        "Of Pearson's r. p-values are two-sided and not corrected for their number: paired "
        "bootstrap over sentences, PERM-BOTH, and Williams' test, which takes outputs for "
        "independent.\n"
    )

    def p(value: float | None) -> str:
        return "-" if value is None else f"{value:.4f}"

    def key(one: MetaDifference) -> _Key:
        return one.study, one.direction, one.model, one.aspect, one.level

    for (study, direction, _, aspect, level), group in groupby(differences, key):
        rows: list[tuple[str, ...]] = [
            ("better", "than", "by", "95% interval", "p boot", "p perm", "p Williams")
        ]
        for one in group:
            interval = "-" if one.low is None else f"{one.low:.3f} to {one.high:.3f}"
            by = "-" if one.difference is None else f"{one.difference:.3f}"
            ps = (p(one.p_bootstrap), p(one.p_permutation), p(one.p_williams))
            rows.append((one.first, one.second, by, interval, *ps))
        yield f"### {' '.join(filter(None, [study, direction]))}: {aspect}, {level} level\n"
        yield table(rows)
