"""Nodes that share no disk, and nodes that are killed and come back: the bytes of one process."""

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from hashlib import sha256

import pytest
from prepared import BACK, DIRECTION
from ray_nodes import ray_nodes

EVERY = float(os.environ.get("TSTBENCH_KILL_EVERY", "6"))  # seconds
ROUNDS = int(os.environ.get("TSTBENCH_KILL_ROUNDS", "4"))  # of training, for longer jobs
SUITE = f"""
metrics = ["acc", "bleu", "ppl"]
directions = ["{DIRECTION}", "{BACK}"]

[[system]]
system = "copy"

[[system]]
system = "delete-retrieve"

[[system]]
system = "stytrans"
preset = "tiny"
settings = {{ rounds = {ROUNDS} }}
seeds = 2
"""


def tstbench(folder, *arguments):
    env = {**os.environ, "TSTBENCH_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tstbench", "run", "suite.toml", *arguments]
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def content(folder):
    """All files but hidden ones, and those in what killed processes were writing."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in found.items()
        if not any(part.startswith(".") for part in name.parts)
    }


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The results of one process."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "suite.toml").write_text(SUITE)
    assert tstbench(folder).wait(300) == 0
    return content(folder / "results")


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Each node's own, for what travels through a storage."""
    return [tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")]


@pytest.fixture(scope="module")
def nodes(homes):
    """One cluster for all: the tests stand in the order in which it can bear them."""
    with ray_nodes(*({"TSTBENCH_HOME": str(home)} for home in homes)) as nodes:
        yield nodes


@pytest.fixture
def folder(tmp_path):
    """Where a suite is run on a cluster."""
    made = tmp_path / "cluster"
    made.mkdir()
    (made / "suite.toml").write_text(SUITE)
    return made


def test_two_nodes_without_a_shared_disk(folder, expected, nodes, homes, tmp_path):
    """Systems, scorers, predictions and scores travel through the storage, each once."""
    storage = tmp_path / "storage"
    options = ("--engine", "ray", "--address", nodes.address, "--storage", storage.as_uri())
    running = tstbench(folder, *options)
    said = running.communicate(timeout=500)[1]
    assert running.returncode == 0, said
    again = tstbench(folder, *options)
    said = again.communicate(timeout=500)[1]
    assert (again.returncode, said.count("computed 0")) == (0, 2), said
    assert not [line for line in said.splitlines() if line.startswith("done: ")]
    for home in homes:  # a node has what its jobs needed, not all
        assert list((home / "scorers" / "index").rglob("*.json"))
    assert not (folder / "home" / "suites").exists()  # results go to the results folder
    names = [file.name for file in (storage / "objects").iterdir()]
    assert names == [
        sha256((storage / "objects" / name).read_bytes()).hexdigest() for name in names
    ]
    assert content(folder / "results") == expected


def test_two_runs_at_once_do_not_disturb_each_other(folder, expected, nodes):
    options = ("--engine", "ray", "--address", nodes.address)
    runs = [tstbench(folder, *options) for _ in range(2)]
    said = [one.communicate(timeout=500)[1] for one in runs]
    assert [one.returncode for one in runs] == [0, 0], said
    assert not list((folder / "results").glob(".running-*"))
    assert content(folder / "results") == expected


def test_control_c_keeps_what_is_complete_and_one_process_does_the_rest(folder, expected, nodes):
    running = tstbench(folder, "--engine", "ray", "--address", nodes.address)
    said = [running.stderr.readline() for _ in range(5)]
    running.send_signal(signal.SIGINT)
    said += running.communicate(timeout=60)[1].splitlines()
    assert running.returncode == 130, said
    assert "completed work is kept" in said[-1]
    assert "Traceback" not in " ".join(said)
    rest = tstbench(folder)
    assert rest.wait(300) == 0
    assert content(folder / "results") == expected


def test_two_nodes_of_which_one_is_killed_again_and_again(folder, expected, nodes):
    running = tstbench(folder, "--engine", "ray", "--address", nodes.address)
    said, killed = None, 0
    while said is None:
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
    assert content(folder / "results") == expected


IMPATIENT = "from tstbench.pipelines import engines as e; e._PATIENCE = 6; "


def impatient(folder, address):
    """A run that waits six seconds for a cluster, and not a minute."""
    options = ["run", "suite.toml", "--engine", "ray", "--address", address]
    program = (
        f"{IMPATIENT}from tstbench.commands.cli import main; raise SystemExit(main({options}))"
    )
    env = {**os.environ, "TSTBENCH_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def test_a_head_node_that_is_killed_ends_the_run_with_a_message(folder, nodes):
    (folder / "suite.toml").write_text(SUITE.replace(f"rounds = {ROUNDS}", "rounds = 4000"))
    address = nodes.address
    running = impatient(folder, address)
    said = running.stderr.readline()
    nodes.remove_node(nodes.head_node, allow_graceful=False)
    nodes.head_node = None
    said += running.communicate(timeout=100)[1]
    assert (running.returncode, "Traceback" in said) == (2, False), said
    assert f"the head node of the cluster, {address}, does not answer" in said
    assert "done: " in said


def test_what_answers_and_is_no_cluster_is_told(folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        running = impatient(folder, address)
        said = running.communicate(timeout=100)[1]
    assert (running.returncode, "Traceback" in said) == (2, False), said
    assert f"no Ray cluster at {address}: no answer within 6 seconds" in said


@pytest.mark.parametrize(
    ("storage", "named"),
    [
        ("file:///proc/no-such-folder", "does not take a file"),
        ("nosuch://bucket", "Protocol not known: nosuch"),
    ],
)
def test_a_storage_that_takes_nothing_is_told_before_a_cluster_is_asked(storage, named, folder):
    address = ("--address", "127.0.0.1:9")  # where there is none
    running = tstbench(folder, "--engine", "ray", *address, "--storage", storage)
    said = running.communicate(timeout=100)[1]
    assert (running.returncode, storage in said, named in said) == (2, True, True), said
    assert not list((folder / "results").rglob("*.json"))
