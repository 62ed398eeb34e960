"""Every published metric, loaded by name and computed once; prints the results as JSON.

Arguments: the names of the metrics.
"""

import json
import sys

import evaluate

DATA = {
    "predictions": ["the soup was lovely .", "we hated the bread .", ""],
    "sources": ["the soup was cold .", "we hated the bread .", "never again ."],
    "references": [["the soup was hot .", "lovely soup ."], ["we loved the bread ."], []],
}


def compute(name: str) -> dict:
    metric = evaluate.load(f"tstbench/{name}", keep_in_memory=True)
    features = metric.features[0] if isinstance(metric.features, list) else metric.features
    options = {column: DATA[column] for column in features}
    return metric.compute(**options, direction="mini/negative-to-positive")


if __name__ == "__main__":
    print(json.dumps({name: compute(name) for name in sys.argv[1:]}))  # noqa: T201
