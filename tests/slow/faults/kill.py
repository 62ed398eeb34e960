"""How a command is started in a place of its own, and how it is brought to its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CHILD = Path(__file__).with_name("child")
LIMIT = 240  # seconds; an undisturbed command takes a few
# What would lead a command out of its place, or another way than a user's.
_NOT_INHERITED = ("XDG_CACHE_HOME", "HF_HOME", "TSTBENCH_DATA", "COLUMNS", "HF_TOKEN")


@dataclass(frozen=True)
class Place:
    """All that a command may write to: every run has its own, always under the same path.

    Attributes:
        root: contains ``work`` (the current folder), ``home`` (``$TSTBENCH_HOME``), ``user``
            (``$HOME``) and ``tmp`` (``$TMPDIR``).
    """

    root: Path

    @property
    def work(self) -> Path:
        """The current folder of the command."""
        return self.root / "work"

    @property
    def log(self) -> Path:
        """Where a process notes its events: outside the place."""
        return self.root.with_name(f"{self.root.name}-events.txt")

    def clear(self, template: Path | None = None) -> None:
        """Make it new: empty, or a copy of a template."""
        if self.root.exists():
            for child in self.root.iterdir():  # the root itself may be a mounted disk
                shutil.rmtree(child)
        if template is not None:
            shutil.copytree(template, self.root, dirs_exist_ok=True, symlinks=True)
        for name in ("work", "home", "user", "tmp"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command in this place."""
        inherited = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
        path = os.pathsep.join(filter(None, (str(CHILD), os.environ.get("PYTHONPATH", ""))))
        return {
            **inherited,
            "HOME": str(self.root / "user"),
            "TSTBENCH_HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",  # sums in one order: the same bytes
            **more,
        }


@dataclass(frozen=True)
class Fault:
    """What happens to a process; see ``child/sitecustomize.py``.

    Attributes:
        at: the number of the event that brings it; 0 for none.
        after: seconds after which its whole group gets the signal; None for never.
        sign: the signal.
        lose: the part of unsynced bytes that is lost, 0 to 1.
        clock: ``NUMBER:SECONDS``.
        file_size: the largest size of a file, in bytes.
    """

    at: int = 0
    after: float | None = None
    sign: int = signal.SIGKILL
    lose: float = 0.0
    clock: str = ""
    file_size: int | None = None

    def variables(self, log: Path) -> dict[str, str]:
        """The environment variables that ask for it."""
        asked = {"FAULT_LOG": str(log), "FAULT_AT": str(self.at), "FAULT_LOSE": str(self.lose)}
        asked |= {"FAULT_SIGNAL": str(int(self.sign)), "FAULT_CLOCK": self.clock}
        return asked | ({"FAULT_FILE_SIZE": str(self.file_size)} if self.file_size else {})


NOTHING = Fault()


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        code: its exit status; negative for a signal.
        out: standard output.
        err: standard error.
        events: what it was about to do, one line each.
        seconds: how long it took.
    """

    code: int
    out: str
    err: str
    events: tuple[str, ...]
    seconds: float

    @property
    def last(self) -> str:
        """The event it did not survive."""
        return self.events[-1] if self.events else "nothing"


def run(
    argv: tuple[str, ...],
    place: Place,
    fault: Fault = NOTHING,
    more: Mapping[str, str] | None = None,
) -> Ended:
    """Run ``tstbench`` in a process group of its own, to its end, however that comes.

    What it started ends with it, and it is killed after ``LIMIT`` seconds.
    """
    began = time.monotonic()
    place.log.unlink(missing_ok=True)
    process = subprocess.Popen(
        (sys.executable, "-m", "tstbench", *argv),
        cwd=place.work,
        env=place.environment(more or {}) | fault.variables(place.log),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LIMIT if fault.after is None else fault.after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL if fault.after is None else fault.sign)
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f"\n(the harness: did not end in {LIMIT} seconds)"
    seconds = time.monotonic() - began
    with suppress(ProcessLookupError):  # what a killed process had started dies with its terminal
        os.killpg(process.pid, signal.SIGKILL)
    lines = place.log.read_text("utf-8").splitlines() if place.log.exists() else []
    return Ended(process.returncode, out, err, tuple(lines), seconds)
