"""What was measured once is read again: a file of ``$TSTBENCH_HOME/scores`` for metric and texts.

The name of a file is the hash of everything that its numbers depend on: the texts, the metric's
signature, the scorers by their whole hash, the libraries and this package's code. So nothing has
to be compared, and nothing old is ever read: what changes has another name.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..console import progress, say
from ..datasets_scripts.unchanged import tools
from ..files import home, write_bytes
from ..metrics.base import Cohort, LeftOut, Measurement, Outcome
from ..metrics.inputs import Inputs
from ..metrics.measure import measure, plan, roles_needed
from ..metrics.options import Choices
from ..metrics.registry import family_of, metric_facts
from ..metrics.scorers.base import forget_sentences
from ..metrics.scorers.profile import Scorers
from ..metrics.signature import Signature
from ..metrics.statistics import Statistics
from ..store import canonical

FOLDER = "scores"
BLOCK = 10_000  # sentences
_LENGTH = 65  # bytes of the first line of a file
_METRICS = measure.__module__.rpartition(".")[0] + "."  # where all code of our own metrics is


def measured(
    metrics: Sequence[str],
    inputs: Inputs,
    scorers: Scorers,
    choices: Choices,
    cohort: Cohort | None = None,
    whole: Inputs | None = None,
) -> dict[str, Outcome]:
    """Metrics' outcomes, as :func:`~tstbench.metrics.measure.measure` gives them now, or once did.

    Only what is not there is measured, together. Scores of other packages' metrics are not kept,
    since nobody knows when their code changes; nor are those of judges, whose answers are.

    Raises:
        UnknownNameError, InputError, MissingScorerError: see ``measure``.
    """
    found: dict[str, Outcome] = {}
    missing: dict[str, tuple[Path, dict[str, Any]]] = {}
    texts = hashlib.sha256(
        canonical([inputs.predictions, inputs.sources, inputs.references])
    ).hexdigest()
    for metric, signature in plan(metrics, inputs, scorers, choices, cohort, whole).items():
        family = family_of(metric)
        if isinstance(signature, LeftOut) or not is_ours(metric):
            continue
        roles = sorted(roles_needed([metric], scorers, choices, whole or inputs))
        on_device = any(scorers.find(role).on_device for role in roles)
        about = {
            "metric": metric,
            "direction": str(inputs.direction or ""),
            "signature": str(signature),
            "made with": signature.made_with,
            "options": repr(choices.of(family.name)),
            "tools": tools(),
            "device": scorers.placement.resolve() if on_device else "",
            "scorers": {role: scorers.find(role).hash for role in roles},
            "texts": texts,
            "cohort": cohort.hash if cohort else "",
        }
        path = home() / FOLDER / f"{hashlib.sha256(canonical(about)).hexdigest()}.npz"
        if (statistics := _read(path, len(inputs.predictions))) is not None:
            caution = family.caution(signature)
            found[metric] = Measurement(metric_facts(metric), statistics, signature, caution)
        else:
            missing[metric] = path, about
    rest = [metric for metric in metrics if metric not in found]
    for metric, outcome in measure(rest, inputs, scorers, choices, cohort, whole).items():
        found[metric] = outcome
        if isinstance(outcome, Measurement) and metric in missing:
            _keep(*missing[metric], outcome.statistics)
    return {metric: found[metric] for metric in metrics}


def is_ours(metric: str) -> bool:
    """Whether it is a metric of this package, whose code is known."""
    return type(family_of(metric)).__module__.startswith(_METRICS)


def in_blocks(
    inputs: Sequence[Inputs],
    asked: Sequence[Mapping[str, Signature]],
    scorers: Scorers,
    choices: Choices,
) -> list[dict[str, Outcome]]:
    """Metrics of systems with many sentences, :data:`BLOCK` at a time.

    What was measured is kept block by block: after an interruption, the rest is measured. Memory
    holds a block's texts and vectors, and of all sentences what their sums are made of.

    Args:
        inputs: of each system, all of the same direction.
        asked: of each system, the metrics and the signatures that their scores will have. A metric
            compares no systems, asks no judge, and :func:`is_ours`.
        scorers: the direction's.
        choices: options by family.

    Raises:
        InputError, MissingScorerError: see :func:`measured`.
    """
    # Torch's oneDNN keeps a kernel for each length of a batch, which splits the memory around it.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "0")
    parts: list[dict[str, list[Outcome]]] = [{metric: [] for metric in some} for some in asked]
    sentences = len(inputs[0].predictions)
    with progress(sentences, "scoring", unit=" sentences", unit_scale=True) as bar:
        for start in range(0, sentences, BLOCK):
            stop = min(start + BLOCK, sentences)
            for one, found in zip(inputs, parts, strict=True):
                block = measured(list(found), one.part(start, stop), scorers, choices, whole=one)
                for metric, outcome in block.items():
                    found[metric].append(_small(outcome))
            forget_sentences()
            bar.update(stop - start)
    return [
        {metric: _joined(found.pop(metric), signature) for metric, signature in some.items()}
        for found, some in zip(parts, asked, strict=True)
    ]


def _small(outcome: Outcome) -> Outcome:
    """The same, with counts as the smallest integers that hold them: their sums are the same."""
    if not isinstance(outcome, Measurement):
        return outcome
    rows = outcome.statistics.rows
    most = rows.max(initial=0)
    if rows.min(initial=0) < 0 or not most < 2**32 or (rows != np.rint(rows)).any():
        return outcome
    rows = rows.astype(np.min_scalar_type(int(most)))
    return replace(outcome, statistics=replace(outcome.statistics, rows=rows))


def _joined(parts: Sequence[Outcome], signature: Signature) -> Measurement:
    """One outcome of those of all blocks."""
    some = [one.statistics for one in parts if isinstance(one, Measurement)]
    hows = [_described(one.aggregate) for one in some]
    if len(some) < len(parts) or any(how != hows[0] for how in hows):
        raise RuntimeError(f"{signature.metric} of a block is not that of all sentences")
    values = [one.per_sentence for one in some if one.per_sentence is not None]
    statistics = Statistics(
        np.concatenate([one.rows for one in some]),
        some[0].aggregate,
        np.concatenate(values) if values else None,
    )
    caution = family_of(signature.metric).caution(signature)
    return Measurement(metric_facts(signature.metric), statistics, signature, caution)


def about(path: Path) -> dict[str, Any]:
    """What a file's numbers depend on; empty if it cannot be read."""
    content = _content(path)
    return dict(json.loads(str(content["about"]))) if content else {}


