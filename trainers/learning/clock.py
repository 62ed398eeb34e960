"""How long a training took, and where: for its card's ``made``, which is part of no hash."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from .run import Run


@dataclass(frozen=True)
class Clock:
    """Started before a training, asked after it.

    Attributes:
        began: on the monotonic clock, in seconds.
        whole: whether the training began from nothing; the time of one that was continued is
            not known.
        run: where it takes place.
    """

    began: float
    whole: bool
    run: Run

    @classmethod
    def start(cls, folder: Path, run: Run) -> Clock:
        """Start; ``folder`` may have checkpoints of the training's earlier part."""
        # As save_checkpoint names them, and transformers.
        checkpoints = [*folder.rglob("step-*"), *folder.rglob("checkpoint-*")]  # phases' too
        continued = run.resume != "no" and bool(checkpoints)
        return cls(time.monotonic(), not continued, run)

    def made(self) -> dict[str, JsonValue]:
        """``seconds`` (if it ran in one go), ``device``, ``threads`` and ``processes``."""
        import torch  # what has a learning curve has imported it

        found: dict[str, JsonValue] = {}
        if self.whole:
            found["seconds"] = round(time.monotonic() - self.began, 1)
        if self.run.device != "cpu" and torch.cuda.is_available():
            found["device"] = torch.cuda.get_device_name()
        else:
            found["device"] = f"cpu, {platform.machine()}"
            found["threads"] = torch.get_num_threads()
        found["processes"] = int(os.environ.get("WORLD_SIZE", "1"))
        return found
