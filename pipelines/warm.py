"""Scoring the union of all systems' texts once, in the cheapest order, with progress.

Scorers remember what they have scored, so the metrics only look up values afterwards. Sorting all
texts by length wastes less padding than making batches for each system and view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..metrics.inputs import Inputs
from ..metrics.measure import needs
from ..metrics.options import BENCHMARK, Choices
from ..metrics.scorers.profile import Scorers
from ..metrics.scorers.roles import roles
from ..talk import progress

CHUNK = 1024  # sentences between two steps of the progress bar


def warm(
    scorers: Scorers,
    inputs: Sequence[Inputs],
    metrics: Iterable[str],
    choices: Choices = BENCHMARK,
) -> None:
    """Have every scorer that the metrics need score every distinct text."""
    metrics = tuple(metrics)
    texts: dict[str, dict[str, None]] = {}
    for one in inputs:
        for need in needs(metrics, one, scorers, choices):
            texts.setdefault(need.role, {}).update(dict.fromkeys(need.texts))
    # The encoder first: what it remembers serves the probes too.
    for role in sorted(texts, key=lambda name: (name != "encoder", name)):
        score = getattr(scorers.load(role), roles()[role].method)
        if not roles()[role].in_chunks:
            score(list(texts[role]))
            continue
        _in_chunks(roles()[role].title, list(texts[role]), score)


def _in_chunks(what: str, texts: Sequence[str], score: Callable[[Sequence[str]], object]) -> None:
    distinct = sorted(texts, key=len)
    with progress(len(distinct), what, unit=" texts") as bar:
        for start in range(0, len(distinct), CHUNK):
            chunk = distinct[start : start + CHUNK]
            score(chunk)
            bar.update(len(chunk))
