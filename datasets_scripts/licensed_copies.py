"""Where this user's copies of licensed corpora are: remembered when one is read.

What was scored with a licensed corpus may quote it, so whoever publishes from the same
``$TSTBENCH_HOME`` later is checked against the copy, given again or not.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ..errors import IntegrityError, MissingFileError
from ..files import home, keep_json, lock, read_text


def remembered_in() -> Path:
    """The file that lists the copies, by environment variable."""
    return home() / "licensed_copies.json"


def remember(variable: str, folder: Path) -> None:
    """Keep a corpus' folder; where the home takes nothing, nothing is built there either.

    Raises:
        IntegrityError: the list is damaged.
    """
    _remember(remembered_in(), variable, folder.resolve())


@cache  # a corpus has dozens of files
def _remember(file: Path, variable: str, folder: Path) -> None:
    if str(folder) in _read(file).get(variable, []):
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with lock(file):
            known = _read(file)
            keep_json(file, {**known, variable: sorted({*known.get(variable, []), str(folder)})})
    except OSError:  # read-only
        return


def copies(variable: str) -> list[Path]:
    """The remembered copies that are still there.

    Raises:
        MissingFileError: there were some, and none is left: nothing can be checked against them.
        IntegrityError: the list is damaged.
    """
    file = remembered_in()
    known = _read(file).get(variable, [])
    there = known_copies(variable)
    if known and not there:
        raise MissingFileError(
            f"{known[0]} is not there any more. It was read as a copy of a licensed corpus, and "
            f"what is published is checked for its sentences: set {variable} to where it is now. "
            f"If you have no copy any more, and publish nothing made with it, delete {file}"
        )
    return there


def known_copies(variable: str) -> list[Path]:
    """The remembered copies that are still there, also if none is.

    Raises:
        IntegrityError: the list is damaged.
    """
    folders = map(Path, _read(remembered_in()).get(variable, []))
    return [folder for folder in folders if folder.is_dir()]


def _read(file: Path) -> dict[str, list[str]]:
    if not file.exists():
        return {}
    try:
        found = json.loads(read_text(file))
        return {str(name): [str(one) for one in folders] for name, folders in found.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise IntegrityError(
            f"{file} is damaged. Delete it, and when you publish, say where your licensed corpora "
            "are (TSTBENCH_GYAFC)"
        ) from error
