"""kill -9 at a random moment, then the same command again: as if nothing had happened."""

import pytest

from .commands import COMMANDS
from .rounds import ROUNDS, describe, kills, undisturbed


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_same_command_again_ends_as_if_nothing_had_happened(command, tmp_path):
    peace = undisturbed(command, tmp_path)
    failures = []
    for fault in kills(peace, ROUNDS):
        peace.again()
        hit = peace.run(fault)
        again = peace.run()
        where = describe(peace, fault, hit)
        if again.code:
            failures.append(f"{where}\n  the restart: exit {again.code}: {again.err.strip()}")
        failures += [f"{where}\n  {line}" for line in peace.differences()]
    assert not failures, "\n".join(failures)
