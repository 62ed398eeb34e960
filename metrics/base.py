"""What a metric family is: one file, one registry line, and everything else follows.

A family defines which texts go to which scorer (:meth:`Family.needs`) and how they become
statistics (:meth:`Family.measure`). The first determines preparation, batching and the scorers'
part of the signature; the second the score, its interval and its significance.

A content metric has three views: against the source, the first reference, all references
(:func:`view_facts`). A :class:`PairwiseFamily` compares each prediction with one text after the
other.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_args

import numpy as np

from ..citation import BIBTEX
from ..errors import InputError, unknown_name
from .inputs import Inputs
from .signature import Signature
from .statistics import (
    Interval,
    Statistics,
    bootstrap,
    mean_statistics,
    percentile_interval,
)
from .text import preparation

Aspect = Literal["style", "content", "fluency", "overall", "other"]
Unit = Literal["percent", "fraction", "perplexity", "number"]
Column = Literal["sources", "references", "direction"]


@dataclass(frozen=True, kw_only=True)
class MetricFacts:
    """One metric of a family.

    Attributes:
        name: ``s_bleu``, used in tables, files and signatures.
        title: ``s-BLEU``, shown to people.
        unit: always declared, never inferred from a value.
        higher_is_better: whether a higher value is better.
        aspect: which aspect of a rewrite it measures.
        meaning: one line for lists.
        version: raised when the same texts and scorers no longer give the same number.
        reads: the inputs it needs besides predictions.
        compares_systems: whether its numbers depend on the direction's other systems; their
            predictions (the cohort) are then part of its signature.
        neutral: whether it is a number to read, of which neither more nor less is better: no value
            is marked as the best. ``higher_is_better`` then only says how a table is sorted by it.
    """

    name: str
    title: str
    unit: Unit
    higher_is_better: bool
    aspect: Aspect
    meaning: str
    version: int = 1
    reads: tuple[Column, ...] = ()
    compares_systems: bool = False
    neutral: bool = False

    def __post_init__(self) -> None:
        """Check what a report could not say.

        Raises:
            InputError: a name, unit, aspect or direction that is not allowed.
        """
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise InputError(f"metric {self.name!r}: lower-case letters, digits and '_' only")
        if not isinstance(self.higher_is_better, bool):
            raise InputError(f"metric {self.name}: higher_is_better must be True or False")
        for field, value, known in (
            ("unit", self.unit, get_args(Unit)),
            ("aspect", self.aspect, get_args(Aspect)),
        ):
            if value not in known:
                raise unknown_name(f"{field} of metric {self.name}", str(value), known)

    @property
    def better(self) -> Literal["higher", "lower", "neither"]:
        """Which way is better, in a word."""
        if self.neutral:
            return "neither"
        return "higher" if self.higher_is_better else "lower"

    @property
    def arrow(self) -> Literal["↑", "↓", ""]:
        """Which way is better, beside a title."""
        arrows: dict[str, Literal["↑", "↓", ""]] = {"higher": "↑", "lower": "↓", "neither": ""}
        return arrows[self.better]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a family; every field's default is the benchmark's choice.

    A field's type says which values it takes, see :mod:`.options`. What else must hold, a subclass
    checks in ``__post_init__``, and raises a :class:`~tstbench.errors.TSTBenchError`: so that
    mistakes are found before training.
    """


O = TypeVar("O", bound=Options)  # noqa: E741 - the options of one family


@dataclass(frozen=True)
class Need:
    """Texts that a scorer of that role is to score.

    Attributes:
        role: see :mod:`tstbench.metrics.scorers.roles`.
        given: the texts as the scorer reads them, or a function that prepares them. It is called
            once, and only when they are scored: which scorers are needed is often asked when
            nothing is computed.

    >>> Need("encoder", ["good"]).texts, Need("encoder", lambda: ["good"]).texts
    (['good'], ['good'])
    """

    role: str
    given: Sequence[str] | Callable[[], Sequence[str]]

    @cached_property
    def texts(self) -> Sequence[str]:
        """The prepared texts."""
        return self.given() if callable(self.given) else self.given


@dataclass(frozen=True)
class Cohort:
    """All systems of a direction, for metrics that compare systems with each other.

    Attributes:
        predictions: by system: N texts each, aligned with the test set; in the order of the texts.
        hash: SHA-256 hex of the predictions; part of the identity of such a metric's scores. What
            the systems are called does not matter: a module and the command line name them
            differently.
    """

    predictions: Mapping[str, Sequence[str]]
    hash: str

    @classmethod
    def of(cls, predictions: Mapping[str, Sequence[str]]) -> Cohort:
        """A cohort; its hash depends on the outputs only, not on the systems' names or order.

        >>> one = Cohort.of({"mine": ["a", "b"], "copy": ["c", "d"]})
        >>> one.hash == Cohort.of({"copy": ["c", "d"], "predictions": ["a", "b"]}).hash
        True
        """
        texts = {name: tuple(some) for name, some in predictions.items()}
        ordered = {name: texts[name] for name in sorted(texts, key=lambda name: texts[name])}
        content = json.dumps([*ordered.values()]).encode()
        return cls(ordered, hashlib.sha256(content).hexdigest())


