"""What was measured once is read again: a file of ``$TSTBENCH_HOME/scores`` for metric and texts.

The name of a file is the hash of everything that its numbers depend on: the texts, the metric's
signature, the scorers by their whole hash, the libraries and this package's code. So nothing has
to be compared, and nothing old is ever read: what changes has another name.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets_scripts.unchanged import tools
from ..files import home, write_bytes
from ..metrics.base import Cohort
from ..metrics.inputs import Inputs
from ..metrics.measure import LeftOut, Measurement, Outcome, measure, needs, plan
from ..metrics.options import Choices
from ..metrics.registry import family_of, metric_facts
from ..metrics.scorers.profile import Scorers
from ..metrics.statistics import Statistics
from ..store import canonical

FOLDER = "scores"
_LENGTH = 65  # bytes of the first line of a file
_METRICS = measure.__module__.rpartition(".")[0] + "."  # where all code of our own metrics is


def measured(
    metric: str, inputs: Inputs, scorers: Scorers, choices: Choices, cohort: Cohort | None = None
) -> Outcome:
    """One metric's outcome, as :func:`~tstbench.metrics.measure.measure` gives it now, or once did.

    Scores of other packages' metrics are not kept, since nobody knows when their code changes; nor
    are those of judges, whose answers are.

    Raises:
        UnknownNameError, InputError, MissingScorerError: see ``measure``.
    """
    signature = plan([metric], inputs, scorers, choices, cohort)[metric]
    if isinstance(signature, LeftOut) or not type(family_of(metric)).__module__.startswith(
        _METRICS
    ):
        return measure([metric], inputs, scorers, choices, cohort)[metric]
    roles = sorted({need.role for need in needs([metric], inputs, scorers, choices)})
    on_device = any(scorers.find(role).on_device for role in roles)
    about = {
        "metric": metric,
        "direction": str(inputs.direction or ""),
        "signature": str(signature),
        "made with": signature.made_with,
        "options": repr(choices.of(family_of(metric).name)),
        "tools": tools(),
        "device": scorers.placement.resolve() if on_device else "",
        "scorers": {role: scorers.find(role).hash for role in roles},
        "texts": hashlib.sha256(
            canonical([inputs.predictions, inputs.sources, inputs.references])
        ).hexdigest(),
        "cohort": cohort.hash if cohort else "",
    }
    path = home() / FOLDER / f"{hashlib.sha256(canonical(about)).hexdigest()}.npz"
    if (statistics := _read(path, len(inputs.predictions))) is not None:
        caution = family_of(metric).caution(signature)
        return Measurement(metric_facts(metric), statistics, signature, caution)
    outcome = measure([metric], inputs, scorers, choices, cohort)[metric]
    if isinstance(outcome, Measurement):
        _keep(path, about, outcome.statistics)
    return outcome


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
    with suppress(OSError):  # a home that takes nothing: it is measured again
        write_bytes(path, _digest(buffer.getvalue()) + buffer.getvalue())


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
