"""Prepare: train the scorers that a direction's metrics need and that are not there yet.

What is there with the same recipe (data, settings) is not trained again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import version

from ..datasets_scripts.directions import Direction, dataset_facts
from ..datasets_scripts.load import StyleData, load_styles
from ..metrics.scorers.artefacts import Artefact, ScorerCard, data_fingerprint, find_recipe, store
from ..metrics.scorers.profile import Profile, acceptability_corpus, language_model_name
from ..metrics.text import LANGUAGE_MODEL_TEXT, language_model_texts
from ..trainers.language_model import train_language_model

ORDER = 5
Say = Callable[[str], None]
