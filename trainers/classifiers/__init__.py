"""Trainers of the style classifiers that metrics score with."""

from .train import TRAINERS, default_config, train_classifier

__all__ = ["TRAINERS", "default_config", "train_classifier"]
