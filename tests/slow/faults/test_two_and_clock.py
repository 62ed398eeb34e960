"""Two processes on one folder, and a clock that jumps: the result is that of one in peace."""

import os
import threading

import pytest

from .commands import BUILD, COMMANDS, HUB_BUILD, RUN, TRANSFER
from .kill import Ended, Fault
from .rounds import each, failures

DAY, YEAR = 86_400, 365 * 86_400


@each(COMMANDS, usual=[HUB_BUILD])
def test_two_at_once_end_well_or_one_says_why(command, peace_of):
    peace = peace_of(command)
    ended: list[Ended] = []
    both = [threading.Thread(target=lambda: ended.append(peace.run())) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted(one.code for one in ended) in ([0, 0], [0, 2]), [one.err for one in ended]
    for one in ended:
        if one.code:
            assert "Traceback" not in one.err
            assert one.err.count("tstbench: ") == 1, one.err
    if failed := failures(peace, Fault(after=0), ended[0]):
        pytest.fail("\n".join(failed), pytrace=False)


@each((RUN, TRANSFER, BUILD, HUB_BUILD), usual=[TRANSFER])
@pytest.mark.parametrize("seconds", [-DAY, YEAR])
def test_a_clock_that_jumps_changes_nothing(command, seconds, peace_of):
    """In the middle of a run; then files from another time are found by the next run."""
    peace = peace_of(command)
    fault = Fault(clock=f"20:{seconds}", after=120)
    hit = peace.run(fault)
    assert hit.code == 0, hit.err
    for path in peace.place.root.rglob("*"):
        facts = path.lstat()
        os.utime(path, (facts.st_atime + seconds, facts.st_mtime + seconds), follow_symlinks=False)
    if failed := failures(peace, fault, hit):
        pytest.fail("\n".join(failed), pytrace=False)
