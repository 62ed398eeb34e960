"""Audit: score outputs under every protocol, and say which of them give the claimed numbers.

BLEU and chrF have protocols; of another metric, there is every variant that the scorers at hand
allow. A style classifier here is not the one of the paper that made the claim: what is reported is
how far apart several of them are, which is how much such a claim can be believed.

Sources of chrF: Popović (2015, 2017), through sacreBLEU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from ...datasets_scripts.catalog import language_of
from ...datasets_scripts.cleaning import parse_cleaning
from ...datasets_scripts.load import load_test_set
from ...errors import InputError, MissingExtraError, MissingScorerError
from ...metrics.base import LeftOut, Measurement
from ...metrics.inputs import check_inputs
from ...metrics.measure import measure
from ...metrics.options import Settings, choices
from ...metrics.registry import family_of
from ...metrics.scorers.classifiers import kinds
from ...metrics.scorers.profile import parse_profile
from ...metrics.statistics import Statistics
from ..outputs import read_outputs, system_of
from ..references import published_predictions
from ..scoring import Scoring
from ..tables import csv_text, markdown_lines
from .claims import Claim
from .protocols import (
    CASES,
    FILES,
    Choices,
    Side,
    Texts,
    Value,
    bleu_values,
    over_directions,
    reference_views,
    texts_of,
)


def chrf_values(sides: Sequence[Side], *, against_source: bool) -> Iterator[Value]:
    """ChrF (word order 0) and chrF++ (2) of the outputs under every protocol."""
    metric = "s_chrf" if against_source else "chrf"
    for view in ["source"] if against_source else reference_views(sides):
        for files in FILES:
            texts = [texts_of(side, view, files) for side in sides]
            for order in (0, 2):
                for case in CASES:
                    base: Choices = (
                        ("refs", view),
                        ("files", files),
                        ("score", "chrF++" if order else "chrF"),
                        ("case", case),
                    )
                    parts = [[_chrf_statistics(one, order, case) for one in s] for s in texts]
                    known = files == "raw" and case == "mixed"
                    name = ("sacrebleu, word order 2" if order else "sacrebleu") if known else ""
                    for whole, value in over_directions(base, parts):
                        yield Value(metric, whole, value, name)


def _chrf_statistics(texts: Texts, order: int, case: str) -> Statistics:
    """SacreBLEU's own statistics of each sentence, and its own score of their sum."""
    predictions, references = texts
    kept = [i for i, some in enumerate(references) if some]
    most = max((len(references[i]) for i in kept), default=1)
    streams = [
        [references[i][k] if k < len(references[i]) else None for i in kept] for k in range(most)
    ]
    chrf = CHRF(word_order=order, lowercase=case == "lower", references=streams)  # type: ignore[arg-type]
    found = chrf._extract_corpus_statistics([predictions[i] for i in kept], None)

    def aggregate(sums: np.ndarray) -> np.ndarray:
        return np.asarray(chrf._compute_score_from_stats([int(s) for s in sums]).score)

    return Statistics(np.array(found, dtype=np.float64), aggregate, None)


@dataclass(frozen=True)
class Variant:
    """One way to compute a metric.

    Attributes:
        name: for people.
        settings: options of metrics.
        scorers: ``ROLE=SPEC`` instead of the profile's.
    """

    name: str
    settings: Settings = field(default_factory=dict)
    scorers: tuple[str, ...] = ()


def variants(metric: str) -> list[Variant]:
    """The ways to compute a metric that papers differ in; one for most."""
    family = family_of(metric).name
    if family == "acc":
        return [
            Variant(kind, scorers=(f"classifier={kind}",)) for kind in kinds() if kind != "probe"
        ]
    if family == "ppl":
        return [Variant(norm, {"ppl": {"norm": norm}}) for norm in ("words", "words+1")]
    if family == "bertscore":
        return [Variant(reduce, {"bertscore": {"reduce": reduce}}) for reduce in ("max", "mean")]
    return [Variant("default")]


def measured_values(
    metric: str, sides: Sequence[Side], profile: str, notes: list[str]
) -> Iterator[Value]:
    """The metric's values under each variant whose scorers exist here.

    Args:
        metric: the name of a registered metric.
        sides: one or more directions.
        profile: whose scorers are used where the variant names none.
        notes: what could not be computed, and why, is added to it.
    """
    for variant in variants(metric):
        for files in ("as given", "cleaned"):
            try:
                parts = [[_statistics(metric, side, files, variant, profile)] for side in sides]
            except MissingScorerError as error:
                why = str(error)
                if any(one.startswith("classifier=") for one in variant.scorers):
                    dataset = sides[0].clean.direction.dataset
                    command = f"tstbench train classifier {dataset} --kind {variant.name}"
                    why = f"left out, not trained here: {command}"
                notes.append(f"{metric}, {variant.name}: {why}")
                break
            except (MissingExtraError, InputError) as error:
                notes.append(f"{metric}, {variant.name}: {error}")
                break
            base = (("variant", variant.name), ("files", files))
            for whole, value in over_directions(base, parts):
                yield Value(metric, whole, value)


