"""Type-check the public API: `python tests/typecheck.py`.

The rooms are top-level folders here and packages below ``tstbench`` when installed. mypy cannot
follow the editable install's import hook, so it is shown the house as it will stand: one folder of
symbolic links.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("datasets_scripts", "metrics", "trainers", "pipelines", "spaces")
# Scripts that leave home: evaluate and Spaces load them by path, under names of their own.
LEFT_OUT = r"(^|/)app\.py$|metrics/(acc|bleu|bertscore|ppl|cola|joint)/"


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        house = Path(scratch) / "tstbench"
        house.mkdir()
        for file in (ROOT / "tstbench").iterdir():
            if not file.name.startswith("__pycache__"):
                (house / file.name).symlink_to(file)
        for room in ROOMS:
            (house / room).symlink_to(ROOT / room)
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--exclude", LEFT_OUT, "-p", "tstbench"]
        cache = {"MYPY_CACHE_DIR": str(ROOT / ".mypy_cache"), "MYPYPATH": scratch}
        environment = {**os.environ, **cache}
        return subprocess.run(command, env=environment, cwd=scratch, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
