"""Compare kinds of classifier, to see which is good enough to score with.

All use the same split and test sentences, in one process. Human references are classified as the
target style less often than test sources as the source style; that share is the ceiling that
a good system's ACC can reach, and it differs by kind. After Table 4 of the TSTBench paper.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from ...datasets_scripts.load import TestSet
from ...errors import InputError
from .classifiers import StyleModel
from .train import (
    ClassifierConfig,
    LabelledSentences,
    accuracy,
    default_config,
    fit,
    labelled,
    split_held_out,
    without,
)


@dataclass(frozen=True)
class DirectionAccuracy:
    """A classifier's accuracy on a direction's test set, as fractions.

    Attributes:
        direction: ``yelp/negative-to-positive``.
        sources: share of the sources classified as the source style.
        references: share of all human references classified as the target style; None if none.
    """

    direction: str
    sources: float
    references: float | None


@dataclass(frozen=True)
class KindResult:
    """One kind of classifier, trained and measured."""

    kind: str
    held_out: float  # accuracy, a fraction
    directions: tuple[DirectionAccuracy, ...]
    seconds: float  # of training, wall-clock time


def compare_kinds(
    kinds: Sequence[str],
    sentences: Sequence[str],
    labels: Sequence[int],
    styles: Sequence[str],
    tests: Sequence[TestSet],
    configs: Mapping[str, ClassifierConfig] | None = None,
) -> list[KindResult]:
    """Train each kind on the same sentences and measure it; nothing is stored.

    Args:
        kinds: kinds of classifier, such as ``linear``.
        sentences: N sentences; those that occur in ``tests`` are left out, and a tenth is held out.
        labels: N indices into ``styles``.
        styles: S names.
        tests: one test set per direction.
        configs: kind -> settings, if they differ from the kind's defaults.

    Raises:
        InputError: no kind was given; see also :func:`~.train.train_classifier`.
        UnknownNameError: no such kind.
    """
    if not kinds:
        raise InputError("no kinds of classifier to compare")
    settings = {kind: (configs or {}).get(kind) or default_config(kind) for kind in kinds}
    data = labelled(sentences, labels, styles, what="training sentences")
    seen = {text for test in tests for text in (*test.sources, *_flat(test))}
    train, held = split_held_out(without(data, seen))
    results = []
    for kind, config in settings.items():
        start = time.perf_counter()
        model = fit(kind, train, styles, config)
        seconds = time.perf_counter() - start
        directions = tuple(_measure(model, test) for test in tests)
        results.append(KindResult(kind, accuracy(model, held), directions, seconds))
    return results


def comparison_table(results: Sequence[KindResult]) -> Table:
    """The results for people: accuracies in percent, training time as a ratio to the fastest."""
    table = Table(
        title="Style classifiers: accuracy in percent",
        caption="held out: a tenth of the training sentences. sources: test sentences classified "
        "as their own style. references as target: people's rewrites classified as the target "
        "style, which is the ceiling for a system's ACC. training time: how many times that of "
        "the fastest kind",
    )
    table.add_column("kind")
    table.add_column("held out", justify="right")
    for direction in results[0].directions:
        table.add_column(f"{direction.direction}\nsources", justify="right")
        table.add_column("references\nas target", justify="right")
    table.add_column("training time\nfastest = 1", justify="right")
    fastest = min(result.seconds for result in results)
    for result in results:
        cells = [_percent(result.held_out)]
        for direction in result.directions:
            cells += [_percent(direction.sources), _percent(direction.references)]
        table.add_row(result.kind, *cells, f"{result.seconds / fastest:.1f}")
    return table


def _measure(model: StyleModel, test: TestSet) -> DirectionAccuracy:
    direction, references = test.direction, _flat(test)
    source, target = (
        model.styles.index(style) for style in (direction.source_style, direction.target_style)
    )
    return DirectionAccuracy(
        direction.name,
        _share(model, test.sources, source),
        _share(model, references, target) if references else None,
    )


def _flat(test: TestSet) -> tuple[str, ...]:
    return tuple(text for texts in test.references for text in texts)


def _share(model: StyleModel, sentences: tuple[str, ...], style: int) -> float:
    return accuracy(model, LabelledSentences(sentences, (style,) * len(sentences)))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
