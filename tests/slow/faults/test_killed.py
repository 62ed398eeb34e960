"""A command is ended at a random moment, then run again: as if nothing had happened."""

import signal

import pytest
from hub_double import TOKEN, running

from .commands import BUILD, COMMANDS, HUB_BUILD, TRAIN, TRANSFER, Command
from .rounds import ROUNDS, describe, each, failures, kills, undisturbed

PUSH = Command("hub push", ("hub", "push", "hub"), before=(HUB_BUILD.argv,))


def tell(failed):
    if failed:  # a text, not an assertion: pytest would show it three times
        pytest.fail("\n".join(failed), pytrace=False)


@each(COMMANDS, usual=(TRAIN, TRANSFER, BUILD, HUB_BUILD))
def test_a_kill_is_as_if_nothing_had_happened(command, peace_of):
    peace = peace_of(command)
    failed = peace.litter()
    for fault in kills(peace, ROUNDS):
        peace.again()
        hit = peace.run(fault)
        failed += failures(peace, fault, hit)
    tell(failed)


@each(COMMANDS, usual=[HUB_BUILD])
def test_an_interrupt_is_one_line_and_exit_code_130_and_nothing_is_lost(command, peace_of):
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
    tell(failed)


def published(hub):
    """What is on the Hub: files, history and tags of every repository."""
    return {
        key: (repo.files, tuple(repo.messages), sorted(repo.tags.items()))
        for key, repo in hub.repos.items()
    }


def test_a_push_that_is_killed_leaves_in_the_end_what_it_would_have_left(tmp_path):
    """On a double of the Hub that the command finds by its variables, and may write to."""
    with running() as hub:
        offline = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
        online = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, **dict.fromkeys(offline, "")}
        peace = undisturbed(PUSH, tmp_path, online)
        expected = published(hub)
        assert expected
        failed = peace.litter()
        for fault in kills(peace, ROUNDS):
            peace.again()
            hub.repos.clear()
            hub.large.clear()
            hit = peace.run(fault)
            failed += failures(peace, fault, hit)
            if published(hub) != expected:
                failed.append(f"{describe(peace, fault, hit)}\n  the Hub has something else")
    tell(failed)
