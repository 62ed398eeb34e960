"""A command left in peace, once for all tests of a worker that disturb it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .commands import Command
from .rounds import Undisturbed, undisturbed


@pytest.fixture(scope="session")
def peace_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Command], Undisturbed]:
    """The undisturbed run of a command; its place is laid out again."""
    known: dict[Command, Undisturbed] = {}

    def peace(command: Command) -> Undisturbed:
        if command not in known:
            known[command] = undisturbed(command, tmp_path_factory.mktemp("place"))
        known[command].again()
        return known[command]

    return peace
