"""What the tests of pages have in common: results made by hand, and some that were measured."""

import pytest
from leaderboard_results import real_results, several_directions


@pytest.fixture
def root(tmp_path):
    return tmp_path / "results"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return several_directions(tmp_path_factory.mktemp("several"))
