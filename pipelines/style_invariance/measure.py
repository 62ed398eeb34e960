"""Measure, for each embedding, how far it keeps style out, as it is and centred; and lay it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ...console import say
from ...datasets_scripts.catalog import dataset_facts
from ...datasets_scripts.fingerprint import style_fingerprint
from ...datasets_scripts.load import StyleData, load_styles
from ...errors import InputError, MissingScorerError
from ...metrics.scorers import find
from ...metrics.scorers.artefacts import CARD_FILE
from ...metrics.scorers.device import HERE, Placement
from ...metrics.scorers.encoder_files import EMBEDDED_ENCODER
from ...metrics.scorers.find import WORD_VECTORS
from ...metrics.scorers.find import word_vectors as find_vectors
from ...metrics.scorers.prepare import train_dataset_vectors
from ...metrics.scorers.roles import Found
from ...metrics.scorers.word_vectors import WordVectors
from ...metrics.signature import Signature
from ...metrics.text import tokenized, tokens_name
from ...version import __version__
from ..analysis.style_space import fewer_dimensions, laid_out
from .arithmetic import PERMUTATIONS, StyleInvariance, style_invariance, unit_vectors

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


DEFAULT = EMBEDDED_ENCODER
_CHUNK = 2048  # sentences: an encoder holds the token vectors of all that it is given at once


@dataclass(frozen=True, kw_only=True)
class SentenceEmbedding:
    """Something that turns sentences into vectors, identified before it is loaded.

    Attributes:
        name: as it is shown.
        hash: SHA-256 hex of its files.
        kind: ``encoder`` or ``sum of word vectors``.
        fields: what else the signature must state.
        libraries: whose versions may move a number.
        vectors: from N sentences to shape (N, D), float32; zeros where no word of a sentence is
            known.
    """

    name: str
    hash: str
    kind: str
    fields: Mapping[str, object]
    libraries: tuple[str, ...]
    vectors: Callable[[Sequence[str]], np.ndarray]


def find_embedding(
    spec: str, sample: StyleSample, placement: Placement = HERE
) -> SentenceEmbedding:
    """The embedding that a user names.

    Args:
        spec: ``word2vec`` (trained on the dataset, now if need be), a file of word vectors, a
            folder of trained ones, or an encoder: a Hub id or folder, ``@`` and the layer to read.
        sample: the sentences; ``word2vec`` is trained on their dataset, and their language says
            what a word is.
        placement: device, number type and batch size of an encoder.

    Raises:
        MissingScorerError: there is nothing of that name.
        InputError: a file that has no vectors, or a layer that the encoder does not have.
        MissingExtraError: what it needs is not installed.
    """
    path = Path(spec).expanduser()
    if spec == WORD_VECTORS:
        path = train_dataset_vectors(sample.data).folder
        spec = str(path)
    if path.is_file() or (path / CARD_FILE).is_file():
        words = find_vectors(spec, None, placement)
        return SentenceEmbedding(
            name=words.name,
            hash=words.hash,
            kind="sum of word vectors",
            fields={"tokens": tokens_name(sample.language, "words")},
            libraries=(),
            vectors=lambda texts: summed(words.load(), tokenized(texts, sample.language)),
        )
    try:
        found = find.encoder(spec, None, placement)
    except MissingScorerError as error:
        raise MissingScorerError(
            f"the embedding {spec!r} is neither {WORD_VECTORS}, nor a file of word vectors, nor an "
            f"encoder that is here: {error}"
        ) from error
    return SentenceEmbedding(
        name=f"{found.name}@{found.fields['layer']}" if "@" in spec else found.name,
        hash=found.hash,
        kind="encoder",
        fields={**found.fields, "dtype": placement.signed_dtype},
        libraries=("torch", "transformers", "tokenizers"),
        vectors=partial(_encoded, found),
    )


def summed(vectors: WordVectors, sentences: Sequence[str]) -> np.ndarray:
    """The sum of the vectors of a sentence's known words; a word counts as often as it occurs.

    Args:
        vectors: of V words.
        sentences: N sentences, tokens separated by spaces.

    Returns:
        Shape (N, D), float64; 0 where no word is known.
    """
    known = vectors.known(sentences)
    sums = np.zeros((len(sentences), vectors.dimensions))
    for row, words in zip(sums, known, strict=True):
        row += vectors.vectors[words].sum(axis=0, dtype=np.float64)
    return sums


def _encoded(found: Found, sentences: Sequence[str]) -> np.ndarray:
    """Each distinct sentence once, in chunks."""
    encoder = found.load()
    distinct = list(dict.fromkeys(sentences))
    parts = [
        encoder.sentence_vectors(distinct[start : start + _CHUNK])
        for start in range(0, len(distinct), _CHUNK)
    ]
    vectors: np.ndarray = np.concatenate(parts)
    row = {sentence: n for n, sentence in enumerate(distinct)}
    return vectors[[row[sentence] for sentence in sentences]]


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
        forms: ``raw``, of the vectors as they are, and ``centred``, with the mean of all unit
            vectors subtracted.
        map: t-SNE, if there are sentences enough.
    """

    embedding: SentenceEmbedding
    signature: Signature
    used: tuple[int, ...]
    left_out: tuple[int, ...]
    forms: Mapping[str, StyleInvariance]
    map: StyleMap | None


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
    forms = {
        form: style_invariance(
            unit,
            labels,
            centred=form == "centred",
            self_pairs=options.self_pairs,
            permutations=options.permutations,
            seed=options.seed,
        )
        for form in FORMS
    }
    return EmbeddingInvariance(
        embedding=embedding,
        signature=_signature(embedding, sample, options),
        used=tuple(map(int, used)),
        left_out=tuple(map(int, np.bincount(sample.labels[~known], minlength=styles))),
        forms=forms,
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
