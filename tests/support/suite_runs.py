"""A suite that is run, here or elsewhere, and what it wrote."""

import filecmp
from pathlib import Path

from tstbench.pipelines.suite import run_suite


def run(path: Path) -> list:
    """Run a suite; what it would have shown of each direction."""
    shown = []
    run_suite(path, shown.append)
    return shown


def stamps(path: Path) -> dict:
    """When each file of each system was written, by system and direction."""
    found = {}
    for report in (path.parent / "results").rglob("report.json"):
        files = sorted(report.parent.iterdir())
        name = report.parent.relative_to(path.parent / "results").as_posix()
        found[name] = {file.name: (file.stat().st_mtime_ns, file.stat().st_ino) for file in files}
    return found


def check_equal(one: Path, other: Path, *, but: str = "") -> None:
    """The same files with the same bytes; the other one may have a folder more."""
    names = [
        sorted(
            p.relative_to(f)
            for p in f.rglob("*")
            if p.is_file() and p.relative_to(f).parts[0] != but
        )
        for f in (one, other)
    ]
    assert names[0] == names[1]
    assert filecmp.cmpfiles(one, other, names[0], shallow=False)[1:] == ([], [])


def of_ones_own(suite: Path) -> None:
    """A suite on the dataset ``manners``, with outputs of one's own that look wrong."""
    suite.write_text(
        'metrics = ["acc", "s_bleu"]\ndirections = ["manners"]\n[[system]]\nsystem = "copy"\n'
        '[[system]]\ninfo = { name = "numbered" }\n'
        'outputs = { "manners/rude-to-polite" = "numbered.txt" }\n'
    )
    (suite.parent / "numbered.txt").write_text("1. yes\n2. no\n")
