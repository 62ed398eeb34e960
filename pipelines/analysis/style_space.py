"""Where a style classifier puts the sentences of two styles: t-SNE of what it sees in them.

Source: the TSTBench paper, section on t-SNE (CLS embeddings of the classifier's last layer, of test
sources and of references). A source and its own rewrite share their content and would lie side by
side whatever their styles, so sources are those of every other sentence, references of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.known import parse_direction
from ...errors import InputError, MissingScorerError, TSTBenchError, require_installed
from ...metrics.scorers.classifiers import Classifier, is_kind, kinds
from ...metrics.scorers.device import HERE
from ...metrics.scorers.features import shown_features
from ...metrics.scorers.find import classifier as find_classifier
from ...metrics.signature import Signature
from ...metrics.text import preparation
from .results import DirectionResults

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
        groups: ``sources`` or ``references``, for each point.
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


def style_space(
    results: DirectionResults, classifier: str | None = None, language: str = "en"
) -> StyleSpace:
    """Lay out sources and references of one direction.

    Args:
        results: with sentences.
        classifier: a kind, a folder or a Hub id; by default a transformer trained on the dataset,
            else the one that the results were scored with, else any that is there, and without
            one the sentence embeddings of the embedded encoder.
        language: of the sentences.

    Raises:
        InputError: too few sentences or references.
        MissingScorerError: the classifier that was asked for is not there.
    """
    sources, references = _sentences(results)
    if min(len(sources), len(references)) < FEWEST:
        raise InputError(
            f"{results.name}: a map needs {FEWEST} sources and {FEWEST} references; there are "
            f"{len(sources)} and {len(references)}"
        )
    texts = [text for _, text in (*sources, *references)]
    vectors, seen_by = _vectors(results, texts, classifier, language)
    groups: np.ndarray = np.repeat([0, 1], [len(sources), len(references)])
    vectors = fewer_dimensions(vectors)
    points = laid_out(vectors)
    return StyleSpace(
        points=points,
        groups=tuple("sources" if g == 0 else "references" for g in groups),
        ids=tuple(i for i, _ in (*sources, *references)),
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


def _sentences(results: DirectionResults) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Id and text of the chosen sources and first references."""
    samples = next((s for s in results.samples.values() if len(s) > 0), ())
    sources = [(s.id, s.source) for s in samples[::2] if s.source.strip()]
    references = [
        (s.id, s.references[0]) for s in samples[1::2] if s.references and s.references[0].strip()
    ]
    return _evenly(sources), _evenly(references)


def _evenly(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(rows[:: max(1, -(-len(rows) // MOST_OF_A_GROUP))])


def _vectors(
    results: DirectionResults, texts: Sequence[str], wanted: str | None, language: str
) -> tuple[np.ndarray, str]:
    """One vector for each text, and what they are."""
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
