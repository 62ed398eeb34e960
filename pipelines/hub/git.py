"""Running git, independent of the user's own settings and hooks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ...errors import MissingExtraError, TSTBenchError


class GitError(TSTBenchError):
    """A git command failed, for instance because of a broken repository or a full disk."""


def git(git_dir: Path, *arguments: str, feed: bytes | None = None) -> bytes:
    """Run a git command on the repository of a ``.git`` folder and return its output.

    The user's configuration is ignored, so that signing, hooks, line endings or templates on
    one machine do not change what is stored.

    Raises:
        MissingExtraError: git is not installed.
        GitError: git failed; its own message is included.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    command = ["git", f"--git-dir={git_dir}", *arguments]
    try:
        done = subprocess.run(command, input=feed or b"", capture_output=True, env=environment)
    except FileNotFoundError as error:
        raise MissingExtraError(
            "git is not installed: the hub folder is made of git repositories. "
            "Install it, for instance with: apt-get install git"
        ) from error
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git {arguments[0]} failed in {git_dir}: {words}")
    return done.stdout
