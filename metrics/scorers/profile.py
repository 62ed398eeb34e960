"""Profiles: which scorers the metrics use.

``paper`` names the benchmark paper's choices, with weights from the Hub. ``embedded`` needs no
download at all beyond PyPI: it is what an offline laptop or a continuous integration can run.
Scores of different profiles are not comparable, and their signatures differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from ...datasets_scripts.directions import Direction
from ...errors import InputError, require, unknown_name
from .artefacts import Role, open_artefact
from .base import AcceptabilityClassifier, Encoder, LanguageModel, StyleClassifier
from .classifiers import ACCEPTABILITY_STYLES, Classifier, load_classifier
from .language_model import NgramLanguageModel
from .published import find_or_fetch

COLA_MODEL = "cointegrated/roberta-large-cola-krishna2020"


@dataclass(frozen=True)
class Profile:
    """The scorers of a profile, by name.

    Attributes:
        classifier: kind of style classifier, trained here on each dataset.
        acceptability: kind of acceptability classifier trained here, or a Hub id (with a slash).
        bertscore: a protocol of :mod:`tstbench.metrics.functional.bertscore`.
    """

    name: str
    classifier: str
    acceptability: str
    bertscore: str


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("embedded", classifier="linear", acceptability="probe", bertscore="embedded"),
        Profile("paper", classifier="transformer", acceptability=COLA_MODEL, bertscore="paper"),
    )
}


def parse_profile(name: str) -> Profile:
    """The profile of that name; :class:`UnknownNameError` with near misses else."""
    if name not in PROFILES:
        raise unknown_name("profile", name, PROFILES)
    return PROFILES[name]


def acceptability_corpus(dataset: str) -> str:
    """What the trained acceptability classifier of a dataset learned from.

    ``mini`` must work where nothing can be downloaded, so it has a corpus of its own.
    """
    return "mini" if dataset == "mini" else "cola"


def language_model_name(style: str) -> str:
    """The artefact name of a style's language model: 5-gram, modified Kneser-Ney."""
    return f"kn5-{style}"


class Scorers:
    """The scorers of one profile for one direction, each loaded when first asked for.

    Raises:
        MissingScorerError: from an attribute, when that scorer has not been trained or fetched;
            the message says with which command it is.
    """

    def __init__(self, profile: Profile, direction: Direction | None) -> None:
        self.profile = profile
        self.direction = direction

    @cached_property
    def classifier(self) -> StyleClassifier:
        """P(style | sentence) for the dataset's two styles."""
        return _classifier("classifier", self._direction.dataset, self.profile.classifier)

    @cached_property
    def language_model(self) -> LanguageModel:
        """The n-gram model of the target style."""
        direction = self._direction
        return _language_model(direction.dataset, language_model_name(direction.target_style))

    @cached_property
    def acceptability(self) -> AcceptabilityClassifier:
        """P(acceptable | sentence)."""
        if "/" in self.profile.acceptability:
            return _hub_acceptability(self.profile.acceptability)
        corpus = acceptability_corpus(self.direction.dataset if self.direction else "")
        return _classifier("acceptability", corpus, self.profile.acceptability)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of the profile's BERTScore protocol."""
        for module in ("torch", "transformers"):
            require(module, "embedded")
        from ..functional.bertscore import bertscore_protocol
        from .encoder import load_encoder

        protocol = bertscore_protocol(self.profile.bertscore)
        return load_encoder(protocol.encoder, layer=protocol.layer)

    @property
    def _direction(self) -> Direction:
        if self.direction is None:
            raise InputError("a direction is needed, such as 'yelp/negative-to-positive'")
        return self.direction


def _classifier(role: Role, dataset: str, name: str) -> Classifier:
    return _opened_classifier(find_or_fetch(role, dataset, name).folder)


def _language_model(dataset: str, name: str) -> NgramLanguageModel:
    return _opened_language_model(find_or_fetch("language_model", dataset, name).folder)


# An artefact is found, and its checksum verified, each time a profile asks; but it is loaded, and
# remembers what it has scored, once in the life of the process. Its folder names its content.
@lru_cache(maxsize=2)
def _hub_acceptability(model: str) -> AcceptabilityClassifier:
    require("transformers", "embedded")
    from .transformer import load_hub_classifier

    return load_hub_classifier(model, ACCEPTABILITY_STYLES)


@lru_cache(maxsize=16)
def _opened_classifier(folder: Path) -> Classifier:
    return load_classifier(folder)


@lru_cache(maxsize=16)
def _opened_language_model(folder: Path) -> NgramLanguageModel:
    artefact = open_artefact(folder)
    name = f"{artefact.card.name}:{artefact.card.dataset}"
    return NgramLanguageModel(folder, name=name, hash=artefact.hash)
