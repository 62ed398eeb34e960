"""Ctrl-C at a random moment: one line, exit code 130, and the same command again completes it."""

import signal

import pytest

from .commands import COMMANDS, HUB_BUILD
from .rounds import ROUNDS, describe, each, failures, kills


@each(COMMANDS, usual=[HUB_BUILD])
def test_an_interrupt_is_one_line_and_nothing_is_lost(command, peace_of):
    peace = peace_of(command)
    failed = peace.litter()
    # By event only: before the first lines of the command line, Python itself speaks.
    for fault in kills(peace, max(2, ROUNDS // 2), signal.SIGINT)[::2]:
        peace.again()
        hit = peace.run(fault)
        where = describe(peace, fault, hit)
        if hit.code not in (0, 130):  # 0: there was nothing left to interrupt
            failed.append(f"{where}\n  exit {hit.code}: {hit.err[-300:]}")
        if "Traceback" in hit.err or hit.err.count("tstbench: ") != (hit.code == 130):
            failed.append(f"{where}\n  says: {hit.err[-600:]}")
        failed += [f"{where}\n  before the restart: {line}" for line in peace.scraps()]
        failed += failures(peace, fault, hit)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
