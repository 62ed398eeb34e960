"""What the six ``evaluate`` modules share: their columns, their checks, their result.

A module is a thin script that can leave home (it becomes a Space on the Hub), so it imports this
module absolutely, and never imports the class itself: ``evaluate`` takes the first metric class
it finds in a script's namespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from ..datasets_scripts.directions import Direction, parse_direction
from ..errors import InputError
from .functional.joint import JointWeights
from .inputs import check_inputs
from .measure import BENCHMARK, Options, measure
from .result import as_compute_result
from .scorers.profile import Scorers, parse_profile

INPUTS = """
Args:
    predictions (list of str): N rewritten sentences; '' for a failed one.
    sources (list of str): the N sentences they rewrite, in the same order.
    references (list of list of str, or list of str): the human rewrites of each sentence, 0 to n.
"""

TSTBENCH_CITATION = """\
@article{xie2025tstbench,
  title = {TSTBench: A Comprehensive Benchmark for Text Style Transfer},
  author = {Xie, Yifei and Gui, Jiaping and Che, Zhengping and Zhu, Leqian and Hu, Yahao and
            Pan, Zhisong},
  journal = {Entropy},
  year = {2025}
}
"""


_NEEDED = {
    "sources": "one a prediction",
    "references": "a list a prediction, [] where there is none",
}


class StyleTransferMetric(evaluate.Metric):
    """An evaluate metric over predictions, and over sources and references where it reads them."""

    #: which of ``sources`` and ``references`` the metric reads
    columns: tuple[str, ...] = ()
    description = ""
    arguments = ""
    citation_text = TSTBENCH_CITATION

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.num_process == 1:
            # On disk, a second open instance of the same metric waits a second for a file lock.
            self.keep_in_memory = True

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=self.description,
            citation=self.citation_text,
            inputs_description=INPUTS + self.arguments,
            features=self._features(),
            reference_urls=["https://huggingface.co/tstbench"],
        )

    def _features(self) -> datasets.Features | list[datasets.Features]:
        text = datasets.Value("string")
        plain = {"predictions": text} | dict.fromkeys(
            (c for c in self.columns if c == "sources"), text
        )
        if "references" not in self.columns:
            return datasets.Features(plain)
        several = datasets.Sequence(text)
        return [
            datasets.Features({**plain, "references": several}),
            datasets.Features({**plain, "references": text}),
        ]

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        """Check what was handed in, with our messages, before evaluate looks at its first row."""
        if predictions is not None:
            missing = {"sources": kwargs.get("sources"), "references": references}
            for name in self.columns:
                if missing[name] is None:
                    raise InputError(f"{name} are missing: this metric needs {_NEEDED[name]}")
            check_inputs(predictions, kwargs.get("sources"), references)
        elif self.writer is None:
            raise InputError("nothing to score: predictions are missing")
        columns = {"predictions": predictions, "references": _as_lists(references)}
        given = {name: column for name, column in columns.items() if column is not None}
        return super().compute(**given, **kwargs)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add sentences; they are checked when the metric is computed."""
        columns = {"predictions": predictions, "references": _as_lists(references)}
        given = {name: column for name, column in columns.items() if column is not None}
        super().add_batch(**given, **kwargs)


def compute(
    metrics: Sequence[str],
    *,
    predictions: Sequence[str],
    sources: Sequence[str] | None = None,
    references: Sequence[str | Sequence[str]] | None = None,
    direction: str | Direction | None = None,
    profile: str = "embedded",
    options: Options = BENCHMARK,
) -> dict[str, Any]:
    """Score predictions: one flat value a metric, and ``details`` with interval and signature.

    Raises:
        InputError: texts that are not aligned or not texts, or a direction that is missing.
        UnknownNameError: no such direction, metric, protocol or profile.
        MissingScorerError: a scorer has not been trained or fetched yet; the message says how.
    """
    if direction is not None and not isinstance(direction, Direction):
        direction = parse_direction(str(direction))
    inputs = check_inputs(predictions, sources, references, direction)
    scorers = Scorers(parse_profile(profile), direction)
    return as_compute_result(measure(metrics, inputs, scorers, options))


def joint_weights(weights: Sequence[float]) -> JointWeights:
    """The weights of Joint's three parts.

    Raises:
        InputError: not three numbers, or weights that make no mean.
    """
    try:
        acc, bleu, ppl = map(float, weights)
    except (TypeError, ValueError) as error:
        raise InputError(f"three weights are needed (ACC, BLEU, PPL), got {weights!r}") from error
    return JointWeights(acc, bleu, ppl)


def _as_lists(references: Any) -> Any:
    """A list of references a sentence, always: evaluate would judge all rows by the first."""
    if references is None or isinstance(references, str):
        return references
    return [[some] if isinstance(some, str) else some for some in references]
