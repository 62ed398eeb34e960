"""What every system offers, whether it is a baseline, a trained model or a prompted one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class System(Protocol):
    """Turns sentences of the source style into sentences of the target style."""

    def transfer(self, sources: Sequence[str]) -> list[str]:
        """One prediction a source, in order; ``''`` where the system has none."""
        ...
