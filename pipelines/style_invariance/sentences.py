"""The sentences of each style that are compared: a dataset's training split, or a sample of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...datasets_scripts.catalog import dataset_facts
from ...datasets_scripts.fingerprint import style_fingerprint
from ...datasets_scripts.load import StyleData, load_styles
from ...errors import InputError

FEWEST = 2  # sentences of a style: one is never compared with itself


@dataclass(frozen=True, kw_only=True)
class StyleSample:
    """Labelled sentences.

    Attributes:
        data: the dataset they are from.
        language: BCP 47.
        split: of the dataset.
        texts: N sentences, those of a style together, in the order of the files.
        labels: the style of each: shape (N,), indices into ``data.styles``.
        available: sentences of each style in the split.
        repeated: sentences of each style that are there before, word for word.
        fingerprint: SHA-256 hex of texts and labels.
    """

    data: StyleData
    language: str
    split: str
    texts: tuple[str, ...]
    labels: np.ndarray
    available: tuple[int, ...]
    repeated: tuple[int, ...]
    fingerprint: str

    @property
    def styles(self) -> tuple[str, ...]:
        """S names."""
        return self.data.styles


def sample_styles(
    dataset: str, *, most: int, seed: int = 0, data_dir: Path | None = None
) -> StyleSample:
    """Sentences of every style of a dataset's training split; test sentences are not among them.

    Args:
        dataset: a name.
        most: sentences of a style; of more, a sample is drawn without replacement.
        seed: of the sample. Each style has its own stream, so what is drawn from one style does
            not depend on the size of another.
        data_dir: the user's copy of a licensed corpus.

    Raises:
        InputError: ``most`` is too small, or a style has fewer than two sentences.
        UnknownNameError, MissingFileError, IntegrityError: see
            :func:`~tstbench.datasets_scripts.load.load_styles`.
    """
    if most < FEWEST:
        raise InputError(f"--sentences must be at least {FEWEST}, not {most}")
    facts = dataset_facts(dataset)
    data = load_styles(dataset, data_dir=data_dir)
    split = data.training
    texts: list[str] = []
    labels: list[int] = []
    available, repeated = [], []
    for style, name in enumerate(data.styles):
        there = [text for text in split.of(style) if text.strip()]
        if len(there) < FEWEST:
            raise InputError(
                f"{dataset}, split {split.name}: style {name!r} has {_count(len(there))}; at least "
                "two styles with two sentences each are needed"
            )
        kept = [there[n] for n in _drawn(len(there), most, (seed, style))]
        texts += kept
        labels += [style] * len(kept)
        available.append(len(there))
        repeated.append(len(kept) - len(set(kept)))
    return StyleSample(
        data=data,
        language=facts.language,
        split=split.name,
        texts=tuple(texts),
        labels=np.array(labels),
        available=tuple(available),
        repeated=tuple(repeated),
        fingerprint=style_fingerprint(texts, labels),
    )


def _drawn(size: int, most: int, seed: Sequence[int]) -> Sequence[int]:
    if size <= most:
        return range(size)
    drawn = np.random.default_rng(seed).choice(size, size=most, replace=False)
    return [int(n) for n in np.sort(drawn)]


def _count(n: int) -> str:
    return f"{n} sentence" + ("s" if n != 1 else "")
