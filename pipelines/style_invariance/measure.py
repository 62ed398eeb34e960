"""Measure, for each embedding, how far it keeps style out, as it is and centred; and lay it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from ...console import say
from ...errors import InputError
from ...metrics.functional.style_invariance import (
    PERMUTATIONS,
    StyleInvariance,
    style_invariance,
    unit_vectors,
)
from ...metrics.signature import Signature
from ...version import __version__
from ..analysis.style_space import fewer_dimensions, laid_out
from .embeddings import SentenceEmbedding
from .sentences import FEWEST, StyleSample

VERSION = 1  # raised when the same input gives other numbers
FORMS = ("raw", "centred")
NEIGHBOURS = 10
_MOST_PERMUTATIONS = 100_000
_FEWEST_POINTS = 5  # of a map


@dataclass(frozen=True, kw_only=True)
class InvarianceOptions:
    """How to measure.

    Attributes:
        permutations: of the labels, for the numbers that chance gives.
        seed: of the permutations and of t-SNE (and of the sample).
        self_pairs: compare a sentence with itself too, as the paper does.
        points: sentences of a style on the map, at most; 0 draws none.

    Raises:
        InputError: a value out of its range.
    """

    permutations: int = PERMUTATIONS
    seed: int = 0
    self_pairs: bool = False
    points: int = 150

    def __post_init__(self) -> None:
        if not 1 <= self.permutations <= _MOST_PERMUTATIONS:
            raise InputError(
                f"--permutations must be from 1 to {_MOST_PERMUTATIONS}, not {self.permutations}"
            )
        if not 0 <= self.seed < 2**32:
            raise InputError(f"--seed must be from 0 to 2**32 - 1, not {self.seed}")
        if self.points < 0:
            raise InputError(f"--points must be at least 0, not {self.points}")


@dataclass(frozen=True, kw_only=True)
class StyleMap:
    """Sentences in the plane, by t-SNE of their unit vectors.

    Attributes:
        points: shape (N, 2).
        labels: the style of each: shape (N,).
        neighbours: share of a sentence's 10 nearest, by cosine and not on the map, that have its
            style: mean over the sentences of the map.
        neighbours_by_chance: that share if styles had no part in it.
    """

    points: np.ndarray
    labels: np.ndarray
    neighbours: float
    neighbours_by_chance: float


@dataclass(frozen=True, kw_only=True)
class EmbeddingInvariance:
    """What was measured of one embedding.

    Attributes:
        embedding: name, hash and kind.
        signature: everything that the numbers depend on.
        used: sentences of each style.
        left_out: sentences of each style that have no vector, since none of their words is known.
        raw: of the vectors as they are.
        centred: with the mean of all unit vectors subtracted.
        map: t-SNE, if there are sentences enough.
    """

    embedding: SentenceEmbedding
    signature: Signature
    used: tuple[int, ...]
    left_out: tuple[int, ...]
    raw: StyleInvariance
    centred: StyleInvariance
    map: StyleMap | None

    def form(self, name: str) -> StyleInvariance:
        """One of :data:`FORMS`."""
        return self.centred if name == "centred" else self.raw


def measure(
    embedding: SentenceEmbedding, sample: StyleSample, options: InvarianceOptions
) -> EmbeddingInvariance:
    """Embed the sentences, compare styles, and lay some of them out.

    Raises:
        InputError: a style has fewer than two sentences with a vector.
    """
    say(f"{embedding.name}: {len(sample.texts)} sentences")
    vectors = embedding.vectors(sample.texts)
    known: np.ndarray = np.linalg.norm(vectors, axis=1) > 0
    styles = len(sample.styles)
    used = np.bincount(sample.labels[known], minlength=styles)
    for style, count in enumerate(used):
        if count < FEWEST:
            raise InputError(
                f"{embedding.name} has a vector for {count} of the sentences of style "
                f"{sample.styles[style]!r} ({sample.data.dataset}): at least {FEWEST} are needed. "
                "Are these word vectors of that language?"
            )
    unit, labels = unit_vectors(vectors[known]), sample.labels[known]
    raw, centred = (
        style_invariance(
            unit,
            labels,
            centred=form == "centred",
            self_pairs=options.self_pairs,
            permutations=options.permutations,
            seed=options.seed,
        )
        for form in FORMS
    )
    return EmbeddingInvariance(
        embedding=embedding,
        signature=_signature(embedding, sample, options),
        used=tuple(map(int, used)),
        left_out=tuple(map(int, np.bincount(sample.labels[~known], minlength=styles))),
        raw=raw,
        centred=centred,
        map=_map(unit, labels, options) if options.points else None,
    )


def _signature(
    embedding: SentenceEmbedding, sample: StyleSample, options: InvarianceOptions
) -> Signature:
    libraries = ("numpy", "scikit-learn", *embedding.libraries)
    return Signature.of(
        "style_invariance",
        {"tstbench": __version__, **{name: version(name) for name in libraries}},
        v=VERSION,
        dataset=sample.data.dataset,
        split=sample.split,
        cleaning=sample.data.cleaning,
        sentences=len(sample.texts),
        data=sample.fingerprint[:16],
        embedding=embedding.name,
        hash=embedding.hash[:16],
        **embedding.fields,
        self_pairs="yes" if options.self_pairs else "no",
        permutations=options.permutations,
        seed=options.seed,
    )


def _map(unit: np.ndarray, labels: np.ndarray, options: InvarianceOptions) -> StyleMap | None:
    """t-SNE of sentences that lie evenly over those of each style."""
    rows: np.ndarray = np.concatenate(
        [_evenly(np.flatnonzero(labels == s), options.points) for s in range(labels.max() + 1)]
    )
    if len(rows) < _FEWEST_POINTS:
        return None
    some, of = unit[rows], labels[rows]
    own, chance = _neighbours(some, of)
    return StyleMap(
        points=laid_out(fewer_dimensions(some), options.seed),
        labels=of,
        neighbours=own,
        neighbours_by_chance=chance,
    )


def _evenly(rows: np.ndarray, most: int) -> np.ndarray:
    if len(rows) <= most:
        return rows
    return rows[np.arange(most) * len(rows) // most]


def _neighbours(unit: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    most = min(NEIGHBOURS, len(unit) - 1)
    nearest = np.argsort(-cosines.round(9), axis=1, kind="stable")[:, :most]
    own = float((labels[nearest] == labels[:, None]).mean())
    sizes = np.bincount(labels).astype(float)
    return own, float((sizes * (sizes - 1)).sum() / (len(unit) * (len(unit) - 1)))


def compare(
    embeddings: Sequence[SentenceEmbedding], sample: StyleSample, options: InvarianceOptions
) -> list[EmbeddingInvariance]:
    """:func:`measure` of several embeddings on the same sentences, each once."""
    distinct = {(one.name, one.hash): one for one in embeddings}
    return [measure(one, sample, options) for one in distinct.values()]
