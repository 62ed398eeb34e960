"""What the ``evaluate`` modules share: their columns, checks and result.

A family's file is also the script of its module: ``evaluate`` runs a copy of it, outside this
package, and takes the first metric class in its namespace. So the file imports absolutely, and
makes its class with :func:`module_of` at its end, where it is such a copy.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields
from textwrap import fill, indent
from typing import Any

import datasets
import evaluate

from ..console import say
from ..datasets_scripts.catalog import DATASETS, as_direction, language_of
from ..datasets_scripts.directions import Direction
from ..errors import InputError, MissingScorerError
from .base import Cohort, Family
from .inputs import check_inputs
from .measure import as_compute_result, measure
from .options import choices
from .registry import expand, families, metric_facts
from .scorers.device import Placement
from .scorers.prepare import renew, train_missing
from .scorers.profile import Scorers, parse_profile

INPUTS = """
Args:
    predictions (list of str): N rewritten sentences; '' for a failed output.
    sources (list of str): the N sentences they rewrite, in the same order.
    references (list of list of str, or list of str): the human rewrites of each sentence, 0 to n;
        '' is none, so lists may be padded.
    direction (str): such as "yelp/negative-to-positive"; needed where style is scored, and part of
        every signature.
    profile (str): whose models score, if any do: "embedded" (the default), "lm" or "paper".
    scorers (list of str): others than the profile's, as "ROLE=SCORER".
    language (str): of the texts; default: the dataset's, or English.
    batch_size (int): the most sentences that a model scores at once; no score depends on it.
    per_sentence (bool): put one value per sentence into details too; default: False.
"""

# What every module takes, of the computation that runs.
_SHARED: ContextVar[dict[str, Any]] = ContextVar("_SHARED")
_NEEDED = {
    "sources": "one per prediction",
    "references": "one list per prediction, [] if there is none",
}


class StyleTransferMetric(evaluate.Metric):
    """The evaluate metric of a family, over predictions, and what else its metrics read."""

    family = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.num_process == 1:
            # On disk, a second open instance of the same metric waits a second for a file lock.
            self.keep_in_memory = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Which of ``sources`` and ``references`` it must be given."""
        family = families()[self.family]
        reads = family.columns or {column for facts in family.metrics for column in facts.reads}
        return tuple(column for column in _NEEDED if column in reads)

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments that only this metric takes."""
        family = families()[self.family]
        systems = ["systems"] * any(facts.compares_systems for facts in family.metrics)
        model = [family.model[0]] if family.model else []
        return (*systems, *model, *family.borrowed, *(f.name for f in fields(family.options)))

    def _compute(
        self,
        *,
        predictions: Any,
        sources: Any = None,
        references: Any = None,
        systems: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        family, shared = families()[self.family], _SHARED.get()
        metrics = family.module_metrics(options)
        scorers = list(shared["scorers"])
        if family.model:
            argument, role, _ = family.model
            named = options.pop(argument, None)
            if argument == "judge":  # of a Space, whose visitors cannot name a server
                named = named or os.environ.get("TSTBENCH_JUDGE")
            scorers = [f"{role}={named}", *scorers] if named else scorers
        others = {of: {name: options.pop(name, None)} for name, of in family.borrowed.items()}
        given: dict[str, Any] = {
            **shared,
            "scorers": scorers,
            "systems": systems,
            **others,
            self.family: options,
        }
        return compute(
            metrics, predictions=predictions, sources=sources, references=references, **given
        )

    def _info(self) -> evaluate.MetricInfo:
        family = families()[self.family]
        return evaluate.MetricInfo(
            description=family.description,
            citation=family.citation,
            inputs_description=INPUTS + _described(family),
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

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        per_sentence: bool = False,
        direction: str | Direction | None = None,
        profile: str = "embedded",
        scorers: str | Sequence[str] = (),
        language: str | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Check the inputs, with our messages, before evaluate looks at their first row."""
        shared = {
            "direction": direction,
            "profile": profile,
            "scorers": [scorers] if isinstance(scorers, str) else scorers,
            "language": language,
            "batch_size": batch_size,
        }
        texts = {"predictions": predictions, "references": references}
        columns = _columns(texts | {"sources": kwargs.pop("sources", None)})
        if predictions is not None:
            for name in self.columns:
                if name not in columns:
                    raise InputError(f"{name} are missing: this metric needs {_NEEDED[name]}")
            check_inputs(**columns)
        elif self.writer is None:
            raise InputError("nothing to score: predictions are missing")
        given = self._read(columns | kwargs)
        # Nothing was added, so nothing is written: several threads may compute with one object.
        alone = self.writer is None and self.num_process == 1
        token = _SHARED.set(shared)
        try:
            result = self._compute(**given) if alone else super().compute(**given)
        finally:
            _SHARED.reset(token)
        if result is not None and not per_sentence:  # None: in a process that only adds
            for one in result["details"].values():
                one.pop("per_sentence", None)
        return result

    def _read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Without what only other metrics read: ``evaluate.combine`` gives everything to each."""
        options = {f.name for family in families().values() for f in fields(family.options)}
        others = options | {"sources", "references", "systems", "judge", "model"}
        own = {"predictions", *self.columns, *self.options}
        for name in given:
            if name not in others | own:
                raise TypeError(
                    f"{self.family}: an unexpected keyword argument {name!r}. Its options are: "
                    f"{', '.join(self.options) or 'none'}"
                )
        return {name: value for name, value in given.items() if name in own}

    def add(self, **kwargs: Any) -> None:
        """Add one sentence; it is checked when the metric is computed."""
        super().add(**self._read(kwargs))

    def add_batch(self, **kwargs: Any) -> None:
        """Add sentences; they are checked when the metric is computed."""
        super().add_batch(**self._read(_columns(kwargs)))


def module_of(name: str) -> type[StyleTransferMetric]:
    """The class of a family's ``evaluate`` module, for its script."""
    return type(type(families()[name]).__name__, (StyleTransferMetric,), {"family": name})


