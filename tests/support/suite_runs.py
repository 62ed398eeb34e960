"""A suite that is run, here or elsewhere, and what it wrote."""

import contextlib
import filecmp
import io
import json
from hashlib import sha256
from pathlib import Path

from tstbench.pipelines.suite import run_suite

SUITE = """
metrics = ["s_bleu", "r_bleu", "s_chrf", "length_ratio"]
directions = ["mini"]

[[system]]
system = "copy"

[[system]]
system = "random-target"
seed = 3

[[system]]
system = "delete-retrieve"
settings = { gamma = 3 }

[[system]]
system = "reference-2"
"""
# Versions, what is computed from them, and bytes that a library may write in another way.
_MAY_DIFFER = ("tstbench", "versions", "made_with", "recipe", "system_hash", "replicates_sha256")


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


def hashes(folder: Path) -> dict[str, str]:
    """Run a small suite in a folder: its files, and the hash of each, without what may differ."""
    (folder / "suite.toml").write_text(SUITE)
    with contextlib.redirect_stderr(io.StringIO()):
        run(folder / "suite.toml")
    results = folder / "results"
    files = sorted(path for path in results.rglob("[!.]*") if path.is_file())
    return {path.relative_to(results).as_posix(): _hash(path) for path in files}


def _hash(path: Path) -> str:
    if path.suffix == ".parquet":
        return ""  # it is there
    lines = [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines()
    return sha256(json.dumps([_same(json.loads(line)) for line in lines]).encode()).hexdigest()


def _same(value):
    """The same value for any versions and processor; the order of keys counts."""
    if isinstance(value, dict):
        return {key: _same(one) for key, one in value.items() if key not in _MAY_DIFFER}
    if isinstance(value, list):
        return [_same(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value
