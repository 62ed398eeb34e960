"""Does a change leave what is trained as it was, to the byte?

    python tests/golden/trajectories.py --against main     # this tree, and that commit's
    python tests/golden/trajectories.py --out was.json     # keep this tree's, to compare it later
    python tests/golden/trajectories.py --against was.json ctat caae  # these alone

Trains every system and tiny scorers on ``mini``, in one thread, and takes the hash of each file
(without the time it took), eight answers, and the settings with their defaults, help and ranges.
Nothing is recorded in the repository: the last bits differ between processors, and releases of
torch.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = (
    *("random-target", "delete-retrieve", "stytrans", "dar", "ctat", "nast", "tsst", "bsrr"),
    *("tyb", "caae", "arae", "strap", "llama-lora", "llama-lora-inst"),
)
SCORERS = {
    "linear": ("classifier", "mini", "--kind", "linear"),
    "fasttext": ("classifier", "mini", "--kind", "fasttext"),
    "probe": ("classifier", "mini", "--kind", "probe"),
    "textcnn": ("classifier", "mini", "--kind", "textcnn", "--epochs", "2"),
    "finetuned": ("classifier", "mini", "--kind", "finetuned", "--epochs", "0.2"),
    "lora": ("classifier", "mini", "--kind", "lora", "--epochs", "0.2"),
    "lexicon": ("lexicon", "mini"),
    "word-vectors": ("word-vectors", "mini"),
    "language-model": ("language-model", "mini"),
    "lstm": ("language-model", "mini", "--kind", "lstm", "--name", "mine", "--epochs", "1"),
}
DIRECTION = "mini/negative-to-positive"


def main() -> None:
    """Train here, and there; print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="systems and scorers; default: all")
    parser.add_argument("--out", type=Path, help="write the hashes here")
    parser.add_argument("--against", help="a file of --out, or a commit")
    arguments = parser.parse_args()
    names = arguments.names or [*SYSTEMS, *SCORERS]
    here = _trained_from(ROOT, names)
    if arguments.out:
        arguments.out.write_text(json.dumps(here, indent=1) + "\n", encoding="utf-8")
    if arguments.against:
        there = _of(arguments.against, names)
        different = [
            f"{name}: {key}\n  was {there[name].get(key)}\n  is  {here[name].get(key)}"
            for name in names
            for key in sorted(here[name].keys() | there[name].keys())
            if here[name].get(key) != there[name].get(key)
        ]
        sys.exit("\n".join(different) or 0)


def _of(other: str, names: list[str]) -> dict[str, dict[str, Any]]:
    if Path(other).is_file():
        return json.loads(Path(other).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        git = ("git", "-C", str(ROOT), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), other], check=True)
        try:
            return _trained_from(tree, names)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def _trained_from(tree: Path, names: list[str]) -> dict[str, dict[str, Any]]:
    """What the tree's package makes, in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "tstbench").symlink_to(tree, target_is_directory=True)
        result = Path(scratch, "result.json")
        alone = {"PYTHONPATH": scratch, "OMP_NUM_THREADS": "1", "TSTBENCH_QUIET": "1"}
        code = f"import trajectories; trajectories.record({str(result)!r}, {names!r})"
        environment = {**os.environ, **alone, "PYTHONSAFEPATH": "1"}
        environment["PYTHONPATH"] += os.pathsep + str(Path(__file__).parent)
        subprocess.run([sys.executable, "-c", code], check=True, cwd=scratch, env=environment)
        return json.loads(result.read_text(encoding="utf-8"))


def record(result: str, names: list[str]) -> None:
    """Train, and write the hashes; runs in the process of the package that is asked."""
    from tstbench.commands.cli import main as tstbench

    found = {}
    for name in names:
        home = Path(tempfile.mkdtemp(dir="."))
        os.environ["TSTBENCH_HOME"] = str(home.resolve())
        if name in SCORERS:
            assert tstbench(["train", *SCORERS[name]]) == 0
            found[name] = _files(home)
            continue
        # Training is slow, or not at all, without a preset; the first two have none.
        preset = ["--preset", "tiny"] if name not in SYSTEMS[:2] else []
        folder, answers = home / "model", home / "answers.jsonl"
        train = ["train", name, *preset, "--direction", DIRECTION, "--out", str(folder)]
        assert tstbench([*train, "--device", "cpu"]) == 0
        task = ["--direction", DIRECTION, "--device", "cpu", "--out", str(answers)]
        assert tstbench(["transfer", str(folder), *task]) == 0
        lines = answers.read_text(encoding="utf-8").splitlines()[:8]
        texts = [json.loads(line)["prediction"] for line in lines]
        found[name] = {**_files(folder), "answers": texts, **_settings(name)}
    Path(result).write_text(json.dumps(found), encoding="utf-8")


def _files(folder: Path) -> dict[str, str]:
    """Hashes of files by path, without what a clock says."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if path.suffix == ".json":
            card = json.loads(content)
            if isinstance(card, dict):
                card.pop("made", None)
            content = json.dumps(card).encode()
        if path.name == "README.md":
            content = re.sub(rb"Trained in [^,.]+", b"", content)
        found[path.relative_to(folder).as_posix()] = hashlib.sha256(content).hexdigest()[:16]
    return found


def _settings(name: str) -> dict[str, Any]:
    from pydantic import TypeAdapter

    from tstbench.trainers.load import system_class

    kinds = [kind for kind in (system_class(name).Config, system_class(name).Settings) if kind]
    return {
        f"{kind.__name__}.{field.name}": [
            repr(field.default),
            field.metadata.get("help"),
            TypeAdapter(kind).json_schema()["properties"].get(field.name),
        ]
        for kind in kinds
        for field in kind.__dataclass_fields__.values()
    }


if __name__ == "__main__":
    main()
