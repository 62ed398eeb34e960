"""The facts of directions with many reports, kept between starts: to read 10,000 takes 10 seconds.

One JSON file a direction, in ``$TSTBENCH_HOME/boards/``. What is kept of a report has the stamps of
the files that it was read from: if they have changed, it is read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path

import numpy as np

from ...datasets_scripts.unchanged import code
from ...files import home, write_text
from ...pipelines.report import SeedRun
from .facts import Facts, Measure, shared

MANY = 500  # reports of a direction; fewer are read soon enough
Stamp = tuple[int, ...]  # times of writing and of the last change in ns, size, inode
Stamps = tuple[Stamp | None, ...]  # of a report and the files beside it
Read = tuple[Stamps, Facts | str]  # the facts, or what is wrong with the report
# Of a dataset of the Hub: the next commit is in another folder, with links to the same files.
_COMMIT = re.compile("/snapshots/[0-9a-f]{40}/")


def load(folder: str) -> dict[str, Read]:
    """What was kept of a direction, by the report's path; nothing if that cannot be read."""
    found: dict[str, Read] = {}
    with suppress(Exception):  # whatever is wrong with a file of ours, it can be made anew
        kept = json.loads(_place(folder).read_bytes())
        layouts = [shared(tuple(Measure(*one) for one in some)) for some in kept["layouts"]]
        for path, (stamps, plain, run, layout, numbers) in kept["reports"].items():
            facts = Facts(
                **dict(zip(Facts.PLAIN, plain, strict=True)),
                seed_run=SeedRun.model_validate(run) if run else None,
                layout=layouts[layout],
                numbers=np.array(numbers, dtype=float).reshape(-1, 3),
            )
            found[folder + path] = (tuple(one and tuple(one) for one in stamps), facts)
        return found
    return {}


def save(folder: str, read: Mapping[str, Read]) -> None:
    """Keep the facts of a direction's reports; without room on the disk, nothing is kept.

    What is wrong with a report is not kept: the disk may have been, for a moment.
    """
    facts = {path: one for path, (_, one) in read.items() if isinstance(one, Facts)}
    place = {layout: i for i, layout in enumerate(dict.fromkeys(f.layout for f in facts.values()))}
    kept = {
        "layouts": [[astuple(measure) for measure in layout] for layout in place],
        "reports": {
            path.removeprefix(folder): (
                read[path][0],
                [getattr(one, name) for name in Facts.PLAIN],
                one.seed_run.model_dump() if one.seed_run else None,
                place[one.layout],
                one.numbers.ravel().tolist(),
            )
            for path, one in facts.items()
        },
    }
    with suppress(OSError):
        write_text(_place(folder), json.dumps(kept))


def _place(folder: str) -> Path:
    """The file: of these results, and of this code."""
    name = "_".join(folder.split("/")[-2:])
    same = hashlib.sha256(_COMMIT.sub("/", folder).encode()).hexdigest()[:16]
    return home() / "boards" / f"{name}_{same}_{code()}.json"
