"""Record pipelines.json: what a small suite leaves in its results folder, as hashes.

python tests/golden/record_pipelines.py

Whatever runs a suite, its files stay the same. A new field changes them: say so in the commit.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from suite_runs import hashes

from tstbench.files import write_json


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TSTBENCH_HOME"] = f"{folder}/home"
        record = {"origin": "tests/golden/record_pipelines.py", "files": hashes(Path(folder))}
    write_json(Path(__file__).with_name("pipelines.json"), record)


if __name__ == "__main__":
    main()
