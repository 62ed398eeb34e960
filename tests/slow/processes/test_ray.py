"""A suite on two nodes: what one process would have left, to the byte."""

import json
import shutil
from hashlib import sha256

import pytest
from chat_server import serving
from prepared import BACK, DIRECTION, command_line, prepared_home, refusal, success
from ray_nodes import ray_nodes
from suite_runs import check_equal, of_ones_own

SUITE = f"""
metrics = ["acc", "s_bleu", "naturalness_unigram"]
directions = ["{DIRECTION}", "{BACK}"]

[[system]]
system = "copy"

[[system]]
system = "delete-retrieve"

[[system]]
system = "reference-2"
"""


def tables(out):
    """Those of the directions; one that is over earlier is shown earlier."""
    return sorted(out.split("mini/"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The options that send a suite to two nodes."""
    home = {"TSTBENCH_HOME": str(tmp_path_factory.mktemp("nodes") / "home")}
    with ray_nodes(home, home) as nodes:
        yield ("--engine", "ray", "--address", nodes.address)


@pytest.fixture
def suite(tmp_path, tmp_path_factory, monkeypatch):
    home = prepared_home(tmp_path_factory)
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # what a job with one core has
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path / "suite.toml"


def test_two_nodes_leave_what_one_process_leaves(suite, cluster, capsys):
    out, err = success(capsys, "run", suite, *cluster)
    done = [line.split(", ")[0] for line in err.splitlines() if line.startswith("done: ")]
    jobs = [f"done: {kind} {d} {s}" for d in (DIRECTION, BACK) for kind, s in JOBS]
    assert sorted(done) == sorted(jobs)
    assert err.count("kept: prepare") == 2  # the scorers are there
    assert f"{DIRECTION}: scored 3 of 3 systems; kept 0 scores, computed 9" in err
    there = suite.parent / "results"
    there.rename(suite.parent / "by-ray")
    assert tables(success(capsys, "run", suite)[0]) == tables(out)
    check_equal(there, suite.parent / "by-ray")
    again, err = success(capsys, "run", suite, *cluster)
    assert tables(again) == tables(out)
    assert err.count("computed 0") == 2
    assert not [line for line in err.splitlines() if line.startswith("done: score")]


JOBS = [
    ("transfer", "copy"),
    ("train", "delete-retrieve"),
    ("transfer", "delete-retrieve"),
    ("score", "copy"),
    ("score", "delete-retrieve"),
    ("score", "reference-2"),
]


@pytest.mark.parametrize(
    ("resources", "named"),
    [
        (
            "cpus = 8",
            "takes 8 CPUs, and no node of the cluster has that: at most 1 CPUs, on one or another",
        ),
        (
            "gpus = 1",
            "takes 1 CPUs, 1 GPUs, and no node of the cluster has that: at most 1 CPUs, 0 GPUs, on",
        ),
        ("memory = 4000", "takes 1 CPUs, 4000.0 GiB of memory, and no node"),
    ],
)
def test_what_no_node_has_is_named_before_anything_runs(resources, named, suite, cluster, capsys):
    suite.write_text(SUITE.replace('"copy"', f'"copy"\nresources = {{ {resources} }}'))
    assert f"transfer {DIRECTION} copy {named}" in refusal(capsys, "run", suite, *cluster)
    assert not list((suite.parent / "results").rglob("*.json*"))


def test_what_fails_there_is_left_out_with_its_log_and_the_rest_is_done(suite, cluster, capsys):
    code, _, err = command_line(capsys, "run", suite)
    reports = [suite.parent / "results" / d / "copy" / "report.json" for d in (DIRECTION, BACK)]
    for report in reports:
        report.write_text('{"schema_version": 99}')  # of a later version: never overwritten
    code, _, err = command_line(capsys, "run", suite, *cluster)
    assert code == 1
    assert "2 of 6 cells were left out" in err
    for direction, report in zip((DIRECTION, BACK), reports, strict=True):
        log = suite.parent / "results" / "logs" / f"score-{direction.replace('/', '-')}-copy.log"
        assert "schema_version" in log.read_text()
        (line,) = (one for one in err.splitlines() if one.startswith(f"failed: score {direction}"))
        assert line.endswith(f"; log: {log}")
        assert err.count(str(log)) == 1
        (line,) = (
            one for one in err.splitlines() if one.startswith(f"left out: copy on {direction}")
        )
        assert str(report) in line
        assert json.loads(report.read_text()) == {"schema_version": 99}


def test_what_a_storage_has_lost_is_left_out_and_the_rest_is_done(suite, cluster, capsys):
    tail = f'metrics = ["s_bleu"]\ndirections = ["{DIRECTION}"]\n'
    suite.write_text(f'{tail}[[system]]\nsystem = "copy"\n[[system]]\nsystem = "reference-2"\n')
    storage, results = suite.parent / "storage", suite.parent / "results"
    options = (*cluster, "--storage", storage.as_uri())
    success(capsys, "run", suite, *options)
    report = (results / DIRECTION / "copy" / "report.json").read_bytes()
    shutil.rmtree(results)  # but the nodes have them
    stored = storage / "objects" / sha256(report).hexdigest()
    assert stored.is_file()
    stored.write_bytes(report.swapcase())
    code, _, err = command_line(capsys, "run", suite, *options)
    assert (code, err.count("left out: copy on mini/negative-to-positive: ")) == (1, 1), err
    assert "delete that object" in err
    assert "kept: score mini/negative-to-positive reference-2" in err
    assert (results / DIRECTION / "reference-2" / "report.json").is_file()


def test_an_address_that_nobody_answers_and_one_without_an_engine(suite, capsys):
    nobody = ("run", suite, "--address", "127.0.0.1:9")
    assert "nobody answers at 127.0.0.1:9" in refusal(capsys, *nobody, "--engine", "ray")
    assert "add --engine ray" in refusal(capsys, *nobody)


def test_a_dataset_of_ones_own_reaches_the_nodes_with_a_disk_and_without(
    suite, cluster, manners, capsys, monkeypatch
):
    """What looks wrong with outputs is said as in one process."""
    of_ones_own(suite)
    monkeypatch.setenv("TSTBENCH_DATA", str(manners))
    storage = ("--storage", (suite.parent / "bucket").as_uri())
    said = {}
    for way, options in (("alone", ()), ("disk", cluster), ("storage", (*cluster, *storage))):
        _, err = success(capsys, "run", suite, *options)
        said[way] = sorted(line for line in err.splitlines() if line.startswith("careful: "))
        (suite.parent / "results").rename(suite.parent / way)
    assert said["alone"] == said["disk"] == said["storage"] != []
    check_equal(suite.parent / "alone", suite.parent / "disk")
    check_equal(suite.parent / "alone", suite.parent / "storage")


def test_a_trained_folder_beside_the_suite_rewrites_here_if_no_disk_is_shared(
    suite, cluster, capsys, monkeypatch, tmp_path_factory
):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    train = ("train", "delete-retrieve", "--direction", DIRECTION, "--out", suite.parent / "mine")
    success(capsys, *train)
    suite.write_text(
        f'metrics = ["s_bleu"]\ndirections = ["{DIRECTION}"]\n[[system]]\nsystem = "mine"\n'
    )
    storage = ("--storage", (suite.parent / "bucket").as_uri())
    _, err = success(capsys, "run", suite, *cluster, *storage)
    assert "done: score" in err
    assert "done: transfer" not in err  # of no other machine
    shutil.move(suite.parent / "results", suite.parent / "by-ray")
    success(capsys, "run", suite)
    check_equal(suite.parent / "results", suite.parent / "by-ray")


def test_a_training_of_hours_that_nobody_agreed_to_is_left_out(suite, cluster, capsys):
    for line in ("", 'device = "cpu"\n'):
        suite.write_text(
            f'{line}metrics = ["s_bleu"]\ndirections = ["{DIRECTION}"]\n'
            '[[system]]\nsystem = "stytrans"\n[[system]]\nsystem = "copy"\n'
        )
        code, _, err = command_line(capsys, "run", suite, *cluster)
        assert code == 1, err
        left = f"left out: stytrans on {DIRECTION}: stytrans is not trained for {DIRECTION}"
        assert err.count(left) == 1
        assert "--yes" in err
        assert "without a GPU" not in err  # there may be one
        assert f"{DIRECTION}: scored 1 of 1 systems" in err
        shutil.rmtree(suite.parent / "results")


def test_a_server_is_asked_from_here(suite, cluster, capsys, monkeypatch):
    tail = f'metrics = ["s_bleu"]\ndirections = ["{DIRECTION}"]\n'
    suite.write_text(f'{tail}[[system]]\nsystem = "chatgpt"\n[[system]]\nsystem = "copy"\n')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-here-only")
    with serving(key="sk-here-only") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        _, err = success(capsys, "run", suite, *cluster)
        assert len(server.times) == 40
    assert "done: transfer mini/negative-to-positive chatgpt" not in err  # of no other machine
    assert f"{DIRECTION}: scored 2 of 2 systems" in err
