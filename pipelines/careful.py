"""Saying what looks wrong with outputs before their scores are believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..datasets_scripts.load import TestSet
from ..errors import TSTBenchError
from ..talk import say
from .outputs import Outputs
from .report import SystemInfo, is_bound_name
from .report_files import read_report
from .results import direction_folder, system_folders
from .suspicion import find_suspicions, same_outputs


def warn(
    outputs: Sequence[Outputs],
    test_set: TestSet,
    infos: Mapping[str, SystemInfo] | None = None,
    root: Path | None = None,
) -> None:
    """Say on standard error what looks wrong; nothing is changed or refused.

    Args:
        outputs: of each system, aligned with the test set.
        test_set: what they rewrite.
        infos: what is known about the systems, by name.
        root: a results folder whose systems should not have the same outputs.
    """
    others = _stored(direction_folder(root, test_set.direction)) if root else {}
    for one in outputs:
        info = (infos or {}).get(one.system)
        bound = is_bound_name(one.system) or (info is not None and info.is_bound)
        found = find_suspicions(one.predictions, test_set, bound=bound)
        others.pop(one.system, None)
        if not bound:
            found += same_outputs(one.sha256, others)
        for suspicion in found:
            say(f"careful: {one.system}: {suspicion}")
        others[one.system] = one.sha256


def _stored(folder: Path) -> dict[str, str]:
    """The hashes of the outputs in a direction's folder, by system."""
    found = {}
    for place in system_folders(folder):
        try:
            report = read_report(place / "report.json")
        except TSTBenchError:  # said where the results are read
            continue
        found[report.system.name] = report.outputs_sha256
    return found