@dataclass(frozen=True)
class Measurement:
    """One metric of one system on one direction; its interval is computed when needed."""

    facts: MetricFacts
    statistics: Statistics
    signature: Signature
    caution: str | None = None  # a warning to show beside the number

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.facts.name

    @property
    def value(self) -> float:
        """The corpus score."""
        return self.statistics.value

    @cached_property
    def replicates(self) -> np.ndarray:
        """Scores of 1,000 resampled corpora, which interval and comparisons share."""
        (found,) = bootstrap(self.statistics)
        return found

    def interval(self) -> Interval | None:
        """95% bootstrap interval of the corpus score."""
        return percentile_interval(self.value, self.replicates)

    def per_sentence(self) -> list[float | None] | None:
        """One score per sentence, ``None`` if undefined; ``None`` for a corpus-only metric."""
        values = self.statistics.per_sentence
        return None if values is None else [finite(v) for v in values]


def draw_together(measurements: Sequence[Measurement]) -> None:
    """Make the replicates of all metrics of a system at once: a million sentences are drawn once.

    They are those that each would make for itself.
    """
    if measurements:
        drawn = bootstrap(*(one.statistics for one in measurements))
        for i, replicates in enumerate(drawn):
            vars(measurements[i])["replicates"] = replicates  # of the cached property


@dataclass(frozen=True)
class LeftOut:
    """A requested metric that does not apply to this data, and why."""

    metric: str
    why: str


Outcome = Measurement | LeftOut


def finite(value: float) -> float | None:
    """The value to six decimals, or ``None`` for NaN and infinities, which JSON does not allow.

    Six, because beyond that, processors differ in the last bits of a float.

    >>> finite(52.80000049), finite(float("inf"))
    (52.8, None)
    """
    return round(float(value), 6) if math.isfinite(value) else None


class Context(Protocol):
    """What a metric can ask for while it measures one system."""

    @property
    def cohort(self) -> Cohort:
        """All systems of the direction; raises :class:`InputError` if they were not given."""
        ...

    def scorer(self, role: str) -> Any:
        """The scorer of that role, loaded; see :mod:`tstbench.metrics.scorers.base`."""
        ...

    def outcome(self, metric: str) -> Outcome:
        """The outcome of another metric for the same system, measured once."""
        ...


class Family(Generic[O]):
    """Metrics that share a folder, options and scorers. A subclass overrides what differs.

    Attributes:
        name: the name of the folder and of its ``evaluate`` module.
        title: the name shown to people.
        metrics: one per score, in display order.
        options: the class of its options.
        libraries: libraries whose versions are the provenance of its scores.
        description: what its ``evaluate`` module says.
        example: of the module, as doctests.
        citation: BibTeX of what introduced it.
        model: an argument of the module that names a scorer: its name, the role, what it may be.
        borrowed: options of other families that the module takes, and whose they are.
        columns: what the module must be given; by default what its metrics read.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    metrics: ClassVar[tuple[MetricFacts, ...]]
    options: ClassVar[type[Options]] = Options
    libraries: ClassVar[tuple[str, ...]] = ()
    description: ClassVar[str] = ""
    example: ClassVar[str] = ""
    citation: ClassVar[str] = BIBTEX
    model: ClassVar[tuple[str, str, str] | None] = None
    borrowed: ClassVar[Mapping[str, str]] = {}
    columns: ClassVar[tuple[Column, ...]] = ()

    def module_metrics(self, options: Mapping[str, object]) -> tuple[str, ...]:
        """What the module computes with these of its arguments."""
        return tuple(facts.name for facts in self.metrics)

    def left_out(self, metric: str, inputs: Inputs, options: O) -> str | None:
        """Why the metric does not apply to these texts; ``None`` if it does."""
        return None

    def parts(self, metric: str, inputs: Inputs, options: O) -> tuple[str, ...]:
        """Other metrics that this one is computed from; their scorers are needed too."""
        return ()

    def reads(self, metric: str, options: O) -> tuple[Column, ...]:
        """The inputs that it needs besides predictions, with these options."""
        return next(facts.reads for facts in self.metrics if facts.name == metric)

    def needs(self, metric: str, inputs: Inputs, options: O) -> tuple[Need, ...]:
        """Which texts go to which scorers: the only place that pairs them."""
        return ()

    def fields(self, metric: str, inputs: Inputs, options: O) -> dict[str, object]:
        """What the signature states besides the metric's version, direction, scorers and data.

        Everything that can change a number: options, and how texts are prepared. ``None`` is left
        out. It must not load anything: recipes are compared before scorers are loaded.
        """
        return {}

    def measure(self, metric: str, inputs: Inputs, options: O, context: Context) -> Statistics:
        """From texts and scorers to statistics whose sums give the corpus score."""
        raise NotImplementedError

    def caution(self, signature: Signature) -> str | None:
        """A warning to show beside any number with this signature, if there is one."""
        return None


View = Literal["s", "r", "multi"]
Reduce = Literal["max", "mean"]  # how several references are combined: the best, or their mean
_AGAINST = {"s": "the source", "r": "the first reference", "multi": "all references"}


def view_facts(
    suffix: str, title: str, name: str, unit: Unit, version: int = 1
) -> tuple[MetricFacts, ...]:
    """The facts of a content metric's views.

    >>> for facts in view_facts("bleu", "BLEU", "overlap", "percent"):
    ...     print(facts.title, facts.arrow, facts.version, facts.reads[0], "-", facts.meaning)
    s-BLEU ↑ 1 sources - overlap against the source
    r-BLEU ↑ 1 references - overlap against the first reference
    multi-BLEU ↑ 1 references - overlap against all references
    >>> {facts.version for facts in view_facts("sim", "SIM", "similarity", "fraction", version=2)}
    {2}
    """
    found = []
    for view in get_args(View):
        reads: Column = "sources" if view == "s" else "references"
        facts = MetricFacts(
            name=f"{view}_{suffix}",
            title=f"{view}-{title}",
            unit=unit,
            higher_is_better=True,
            aspect="content",
            meaning=f"{name} against {_AGAINST[view]}",
            version=version,
            reads=(reads,),
        )
        found.append(facts)
    return tuple(found)


def view_of(metric: str) -> View:
    """The view with which a metric's name begins."""
    view = metric.split("_")[0]
    if view not in get_args(View):
        raise InputError(f"{metric} is not a view of a content metric")
    return view  # type: ignore[return-value]


