"""Calibrations of Joint: named, versioned files with their coefficients and their evidence.

A released calibration is never changed: a better one gets a new name. ``tstbench calibrate`` makes
one from human judgments.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from ...errors import InputError, MissingFileError, unknown_name
from ...files import read_text
from ..signature import Signature
from ..statistics import Statistics, mean_statistics

_HERE = Path(__file__).parent
_PREFIX = "calibrated-"
WEIGHTS = "weights"  # the field of signatures that names a calibration, with its own hash
_HASH = re.compile("[0-9a-f]{12}")
_Number = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True)
class CalibratedPart:
    """One part of the score.

    Attributes:
        metric: the metric whose values for single sentences are read.
        aspect: the aspect that people rated: style, content or fluency.
        weight: of its rating in the mean, 0 or more.
        slope: of the curve; 0 or more, and below 0 only for a metric where lower is better.
        offset: of the curve.
        missing: the rating where the metric has no value for a sentence.
        intervals: 95% bootstrap interval of ``weight``, ``slope`` and ``offset``, by name.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    metric: str
    aspect: Literal["style", "content", "fluency"]
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    slope: _Number
    offset: _Number
    missing: Annotated[float, Field(ge=0, le=1)] = 0.0
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)

    def rating(self, values: np.ndarray) -> np.ndarray:
        """The rating that people would give, 0 to 1, of the same shape.

        >>> CalibratedPart("acc", "style", 1.0, slope=2.0, offset=-1.0).rating(np.array([0.5]))
        array([0.5])
        """
        from scipy.special import expit  # takes a while to import

        values = np.asarray(values, dtype=np.float64)
        return np.where(np.isnan(values), self.missing, expit(self.offset + self.slope * values))


def calibrated_scores(
    parts: Sequence[CalibratedPart], values: Mapping[str, np.ndarray], failed: np.ndarray
) -> np.ndarray:
    """The calibrated Joint of N sentences, 0 to 1: shape (N,).

    A part's value x becomes a rating between 0 and 1 by a logistic curve, 1 / (1 + exp(-(offset +
    slope x))), which is what raters gave sentences with that value; the score is the mean of these
    ratings, with the weights with which raters' overall scores follow theirs.

    Args:
        parts: of the score; the weights are divided by their sum.
        values: by metric: its values for the sentences, shape (N,).
        failed: which predictions are empty: they score 0. Shape (N,), bool.

    Raises:
        InputError: no weight is above 0, or one is below.
    """
    weights = np.array([part.weight for part in parts])
    if not len(parts) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InputError(f"weights must be finite, not negative, and not all 0; got {weights}")
    ratings = np.array([part.rating(values[part.metric]) for part in parts])
    return np.where(failed, 0.0, weights @ ratings / weights.sum())


def calibrated_statistics(
    parts: Sequence[CalibratedPart], values: Mapping[str, np.ndarray], failed: np.ndarray
) -> Statistics:
    """The mean over sentences of :func:`calibrated_scores`, with those as per-sentence values."""
    return mean_statistics(calibrated_scores(parts, values, failed))


def _usable(parts: tuple[CalibratedPart, ...]) -> tuple[CalibratedPart, ...]:
    if not any(one.weight > 0 for one in parts):
        raise ValueError("no weight is above 0")
    if any(one.metric in ("joint", "joint_calibrated") for one in parts):
        raise ValueError("joint cannot be a part of itself")
    return parts


@dataclass(frozen=True)
class Calibration:
    """Everything that a calibrated Joint is.

    Attributes:
        name: ``calibrated-v1``.
        parts: at least one.
        profile: the profile whose scorers gave the metrics' values: with others the curves are not
            those of these numbers.
        fitted_on: what was fitted on which judgments, for people.
        evidence: how well it does on judgments that it was not fitted on.
        limits: where it fails, for people.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=60)]
    parts: Annotated[tuple[CalibratedPart, ...], Field(min_length=1), AfterValidator(_usable)]
    profile: str
    fitted_on: tuple[str, ...]
    evidence: dict[str, JsonValue] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    schema_version: Literal[1] = 1

    @property
    def hash(self) -> str:
        """SHA-256 hex of what the score depends on: metrics, weights and curves."""
        content = [asdict(one) for one in self.parts]
        for part in content:
            del part["intervals"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def signed(self) -> str:
        """How signatures name it."""
        return f"{self.name}#{self.hash[:12]}"

    @property
    def scorers(self) -> tuple[str, ...]:
        """The scorers whose values the curves were fitted on, as signatures name them, no hashes.

        Training is not the same to the last bit everywhere, which moves no curve; another kind,
        other data or another model does. Empty if the file does not say: nobody measured it.
        """
        signatures = self.evidence.get("signatures")
        if not isinstance(signatures, dict):
            return ()
        found: set[str] = set()
        for of in signatures.values():
            for text in of.values() if isinstance(of, dict) else ():
                found |= signed_scorers(str(text))
        return tuple(sorted(found))

    def record(self) -> dict[str, Any]:
        """As it is written to a file."""
        return asdict(self)


def signed_scorers(signature: Signature | str) -> set[str]:
    """The names of the scorers in a signature, without their hashes; none if it is no signature.

    >>> sorted(signed_scorers("acc|v:1|classifier:linear:yelp#0b556b457f18|text:paper-v1"))
    ['linear:yelp']
    """
    if isinstance(signature, str):
        try:
            signature = Signature.parse(signature)
        except InputError:  # somebody's file may say anything
            return set()
    return {
        name
        for key, value in signature
        if key != WEIGHTS
        for name, _, digest in [value.rpartition("#")]
        if name and _HASH.fullmatch(digest)
    }


def calibrations() -> tuple[str, ...]:
    """The names of the calibrations that come with the package."""
    return tuple(sorted(path.stem for path in _HERE.glob(f"{_PREFIX}*.json")))


def load_calibration(name: str) -> Calibration:
    """A calibration by its name, or from a file of your own.

    Args:
        name: ``calibrated-v1``, or the path of a JSON file.

    Raises:
        UnknownNameError: no such calibration.
        MissingFileError: no such file.
        InputError: the file is not a calibration; the message names the field.
    """
    if name in calibrations():
        return _parsed(_HERE / f"{name}.json")
    if not name.endswith(".json"):
        raise unknown_name("calibration of joint", name, [*calibrations(), "FILE.json"])
    path = Path(name).expanduser()
    if not path.is_file():
        raise MissingFileError(f"no such file: {path}")
    return _parsed(path)


def check_replaceable_calibration(path: Path) -> None:
    """Check that a calibration may be written there.

    Raises:
        InputError: a file that is no calibration is there, or a folder.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    if path.exists():
        try:
            _parsed(path)
        except InputError as error:
            raise InputError(f"{path} is there, and no calibration: choose another name") from error


def _parsed(path: Path) -> Calibration:
    return _of_text(path, read_text(path))


@lru_cache(maxsize=8)
def _of_text(path: Path, text: str) -> Calibration:
    """Remembered by content: a file that was edited is another calibration."""
    try:
        return _ADAPTER.validate_python(json.loads(text))
    except (ValueError, RecursionError) as error:
        problem = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise InputError(f"{path} is not a calibration of joint: {problem}") from error


_ADAPTER: TypeAdapter[Calibration] = TypeAdapter(Calibration)
