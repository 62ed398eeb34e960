"""What serves a study is killed while raters answer: no confirmed answer is lost or torn."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path

from annotate_study import SYSTEMS, WAITING, answer, answer_next, make, write_reports

from tstbench.spaces.annotate import export
from tstbench.spaces.annotate.service import Service

from .rounds import ROUNDS, SEED


def answer_until_killed(study: Path, first: int, last: int, delay: float) -> None:
    """Have the answers saved; the last is on its way when the process is killed."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=answer_next, args=(study, theirs))
    process.start()
    theirs.close()
    try:
        for number in range(first, last):
            ours.send(number)
            assert ours.recv() == "saved"
        ours.send(last)
        time.sleep(delay)
    finally:
        process.kill()
        process.join()


def exported(study: Path) -> bytes:
    export(study, study.with_name("ratings.jsonl"))
    return study.with_name("ratings.jsonl").read_bytes()


def test_no_confirmed_answer_is_lost(tmp_path):
    study = tmp_path / "study"
    make(write_reports(tmp_path / "results", SYSTEMS), study)
    empty = (study / "answers.sqlite").read_bytes()
    expected = [exported(study)]  # after each answer, in peace
    service = Service(study)
    for number in range(len(WAITING)):
        answer(service, number)
        expected.append(exported(study))
    draw = random.Random(f"{SEED} answers")
    for _ in range(ROUNDS):
        (study / "answers.sqlite").write_bytes(empty)
        done = 0
        for _ in range(3):
            last = done + draw.randrange(6)
            answer_until_killed(study, done, last, draw.uniform(0, 0.006))
            # The one on its way is kept whole or not at all.
            done = expected.index(exported(study))
            assert done in (last, last + 1)
        for number in range(done, len(WAITING)):
            answer(service, number)
        assert exported(study) == expected[-1]
    files = {"answers.sqlite", "private.json", "study.json"}
    assert {path.name for path in study.iterdir()} == files
