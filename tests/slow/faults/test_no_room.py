"""A full disk, a limit on files, a disk that nobody may write to: told in words, then completed."""

import random
import re

import pytest
from disks import close_for_writing, resize, small_disk

from .commands import BUILD, HUB_BUILD, PREPARE, RUN, TRANSFER
from .kill import Ended, Fault, Place, run
from .rounds import ROUNDS, SEED, each, failures, undisturbed

CHEAP = (RUN, TRANSFER, BUILD, HUB_BUILD)
ROOM = 1 << 30
TIMES = max(1, ROUNDS // 4)


def complaint(hit: Ended, place: str, *words: str) -> list[str]:
    """What is wrong with how a command told that it could not write."""
    wrong = []
    if hit.code not in (0, 2):  # 0: what had no room can be made again, and was left out
        wrong.append(f"exit {hit.code}")
    if "Traceback" in hit.err:
        wrong.append("a traceback")
    if hit.code == 2 and not any(word in hit.err for word in words):
        wrong.append(f"says none of {words}")
    if hit.code == 2 and place not in hit.err and not re.search(r"tstbench: [^\s:\[]+: ", hit.err):
        wrong.append("no path")
    return [f"{', '.join(wrong)}: {hit.err[-900:]}"] if wrong else []


@each(CHEAP, usual=[BUILD])
def test_a_disk_that_is_full_or_nobodys_is_told_and_the_work_completed_later(command, tmp_path):
    with small_disk(tmp_path / "place"):
        peace = undisturbed(command, tmp_path)
        size = sum(p.lstat().st_blocks * 512 for p in peace.place.root.rglob("*"))
        draw = random.Random(f"{SEED} {command.name}")
        failed = []
        for _ in range(TIMES):
            peace.again()
            at = draw.randint(64_000, max(80_000, size))
            resize(peace.place.root, at)
            hit = peace.run()
            resize(peace.place.root, ROOM)
            words = complaint(hit, str(tmp_path), "No space left")
            failed += [f"{command.name}, {at} bytes: {one}" for one in words]
            failed += failures(peace, Fault(after=0), hit)
        peace.again()
        close_for_writing(peace.place.root)
        hit = peace.run()
        resize(peace.place.root, ROOM)
        failed += complaint(hit, str(tmp_path), "Read-only", "may not write", "cannot be made")
        if hit.code != 2:
            failed.append(f"exit {hit.code}, though nothing can be written")
        failed += failures(peace, Fault(after=0), hit)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)


@each([PREPARE], usual=[])
def test_scorers_without_room_end_without_a_traceback(command, tmp_path):
    """The library that writes their weights has an error of its own, which is no OSError."""
    place = Place(tmp_path / "place")
    place.clear()
    hit = run(command.argv, place, Fault(file_size=3000))
    assert hit.code == 2, hit.err
    assert "Traceback" not in hit.err
    assert "File too large" in hit.err


@each(CHEAP, usual=[BUILD])
def test_a_limit_on_the_size_of_files_is_told(command, peace_of):
    peace = peace_of(command)
    failed = []
    draw = random.Random(f"{SEED} {command.name} limit")
    for _ in range(TIMES):
        peace.again()
        fault = Fault(file_size=draw.randint(200, 9000), after=60)
        hit = peace.run(fault)
        failed += [
            f"{command.name}, files of {fault.file_size} bytes: {one}"
            for one in complaint(
                hit, str(peace.place.root), "too large", "No space left", "larger than"
            )
        ]
        failed += failures(peace, fault, hit)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
