"""The classification head that fine-tuning puts on a pretrained model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...metrics.scorers.weights import read_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def with_new_head(folder: Path, styles: Sequence[str]) -> PreTrainedModel:
    """The model of a folder in float32, with an untrained head for these styles, in their order."""
    import torch

    return read_model(
        folder,
        "AutoModelForSequenceClassification",
        new_head=True,
        settings={
            "num_labels": len(styles),
            "id2label": dict(enumerate(styles)),
            "label2id": {style: i for i, style in enumerate(styles)},
        },
        dtype=torch.float32,
    )
