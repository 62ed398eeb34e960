"""Claims about other metrics: every variant that the scorers at hand allow.

A style classifier here is not the one of the paper that made the claim: what is reported is how far
apart several of them are, which is how much such a claim can be believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...datasets_scripts.cleaning import parse_cleaning
from ...errors import InputError, MissingExtraError, MissingScorerError
from ...metrics.inputs import Inputs
from ...metrics.measure import measure
from ...metrics.options import Settings, choices
from ...metrics.registry import family_of
from ...metrics.result import LeftOut, Measurement
from ...metrics.scorers.classifiers import kinds
from ...metrics.scorers.profile import parse_profile
from ...metrics.statistics import Statistics
from ..evaluate import inputs_of
from ..outputs import Outputs
from ..scoring import Scoring
from .protocol import Side, Value, over_directions


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
                notes.append(
                    f"{metric}, {variant.name}: {_how_to_make(variant, sides[0]) or error}"
                )
                break
            except (MissingExtraError, InputError) as error:
                notes.append(f"{metric}, {variant.name}: {error}")
                break
            base = (("variant", variant.name), ("files", files))
            for whole, value in over_directions(base, [[partial(_same, p)] for [p] in parts]):
                yield Value(metric, whole, value)


def _how_to_make(variant: Variant, side: Side) -> str:
    """What to say of a classifier of a kind that was not trained here."""
    if not any(one.startswith("classifier=") for one in variant.scorers):
        return ""
    command = f"tstbench train classifier {side.clean.direction.dataset} --kind {variant.name}"
    return f"left out, not trained here: {command}"


def _same(statistics: Statistics) -> Statistics:
    return statistics


def _statistics(metric: str, side: Side, files: str, variant: Variant, profile: str) -> Statistics:
    chosen = parse_profile(profile)
    how = Scoring(
        (metric,), chosen.with_scorers(variant.scorers), choices(chosen.options, variant.settings)
    )
    inputs = _inputs(side, cleaned=files == "cleaned")
    scorers = how.scorers(side.clean.direction)
    outcome = measure([metric], inputs, scorers, how.choices)[metric]
    if isinstance(outcome, LeftOut):
        raise InputError(outcome.why)
    assert isinstance(outcome, Measurement)  # noqa: S101 - the other kind of outcome
    return outcome.statistics


def _inputs(side: Side, *, cleaned: bool) -> Inputs:
    clean = parse_cleaning(side.clean.cleaning)
    outputs = tuple(map(clean, side.outputs)) if cleaned else side.outputs
    return inputs_of(Outputs("", outputs), side.clean)
