"""What all tests of systems have in common."""

from functools import lru_cache

import pytest


@pytest.fixture(autouse=True, scope="module")
def _one_judge_of_the_same_sentences():
    """It chooses among weights; to train it takes longer than some steps of a tiny system."""
    from tstbench.trainers.training import selection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "fit", lru_cache(maxsize=8)(selection.fit))
        yield
