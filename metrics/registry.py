"""The metric families: built-in ones, one line each, and those of other packages.

Other packages register theirs under the entry point ``tstbench.metrics``. A family's module imports
nothing heavy, so that metrics can be listed quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module

from ..console import say
from ..errors import InputError, unknown_name
from ..plugins import outside
from .base import Family, MetricFacts
from .signature import Signature

FAMILIES = {
    "acc": ".acc.acc",
    "bleu": ".bleu.bleu",
    "bertscore": ".bertscore.bertscore",
    "ppl": ".ppl.ppl",
    "cola": ".cola.cola",
    "joint": ".joint.joint",
}
# Beyond the benchmark: computed when asked for, never by default.
FURTHER_FAMILIES: dict[str, str] = {
    "llm_judge": ".llm_judge.llm_judge",
    "logprop": ".logprop.logprop",
    "sti": ".sti.sti",
    "sim": ".sim.sim",
    "chrf": ".chrf.chrf",
    "surface": ".surface.surface",
    "wmd": ".wmd.wmd",
    "meaning": ".meaning.meaning",
    "cps": ".cps.cps",
    "naturalness": ".naturalness.naturalness",
    "fluency": ".fluency.fluency",
    "bleurt": ".bleurt.bleurt",
    "lm_ppl": ".lm_ppl.lm_ppl",
}


@cache
def families() -> Mapping[str, Family]:
    """Every family by name, ours first; an outside one that reuses one of our names is left out."""
    ours = {**FAMILIES, **FURTHER_FAMILIES}
    found = {name: import_module(module, __package__).FAMILY for name, module in ours.items()}
    taken = {facts.name for family in found.values() for facts in family.metrics}
    for name, family in outside("tstbench.metrics").items():
        if not isinstance(family, Family):
            say(f"metric family {name!r} is left out: it is not a tstbench.metrics.base.Family")
            continue
        clash = {name, *(facts.name for facts in family.metrics)} & (taken | found.keys())
        if clash:
            say(f"metric family {name!r} is left out: {', '.join(sorted(clash))} already exists")
            continue
        taken |= {facts.name for facts in family.metrics}
        found[name] = family
    return found


class _Metrics(Mapping[str, MetricFacts]):
    """The facts of every metric by name, in display order; loaded when first used."""

    def __getitem__(self, name: str) -> MetricFacts:
        return _table()[name][1]

    def __iter__(self) -> Iterator[str]:
        return iter(_table())

    def __len__(self) -> int:
        return len(_table())


METRICS: Mapping[str, MetricFacts] = _Metrics()


@cache
def _table() -> dict[str, tuple[Family, MetricFacts]]:
    return {f.name: (family, f) for family in families().values() for f in family.metrics}


def benchmark_metrics() -> tuple[str, ...]:
    """The ten metrics of the benchmark: the ones shown by default."""
    found = (facts.name for name in FAMILIES for facts in families()[name].metrics)
    return tuple(name for name in found if name not in ("joint_calibrated", "joint_sentence"))


def metric_facts(name: str) -> MetricFacts:
    """The facts of the metric with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name]


def family_of(metric: str) -> Family:
    """The family that a metric belongs to; raises :class:`UnknownNameError` with near misses."""
    metric_facts(metric)
    return _table()[metric][0]


def caution(metric: str, signature: str) -> str | None:
    """A warning to show beside a number wherever it appears; ``None`` for most.

    Args:
        metric: the number's; one that is not known here has no caution.
        signature: the identity of the number, or what a leaderboard keeps of it.
    """
    if metric not in METRICS:
        return None
    try:
        return family_of(metric).caution(Signature.parse(signature))
    except InputError:  # somebody's report may say anything
        return None


def is_neutral(metric: str) -> bool:
    """Whether neither more nor less of a metric is better, or it is not known which.

    >>> is_neutral("length_ratio"), is_neutral("s_bleu"), is_neutral("somebodys")
    (True, False, True)
    """
    return metric not in METRICS or METRICS[metric].neutral


def expand(names: str | Iterable[str]) -> tuple[str, ...]:
    """Metrics from names of metrics and families, each once, in the given order.

    A text is one name.

    Raises:
        UnknownNameError: neither a metric nor a family.
        InputError: no name was given.

    >>> expand(["bleu", "acc", "s_bleu"])
    ('s_bleu', 'r_bleu', 'multi_bleu', 'acc')
    """
    found: dict[str, None] = {}
    for name in [names] if isinstance(names, str) else names:
        if name in METRICS:
            found[name] = None
        elif name in families():
            found.update(dict.fromkeys(facts.name for facts in families()[name].metrics))
        else:
            raise unknown_name("metric", name, dict.fromkeys([*METRICS, *families()]))
    if not found:
        raise InputError("no metric to compute")
    return tuple(found)
