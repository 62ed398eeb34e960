"""A number moves only when its metric's version does: else old and new would be compared."""

import json
from importlib.metadata import version

import pytest
from metric_values import values_on_mini
from places import GOLDEN
from prepared import prepared_home

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.metrics.measure import roles_needed
from tstbench.metrics.registry import METRICS, benchmark_metrics
from tstbench.metrics.scorers.profile import PROFILES, Scorers

GOLDEN = json.loads(GOLDEN.joinpath("metric_versions.json").read_text())
FIXED = 1e-5  # relative: what arithmetic alone moves between processors
TRAINED = 5e-4  # relative: scorers trained here differ in the last bits, and shares do not
TRAINED_ROLES = {"classifier", "language_model", "acceptability"}
SCORERS = Scorers(PROFILES["embedded"], parse_direction("mini/negative-to-positive"))


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
        return values_on_mini()


@pytest.mark.parametrize("metric", benchmark_metrics())
def test_a_number_that_moves_raises_the_metrics_version(metric, values):
    recorded = GOLDEN["metrics"].get(metric)
    again = "python tests/golden/record_metric_versions.py"
    assert recorded is not None, f"{metric} is not recorded yet: {again}"
    assert recorded["version"] == METRICS[metric].version, (
        f"the version of {metric} went up: record its values again ({again}) and say why in the "
        "commit"
    )
    tolerance = TRAINED if TRAINED_ROLES & {*roles_needed([metric], SCORERS)} else FIXED
    moved = {
        system: (old, values[metric][system])
        for system, old in recorded["values"].items()
        if values[metric][system] != pytest.approx(old, rel=tolerance, abs=tolerance / 10)
    }
    assert not moved, (
        f"{metric} moved while its version stayed {recorded['version']}: {moved} (recorded, now). "
        f"Libraries that changed since: {_changed() or 'none'}. Find out why; where it is right, "
        f"raise the metric's version and record again ({again})"
    )


def _changed() -> dict[str, tuple[str, str]]:
    found = {name: (old, version(name)) for name, old in GOLDEN["recorded_with"].items()}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}
