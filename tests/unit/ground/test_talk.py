"""Messages: wrapped in a real terminal, one line anywhere else, never broken inside a command."""

import os
import struct
import subprocess
import sys

import pytest

from tstbench.console import wrapped

UNKNOWN = ("evaluate", "--baseline", "copy", "--direction", "mini/negative-to-positiv")
LONG = (
    "tstbench: the weights are not in /home/somebody/.cache/huggingface/hub/models-of-others and "
    "HF_HUB_OFFLINE is set. Download them once: hf download FacebookAI/roberta-base. Otherwise "
    "'tstbench train classifier mini --kind transformer --base WEIGHTS' prints a folder, which "
    "--scorer attribution=FOLDER takes; the authors' own isn't needed"
)


def said(width, *arguments, **environment):
    """What a real run writes to standard error: a terminal of that width, or a pipe for 0."""
    command = [sys.executable, "-m", "tstbench", *arguments]
    names = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if not width:
        done = subprocess.run(
            command, env={**names, **environment}, capture_output=True, timeout=120, check=False
        )
        return done.returncode, done.stderr.decode()
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = subprocess.Popen(
        command, env={**names, **environment}, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    found = b""
    try:
        while part := os.read(ours, 4096):
            found += part
    except OSError:  # Linux reports the closed end as an error
        pass
    os.close(ours)
    return process.wait(timeout=120), found.decode().replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "environment", "widest"), [(80, {}, 80), (60, {}, 60), (80, {"COLUMNS": "50"}, 50)]
)
def test_a_terminal_has_lines_of_its_width(width, environment, widest):
    code, text = said(width, *UNKNOWN, **environment)
    _, line = said(0, *UNKNOWN)
    assert code == 2
    assert len(line) > 100
    assert widest - 30 < max(map(len, text.split("\n"))) <= widest
    assert text.split() == line.split()


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{}, {"COLUMNS": "50"}])
def test_a_pipe_has_one_line(environment):
    code, text = said(0, *UNKNOWN, **environment)
    assert (code, text.count("\n")) == (2, 1)


@pytest.mark.parametrize("width", range(40, 121, 8))
def test_commands_options_and_paths_stay_whole(width):
    lines = wrapped(LONG, width).split("\n")
    assert " ".join(line.strip() for line in lines) == LONG
    for whole in (
        "/home/somebody/.cache/huggingface/hub/models-of-others",
        "hf download FacebookAI/roberta-base.",
        "'tstbench train classifier mini --kind transformer --base WEIGHTS'",
        "--scorer attribution=FOLDER",
    ):
        assert sum(whole in line for line in lines) == 1, whole
    assert all(len(line) <= width for line in lines if "'" not in line and "/" not in line)


def test_lines_of_their_own_stay_as_they_are():
    table = "  a table's line   " + "with columns   " * 9
    assert wrapped(f"short\n{table}\n\nend", 60) == f"short\n{table}\n\nend"
