"""Saying what looks wrong with outputs before their scores are believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..datasets_scripts.corpora import CORPORA
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TestSet
from ..errors import TSTBenchError
from ..talk import say
from .outputs import Outputs
from .report import Report, SystemInfo, is_bound_name
from .report_files import read_report
from .results import direction_folder, system_folder, system_folders
from .suspicion import find_suspicions, same_outputs


def warn(
    outputs: Sequence[Outputs],
    test_set: TestSet,
    infos: Mapping[str, SystemInfo] | None = None,
    root: Path | None = None,
) -> dict[str, tuple[str, ...]]:
    """Say on standard error what looks wrong, unless the report of these outputs says it already.

    Args:
        outputs: of each system, aligned with the test set.
        test_set: what they rewrite.
        infos: what is known about the systems, by name; by default what their reports say.
        root: a results folder whose systems should not have the same outputs.

    Returns:
        What each system's report says from now on; nothing is changed or refused.
    """
    warnings = {}
    doubts = _doubts(test_set.direction)
    given: dict[str, str] = {}
    for one in outputs:
        folder = system_folder(root, test_set.direction, one.system) if root else None
        before = _read(folder).get(one.system) if folder else None
        info = (infos or {}).get(one.system) or (before.system if before else None)
        bound = is_bound_name(one.system) or (info is not None and info.is_bound)
        is_same = before is not None and before.outputs_sha256 == one.sha256
        told = before.warnings if before is not None and is_same else ()
        found = find_suspicions(one.predictions, test_set, bound=bound)
        warnings[one.system] = (*doubts, *(suspicion.short for suspicion in found))
        if not bound and not is_same:
            folders = system_folders(direction_folder(root, test_set.direction)) if root else ()
            stored = {name: report.outputs_sha256 for name, report in _read(*folders).items()}
            others = {**stored, **given}
            others.pop(one.system, None)
            found += same_outputs(one.sha256, others)
        for suspicion in found:
            if suspicion.short not in told:
                say(f"careful: {one.system}: {suspicion}")
        given[one.system] = one.sha256
    return warnings


def _doubts(direction: Direction) -> list[str]:
    """What was said of a user's own styles, or of this direction's texts, when they were loaded."""
    corpus = CORPORA.get(direction.dataset)
    if corpus is None:
        return []
    others = [f" of {one.config}: " for one in corpus.facts.directions if one != direction]
    found = [doubt.short for doubt in corpus.doubts]
    return [doubt for doubt in found if not any(other in doubt for other in others)]


def _read(*folders: Path) -> dict[str, Report]:
    """The reports in these folders by system; what cannot be read is told by its other readers."""
    found = {}
    for folder in folders:
        with suppress(TSTBenchError):
            report = read_report(folder / "report.json")
            found[report.system.name] = report
    return found
