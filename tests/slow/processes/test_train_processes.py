"""The real command line of a training, with no room left; ``faults`` kills it."""

import os
import re
import resource
import subprocess
import sys

import pytest
from prepared import refusal

TRAIN = ("train", "stytrans", "--preset", "tiny", "--dataset", "mini", "--device", "cpu")


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
        [sys.executable, "-m", "tstbench", *TRAIN, "--out", str(tmp_path / "m")],
        env={**os.environ, "TSTBENCH_HOME": str(tmp_path / "home")},
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
