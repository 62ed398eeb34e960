"""Record fingerprints.json from the mirror of the upstream files at TSTBENCH_SOURCES.

python tests/golden/record_fingerprints.py
"""

import json
import tempfile
from pathlib import Path

from tstbench.datasets_scripts.build import build
from tstbench.files import write_json


def main() -> None:
    path = Path(__file__).with_name("fingerprints.json")
    golden = json.loads(path.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as out:
        for name in golden["fingerprints"]:
            report = build(name, out, allow_missing=True)
            golden["fingerprints"][name] = report.fingerprints
    write_json(path, golden)


if __name__ == "__main__":
    main()
