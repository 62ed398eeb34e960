"""Folders of systems trained on mini within seconds, once for all tests of a process."""

import os
from pathlib import Path
from unittest.mock import patch

from prepared import DIRECTION

from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.system import SYSTEM_STORE
from tstbench.trainers.train import system_config, train_system
from tstbench.trainers.training.run import Run

_made: dict[str, Path] = {}


def trained_tiny(factory, name="stytrans", preset="tiny") -> Path:
    """What ``tstbench train NAME --preset tiny --out FOLDER`` writes; a test leaves it as it is."""
    if name not in _made:
        home = factory.mktemp("trained")
        with patch.dict(os.environ, TSTBENCH_HOME=str(home / "home")):
            data = load_training(DIRECTION)
            config = system_config(name, data.direction, preset=preset)
            stored = train_system(name, data, config, run=Run(device="cpu"))
            _made[name] = SYSTEM_STORE.export_stored(stored, home / name).folder
    return _made[name]
