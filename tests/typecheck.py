"""Type-check the package: `python tests/typecheck.py`.

The repository's root is the package ``tstbench``, whatever folder it was cloned into; mypy names a
package after its folder, so it is shown the root under its own name.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Not part of the package, or scripts that leave home: Spaces load them by path.
LEFT_OUT = r"(^|/)(app|setup)\.py$|tstbench/(tests|benchmarks|docs|examples|build)/|/\.venv/"


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "tstbench").symlink_to(ROOT)
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--exclude", LEFT_OUT, "-p", "tstbench"]
        cache = {"MYPY_CACHE_DIR": str(ROOT / ".mypy_cache"), "MYPYPATH": scratch}
        environment = {**os.environ, **cache}
        return subprocess.run(command, env=environment, cwd=scratch, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
