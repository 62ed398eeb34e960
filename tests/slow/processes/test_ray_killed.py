"""Nodes that are killed and come back: nothing is lost, nothing complete is done twice."""

import os
import subprocess
import sys
from collections import Counter

import pytest
from prepared import BACK, DIRECTION
from ray_nodes import ray_nodes

SUITE = f"""
directions = ["{DIRECTION}", "{BACK}"]

[[system]]
system = "copy"

[[system]]
system = "delete-retrieve"

[[system]]
system = "stytrans"
preset = "tiny"
settings = {{ rounds = 4 }}
seeds = 2
"""
EVERY = float(os.environ.get("TSTBENCH_KILL_EVERY", "8"))  # seconds


def tstbench(folder, *arguments):
    env = {**os.environ, "TSTBENCH_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tstbench", "run", "suite.toml", *arguments]
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture
def folders(tmp_path):
    for name in ("alone", "cluster"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "suite.toml").write_text(SUITE)
    return tmp_path / "alone", tmp_path / "cluster"


def test_two_nodes_of_which_one_is_killed_again_and_again(folders):
    alone, cluster = folders
    with ray_nodes({}, {}) as nodes:
        running = tstbench(cluster, "--engine", "ray", "--address", nodes.address)
        said, killed = "", 0
        while running.poll() is None:
            try:
                said = running.communicate(timeout=EVERY)[1]
            except subprocess.TimeoutExpired:
                nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
                nodes.add_node(num_cpus=1)
                killed += 1
    assert running.returncode == 0, said
    assert killed >= 2
    lines = [line.split(", ")[0] for line in said.splitlines()]
    done = Counter(line for line in lines if line.startswith("done: "))
    kept = Counter(line for line in lines if line.startswith("kept: "))
    assert set(done.values()) == {1}
    assert {*kept.values()} <= {1}
    assert done.total() + kept.total() == 2 * (4 + 4) + 4 + 2
    other = tstbench(alone)
    assert other.wait(300) == 0
    assert content(cluster / "results") == content(alone / "results")
