"""What all tests of systems have in common."""

from functools import lru_cache

import numpy as np
import pytest
from prepared import DIRECTION
from word_systems import N_WORDS

from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.training.words import END, padded


@pytest.fixture(scope="module")
def data():
    """Mini's training data, of which nothing is changed."""
    return load_training(DIRECTION)


@pytest.fixture
def words():
    """Random ids (3, 10) of three sentences, below ``N_WORDS``."""
    random = np.random.default_rng(0)
    return padded([[*random.integers(3, N_WORDS, size=size), END] for size in (4, 9, 1)])


@pytest.fixture(autouse=True, scope="module")
def _one_judge_of_the_same_sentences():
    """It chooses among weights; to train it takes longer than some steps of a tiny system."""
    from tstbench.trainers.training import selection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "fit", lru_cache(maxsize=8)(selection.fit))
        yield
