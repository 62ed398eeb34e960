"""Record statistics.json: values, intervals and p-values at the benchmark's sizes.

python tests/golden/record_statistics.py

First recorded from the code that resampled with one dense matrix. On the machine that recorded it,
running it again must leave the file as it is, to the last digit; elsewhere logarithms and sums may
differ in the last digit, which the test allows for.
"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from resampled_cases import SEEDS, cases

from tstbench.files import write_json
from tstbench.metrics.statistics import interval, paired_p_value


def recorded() -> list[dict[str, object]]:
    """One entry per metric, size and seed."""
    found: list[dict[str, object]] = []
    for case in cases():
        for seed in SEEDS:
            bounds = interval(case.first, seed=seed)
            p = paired_p_value(case.first, case.second, seed=seed)
            found.append(
                {
                    "metric": case.metric,
                    "size": case.size,
                    "seed": seed,
                    "value": case.first.value,
                    "interval": [bounds.low, bounds.high] if bounds else None,
                    "p": p if math.isfinite(p) else None,
                }
            )
    return found


def main() -> None:
    path = Path(__file__).with_name("statistics.json")
    write_json(path, {"origin": "tests/golden/record_statistics.py", "recorded": recorded()})


if __name__ == "__main__":
    main()
