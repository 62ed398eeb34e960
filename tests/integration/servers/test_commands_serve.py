"""Commands that serve, each as a process of its own: they serve what they were given, as named."""

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml
from annotate_study import DIRECTION, RATERS, SYSTEMS, keys, write_reports
from answering import asked, free_port
from leaderboard_results import report, write
from trained_tiny import trained_tiny

from tstbench.pipelines.hub.manifest import write_repository
from tstbench.spaces.annotate import create_study

pytest.importorskip("gradio")

REPORTED = [
    {"dataset": {"id": "tstbench/mini", "task_id": "negative-to-positive_acc"}, "value": 97.0}
]


def ask(port, path="/", name=None):
    """Status and text of an answer to a request by that name."""
    return asked(f"http://127.0.0.1:{port}{path}", **({"Host": name} if name else {}))[:2]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with results, what a model reports, a study, a hub folder and a trained system."""
    here = tmp_path_factory.mktemp("here")
    write(here / "demo", report("ours", {"acc": 61.5}))
    file = here / "models/somebody/model/.eval_results/mini.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump(REPORTED))
    write_reports(here / "reports", SYSTEMS)
    create_study(here / "reports", [DIRECTION], None, RATERS, here / "study", per_system=2)
    write_repository(here / "hub", "model", "we/toy", {"README.md": b"# Card\n"})
    return here


@pytest.fixture(scope="module")
def served(here, tmp_path_factory):
    """The port of each command; all start at once, and end by Ctrl-C."""
    commands = {
        "leaderboard": ["--reported", "models"],  # of ./demo, since there is no ./results
        "annotate": ["study", "--url", "https://rate.example.org/"],
        "hub": ["serve", "hub"],
        "rewrite": [trained_tiny(tmp_path_factory), "--device", "cpu"],
    }
    ports = {name: free_port() for name in commands}
    command = [sys.executable, "-m", "tstbench"]
    named = ["--allow-host", "page.example.org"]
    log = (here / "log").open("w")
    running = {
        name: subprocess.Popen(
            [*command, name, *map(str, given), "--port", str(ports[name]), *named],
            cwd=here,
            env={**os.environ, "TSTBENCH_HOME": str(here / "home")},
            stdout=log,
            stderr=log,
        )
        for name, given in commands.items()
    }
    end = time.monotonic() + 300
    for name, process in running.items():
        while process.poll() is None and time.monotonic() < end:
            try:
                ask(ports[name])
                break
            except OSError:
                time.sleep(0.1)
    yield ports
    for process in running.values():
        process.send_signal(signal.SIGINT)
    codes = {name: process.wait(60) for name, process in running.items()}
    log.close()
    assert codes == dict.fromkeys(commands, 0), (here / "log").read_text()


@pytest.mark.parametrize("command", ["leaderboard", "annotate", "hub", "rewrite"])
def test_a_page_answers_to_the_names_that_its_command_was_given(served, command):
    assert ask(served[command])[0] == 200
    assert ask(served[command], name="page.example.org")[0] == 200
    assert ask(served[command], name="other.example.org")[0] == 421
    by_url = ask(served[command], name="rate.example.org")[0]
    assert by_url == (200 if command == "annotate" else 421)  # raters come by the address of --url


def test_the_leaderboard_is_that_of_the_demo_with_what_models_report(served):
    status, page = ask(served["leaderboard"], f"/?direction={DIRECTION}")
    assert status == 200
    for words in ("61.5", "ours", "somebody/model", "97.0"):
        assert words in page


def test_a_study_is_that_of_the_folder(served, here):
    key = keys(here / "study")["Ann Archer"]
    assert ask(served["annotate"], f"/?key={key}&item=8")[0] == 200
    assert ask(served["annotate"], "/?key=another")[0] == 404


def test_a_hub_is_that_of_the_folder(served):
    assert ask(served["hub"], "/we/toy/resolve/main/README.md") == (200, "# Card\n")
