"""Every role's scorer, small: what it takes to plan and to measure every metric there is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from local_chat import make_chat_model
from prepared import prepared_home
from tiny_models import make_bert, make_bleurt
from transformers import BertConfig, BertForSequenceClassification
from trap_sentences import TEXTS, column, references

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.metrics.base import Cohort
from tstbench.metrics.inputs import Inputs, check_inputs
from tstbench.metrics.scorers.device import HERE, Placement
from tstbench.metrics.scorers.profile import PROFILES, Scorers

MINI = parse_direction("mini/negative-to-positive")


@dataclass(frozen=True)
class World:
    """A home with trained scorers, and ``ROLE=SCORER`` texts of those that are not trained."""

    home: Path
    chosen: tuple[str, ...]

    def scorers(self, *more: str, placement: Placement = HERE) -> Scorers:
        """All of them; ``more`` replaces some."""
        profile = PROFILES["embedded"].with_scorers([*self.chosen, *more])
        return Scorers(profile, MINI, placement)


def make_world(factory: pytest.TempPathFactory) -> World:
    """Mini's scorers and its lexicon, a tiny chat model, word vectors, a tiny style classifier."""
    folder, home = factory.mktemp("world"), prepared_home(factory)
    make_chat_model(folder / "llm", [text.raw for _, text in TEXTS])
    forms = [form.lower().split() for _, t in TEXTS for form in (t.raw, t.clean)]
    words = sorted({word.strip(".,!?") or word for form in forms for word in form})
    vectors = np.random.RandomState(0).randn(len(words), 8).round(4).tolist()
    lines = [f"{w} {' '.join(map(str, v))}" for w, v in zip(words, vectors, strict=True)]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    styled = make_bert(folder / "styled")
    config = BertConfig.from_pretrained(styled, id2label={0: "negative", 1: "positive"})
    torch.manual_seed(1)
    BertForSequenceClassification(config).save_pretrained(styled)
    chosen = (
        f"causal_lm={folder / 'llm'}",
        f"word_vectors={folder / 'vectors.txt'}",
        f"masked_vectors={folder / 'vectors.txt'}",
        f"attribution={styled}",
        f"encoder={make_bert(folder / 'bert')}@2",
        f"bleurt={make_bleurt(folder / 'bleurt')}",
        "judge=m@http://127.0.0.1:9/v1",
    )
    return World(home, chosen)


def given() -> Inputs:
    """Predictions, sources and references with every trap."""
    return check_inputs(column("prediction"), column("source"), references(), MINI)


def cohort(inputs: Inputs) -> Cohort:
    """The predictions, and a system that anybody can tell from a person."""
    other = tuple(f"{text}-zorp" for text in column("source"))
    return Cohort.of({"mine": inputs.predictions, "other": other})
