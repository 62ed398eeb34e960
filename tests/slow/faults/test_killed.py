"""kill -9 at a random moment, then the same command again: as if nothing had happened."""

import pytest

from .commands import BUILD, COMMANDS, HUB_BUILD, TRAIN, TRANSFER
from .rounds import ROUNDS, each, failures, kills


@each(COMMANDS, usual=(TRAIN, TRANSFER, BUILD, HUB_BUILD))
def test_the_same_command_again_ends_as_if_nothing_had_happened(command, peace_of):
    peace = peace_of(command)
    failed = peace.litter()
    for fault in kills(peace, ROUNDS):
        peace.again()
        hit = peace.run(fault)
        failed += failures(peace, fault, hit)
    if failed:  # a text, not an assertion: pytest would show it three times
        pytest.fail("\n".join(failed), pytrace=False)
