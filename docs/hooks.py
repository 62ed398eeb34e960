"""Shows the reference the package: the repository's root is ``tstbench``, whatever its folder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("chat", "datasets_scripts", "metrics", "trainers", "pipelines", "spaces", "commands")

_scratch = tempfile.TemporaryDirectory(prefix="tstbench-docs-")


@event_priority(100)  # before mkdocstrings reads where to look
def on_config(config: Any) -> Any:
    """Link the rooms, and nothing else that lies in the root, into a folder of that name."""
    package = Path(_scratch.name) / "tstbench"
    if not package.exists():
        package.mkdir()
        for name in (*ROOMS, *(file.name for file in ROOT.glob("*.py") if file.stem != "setup")):
            (package / name).symlink_to(ROOT / name)
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_scratch.name]
    return config


def on_shutdown() -> None:
    """Remove the links."""
    _scratch.cleanup()
