"""Trainers of the style classifiers that metrics score with: one module per kind."""

from .train import default_config, train_classifier, trainer

__all__ = ["default_config", "train_classifier", "trainer"]
