"""``hub push`` is killed: the same command again, and the Hub has what it would have had."""

import pytest
from hub_double import running

from .pushing import PUSH, forget, online, published
from .rounds import ROUNDS, describe, failures, kills, undisturbed


def test_the_hub_has_in_the_end_what_it_would_have_had(tmp_path):
    with running() as hub:
        peace = undisturbed(PUSH, tmp_path, online(hub))
        expected = published(hub)
        assert expected
        failed = peace.litter()
        for fault in kills(peace, ROUNDS):
            peace.again()
            forget(hub)
            hit = peace.run(fault)
            failed += failures(peace, fault, hit)
            if published(hub) != expected:
                failed.append(f"{describe(peace, fault, hit)}\n  the Hub has something else")
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
