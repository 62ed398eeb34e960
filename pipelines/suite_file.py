"""The TOML file of a suite: systems x directions, and how to score them.

Some suites ship with the package, in ``suites/``, and are known by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue

from ..datasets_scripts.strict_toml import read_toml
from ..errors import unknown_name
from ..files import read_text
from ..records import Strict
from .report import SystemInfo
from .scoring import Scoring, scoring

_OURS = Path(__file__).with_name("suites")


def _whole_if_several(gpus: float) -> float:
    if gpus > 1 and gpus % 1:
        raise ValueError("more than one GPU is a whole number")
    return gpus


class Resources(Strict):
    """What a system takes to be trained and to rewrite; what is not given is the engine's."""

    cpus: Annotated[float, Field(ge=0.01)] | None = None
    gpus: Annotated[float, Field(ge=0), AfterValidator(_whole_if_several)] | None = None
    memory: Annotated[float, Field(gt=0)] | None = None  # GiB


class SuiteSystem(Strict):
    """One ``[[system]]`` table: a system, published outputs, or the user's own files."""

    info: SystemInfo | None = None
    system: str | None = None  # a name, a folder, a Hub id or reference-1
    published: str | None = None
    directions: tuple[str, ...] = ()
    outputs: dict[str, str] = {}
    seed: int = 0
    generation: dict[str, Any] = {}
    preset: str | None = None  # of a name that is trained: tiny, small
    settings: dict[str, JsonValue] = {}  # that it is trained with
    seeds: Annotated[int, Field(ge=2)] | None = None  # train it so often, each time with another
    split: str | None = None  # what it learns from; default: train
    postprocess: tuple[str, ...] = ()  # what to do to its answers
    resources: Resources = Resources()


class Suite(Strict):
    """The whole file."""

    out: str = "results"
    directions: tuple[str, ...] = ()  # of systems that name none and can do any
    data: tuple[str, ...] = ()  # data files of the user's own datasets
    profile: str = "embedded"
    scorers: dict[str, str] = {}  # role -> a scorer in place of the profile's
    metrics: tuple[str, ...] | None = None  # metrics or families; default: the benchmark's ten
    options: dict[str, dict[str, JsonValue]] = {}  # family -> option -> value
    device: str = "auto"
    dtype: str = "float32"
    batch_size: Annotated[int, Field(ge=1)] | None = None  # no score depends on it
    system: Annotated[tuple[SuiteSystem, ...], Field(min_length=1)]

    def scoring(self) -> Scoring:
        """How to score, checked.

        Raises:
            UnknownNameError, InputError: as :func:`.scoring.scoring`.
        """
        return scoring(
            self.metrics,
            profile=self.profile,
            scorers=[f"{role}={spec}" for role, spec in self.scorers.items()],
            settings=self.options,
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
        )


def named_suites() -> dict[str, str]:
    """The suites of the package: name -> what it is, the first line of its file."""
    files = sorted(_OURS.glob("*.toml"))
    return {file.stem: read_text(file).split("\n")[0].removeprefix("# ") for file in files}


def suite_file(name_or_path: str | Path) -> tuple[Path, Path]:
    """The file of a suite, and the folder that its paths are relative to.

    Args:
        name_or_path: a file; or the name of a suite of the package, whose paths are relative to
            the current folder.

    Raises:
        UnknownNameError: neither.
    """
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.is_file():
        return path, path.parent
    if str(path) not in named_suites():
        raise unknown_name("suite", str(path), [*named_suites(), "or a file NAME.toml"])
    return _OURS / f"{path}.toml", Path()


def read_suite(path: Path) -> Suite:
    """Read a suite's TOML.

    Raises:
        InputError: not TOML, or not a suite; the message names the line and the key.
    """
    return read_toml(path, Suite)
