"""What the trainers of all kinds of classifier have in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pydantic import JsonValue

from ...metrics.scorers.portable import portable


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """Settings of a trainer; each kind adds its own."""

    seed: int = 0

    def settings(self) -> dict[str, JsonValue]:
        """Everything that can change the trained weights, for the card and the recipe.

        A local model is named by its content and by what it learned from, never by its path.
        """
        settings = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        return portable(settings, ("base", "encoder"))
