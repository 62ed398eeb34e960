"""On another machine: a published system, by name; prints what it is and says, as JSON.

Arguments: Hub id, direction, and a revision or nothing.
"""

import json
import sys

from tstbench.datasets_scripts.load import load_test_set
from tstbench.trainers.load import load_system

if __name__ == "__main__":
    repo_id, direction, *revision = sys.argv[1:]
    system = load_system(repo_id, revision=revision[0] if revision else None)
    test_set = load_test_set(direction)
    said = list(system.transfer(test_set.sources, direction, ids=test_set.ids))
    print(json.dumps({"card": system.card.recipe, "said": said}))  # noqa: T201
