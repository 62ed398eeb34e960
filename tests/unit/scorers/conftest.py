"""A tiny model that several files read and nobody changes."""

from pathlib import Path

import pytest
from classifier_toys import save_tiny_bert


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    """The folder of a random BERT that knows the toys' words."""
    return save_tiny_bert(tmp_path_factory.mktemp("tiny-bert"))
