"""The real command line of a training: killed and resumed, with no room left."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest
from prepared import refusal
from safetensors.numpy import load_file

TRAIN = ("train", "stytrans", "--preset", "tiny", "--dataset", "mini", "--device", "cpu")


def command(*arguments):
    return [sys.executable, "-m", "tstbench", *map(str, arguments)]


def environment(home):
    return {**os.environ, "TSTBENCH_HOME": str(home)}


def losses(folder):
    rows = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    return [row["step"] for row in rows], [v for row in rows for k, v in row.items() if k != "step"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A training that nothing disturbed."""
    root = tmp_path_factory.mktemp("whole")
    done = subprocess.run(
        command(*TRAIN, "--out", root / "m"),
        env=environment(root / "home"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return root / "m"


def test_a_killed_training_goes_on_to_the_same_weights(whole, tmp_path):
    home = tmp_path / "home"
    asked = (*TRAIN, "--save-every", "0", "--out", tmp_path / "m")
    with subprocess.Popen(
        command(*asked), env=environment(home), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as running:
        while running.poll() is None and not _has_come_to(home, 12):
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
    assert running.returncode == -signal.SIGKILL
    assert not (tmp_path / "m").exists()
    done = subprocess.run(
        command(*asked, "--resume"), env=environment(home), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "continuing at step" in done.stderr
    assert losses(tmp_path / "m") == losses(whole)
    weights, expected = (load_file(f / "generator.safetensors") for f in (tmp_path / "m", whole))
    assert weights.keys() == expected.keys()
    assert all((weights[name] == expected[name]).all() for name in expected)


def _has_come_to(home, step):
    return any(
        len(file.read_text().splitlines()) > step for file in home.glob("runs/*/curve.jsonl")
    )


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (250_000, r"best\.new cannot be written: .* Make room on that disk"),
        (60_000, "Make room on that disk"),  # not even the judge's training file
    ],
)
def test_a_full_disk_is_told_and_nothing_half_written_is_taken_for_whole(tmp_path, room, expected):
    """A limit on the size of a file stands for it."""
    done = subprocess.run(
        command(*TRAIN, "--out", tmp_path / "m"),
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(expected, done.stderr), done.stderr
    assert not (tmp_path / "m").exists()
    assert not list((tmp_path / "home").glob("systems/objects/*"))
    assert not list((tmp_path / "home").glob("runs/*/best.safetensors"))


def test_where_nothing_can_be_written_is_told_before_training(capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    message = refusal(capsys, *TRAIN, "--out", tmp_path / "file")
    assert "is a file, but a folder must be written there" in message
    assert "cannot be made" in refusal(capsys, *TRAIN, "--out", tmp_path / "file" / "m")
    assert not (tmp_path / "tstbench-home" / "runs").exists()
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "file" / "home"))
    assert "cannot be made" in refusal(capsys, *TRAIN)
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    board = ("--tensorboard", tmp_path / "file" / "board")
    assert "cannot be made" in refusal(capsys, *TRAIN, *board)
