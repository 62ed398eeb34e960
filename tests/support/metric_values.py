"""The values of all metrics on mini, which may not move while a metric's version stays."""

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.transfer import predict

DIRECTION = "mini/negative-to-positive"
SYSTEMS = ("copy", "random-target", "delete-retrieve", "reference-1", "reference-2")


def values_on_mini() -> dict[str, dict[str, float | None]]:
    """Metric to system to value, to six decimals; the scorers are trained where they are not."""
    how, test_set = scoring(), load_test_set(DIRECTION)
    how.prepare(test_set.direction)
    outputs = [Outputs(name, tuple(predict(name, test_set))) for name in SYSTEMS]
    evaluation = evaluate(outputs, test_set, how)
    scores = {s.info.name: {x.metric: x.value for x in s.report.scores} for s in evaluation.systems}
    return {metric: {name: scores[name][metric] for name in SYSTEMS} for metric in how.metrics}
