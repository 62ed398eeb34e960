"""A small suite, and its results folder as a hash for each file, without what may differ."""

import contextlib
import io
import json
from hashlib import sha256
from pathlib import Path

from suite_runs import run

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


def hashes(folder: Path) -> dict[str, str]:
    """Run the suite in a folder: its files, and the hash of each."""
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
