"""What the trainers of all kinds of classifier have in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue

from ...metrics.scorers.portable import portable
from ...settings import setting


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """Settings of a trainer; each kind adds its own.

    Attributes:
        measured_on: how many held-out sentences the accuracy is measured on, at most.
    """

    measured_on: ClassVar[int | None] = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = setting(0, "of everything random")

    def settings(self) -> dict[str, JsonValue]:
        """Everything that can change the trained weights, for the card and the recipe.

        A local model is named by its content and by what it learned from, never by its path.
        """
        settings = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        return portable(settings, ("base", "encoder"))
