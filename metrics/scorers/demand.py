"""Scorers on demand: a call that needs one that does not exist yet has it trained first.

How scorers are trained is known in a higher room; the package puts it in place when it is imported
(:data:`maker`), so that ``evaluate.load("tstbench/joint")`` works on a fresh machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...datasets_scripts.directions import Direction
    from ...errors import MissingScorerError
    from ..options import Choices
    from .profile import Profile

    Maker = Callable[[Direction, Profile, Sequence[str], Choices], object]

#: makes every scorer that some metrics need on a direction
maker: Maker | None = None


def renew(
    direction: Direction | None, profile: Profile, metrics: Sequence[str], choices: Choices
) -> None:
    """Train again those of the scorers that are here whose data or settings are others now.

    A name alone does not say what a stored scorer learned. Where that cannot be found out, since the
    training sentences are not at hand, it is said.
    """
    from ...console import say
    from ...datasets_scripts.catalog import DATASETS
    from ...errors import MissingFileError, TSTBenchError
    from ...files import home, lock_if_writable
    from ..measure import roles_needed
    from .profile import Scorers

    if maker is None or direction is None or direction.dataset not in DATASETS:
        return
    scorers = Scorers(profile, direction)
    try:
        for role in roles_needed(metrics, scorers, choices):
            scorers.find(role)
    except TSTBenchError:  # measuring says what is missing or wrong
        return
    try:
        with lock_if_writable(home() / "scorers"):
            maker(direction, profile, metrics, choices)
    except MissingFileError as error:
        say(f"careful: these scorers may have learned something else than they would now: {error}")


def make(
    missing: MissingScorerError,
    direction: Direction | None,
    profile: Profile,
    metrics: Sequence[str],
    choices: Choices,
) -> None:
    """Make the scorers that some metrics need, and say so.

    Args:
        missing: the error of the first one that was looked for.
        direction: the direction to score on.
        profile: which scorers are used.
        metrics: names of metrics.
        choices: options by family.

    Raises:
        MissingScorerError: nothing is known here of the direction's dataset but its name, or
            published weights are not on this machine and cannot be downloaded.
        MissingFileError: the training sentences were not found.
    """
    from ...console import say
    from ...datasets_scripts.catalog import DATASETS
    from ...files import home, lock
    from .artefacts import kind_and_split

    if maker is None or direction is None or direction.dataset not in DATASETS:
        raise missing
    trained = [kind_and_split(spec)[0] for spec in profile.scorers.values()]
    slow = "hours without a GPU" if "transformer" in trained else "minutes"
    say(
        f"scoring {direction} needs scorers that are not in {home()}: they are trained now, once, "
        f"and kept (half a minute for small datasets, {slow} for large ones)"
    )
    with lock(home() / "scorers", "train"):  # a page may be asked twice at the same time
        maker(direction, profile, metrics, choices)