def _described(family: Family) -> str:
    """What a family's module takes and gives, and an example."""
    given = [f"{family.model[0]} (str): {family.model[2]}"] if family.model else []
    if any(facts.compares_systems for facts in family.metrics):
        given.append(
            "systems (dict): outputs of other systems on the same sources, by name, lists of N "
            "texts. Without them, the predictions are the only system."
        )
    given += [f"{name} (str): see tstbench/{of}." for name, of in family.borrowed.items()]
    _, _, options = (inspect.getdoc(family.options) or "").partition("Attributes:\n")
    options = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", options)
    for field in fields(family.options):
        default = f"    {field.name} (default: {field.default!r}): "
        options = options.replace(f"    {field.name}: ", default)
    own = [facts.name for facts in family.metrics]
    usual = family.module_metrics({})
    gives = [
        f"{one.name} (float or None): {one.meaning}, {one.unit}"
        f"{'' if one.neutral else f', {one.better} is better'}."
        for one in map(metric_facts, dict.fromkeys((*usual, *own)))
    ]
    if others := [name for name in own if name not in usual]:
        gives.append(f"{' or '.join(others)} come instead of the others, by an option.")
    gives.append("details (dict): interval and signature of each; of one that is None, why.")
    return "\n".join(
        [
            *map(_wrapped, given),
            *(["    Defaults are the benchmark's; a profile may have others."] if options else []),
            *([options] if options else []),
            "Returns:",
            *map(_wrapped, gives),
            "Examples:",
            indent(family.example.strip("\n"), "    "),
            "",
        ]
    )


def _wrapped(text: str) -> str:
    return fill(text, 100, initial_indent="    ", subsequent_indent="        ")


