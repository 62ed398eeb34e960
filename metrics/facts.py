"""The ten metrics: titles, units, which way is better. Nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import unknown_name


@dataclass(frozen=True)
class MetricFacts:
    """What is fixed about a metric, whatever it is computed on."""

    name: str
    title: str
    unit: str  # "percent", "fraction", "perplexity"
    higher_is_better: bool
    aspect: str  # "style", "content", "fluency", "overall"
    meaning: str


_FACTS = (
    MetricFacts("acc", "ACC", "percent", True, "style", "share classified as the target style"),
    MetricFacts("s_bleu", "s-BLEU", "percent", True, "content", "BLEU against the source"),
    MetricFacts("r_bleu", "r-BLEU", "percent", True, "content", "BLEU against the first reference"),
    MetricFacts(
        "multi_bleu", "multi-BLEU", "percent", True, "content", "BLEU against all references"
    ),
    MetricFacts("s_bert", "s-BERT", "fraction", True, "content", "BERTScore against the source"),
    MetricFacts(
        "r_bert", "r-BERT", "fraction", True, "content", "BERTScore against the first reference"
    ),
    MetricFacts(
        "multi_bert", "multi-BERT", "fraction", True, "content", "BERTScore against all references"
    ),
    MetricFacts(
        "ppl", "PPL", "perplexity", False, "fluency", "perplexity under a target-style 5-gram model"
    ),
    MetricFacts("cola", "CoLA", "percent", True, "fluency", "share classified as acceptable"),
    MetricFacts(
        "joint", "Joint", "fraction", True, "overall", "geometric mean of ACC, BLEU and 1/ln PPL"
    ),
)
METRICS: dict[str, MetricFacts] = {facts.name: facts for facts in _FACTS}


def metric_facts(name: str) -> MetricFacts:
    """The facts of the metric of that name; :class:`UnknownNameError` with near misses else."""
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name]
