"""On another machine: what is published, by name; prints what it is and says, as JSON.

Arguments: ``metrics`` and their names; ``system``, its Hub id, a direction and a revision; or
``pipeline``, a system's Hub id, a target style and sentences.
"""

import json
import sys

DATA = {
    "predictions": ["the soup was lovely .", "we hated the bread .", ""],
    "sources": ["the soup was cold .", "we hated the bread .", "never again ."],
    "references": [["the soup was hot .", "lovely soup ."], ["we loved the bread ."], []],
}


def metrics(*names):
    import evaluate

    found = {}
    for name in names:
        metric = evaluate.load(f"tstbench/{name}", keep_in_memory=True)
        features = metric.features[0] if isinstance(metric.features, list) else metric.features
        options = {column: DATA[column] for column in features}
        found[name] = metric.compute(**options, direction="mini/negative-to-positive")
    return found


def system(repo_id, direction, revision):
    from tstbench.datasets_scripts.load import load_test_set
    from tstbench.trainers.load import load_system

    loaded, test_set = load_system(repo_id, revision=revision), load_test_set(direction)
    return list(loaded.transfer(test_set.sources, direction, ids=test_set.ids))


def pipeline(repo_id, style, *sentences):
    from transformers import pipeline

    import tstbench.trainers.pipeline  # noqa: F401

    rewrite = pipeline("text-style-transfer", model=repo_id, device="cpu")
    return rewrite(list(sentences), target_style=style)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(globals()[what](*arguments)))  # noqa: T201
