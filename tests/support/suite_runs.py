"""A suite that is run, and when its results were written."""

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