def _statistics(metric: str, side: Side, files: str, variant: Variant, profile: str) -> Statistics:
    chosen = parse_profile(profile)
    how = Scoring(
        (metric,), chosen.with_scorers(variant.scorers), choices(chosen.options, variant.settings)
    )
    test_set, direction, outputs = side.clean, side.clean.direction, side.outputs
    if files == "cleaned":
        outputs = tuple(map(parse_cleaning(test_set.cleaning), outputs))
    inputs = check_inputs(
        outputs, test_set.sources, test_set.references, direction, language_of(direction)
    )
    scorers = how.scorers(direction)
    outcome = measure([metric], inputs, scorers, how.choices)[metric]
    if isinstance(outcome, LeftOut):
        raise InputError(outcome.why)
    assert isinstance(outcome, Measurement)  # noqa: S101 - the other kind of outcome
    return outcome.statistics


PUBLISHED = "published:"


@dataclass(frozen=True)
class Finding:
    """What is known about one claim.

    Attributes:
        claim: the number.
        values: of every protocol, nearest first; those that are undefined are left out.
    """

    claim: Claim
    values: tuple[Value, ...]

    @property
    def reproduced_by(self) -> tuple[Value, ...]:
        """The protocols whose value, rounded like the claim, is the claim; known ones first."""
        met = [one for one in self.values if self.claim.is_met_by(one.value)]
        return tuple(sorted(met, key=lambda one: one.known_as == ""))

    @property
    def ends(self) -> tuple[Value, Value]:
        """The protocols with the smallest and the largest value."""
        by_value = attrgetter("value")
        return min(self.values, key=by_value), max(self.values, key=by_value)

    @property
    def known(self) -> tuple[Value, ...]:
        """The values of well-known tools, nearest first."""
        return tuple(one for one in self.values if one.known_as)


@dataclass(frozen=True)
class Audit:
    """The findings about one system's outputs.

    Attributes:
        system: its name.
        directions: whose outputs they are.
        findings: one a claim, in the order given.
        notes: what could not be computed, and why.
    """

    system: str
    directions: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def audit(
    outputs: Sequence[str],
    directions: Sequence[str],
    claims: Sequence[Claim],
    *,
    system: str = "",
    profile: str = "embedded",
    data_dir: Path | None = None,
) -> Audit:
    """Score outputs under every protocol.

    Args:
        outputs: a file for each direction, or ``published:NAME``.
        directions: their directions, in the same order.
        claims: the published numbers.
        system: a name for the report; by default the first file's.
        profile: whose scorers are used for claims about other metrics than BLEU and chrF.
        data_dir: the user's copy of a licensed corpus.

    Raises:
        InputError: no claim, or not one file a direction; see also :func:`~..outputs.read_outputs`.
        UnknownNameError: no such direction or published system.
        MissingFileError: a file was not found.
    """
    if not claims:
        raise InputError("nothing to audit: add --claim METRIC=NUMBER, such as --claim bleu=55.2")
    if not outputs or len(outputs) != len(directions):
        raise InputError(
            f"{len(outputs)} files and {len(directions)} directions: give --direction once for "
            "each file, in the same order"
        )
    if twice := [name for n, name in enumerate(directions) if name in directions[:n]]:
        raise InputError(f"{twice[0]} is given twice: one file a direction")
    sides = [_side(one, name, data_dir) for one, name in zip(outputs, directions, strict=True)]
    notes: list[str] = []
    found: dict[str, list[Value]] = {}
    findings = []
    for claim in claims:
        if claim.metric not in found:
            every = _values(claim.metric, sides, profile, notes)
            found[claim.metric] = list({one.choices: one for one in every}.values())
        values = [one for one in found[claim.metric] if np.isfinite(one.value)]
        if not values:
            reasons = "; ".join(dict.fromkeys(notes)) or "it has no value on these outputs"
            raise InputError(f"nothing to compare {claim} with: {reasons}")
        nearest = sorted(values, key=lambda one, c=claim: abs(one.value - c.value))  # type: ignore[misc]
        findings.append(Finding(claim, tuple(nearest)))
    name = system or system_of(Path(outputs[0].removeprefix(PUBLISHED)))
    return Audit(name, tuple(directions), tuple(findings), tuple(dict.fromkeys(notes)))


def _side(outputs: str, direction: str, data_dir: Path | None) -> Side:
    clean = load_test_set(direction, data_dir=data_dir)
    raw = load_test_set(direction, cleaning="raw", data_dir=data_dir)
    if outputs.startswith(PUBLISHED):
        predictions = published_predictions(outputs.removeprefix(PUBLISHED), clean)
    else:
        predictions = read_outputs(Path(outputs), clean).predictions
    return Side(predictions, raw, clean)


