"""Audit: score outputs under every protocol, and say which of them give the claimed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...datasets_scripts.load import load_test_set
from ...errors import InputError
from ..outputs import read_outputs, system_of
from ..published import published_predictions
from .bleu import bleu_values
from .chrf import chrf_values
from .claims import Claim
from .measured import measured_values
from .protocol import Side, Value, distinct

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
    def lowest(self) -> Value:
        """The protocol with the smallest value."""
        return min(self.values, key=lambda one: one.value)

    @property
    def highest(self) -> Value:
        """The protocol with the largest value."""
        return max(self.values, key=lambda one: one.value)

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
    notes: tuple[str, ...] = field(default=())


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
    found: dict[str, tuple[Value, ...]] = {}
    findings = []
    for claim in claims:
        if claim.metric not in found:
            found[claim.metric] = tuple(_values(claim.metric, sides, profile, notes))
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


def _values(metric: str, sides: Sequence[Side], profile: str, notes: list[str]) -> list[Value]:
    if metric in ("bleu", "s_bleu"):
        return distinct(bleu_values(sides, against_source=metric == "s_bleu", notes=notes))
    if metric in ("chrf", "s_chrf"):
        return distinct(chrf_values(sides, against_source=metric == "s_chrf"))
    return distinct(measured_values(metric, sides, profile, notes))
