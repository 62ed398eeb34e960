"""How to score: metrics, options, scorers and device, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..chat.settings import Handling
from ..datasets_scripts.directions import Direction
from ..metrics.options import Choices, Settings, choices
from ..metrics.registry import benchmark_metrics, expand
from ..metrics.scorers.artefacts import Artefact
from ..metrics.scorers.device import HERE, Placement
from ..metrics.scorers.prepare import check_names, prepare, untrained
from ..metrics.scorers.profile import Profile, Scorers, parse_profile


@dataclass(frozen=True)
class Scoring:
    """Everything scores depend on besides predictions and test set.

    Attributes:
        metrics: names of the requested metrics, in display order.
        profile: the set of scorers.
        choices: options by family.
        placement: device and number type of the scorers.
    """

    metrics: tuple[str, ...]
    profile: Profile
    choices: Choices
    placement: Placement = HERE

    def scorers(self, direction: Direction) -> Scorers:
        """The scorers of a direction: found and loaded when first used."""
        return Scorers(self.profile, direction, self.placement)

    def prepare(self, direction: Direction, data_dir: Path | None = None) -> list[Artefact]:
        """Make sure that every scorer a direction needs exists."""
        return prepare(
            direction, self.profile, self.metrics, choices=self.choices, data_dir=data_dir
        )

    def check(self, direction: Direction) -> None:
        """Tell a slip in a scorer's name before anything is trained."""
        check_names(direction, self.profile, self.metrics, self.choices)

    def untrained(self, direction: Direction) -> list[str]:
        """The roles of scorers that do not exist yet."""
        return untrained(direction, self.profile, self.metrics, self.choices)


def scoring(
    metrics: str | Iterable[str] | None = None,
    *,
    profile: str = "embedded",
    scorers: str | Iterable[str] = (),
    settings: Settings | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    asking: Handling | None = None,
) -> Scoring:
    """How to score, from names.

    Args:
        metrics: names of metrics and families; by default the benchmark's ten, with
            ``embedded`` ``joint_calibrated``, and with ``lm`` ``joint_sentence`` and its parts.
        profile: ``embedded``, ``lm`` or ``paper``.
        scorers: ``ROLE=SCORER`` texts: scorers to use instead of the profile's.
        settings: metric options by family and name.
        device: ``auto``, ``cpu`` or ``cuda``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        batch_size: the most sentences that a model scores at once; it does not change a score.
        asking: how patiently a chat server is asked, and within which limits.

    Raises:
        UnknownNameError: no such metric, profile, role, family, option, device or number type.
        InputError: no metric, a value that an option does not accept, or an empty batch.
    """
    chosen = parse_profile(profile)
    # Its curves are those of the embedded scorers, which the ten need anyway: it costs nothing.
    more = {
        "embedded": ("joint_calibrated",),
        "lm": ("joint_sentence", "target_style", "s_meaning", "fluency"),
    }.get(profile, ())
    return Scoring(
        metrics=expand(metrics) if metrics is not None else (*benchmark_metrics(), *more),
        profile=chosen.with_scorers(scorers),
        choices=choices(chosen.options, settings or {}),
        placement=Placement(device, dtype, batch_size, asking or Handling()),  # type: ignore[arg-type]  # checked there
    )
