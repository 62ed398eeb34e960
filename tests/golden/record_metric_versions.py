"""Record metric_versions.json: the version of each metric, and its values on mini.

python tests/golden/record_metric_versions.py

A value may move only together with the metric's version; the scorers are trained on the spot.
"""

import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from metric_values import values_on_mini

from tstbench.files import write_json
from tstbench.metrics.registry import FAMILIES, METRICS, benchmark_metrics, families


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["TSTBENCH_HOME"] = home
        found = values_on_mini()
    libraries = {name for family in FAMILIES for name in families()[family].libraries}
    record = {
        "origin": "tests/golden/record_metric_versions.py",
        "recorded_with": {library: version(library) for library in sorted(libraries)},
        "metrics": {
            name: {"version": METRICS[name].version, "values": found[name]}
            for name in benchmark_metrics()
        },
    }
    write_json(Path(__file__).with_name("metric_versions.json"), record)


if __name__ == "__main__":
    main()
