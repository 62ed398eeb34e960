"""The human ratings of Mir et al. (2019), and the scores their metrics gave to the same texts.

Source: Mir, Felbo, Obradovich and Rahwan (2019), "Evaluating Style Transfer for Text", sections 4.2
and 5. 244 Yelp sentences, half of each sentiment, were rewritten by 12 settings of three models;
three Mechanical Turk workers scored each output. Published are their means, and for naturalness
also the majority; single ratings are not, so no agreement of raters can be computed.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...files import read_lines
from ..sources import MIR_2019, fetch, upstream_file
from .schema import (
    CONTENT_MASKED,
    NATURALNESS,
    NATURALNESS_ABSOLUTE,
    STYLE_DIFFERENCE,
    Aspect,
    Judgment,
    parse_scale,
)

STUDY = "mir2019"
STYLES = ("negative", "positive")
ITEMS_PER_STYLE = 122
MEAN_SCALE = "interval 1-5"  # of means of whole numbers
MEAN, MAJORITY = "mean-of-3", "majority-of-3"
SOURCE_SYSTEM = "source"  # the inputs themselves, whose naturalness was rated too
_RELATIVE = {"A": 0.0, "B": 1.0, None: None}  # A: the input is more natural, B: the output


@dataclass(frozen=True)
class Setting:
    """One setting of one model.

    Attributes:
        model: ``CAAE``, ``ARAE`` or ``DAR``.
        parameter: what was varied: ``rho``, ``lambda`` or ``gamma``.
        value: as the file names have it, ``0_5`` for 0.5.
    """

    model: str
    parameter: str
    value: str

    @property
    def file(self) -> str:
        """The stem of its files: ``CAAE_rho_0_5``."""
        return f"{self.model}_{self.parameter}_{self.value}"

    @property
    def system(self) -> str:
        """``caae-rho-0.5``"""
        return f"{self.model.lower()}-{self.parameter}-{self.value.replace('_', '.')}"


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(model, parameter, value)
    for model, parameter, values in (
        ("CAAE", "rho", ("0_01", "0_1", "0_5", "1", "5")),
        ("ARAE", "lambda", ("1", "5", "10")),
        ("DAR", "gamma", ("0_1", "1", "15", "500")),
    )
    for value in values
)
MODELS = tuple(dict.fromkeys(setting.model for setting in SETTINGS))
# Naturalness of DAR was rated for one setting only.
NATURALNESS_RATED = tuple(s for s in SETTINGS if s.model != "DAR" or s.value == "15")


def judgments() -> list[Judgment]:
    """The ratings of all settings, with the texts; one per output and aspect.

    The rating of the inputs' own naturalness is that of the system :data:`SOURCE_SYSTEM`.

    Raises:
        MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
    """
    sources = source_texts()
    rows = []
    for setting in SETTINGS:
        outputs = output_texts(setting)
        for aspect, scores in human_scores(setting).items():
            of = setting.system, setting.model, sources, outputs
            rows += list(_judgments(*of, aspect, scores))
    inputs = human_input_naturalness()
    return rows + list(_judgments(SOURCE_SYSTEM, None, sources, sources, "naturalness", inputs))


def _judgments(
    system: str,
    model: str | None,
    sources: list[str],
    outputs: list[str],
    aspect_name: str,
    scores: list[float | None],
) -> Iterator[Judgment]:
    aspect = _ASPECTS[aspect_name]
    scale = aspect.scale if aspect is NATURALNESS else MEAN_SCALE
    for number, (source, output, score) in enumerate(zip(sources, outputs, scores, strict=True)):
        style, line = divmod(number, ITEMS_PER_STYLE)
        yield Judgment(
            study=STUDY,
            dataset="yelp",
            direction=f"yelp/{STYLES[style]}-to-{STYLES[1 - style]}",
            system=system,
            sample_id=f"mir2019-{style}-{line:05d}",
            source=source,
            output=output,
            aspect=aspect.name,
            scale=scale,
            rater=MAJORITY if aspect is NATURALNESS else MEAN,
            score=score,
            note="no majority of the raters" if score is None else None,
            model=model,
            certain=True,
            flag=None if score is None or parse_scale(scale).holds(score) else "impossible",
        )


_ASPECTS: dict[str, Aspect] = {
    aspect.name: aspect
    for aspect in (STYLE_DIFFERENCE, CONTENT_MASKED, NATURALNESS_ABSOLUTE, NATURALNESS)
}


@cache
def source_texts() -> list[str]:
    """The 244 inputs: 122 negative ones, then 122 positive ones."""
    return _both_styles("data/sentiment.test.{}")


@cache
def output_texts(setting: Setting) -> list[str]:
    """The outputs of a setting; number i belongs to input i."""
    folder = f"{setting.parameter}_{setting.value}"
    return _both_styles(f"transfer_model_outputs/{setting.model}/{folder}/sentiment.test.{{}}.tsf")


def _both_styles(path: str) -> list[str]:
    files = [upstream_file(MIR_2019, path.format(style)) for style in range(len(STYLES))]
    return [line.strip() for file in files for line in read_lines(fetch(file))]


def human_scores(setting: Setting) -> dict[str, list[float | None]]:
    """The scores of a setting's 244 outputs by aspect; ``None`` is no majority."""
    scores: dict[str, list[float | None]] = {
        "style_difference": _numbers(_human(f"style_transfer_intensity/{setting.file}.npy")),
        "content_masked": _numbers(_human(f"content_preservation/{setting.file}.npy")),
    }
    if setting in NATURALNESS_RATED:
        both = _human(f"naturalness/{setting.file}.npz")
        scores["naturalness"] = _numbers(both["absolute"])
        scores["naturalness_relative"] = [_RELATIVE[answer] for answer in both["relative"]]
    return scores


