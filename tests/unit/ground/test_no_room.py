"""A disk that is full names the file that it could not take; a limit on files stands for it."""

from pathlib import Path

import pytest
from disks import short_files

from tstbench.chat.answers import Answers, Reply
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import naming
from tstbench.files import write_bytes
from tstbench.pipelines.predictions import Answering, Predictions, Question
from tstbench.pipelines.report import SystemInfo
from tstbench.trainers.training.curve import Curve

MOST = 4000  # bytes of a file
DIRECTION = "mini/negative-to-positive"


def refused(path, write):
    with pytest.raises(OSError, match="File too large") as raised, short_files(MOST):
        write()
    assert raised.value.filename == str(path)


def test_a_file_that_is_written_at_once(tmp_path):
    refused(tmp_path / "a", lambda: write_bytes(tmp_path / "a", b"x" * (MOST + 1)))
    assert list(tmp_path.iterdir()) == []


def test_answers_that_were_paid_for():
    kept = Answers("http://127.0.0.1:8/v1", "m")
    refused(kept.path, lambda: kept.put("a", Reply("x" * MOST)))
    kept.put("b", Reply("short"))
    fresh = Answers("http://127.0.0.1:8/v1", "m")
    assert (fresh.get("a"), fresh.get("b")) == (None, Reply("short"))


def test_a_learning_curve(tmp_path):
    curve = Curve(tmp_path)

    def learn():
        for step in range(MOST):
            curve.add({"step": step, "loss": 0.5})

    refused(tmp_path / "curve.jsonl", learn)


def test_predictions_and_the_work_goes_on_when_there_is_room(tmp_path):
    test_set, asked = load_test_set(DIRECTION), []

    def answers(rest):
        for i in rest:
            asked.append(i)
            yield f"{i} {'x' * 300}"

    question = Question(
        system="s",
        identity="0" * 64,
        direction=DIRECTION,
        test_set="1" * 64,
        cleaning="v1",
        sentences=len(test_set),
    )
    ready = Answering("0" * 64, SystemInfo(name="s", family="rule"), {}, answers)
    made = Predictions(tmp_path / "s.jsonl", test_set, question)
    refused(made.path, lambda: made.complete(lambda: ready))
    there = made.path.read_bytes().count(b"\n")
    assert 0 < there < len(asked)
    asked.clear()
    assert len(made.complete(lambda: ready)) == len(test_set)
    assert asked == list(range(there, len(test_set)))


def test_other_errors_stay_as_they_are():
    with pytest.raises(FileNotFoundError) as raised, naming("a"), Path("/no/such/file").open():
        pass
    assert raised.value.filename == "/no/such/file"
    for error in (OSError("no number"), ConnectionRefusedError(111, "Connection refused")):
        with pytest.raises(OSError, match=r"no number|refused") as raised, naming("a"):
            raise error
        assert raised.value is error