def _values(metric: str, sides: Sequence[Side], profile: str, notes: list[str]) -> Iterator[Value]:
    if metric in ("bleu", "s_bleu"):
        return bleu_values(sides, against_source=metric == "s_bleu", notes=notes)
    if metric in ("chrf", "s_chrf"):
        return chrf_values(sides, against_source=metric == "s_chrf")
    return measured_values(metric, sides, profile, notes)


SHOWN = 8  # protocols of a list, unless all are asked for


def as_text(audit: Audit, *, every: bool = False) -> str:
    """Lines of at most 80 columns, unless a system's name is longer.

    Args:
        audit: what was found.
        every: show every protocol that reproduces a claim, and not only the first.
    """
    blocks = [f"{audit.system} on {' and '.join(audit.directions)}"]
    for finding in audit.findings:
        blocks.append("\n".join(_finding_lines(finding, every=every)))
    blocks += [fill(f"note: {note}", 80, subsequent_indent="  ") for note in audit.notes]
    return "\n\n".join(blocks)


def _finding_lines(finding: Finding, *, every: bool) -> Iterator[str]:
    met, tried = finding.reproduced_by, len(finding.values)
    shown = met or finding.values[:3]
    if met:
        yield f"{finding.claim}: reproduced by {len(met)} of {tried} protocols"
    else:
        nearest = _number(finding.values[0])
        yield f"{finding.claim}: none of {tried} protocols gives it; the nearest gives {nearest}"
        yield "  the nearest:"
    cut = shown if every else shown[:SHOWN]
    rows = [[name for name, _ in cut[0].choices] + ["value"]]
    yield from _aligned(rows + [[c for _, c in one.choices] + [_number(one)] for one in cut])
    if len(cut) < len(shown):
        yield f"  and {len(shown) - len(cut)} more: --all, or --format csv"
    if tools := _tools(finding):
        several = any("over" in dict(one.choices) for one in finding.values)
        how = " (mean of directions/all as one corpus)" if several else ""
        yield f"  well-known tools on these files{how}:"
        yield from _aligned(tools)
    low, high = finding.ends
    if low.value == high.value:
        return
    yield f"  spread over all protocols: {_number(low)} to {_number(high)}"
    for name, value in (("lowest ", low), ("highest", high)):
        yield f"    {name}  {', '.join(choice for _, choice in value.choices)}"


def _tools(finding: Finding) -> list[list[str]]:
    """Well-known tools by the references that they were given: one line a tool."""
    columns: dict[str, None] = {}
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for value in finding.known:
        made = dict(value.choices)
        refs = made["refs"]
        if refs in ("source", "1") or refs.startswith("all"):
            columns[refs] = None
            cells.setdefault((value.known_as, refs), {})[made.get("over", "")] = _number(value)
    header = sorted(columns, reverse=True)
    tools = sorted({tool for tool, _ in cells}, key=str.lower)
    lines = []
    for tool in tools:
        values = [cells.get((tool, refs), {}) for refs in header]
        lines.append([tool, *("/".join(own[over] for over in sorted(own)) for own in values)])
    return [["", *(_REFERENCES.get(refs, refs) for refs in header)], *lines] if lines else []


_REFERENCES = {"1": "first ref", "source": "source"}


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()


def _number(value: Value) -> str:
    return f"{value.value:.3g}" if abs(value.value) < 1 else f"{value.value:.2f}"


def as_markdown(audits: Sequence[Audit]) -> str:
    """One table: a line a claim, with the spread and the first protocols that reproduce it."""
    rows = [("system", "directions", "claim", "reproduced by", "protocols", "nearest", "spread")]
    for audit in audits:
        for finding in audit.findings:
            met = finding.reproduced_by
            how = "; ".join(one.known_as or one.protocol for one in met[:2]) if met else "none"
            rows.append(
                (
                    audit.system,
                    ", ".join(audit.directions),
                    str(finding.claim),
                    how,
                    f"{len(met)} of {len(finding.values)}",
                    _number(finding.values[0]),
                    " to ".join(map(_number, finding.ends)),
                )
            )
    cells = [[cell.replace("|", ", ") for cell in row] for row in rows]
    return markdown_lines(cells, [*["---"] * 4, *["---:"] * 3])


def as_csv(audits: Sequence[Audit]) -> str:
    """Every protocol of every claim, one line each."""
    rows = [{**one, "reproduces": str(one["reproduces"])} for one in records(audits)]
    return csv_text(rows[0] if rows else (), (one.values() for one in rows), digits=None)


def records(audits: Sequence[Audit]) -> Iterator[Mapping[str, Any]]:
    """Every protocol of every claim, nearest first, as plain values."""
    for audit in audits:
        for finding in audit.findings:
            for one in finding.values:
                yield {
                    "system": audit.system,
                    "directions": ";".join(audit.directions),
                    "metric": finding.claim.metric,
                    "claim": finding.claim.text,
                    "value": one.value,
                    "reproduces": finding.claim.is_met_by(one.value),
                    "protocol": one.protocol,
                    "known_as": one.known_as,
                }
