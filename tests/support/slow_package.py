"""A package of somebody else's with a system in it, found through its entry point.

``shouting`` answers in capitals, one sentence at a time, notes in ``$SHOUTING_LOG`` which sentence
it was asked for, and at number ``$SHOUTING_DIES_AT`` its process is killed, as ``kill -9`` does.
"""

from pathlib import Path

MODULE = """
import os
import signal
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from tstbench.trainers.system import System


@dataclass(frozen=True, kw_only=True)
class Settings:
    marks: Annotated[int, Field(ge=0, le=9)] = field(default=0, metadata={"help": "at the end"})


class Shouting(System):
    KIND = "shouting"
    FAMILY = "rule"
    ORIGIN = "a test"
    BATCH_SIZE = 1
    Settings = Settings

    def __init__(self, card=None):
        self.card = card or self.untrained()

    def rewrite(self, batch, task):
        log = os.environ.get("SHOUTING_LOG")
        for request in batch if log else ():
            with open(log, "a+") as stream:
                stream.seek(0)
                if str(len(stream.readlines())) == os.environ.get("SHOUTING_DIES_AT"):
                    os.kill(os.getpid(), signal.SIGKILL)
                stream.write(request.id + "\\n")
        marks = "!" * task.settings.marks
        return [request.source.upper() + marks for request in batch]

    @classmethod
    def read(cls, folder, card, device):
        return cls(card)
"""


def install(folder: Path) -> Path:
    """Write the package as pip would have installed it; the folder goes on ``PYTHONPATH``."""
    information = folder / "shouting-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[tstbench.systems]\nshouting = shouting_system:Shouting\n"
    )
    (folder / "shouting_system.py").write_text(MODULE)
    return folder