def _keep(path: Path, about: dict[str, Any], statistics: Statistics) -> None:
    how = _described(statistics.aggregate)
    if how is None or statistics.wordings:
        return
    content: dict[str, Any] = {
        "about": json.dumps(about),
        "aggregate": json.dumps(how),
        "rows": statistics.rows,
    }
    if statistics.per_sentence is not None:
        content["per_sentence"] = statistics.per_sentence
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **content)
    try:
        write_bytes(path, _digest(buffer.getvalue()) + buffer.getvalue())
    except OSError as error:
        _say_not_kept(path.parent, error.strerror)


@cache
def _say_not_kept(folder: Path, why: str | None) -> None:
    say(
        f"careful: {folder}: scores of texts cannot be kept: {why}. They go into the report as "
        "always; but if this run is interrupted, all is measured again"
    )


def _read(path: Path, sentences: int) -> Statistics | None:
    """What was kept, or ``None``: there is nothing, or it is damaged."""
    content = _content(path)
    if not content or len(content["rows"]) != sentences:
        return None
    how = json.loads(str(content["aggregate"]))
    if not how["module"].startswith(_METRICS):
        return None
    function = getattr(import_module(how["module"]), how["name"])
    aggregate = partial(function, **how["settings"]) if how["settings"] else function
    return Statistics(content["rows"], aggregate, content.get("per_sentence"))


def _content(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, which begins with the hash of what follows; empty if it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return {}
    archive = whole[_LENGTH:]
    if whole[:_LENGTH] != _digest(archive):
        return {}
    with np.load(io.BytesIO(archive), allow_pickle=False) as file:
        return dict(file)


def _digest(archive: bytes) -> bytes:
    return f"{hashlib.sha256(archive).hexdigest()}\n".encode()


def _described(aggregate: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any] | None:
    """A function of a module, and the settings that it is called with; ``None`` for any other."""
    function = aggregate.func if isinstance(aggregate, partial) else aggregate
    settings = aggregate.keywords if isinstance(aggregate, partial) else {}
    module, name = function.__module__, function.__qualname__
    if not module.startswith(_METRICS) or "<locals>" in name:
        return None
    return {"module": module, "name": name, "settings": settings}
