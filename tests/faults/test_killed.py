"""kill -9 at a random moment, then the same command again: as if nothing had happened."""

import pytest

from .commands import COMMANDS
from .rounds import ROUNDS, failures, kills, undisturbed


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_same_command_again_ends_as_if_nothing_had_happened(command, tmp_path):
    peace = undisturbed(command, tmp_path)
    failed = peace.litter()
    for fault in kills(peace, ROUNDS):
        peace.again()
        hit = peace.run(fault)
        failed += failures(peace, fault, hit)
    if failed:  # a text, not an assertion: pytest would show it three times
        pytest.fail("\n".join(failed), pytrace=False)
