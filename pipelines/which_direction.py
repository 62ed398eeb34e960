"""Which directions a file of outputs could belong to: suggested to the user, never assumed."""

from __future__ import annotations

from pathlib import Path

from ..datasets_scripts.catalog import DIRECTIONS
from ..datasets_scripts.load import load_test_set
from ..datasets_scripts.text_checks import Rewrites
from ..errors import TSTBenchError
from .outputs import read_outputs


def fitting_directions(path: Path, data_dir: Path | None = None) -> list[str]:
    """The directions whose number of sentences, or whose ids, the file has.

    Of several, only those whose sources the lines resemble are named, if there are any.
    """
    fitting, related = [], []
    for name in DIRECTIONS:
        try:
            test_set = load_test_set(name, data_dir=data_dir)
            outputs = read_outputs(path, test_set)
        except TSTBenchError:  # it does not fit, or the direction's files are not here
            continue
        fitting.append(name)
        if Rewrites(outputs.predictions, test_set.sources).likeness().is_related:
            related.append(name)
    return related if len(fitting) > 1 and related else fitting


def suggestion(path: Path, data_dir: Path | None = None) -> str:
    """A sentence to end a message with; empty if nothing fits."""
    found = fitting_directions(path, data_dir)
    if not found:
        return ""
    if len(found) == 1:
        return f" {path} fits --direction {found[0]}"
    return f" {path} fits one of: {', '.join(found)}"
