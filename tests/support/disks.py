"""Disks of a test's own: with little room, or that nobody may write to; no long files."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _mount(*arguments: str) -> bool:
    if not shutil.which("mount"):
        return False
    return subprocess.run(("mount", *arguments), capture_output=True).returncode == 0


@contextmanager
def small_disk(where: Path) -> Iterator[None]:
    """A disk in memory at ``where``; the test is skipped where mounting is not allowed."""
    where.mkdir(parents=True, exist_ok=True)
    if not _mount("-t", "tmpfs", "-o", "size=1g", "tmpfs", str(where)):
        pytest.skip("no file system can be mounted here: that takes root")
    try:
        yield
    finally:
        subprocess.run(("umount", "-l", str(where)), check=True)


@contextmanager
def short_files(size: int) -> Iterator[None]:
    """No file may grow beyond these bytes, of root neither: it stands for a full disk."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def resize(where: Path, size: int) -> None:
    """Give the disk this many bytes."""
    assert _mount("-o", f"remount,rw,size={size}", str(where))


def close_for_writing(where: Path) -> None:
    """Nobody, not even root, writes there until :func:`resize` is called."""
    assert _mount("-o", "remount,ro", str(where))
