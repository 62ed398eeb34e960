"""Sentence similarity against sentence-transformers."""

from types import MappingProxyType

import numpy as np
import pytest

from tstbench.metrics.scorers.encoder import load_encoder
from tstbench.metrics.sim.sim import FAMILY, SimOptions
from tstbench.metrics.statistics import mean_statistics


def similarity(predictions, against, encoder, reduce="max"):
    options = SimOptions(reduce=reduce)
    return mean_statistics(FAMILY.compared(predictions, against, options, encoder))


def test_values_are_those_of_sentence_transformers(test_set):
    """The package's model, with the pooling and normalisation of the model's card."""
    library = pytest.importorskip("sentence_transformers")
    predictions = [*test_set.sources[1:], "What a surprise!"]
    against = [some[: i % 4] for i, some in enumerate(test_set.references)]
    encoder = load_encoder()
    found = similarity(predictions, against, encoder).per_sentence
    model = library.SentenceTransformer(str(encoder.folder), device="cpu")
    for i, (one, some) in enumerate(zip(predictions, against, strict=True)):
        vectors = model.encode([one, *some], normalize_embeddings=True)
        wanted = max(vectors[1:] @ vectors[0], default=np.nan)
        assert found[i] == pytest.approx(wanted, abs=2e-6, nan_ok=True)


def test_edges(test_set):
    encoder = load_encoder()
    found = similarity(["same", "", "a", "b"], [["same"], ["x"], ["", "a"], []], encoder)
    np.testing.assert_allclose(found.per_sentence, [1, 0, 1, np.nan], atol=1e-6)
    assert (found.per_sentence[[0, 2]] <= 1).all()
    assert np.isnan(similarity(["a"], [[]], encoder).value)


class Plane:
    """Sentences as points; like those of a network in float32, not quite of unit length."""

    points = MappingProxyType(
        {"": (1, 0), "east": (1, 0), "west": (-1.00001, 0), "up": (0, 1), "between": (0.6, 0.8)}
    )

    def sentence_vectors(self, sentences):
        return np.array([self.points[one.strip()] for one in sentences], np.float32)


def test_similarity_by_hand():
    """Two, none, three, one: each prediction has its own references, and no cosine leaves -1..1."""
    predictions = ["east", "up", "between", "west"]
    against = [["up", "between"], [], ["east", "up", "west"], ["east"]]
    best = similarity(predictions, against, Plane())
    np.testing.assert_allclose(best.per_sentence, [0.6, np.nan, 0.8, -1], atol=1e-7)
    assert best.per_sentence[3] == -1
    assert best.value == pytest.approx(0.4 / 3)
    assert best.rows.dtype == np.float64
    mean = similarity(predictions, against, Plane(), "mean").per_sentence
    np.testing.assert_allclose(mean, [0.3, np.nan, (1.4 - 0.600006) / 3, -1], atol=1e-6)
    assert similarity(["west"], [["west"]], Plane()).value == 1
    blank = similarity(["east", " "], [[" ", "up"], ["east", "east"]], Plane())
    assert blank.per_sentence.tolist() == [0, 0]
