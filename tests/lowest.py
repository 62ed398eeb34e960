"""Installs the lowest versions that pyproject.toml allows and runs commands with them.

    make lowest

What the core needs is all that there is: a package that only comes with another one is missed,
and so is one that learned later what we call.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINI = "mini/negative-to-positive"
COMMANDS = f"""
run demo
evaluate --baseline copy --baseline random-target --direction {MINI} --metrics s_bleu chrf --out res
compare copy random-target --direction {MINI} res
report res --out table.html
analyze res --out analysis
transfer delete-retrieve --direction {MINI} --out p.jsonl
audit p.jsonl --direction {MINI} --claim bleu=55.2
train --help
train delete-retrieve --direction {MINI} --out dr
curve --help
rewrite --help
merge --help
run --list
metrics
directions
sources {MINI}
prepare --help
calibrate --help
judgments --help
meta-evaluate --help
style-invariance --help
annotate --help
agreement --help
leaderboard --help
harness --help
data --help
build mini --out data
hub --help
cache
"""


def main() -> None:
    """Any command that fails ends it, with what it said."""
    uv = [Path(sys.executable).with_name("uv"), "pip"]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "env/bin/python")
        subprocess.run(
            [uv[0], "venv", "-q", "--python", sys.executable, f"{folder}/env"], check=True
        )
        lowest = ["install", "-q", "--resolution", "lowest-direct", "--python", python]
        subprocess.run([*uv, *lowest, ROOT], check=True)
        where = {**os.environ, "TSTBENCH_HOME": f"{folder}/home", "HF_HUB_OFFLINE": "1"}
        for line in COMMANDS.strip().splitlines():
            print("tstbench", line, flush=True)  # noqa: T201
            call = [python, "-m", "tstbench", *line.split()]
            done = subprocess.run(call, cwd=folder, env=where, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
