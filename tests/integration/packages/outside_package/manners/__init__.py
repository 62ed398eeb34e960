"""A package of somebody else's: one metric, one scorer, one system, one dataset."""

from pathlib import Path

DATA = Path(__file__).parent / "manners.toml"