def view_left_out(metric: str, inputs: Inputs) -> str | None:
    """Why a view does not apply to these references; ``None`` if it does."""
    view, most = view_of(metric), inputs.most_references
    if view != "s" and most == 0:
        return "no sentence has a reference"
    if view == "multi" and most == 1:
        return "no sentence has several references"
    return None


def compared_with(metric: str, inputs: Inputs) -> list[list[str]]:
    """The texts that a view compares each prediction with: N lists of 0 to n."""
    view = view_of(metric)
    if view == "s":
        return [[source] for source in inputs.sources or ()]
    keep = 1 if view == "r" else inputs.most_references
    return [list(some[:keep]) for some in inputs.references or ()]


def reference_count(metric: str, inputs: Inputs) -> str:
    """What a signature states about the references of a view."""
    view = view_of(metric)
    if view != "multi":
        return {"s": "source", "r": "first"}[view]
    fewest, most = inputs.fewest_references, inputs.most_references
    return str(most) if fewest == most else f"{fewest}-{most}"


class PairwiseFamily(Family[O]):
    """Compares a prediction with one text at a time: of several references the best, or the mean.

    Its options have ``reduce``. A subclass says how texts are read, and scores pairs.

    Attributes:
        role: of its scorer.
    """

    role: ClassVar[str]

    def left_out(self, metric: str, inputs: Inputs, options: O) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def reader(self, inputs: Inputs, options: O) -> Callable[[Sequence[str]], list[str]]:
        """How texts are prepared: cleaned, case kept."""
        return preparation(inputs.language).clean

    def needs(self, metric: str, inputs: Inputs, options: O) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return self.reader(inputs, options)([*inputs.predictions, *against])

        return (Need(self.role, prepare),)

    def pairs(
        self, predictions: Sequence[str], others: Sequence[str], options: O, scorer: Any
    ) -> np.ndarray:
        """The scores of M prepared predictions, each beside another text: shape (M,), M > 0."""
        raise NotImplementedError

    def compared(
        self,
        predictions: Sequence[str],
        against: Sequence[Sequence[str]],
        options: Any,
        scorer: Any,
    ) -> np.ndarray:
        """The scores of N prepared predictions: shape (N,), NaN without a text to compare with.

        Args:
            predictions: N texts.
            against: 0 to n texts for each of them: the source, or references.
            options: of the family.
            scorer: of the role.
        """
        repeated = [text for text, some in zip(predictions, against, strict=True) for _ in some]
        others = [text for some in against for text in some]
        scores = self.pairs(repeated, others, options, scorer) if others else np.empty(0)
        combine = np.max if options.reduce == "max" else np.mean
        each = np.split(scores, np.cumsum([len(some) for some in against])[:-1])
        return np.array([combine(own) if len(own) else np.nan for own in each])

    def measure(self, metric: str, inputs: Inputs, options: O, context: Context) -> Statistics:
        """The mean of the sentences' scores."""
        read = self.reader(inputs, options)
        against = [read(some) for some in compared_with(metric, inputs)]
        scorer = context.scorer(self.role)
        return mean_statistics(self.compared(read(inputs.predictions), against, options, scorer))
