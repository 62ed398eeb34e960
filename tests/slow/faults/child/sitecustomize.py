"""Faults inside a process that is started with this folder first on its ``PYTHONPATH``.

Python imports this module before anything else. It counts the process's *events*, the moments just
before it changes a file or starts a program, and brings the fault at the one that was asked for. It
is set by environment variables, which it removes: processes that this one starts are not counted.

- ``FAULT_LOG``: a file that gets one line an event.
- ``FAULT_AT``: the number of the event, from 1, before which the fault comes; 0 for none.
- ``FAULT_SIGNAL``: the signal's number. SIGKILL goes to this process alone, as from a system
  without memory; any other to its whole group, as a terminal sends it.
- ``FAULT_LOSE``: from 0 to 1, how much of what was written to a file but not yet synced is lost if
  the fault comes at a sync: a machine without power forgets it.
- ``FAULT_CLOCK``: ``NUMBER:SECONDS``: from that call on, ``time.time`` and ``time.time_ns`` are
  that much later (or earlier). The times that the kernel writes into files are not shifted, nor is
  ``datetime``, which is written in C.
- ``FAULT_FILE_SIZE``: the largest size of a file in bytes; writing more fails.

Not seen are files that libraries in C++ or Rust write themselves; kills by time meet them.
"""

import contextlib
import os
import signal
import sys
import time

_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod"}
_CHANGES |= {"os.truncate", "subprocess.Popen"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Faults:
    def __init__(self, log: str) -> None:
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.at = int(os.environ.pop("FAULT_AT", "0"))
        self.signal = int(os.environ.pop("FAULT_SIGNAL", str(int(signal.SIGKILL))))
        self.lose = float(os.environ.pop("FAULT_LOSE", "0"))
        self.synced: dict[int, int] = {}
        self.count = 0

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not isinstance(flags, int) or not flags & _WRITING:
                return
            if isinstance(path, int) or str(path).startswith("/dev/"):
                return
        elif event not in _CHANGES:
            return
        self.happen(f"{event} {arguments[0]!r}")

    def happen(self, what: str, stream: int | None = None) -> None:
        self.count += 1
        with contextlib.suppress(OSError):  # the limit on files is one on the log too
            os.write(self.log, what.replace("\n", " ").encode("utf-8", "replace") + b"\n")
        if self.count != self.at:
            return
        if self.signal != signal.SIGKILL:
            os.killpg(0, self.signal)
            return
        if stream is not None and self.lose:
            facts = os.fstat(stream)
            kept = self.synced.get(facts.st_ino, 0)
            os.ftruncate(stream, kept + int((facts.st_size - kept) * (1 - self.lose)))
        os.kill(os.getpid(), signal.SIGKILL)

    def watch_syncs(self) -> None:
        real = os.fsync

        def fsync(file: object) -> None:
            number = file if isinstance(file, int) else file.fileno()  # type: ignore[attr-defined]
            facts = os.fstat(number)
            regular = os.path.isfile(f"/proc/self/fd/{number}")  # noqa: PTH113
            self.happen(f"os.fsync {number}", number if regular else None)
            real(number)
            self.synced[facts.st_ino] = facts.st_size

        os.fsync = fsync


def _shift_clock(setting: str) -> None:
    number, _, seconds = setting.partition(":")
    real, real_ns, calls = time.time, time.time_ns, 0

    def shift() -> float:
        nonlocal calls
        calls += 1
        return float(seconds) if calls >= int(number) else 0.0

    time.time = lambda: real() + shift()
    time.time_ns = lambda: real_ns() + int(shift()) * 1_000_000_000


if _log := os.environ.pop("FAULT_LOG", ""):
    _faults = _Faults(_log)
    _faults.watch_syncs()
    sys.addaudithook(_faults.hook)
if _clock := os.environ.pop("FAULT_CLOCK", ""):
    _shift_clock(_clock)
if _size := os.environ.pop("FAULT_FILE_SIZE", ""):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(_size), int(_size)))
