"""Folders of systems trained on mini within seconds, once for all tests."""

import os
from pathlib import Path
from unittest.mock import patch

from once import once
from prepared import DIRECTION

from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.system import SYSTEM_STORE
from tstbench.trainers.train import system_config, train_system
from tstbench.trainers.training.run import Run


def trained_tiny(factory, name="stytrans", preset="tiny") -> Path:
    """What ``tstbench train NAME --preset tiny --out FOLDER`` writes; a test leaves it as it is."""

    def train(place: Path) -> None:
        with patch.dict(os.environ, TSTBENCH_HOME=str(place / "home")):
            data = load_training(DIRECTION)
            config = system_config(name, data.direction, preset=preset)
            stored = train_system(name, data, config, run=Run(device="cpu"))
            SYSTEM_STORE.export_stored(stored, place / name)

    return once(factory, f"trained-{name}", train) / name
