"""What the trainers of all kinds of classifier have in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pydantic import JsonValue


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """Settings of a trainer; each kind adds its own."""

    seed: int = 0

    def settings(self) -> dict[str, JsonValue]:
        """Everything that can change the trained weights, for the card and the recipe."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
