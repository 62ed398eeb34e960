"""Reading other people's NumPy archives whose members are pickled, without running their code.

An ``.npz`` member with Python objects is a pickle, and loading a pickle runs whatever it names. The
reader here knows the few names that an array of numbers, strings or dictionaries needs, and
refuses every other one.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError

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


def read_npy(path: Path) -> np.ndarray:
    """An array of numbers from a ``.npy`` file; one of objects is refused.

    Raises:
        InputError: it is not such a file.
    """
    try:
        array: np.ndarray = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: not a NumPy array of numbers: {error}") from error
    return array


def read_npz(path: Path) -> dict[str, Any]:
    """The members of an ``.npz`` archive: arrays, or what a zero-dimensional object array holds.

    Raises:
        InputError: it is not such an archive, or a member needs more than arrays, dictionaries,
            lists, strings and numbers.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            return {name.removesuffix(".npy"): _member(archive.read(name)) for name in names}
    except (ValueError, EOFError, KeyError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a NumPy archive of plain values: {error}") from error


def _member(content: bytes) -> Any:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"format version {version} is not known")
    _, _, dtype = read(stream)
    if not dtype.hasobject:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    array = _Restricted(stream, encoding="latin1").load()
    if not isinstance(array, np.ndarray):
        raise ValueError("a member is not an array")
    return array.item() if array.shape == () else array
