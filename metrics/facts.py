"""The ten metrics: titles, units, which way is better. Nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..errors import unknown_name

ScorerRole = Literal["classifier", "language_model", "acceptability", "encoder"]
Aspect = Literal["style", "content", "fluency", "overall"]
Unit = Literal["percent", "fraction", "perplexity"]


@dataclass(frozen=True)
class MetricFacts:
    """What is fixed about a metric, whatever it is computed on."""

    name: str
    title: str
    unit: Unit
    higher_is_better: bool
    aspect: Aspect
    meaning: str
    scorers: tuple[ScorerRole, ...] = ()  # the models it scores with


_SOURCE = "against the source"
_FIRST = "against the first reference"
_ALL = "against all references"
_BERT: tuple[ScorerRole, ...] = ("encoder",)
_FACTS = (
    MetricFacts(
        "acc", "ACC", "percent", True, "style", "share classified as target style", ("classifier",)
    ),
    MetricFacts("s_bleu", "s-BLEU", "percent", True, "content", f"BLEU {_SOURCE}"),
    MetricFacts("r_bleu", "r-BLEU", "percent", True, "content", f"BLEU {_FIRST}"),
    MetricFacts("multi_bleu", "multi-BLEU", "percent", True, "content", f"BLEU {_ALL}"),
    MetricFacts("s_bert", "s-BERT", "fraction", True, "content", f"BERTScore {_SOURCE}", _BERT),
    MetricFacts("r_bert", "r-BERT", "fraction", True, "content", f"BERTScore {_FIRST}", _BERT),
    MetricFacts(
        "multi_bert", "multi-BERT", "fraction", True, "content", f"BERTScore {_ALL}", _BERT
    ),
    MetricFacts(
        "ppl",
        "PPL",
        "perplexity",
        False,
        "fluency",
        "perplexity under a target-style 5-gram model",
        ("language_model",),
    ),
    MetricFacts(
        "cola",
        "CoLA",
        "percent",
        True,
        "fluency",
        "share classified as acceptable",
        ("acceptability",),
    ),
    MetricFacts(
        "joint",
        "Joint",
        "fraction",
        True,
        "overall",
        "geometric mean of ACC, BLEU and 1/ln PPL",
        ("classifier", "language_model"),
    ),
)
METRICS: dict[str, MetricFacts] = {facts.name: facts for facts in _FACTS}


def metric_facts(name: str) -> MetricFacts:
    """The facts of the metric of that name; :class:`UnknownNameError` with near misses else."""
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name]


def scorers_needed(metrics: Iterable[str]) -> set[ScorerRole]:
    """The roles of all scorers that these metrics use.

    >>> sorted(scorers_needed(["joint", "s_bleu"]))
    ['classifier', 'language_model']
    """
    return {role for metric in metrics for role in metric_facts(metric).scorers}
