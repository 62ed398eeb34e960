"""Published classifiers: the meaning of unclear labels, and how a classifier is described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .weights import MODEL_FILES, TOKENIZER_FILES, fetch, signature_name, weights_digest


@dataclass(frozen=True)
class HubClassifier:
    """A published classifier whose labels do not say what they mean.

    Attributes:
        model: its Hub id.
        revision: commit; a branch name cannot be reproduced.
        labels: style -> the model's own label.
        source: where the meaning of the labels is documented.
    """

    model: str
    revision: str
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


HUB_CLASSIFIERS: dict[str, HubClassifier] = {
    known.model: known
    for known in (
        # The other way round than the CoLA corpus, where 1 is acceptable.
        HubClassifier(
            "cointegrated/roberta-large-cola-krishna2020",
            revision="efffc0dbebedfdb84747a32b30ec0c3df15812b1",
            labels={"unacceptable": "LABEL_1", "acceptable": "LABEL_0"},
            source="the benchmark's own evaluator counts LABEL_0 as fluent: "
            "FayeXXX/A-Benchmark-of-Text-Style-Transfer at 74ef060, "
            "Evaluation/fluency/evaluator_cola.py; public evaluation code for text "
            "detoxification, the model's first use, reads column 0 of its softmax as well",
        ),
    )
}


def classifier_folder(model: str | Path, revision: str | None = None) -> Path:
    """The local folder of a published classifier; known models are pinned to a commit.

    Raises:
        MissingScorerError: the weights are not in the Hub's cache and cannot be downloaded.
    """
    known = HUB_CLASSIFIERS.get(str(model))
    return fetch(model, revision or (known.revision if known else None))


def describe_hub_classifier(model: str | Path, revision: str | None = None) -> tuple[str, str]:
    """Name and hash (SHA-256 hex of its files) of a published classifier; nothing is loaded.

    Raises:
        MissingScorerError: see :func:`classifier_folder`.
    """
    folder = classifier_folder(model, revision)
    name = signature_name(Path(model).name if Path(model).is_dir() else str(model))
    return name, weights_digest(folder, (*MODEL_FILES, *TOKENIZER_FILES))
