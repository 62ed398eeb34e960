"""The models that all sides of ``bench_evaluation.py`` load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from job import Job
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from tstbench.datasets_scripts.load import load_styles
from tstbench.metrics.scorers.artefacts import Artefact, ScorerCard, store
from tstbench.metrics.scorers.classifiers import ACCEPTABILITY_STYLES
from tstbench.metrics.scorers.encoder import load_encoder
from tstbench.metrics.scorers.find import split_layer
from tstbench.metrics.scorers.language_model import MODEL_FILE
from tstbench.metrics.scorers.prepare import train_style_language_model
from tstbench.metrics.scorers.profile import PROFILES, Profile
from tstbench.store import data_fingerprint

EMBEDDED = PROFILES["embedded"]
ENCODER, LAYER = split_layer(EMBEDDED.scorers["encoder"])
SCORERS = {**EMBEDDED.scorers}  # make_models puts its two classifiers in
PROFILE = Profile("benchmark", SCORERS)


@dataclass(frozen=True)
class Models:
    """Where they lie: three folders and an ARPA file."""

    encoder: Path
    classifier: Path
    acceptability: Path
    language_model: Path


def make_models(job: Job) -> Models:
    """Put the scorers of the benchmark's profile where ``evaluate`` finds them."""
    direction = job.test_set.direction
    encoder = load_encoder(ENCODER, LAYER).folder
    data = load_styles(direction.dataset, cleaning="raw")  # as PPL's protocol has it
    language_model = train_style_language_model(data, direction.target_style)
    classifier = store_random_head(encoder, "classifier", direction.dataset, data.styles, seed=0)
    acceptability = store_random_head(
        encoder, "acceptability", "cola", ACCEPTABILITY_STYLES, seed=1
    )
    SCORERS["classifier"] = str(classifier.folder)
    SCORERS["acceptability"] = str(acceptability.folder)
    return Models(
        encoder, classifier.folder, acceptability.folder, language_model.folder / MODEL_FILE
    )


def store_random_head(
    encoder: Path, role: str, dataset: str, styles: tuple[str, ...], seed: int
) -> Artefact:
    """A sequence classifier with the encoder's weights and a random head."""
    torch.manual_seed(seed)
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder, id2label=dict(enumerate(styles)), label2id={s: i for i, s in enumerate(styles)}
    )
    with torch.no_grad():
        model.classifier.weight.mul_(50)  # so that sentences do not all fall on the boundary

    def write(folder: Path) -> None:
        model.save_pretrained(folder)
        AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)

    card = ScorerCard(
        role=role,
        dataset=dataset,
        name="transformer",
        kind="transformer",
        styles=styles,
        trained_on="nothing: a random head",
        data_fingerprint=data_fingerprint([]),
        n_sentences=0,
        settings={"seed": seed},
    )
    return store(card, write)
