"""The facts of directions with many reports, kept between starts: to read 10,000 takes 10 seconds.

One JSON file a direction, in ``$TSTBENCH_HOME/boards/``. What is kept of a report has the stamps of
the files that it was read from: where they are others, it is read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path

import numpy as np

from ...files import home, write_text
from ...pipelines.report import SeedRun
from ...version import __version__
from .facts import Facts, Measure, shared

MANY = 500  # reports of a direction; fewer are read soon enough
Stamp = tuple[int, ...]  # times of writing and of the last change in ns, size, inode
Stamps = tuple[Stamp | None, ...]  # of a report and the files beside it
Read = tuple[Stamps, Facts | str]  # the facts, or what is wrong with the report


def load(folder: str) -> dict[str, Read]:
    """What was kept of a direction, by the report's path; nothing if another version kept it."""
    try:
        kept = json.loads(_place(folder).read_bytes())
        if kept["version"] != __version__:
            return {}
        layouts = [shared(tuple(Measure(*one) for one in some)) for some in kept["layouts"]]
        found: dict[str, Read] = {}
        for path, (stamps, known) in kept["reports"].items():
            facts = known
            if not isinstance(known, str):
                *plain, run, place, numbers = known
                facts = Facts(
                    **dict(zip(Facts.PLAIN, plain, strict=True)),
                    seed_run=SeedRun.model_validate(run) if run else None,
                    layout=layouts[place],
                    numbers=np.array(numbers, dtype=float).reshape(-1, 3),
                )
            found[path] = (tuple(one and tuple(one) for one in stamps), facts)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}
    return found


def save(folder: str, read: Mapping[str, Read]) -> None:
    """Keep what was read of a direction; without room on the disk, nothing is kept."""
    layouts = list(dict.fromkeys(one.layout for _, one in read.values() if isinstance(one, Facts)))
    place = {layout: i for i, layout in enumerate(layouts)}

    def row(facts: Facts) -> list[object]:
        plain = [getattr(facts, name) for name in Facts.PLAIN]
        run = facts.seed_run.model_dump() if facts.seed_run else None
        return [*plain, run, place[facts.layout], facts.numbers.ravel().tolist()]

    kept = {
        "version": __version__,
        "layouts": [[astuple(measure) for measure in layout] for layout in layouts],
        "reports": {
            path: (stamps, row(one) if isinstance(one, Facts) else one)
            for path, (stamps, one) in read.items()
        },
    }
    with suppress(OSError):
        write_text(_place(folder), json.dumps(kept))


def _place(folder: str) -> Path:
    name = "_".join(folder.split("/")[-2:])
    digest = hashlib.sha256(folder.encode()).hexdigest()[:16]  # there may be several results
    return home() / "boards" / f"{name}_{digest}.json"
