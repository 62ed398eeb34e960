"""What a metric family is: one file, one registry line, and everything else follows.

A family defines which texts go to which scorer (:meth:`Family.needs`) and how they become
statistics (:meth:`Family.measure`). The first determines preparation, batching and the scorers'
part of the signature; the second the score, its interval and its significance.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from ..citation import BIBTEX
from .facts import Column, MetricFacts

if TYPE_CHECKING:  # listing the metrics must not load numpy
    from .inputs import Inputs
    from .result import Outcome
    from .signature import Signature
    from .statistics import Statistics


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
        content = json.dumps([*ordered.values()], ensure_ascii=True).encode()
        return cls(ordered, hashlib.sha256(content).hexdigest())


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
        raise TypeError(f"{type(self).__name__} does not measure")

    def caution(self, signature: Signature) -> str | None:
        """A warning to show beside any number with this signature, if there is one."""
        return None
