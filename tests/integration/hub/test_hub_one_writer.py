"""Hub folders whose writer was killed, or has company: what is there is always whole."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tstbench.files import lock
from tstbench.pipelines.hub.manifest import find_repository, write_repository

FILES = {"README.md": b"# Card\n", "data/weights.bin": b"large, by name", "vocab.txt": b"a\n"}
LATER = {**FILES, "README.md": b"# Later\n"}
NAME = "tstbench/toy"

# Writes LATER, and is killed before one of the functions that write is called for the n-th time.
KILLED = """
import os, signal, sys
from pathlib import Path
from tstbench.pipelines.hub import manifest
sys.path.insert(0, {tests!r})
from test_hub_one_writer import LATER, NAME

count = 0

def killing(real):
    def call(*arguments):
        global count
        count += 1
        if count == {at}:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)
    return call

manifest._copy, Path.replace = killing(manifest._copy), killing(Path.replace)
manifest.write_repository({root!r}, "model", NAME, LATER)
"""


@pytest.mark.parametrize("at", range(1, 7))
def test_a_killed_writer_leaves_the_old_content_and_the_next_one_the_new(tmp_path, at):
    first = write_repository(tmp_path, "model", NAME, FILES)
    program = KILLED.format(tests=str(Path(__file__).parent), at=at, root=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL
    left = find_repository(tmp_path, "model", NAME)
    assert left.commit == first
    assert all(left.source(path).read_bytes() == FILES[path] for path in FILES)
    second = write_repository(tmp_path, "model", NAME, LATER)
    found = find_repository(tmp_path, "model", NAME)
    assert found.commit == second != first
    assert all(found.source(path).read_bytes() == LATER[path] for path in LATER)


def test_three_writers_at_once(tmp_path):
    program = (
        "import sys; from pathlib import Path;"
        "from tstbench.pipelines.hub.manifest import link_local_names, write_repository;"
        "[write_repository(Path(sys.argv[1]), 'model', f'tstbench/toy{n % 2}',"
        " {'README.md': f'# {n} of {sys.argv[2]}\\n'.encode()}) for n in range(6)];"
        "link_local_names(Path(sys.argv[1]))"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), str(n)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for writer in writers:
        said = writer.communicate(timeout=100)[1]
        assert writer.returncode == 0, said
        assert ".lock" not in said
    for n in range(2):
        found = find_repository(tmp_path, "model", f"tstbench/toy{n}")
        assert found.source("README.md").read_bytes() in [
            f"# {n + 4} of {i}\n".encode() for i in range(3)
        ]
    assert {path.name for path in (tmp_path / "models/tstbench").iterdir()} == {"toy0", "toy1"}


def test_a_second_writer_says_that_it_waits(tmp_path):
    program = (
        "import sys; from pathlib import Path;"
        "from tstbench.pipelines.hub.manifest import write_repository;"
        f"write_repository(Path(sys.argv[1]), 'model', {NAME!r}, {{'README.md': b'# A'}})"
    )
    with lock(tmp_path, "hub", inside=True):
        other = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stderr=subprocess.PIPE, text=True
        )
        assert f"another tstbench is at work on {tmp_path}: waiting" in other.stderr.readline()
        assert find_repository(tmp_path, "model", NAME) is None
    assert other.wait(60) == 0
    other.stderr.close()
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["models"]
