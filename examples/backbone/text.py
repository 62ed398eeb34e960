"""What a backbone learns from: the training sentences of several datasets, no test sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tstbench.console import say
from tstbench.datasets_scripts.catalog import DATASETS, dataset_facts
from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import keys_under_test, load_training
from tstbench.errors import InputError, MissingFileError


@dataclass(frozen=True)
class BackboneText:
    """Distinct sentences, in the order of their datasets.

    Attributes:
        sentences: what is learned from.
        datasets: where they come from.
        n_excluded: sentences removed because a test split of one of the datasets has them.
    """

    sentences: tuple[str, ...]
    datasets: tuple[str, ...]
    n_excluded: int


def backbone_text(
    datasets: Sequence[str] = (), *, data_dir: Path | str | None = None
) -> BackboneText:
    """All training sentences of these datasets, once each.

    A sentence of one dataset that is in the test split of another is left out too.

    Args:
        datasets: names; none for every dataset whose files are at hand and which is not licensed:
            nothing that is made from a licensed one may be published.
        data_dir: the user's copy of a licensed corpus.

    Raises:
        UnknownNameError: no such dataset.
        MissingFileError: a dataset that was named is not at hand.
        InputError: there is no sentence at all.
    """
    found: dict[str, None] = {}
    tested: set[str] = set()
    used: list[str] = []
    n_removed = 0
    for dataset in datasets or DATASETS:
        if not datasets and dataset_facts(dataset).licensed:
            continue
        try:
            sentences, removed = _sentences(dataset, data_dir)
            tested |= keys_under_test(dataset, data_dir=data_dir)
        except MissingFileError as error:
            if datasets:
                raise
            say(f"without {dataset}: {error}")
            continue
        found.update(dict.fromkeys(sentences))
        used.append(dataset)
        n_removed += removed
    kept = tuple(text for text in found if text.strip() and match_key(text) not in tested)
    if not kept:
        raise InputError("there are no sentences to learn from: name a dataset with --dataset")
    return BackboneText(kept, tuple(used), n_removed + len(found) - len(kept))


def _sentences(dataset: str, data_dir: Path | str | None) -> tuple[list[str], int]:
    """The training sentences of a dataset, and how many were removed from them."""
    sentences: list[str] = []
    removed = 0
    seen: set[frozenset[str]] = set()
    for direction in dataset_facts(dataset).directions:
        styles = frozenset((direction.source_style, direction.target_style))
        if styles in seen:  # the reverse direction has the same sentences
            continue
        seen.add(styles)
        train = load_training(direction, data_dir=data_dir).train
        sentences += [*train.source, *train.target]
        removed += train.removed_sentences
    return sentences, removed