def compute(
    metrics: str | Sequence[str],
    *,
    predictions: Sequence[str],
    sources: Sequence[str] | None = None,
    references: Sequence[str | Sequence[str]] | None = None,
    direction: str | Direction | None = None,
    profile: str = "embedded",
    scorers: str | Sequence[str] = (),
    language: str | None = None,
    batch_size: int | None = None,
    systems: Mapping[str, Sequence[str]] | None = None,
    **options: Mapping[str, object],
) -> dict[str, Any]:
    """Score predictions: one flat value per metric, and ``details`` with interval and signature.

    Scorers that do not exist yet are trained first, as by ``tstbench evaluate``.

    Args:
        metrics: names of metrics or families.
        predictions: N texts.
        sources: N texts, for the metrics that read them.
        references: N texts or lists of texts, for the metrics that read them.
        direction: ``yelp/negative-to-positive``; if only a label is needed, any
            ``mine/rude-to-polite``.
        profile: which scorers to use.
        scorers: others than the profile's, as ``ROLE=SCORER`` texts.
        language: of the texts; by default the dataset's, or English.
        batch_size: the most sentences that a model scores at once; it does not change a score.
        systems: outputs of other systems on the same sources, by name, for the metrics that compare
            systems; without them, the predictions are the only system.
        options: by family: ``bleu={"protocol": "13a"}``. ``None`` values are ignored.

    Raises:
        InputError: texts that are not aligned or not texts, or a missing direction.
        UnknownNameError: no such direction, metric, option or profile.
        MissingScorerError: a scorer can neither be trained nor downloaded here; the message says
            what to do.
    """
    if direction is not None and not isinstance(direction, Direction):
        direction = as_direction(str(direction))
    if language and direction and direction.dataset in DATASETS:
        own = language_of(direction)
        if language.split("-")[0] != own.split("-")[0]:
            say(f"careful: scored as {language!r}, but the texts of {direction} are {own!r}")
    chosen = parse_profile(profile).with_scorers(scorers)
    placement = Placement(batch_size=batch_size)
    given = {family: _given(values) for family, values in options.items()}
    inputs = check_inputs(
        predictions, sources, references, direction, language or language_of(direction)
    )
    settings, names = choices(chosen.options, given), expand(metrics)
    cohort = None
    if any(metric_facts(name).compares_systems for name in names):
        cohort = _cohort(predictions, systems or {})
    try:
        renew(direction, chosen, names, settings)
        outcomes = measure(names, inputs, Scorers(chosen, direction, placement), settings, cohort)
    except MissingScorerError as missing:
        train_missing(missing, direction, chosen, names, settings)
        outcomes = measure(names, inputs, Scorers(chosen, direction, placement), settings, cohort)
    return as_compute_result(outcomes)


def _cohort(predictions: Sequence[str], systems: Mapping[str, Sequence[str]]) -> Cohort:
    if not isinstance(systems, Mapping):
        raise InputError("systems must be a dictionary: the name of each and its outputs")
    for name, outputs in systems.items():
        if len(outputs) != len(predictions):
            raise InputError(
                f"systems: {name!r} has {len(outputs)} outputs, but there are {len(predictions)} "
                "predictions. Write '' for a failed output, never drop it"
            )
        check_inputs(outputs)
    own = "predictions"
    while own in systems:  # somebody's system may be called so, and is another one
        own += "'"
    return Cohort.of({**systems, own: predictions})


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def _columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that are there, as lists: those of tables have indices of their own."""
    columns = {name: _listed(column) for name, column in given.items() if column is not None}
    references = columns.get("references", "")
    if not isinstance(references, str):  # evaluate would type all rows by the first
        columns["references"] = [[r] if isinstance(r, str) else r for r in references]
    return columns


def _listed(column: Any) -> Any:
    if isinstance(column, str):
        return column  # a mistake, which is told
    return column.tolist() if hasattr(column, "tolist") else list(column)
