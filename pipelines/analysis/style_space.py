"""Where a style classifier puts the sentences of two styles: t-SNE of what it sees in them.

Source: the TSTBench paper, figure 6 (CLS embeddings of the classifier's last layer): one map has
the test sentences of both styles, the other people's rewrites into both (:func:`style_maps`). The
third map is ours (:func:`style_space`): sources and references of one direction. A source and its
own rewrite share their content and would lie side by side whatever their styles, so there sources
are those of every other sentence, references of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.catalog import as_direction, language_of, parse_direction
from ...errors import InputError, MissingScorerError, TSTBenchError, require_installed
from ...metrics.scorers.classifiers import Classifier, is_kind, kinds, shown_features
from ...metrics.scorers.device import HERE
from ...metrics.scorers.find import classifier as find_classifier
from ...metrics.signature import Signature
from ...metrics.text import preparation
from ..report import Sample
from .data import DirectionResults

NEIGHBOURS = 10
MOST_OF_A_GROUP = 250
FEWEST = 20  # sentences of each group
SEED = 0
_DIMENSIONS = 50  # that t-SNE starts from, by principal components


@dataclass(frozen=True, kw_only=True)
class StyleSpace:
    """Positions of sentences, and how far the two styles are apart.

    Attributes:
        points: shape (N, 2).
        groups: a style, or ``sources`` or ``references``, for each point.
        ids: of the sentences.
        seen_by: the classifier or encoder, and what of it was laid out.
        separation: see :func:`separation`, on the vectors, not on the picture.
        picture_separation: the same on the picture.
    """

    points: np.ndarray
    groups: tuple[str, ...]
    ids: tuple[str, ...]
    seen_by: str
    separation: float
    picture_separation: float


def style_space(results: DirectionResults, classifier: str | None = None) -> StyleSpace:
    """Lay out sources and references of one direction.

    Args:
        results: with sentences.
        classifier: a kind, a folder or a Hub id; by default a transformer trained on the dataset,
            else the one that the results were scored with, else any that is there, and without
            one the sentence embeddings of the embedded encoder.

    Raises:
        InputError: too few sentences or references.
        MissingScorerError: the classifier that was asked for is not there.
    """
    samples = _samples(results)
    return _space(
        results,
        {"sources": _sources(samples[::2]), "references": _references(samples[1::2])},
        classifier,
    )


def style_maps(
    there: DirectionResults, back: DirectionResults, classifier: str | None = None
) -> tuple[StyleSpace, StyleSpace]:
    """Lay out the two styles of two opposite directions, as the TSTBench paper does.

    Args:
        there: with sentences.
        back: the direction from its target style to its source style, with sentences.
        classifier: see :func:`style_space`.

    Returns:
        The map of the test sentences of both styles (the paper's figure 6a), and that of the
        first references in both (6b).

    Raises:
        InputError: too few sentences or references.
        MissingScorerError: the classifier that was asked for is not there.
    """
    direction = as_direction(there.name)
    source, target = direction.source_style, direction.target_style
    of_source, of_target = _samples(there), _samples(back)
    written = {source: _sources(of_source), target: _sources(of_target)}
    rewritten = {source: _references(of_target), target: _references(of_source)}
    return _space(there, written, classifier), _space(there, rewritten, classifier)


def _space(
    results: DirectionResults,
    sentences: Mapping[str, Sequence[tuple[str, str]]],
    classifier: str | None,
) -> StyleSpace:
    """Lay out two groups of sentences (ids and texts), at most 250 of each, evenly chosen."""
    if min(map(len, sentences.values())) < FEWEST:
        raise InputError(
            f"{results.name}: a map needs {FEWEST} sentences of each group; there are "
            + " and ".join(f"{len(rows)} {name}" for name, rows in sentences.items())
        )
    chosen = {
        name: rows[:: max(1, -(-len(rows) // MOST_OF_A_GROUP))] for name, rows in sentences.items()
    }
    rows = [(name, *row) for name, some in chosen.items() for row in some]
    vectors, seen_by = _vectors(results, [text for _, _, text in rows], classifier)
    groups: np.ndarray = np.repeat([0, 1], [len(some) for some in chosen.values()])
    vectors = fewer_dimensions(vectors)
    points = laid_out(vectors)
    return StyleSpace(
        points=points,
        groups=tuple(name for name, _, _ in rows),
        ids=tuple(i for _, i, _ in rows),
        seen_by=seen_by,
        separation=separation(vectors, groups),
        picture_separation=separation(points, groups),
    )


def laid_out(vectors: np.ndarray, seed: int = SEED) -> np.ndarray:
    """t-SNE to two dimensions, seeded: shape (N, 2), to two decimals.

    Source: van der Maaten and Hinton (2008), as scikit-learn implements it.
    """
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    model = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
    return np.round(model.fit_transform(vectors).astype(np.float64), 2) + 0.0


def separation(points: np.ndarray, groups: np.ndarray) -> float:
    """The share of points whose 10 nearest are mostly of their own group; a tie counts half.

    By chance it is 1/2 for groups of one size.

    Args:
        points: (N, D).
        groups: (N,).

    >>> groups = np.arange(40) // 20
    >>> separation(np.array([[x + 100.0 * g, 0.0] for x, g in enumerate(groups)]), groups)
    1.0
    """
    squares = (points**2).sum(axis=1)
    apart = squares[:, None] + squares[None] - 2 * points @ points.T
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, :NEIGHBOURS]
    own = (groups[nearest] == groups[:, None]).mean(axis=1)
    return float(np.mean((own > 0.5) + (own == 0.5) / 2))


def _samples(results: DirectionResults) -> Sequence[Sample]:
    return next((s for s in results.samples.values() if len(s) > 0), ())


def _sources(samples: Sequence[Sample]) -> list[tuple[str, str]]:
    return [(s.id, s.source) for s in samples if s.source.strip()]


def _references(samples: Sequence[Sample]) -> list[tuple[str, str]]:
    """The first reference of each."""
    return [(s.id, s.references[0]) for s in samples if s.references and s.references[0].strip()]


def _vectors(
    results: DirectionResults, texts: Sequence[str], wanted: str | None
) -> tuple[np.ndarray, str]:
    """One vector for each text, and what they are."""
    language = language_of(as_direction(results.name))
    prepared = preparation(language).for_classifier(texts)
    for spec in [wanted] if wanted else _candidates(results):
        try:
            found = find_classifier(spec, parse_direction(results.name), HERE).load()
        except TSTBenchError:
            if wanted:
                raise
            continue
        if not isinstance(found, Classifier):
            continue
        model = shown_features(found)
        if model is not None:
            return model.features(prepared), f"{found.name} ({model.features_are})"
        if wanted:
            raise InputError(
                f"the classifier {wanted} does not show what it sees in a sentence; kinds that do: "
                "linear, probe, transformer"
            )
    return _embedded(texts)


def _candidates(results: DirectionResults) -> list[str]:
    """Kinds of classifier to look for: a transformer, that of the signature, any other."""
    named = []
    for column in results.columns:
        try:
            fields = Signature.parse(column.signature).as_dict()
        except InputError:
            continue
        kind = fields.get("classifier", "").split(":")[0]
        if column.metric in ("acc", "joint") and kind and is_kind(kind):
            named.append(kind)
    return list(dict.fromkeys(["transformer", *named, *kinds()]))


def _embedded(texts: Sequence[str]) -> tuple[np.ndarray, str]:
    for module in ("torch", "transformers"):
        require_installed(module, "embedded")
    from ...metrics.scorers.encoder import load_encoder

    try:
        encoder = load_encoder()
    except MissingScorerError as error:
        raise MissingScorerError(
            f"no classifier of these styles is here, and neither is an encoder: {error}"
        ) from error
    return encoder.sentence_vectors(texts), f"{encoder.name} (sentence embeddings)"


def fewer_dimensions(vectors: np.ndarray) -> np.ndarray:
    """Principal components where there are many dimensions, for t-SNE; the signs are fixed."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    if centred.shape[1] <= _DIMENSIONS:
        return centred
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    u, s = u[:, :_DIMENSIONS], s[:_DIMENSIONS]
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    return u * s * signs