def human_input_naturalness() -> list[float | None]:
    """The mean naturalness of the 244 inputs themselves."""
    return _numbers(_human("naturalness/input_texts.npz")["absolute"])


def _human(path: str) -> Any:
    return _read(f"evaluations/human/{path}")


def stored_scores(path: str) -> Any:
    """A file of the scores that the authors' own metrics gave: ``evaluations/automated/<path>``."""
    return _read(f"evaluations/automated/{path}")


def _read(path: str) -> Any:
    file = fetch(upstream_file(MIR_2019, path))
    return read_npz(file) if path.endswith(".npz") else np.load(file, allow_pickle=False)


def _numbers(values: Any) -> list[float | None]:
    return [float(value) for value in np.asarray(values, dtype=np.float64)]


# -- other people's NumPy archives, whose members are pickled --------------------------------------
# Loading a pickle runs whatever it names. The reader here knows the few names that an array of
# numbers, strings or dictionaries needs, and refuses every other one.

# NumPy 2 renamed numpy.core to numpy._core; files of both are around.
_ALLOWED = {
    (module, name)
    for package in ("numpy.core", "numpy._core")
    for module, name in (
        (f"{package}.multiarray", "_reconstruct"),
        (f"{package}.multiarray", "scalar"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),  # how Python 2 wrote bytes
    )
}


class _Restricted(pickle.Unpickler):
    """Knows arrays, their types and scalars; dict, list, str and float need no name at all."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which no array needs")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_npz(path: Path) -> dict[str, Any]:
    """The members of an ``.npz`` archive: arrays, or what a zero-dimensional object array holds.

    Raises:
        UnpicklingError: a member needs more than arrays, dictionaries, lists, strings and numbers.
        ValueError, BadZipFile: it is no such archive.
    """
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        return {name.removesuffix(".npy"): _member(archive.read(name)) for name in names}


def _member(content: bytes) -> Any:
    stream = io.BytesIO(content)
    np.lib.format.read_magic(stream)  # all are of version 1.0
    _, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if not dtype.hasobject:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    array = _Restricted(stream, encoding="latin1").load()
    return array.item() if array.shape == () else array
