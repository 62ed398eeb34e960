"""Baselines to compare real systems with: the source itself, and a random target sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..datasets_scripts.load import TrainingData
from ..errors import InputError
from ..files import read_text, write_json
from .card import Family
from .system import Request, System, SystemCard, SystemConfig, Task
from .training.run import IN_MEMORY, Run

SENTENCES_FILE = "sentences.json"


class Copy(System):
    """Returns the source: perfect content, no transfer."""

    KIND: ClassVar[str] = "copy"
    FAMILY: ClassVar[Family] = "rule"
    ORIGIN: ClassVar[str] = "TSTBench baseline"

    def __init__(self, card: SystemCard | None = None) -> None:
        self.card = card or self.untrained()

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:  # noqa: ARG002
        """The sources themselves."""
        return [request.source for request in batch]

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Copy:  # noqa: ARG003
        """Nothing is read except the card."""
        return cls(card)


@dataclass(frozen=True)
class RandomTarget(System):
    """A random sentence of the target style: its style, no content.

    Attributes:
        card: see :class:`~.card.SystemCard`.
        sentences: training sentences of the target style.
    """

    KIND: ClassVar[str] = "random-target"
    FAMILY: ClassVar[Family] = "rule"
    ORIGIN: ClassVar[str] = "TSTBench baseline"
    Config: ClassVar[type[SystemConfig]] = SystemConfig

    card: SystemCard
    sentences: tuple[str, ...]

    @classmethod
    def train(
        cls,
        data: TrainingData,
        config: SystemConfig,
        run: Run = IN_MEMORY,  # noqa: ARG003 - it takes seconds
    ) -> RandomTarget:
        """Store the sentences of the target style."""
        if not data.train.target:
            raise InputError("random-target needs sentences of the target style, got none")
        return cls(cls.planned(data, config), data.train.target)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """A random training sentence per source, drawn with replacement from seed and id."""
        return [task.random(request).choice(self.sentences) for request in batch]

    def write(self, folder: Path) -> None:
        """Write the sentences as JSON."""
        write_json(folder / SENTENCES_FILE, self.sentences)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> RandomTarget:  # noqa: ARG003
        """Read the sentences."""
        return cls(card, tuple(json.loads(read_text(folder / SENTENCES_FILE))))
