"""A data file over a dataset of the Hub: a real server, the unmodified client, our command line."""

import json
import os
import signal
import subprocess
import sys

import pytest
from hub_artefacts import ONLINE, dataset_folder, start_server

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.hub.build import Artefact, build

DATA = """\
name = "borrowed"
styles = ["negative", "positive"]
licence = "apache-2.0"

[train]
hub = "tstbench/mini"
config = "styles"
split = "train"

[[direction]]
from = "negative"
to = "positive"

[direction.test]
hub = "tstbench/mini"
config = "negative-to-positive"
split = "test"
references = "references"
id = "id"
"""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    build(folder / "root", [Artefact("dataset", "mini", "dataset", dataset_folder(folder))])
    process = start_server(folder / "root")
    yield process.stdout.readline().strip().split("=", 1)[1]
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def tstbench(tmp_path, endpoint, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "tstbench", *map(str, arguments)],
        env={**os.environ, **ONLINE, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_columns_of_the_hub_are_the_same_test_set(tmp_path, endpoint):
    path = tmp_path / "borrowed.toml"
    path.write_text(DATA)
    name = "borrowed/negative-to-positive"
    arguments = ("--direction", name, "--data", path, "--metrics", "r_bleu", "--json")
    done = tstbench(tmp_path, endpoint, "evaluate", "--baseline", "copy", *arguments)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["data"]["fingerprint"] == load_test_set("mini/negative-to-positive").fingerprint
    assert report["data"]["references_max"] == 4
    checked = tstbench(tmp_path, endpoint, "data", "check", path)
    assert "train sentences\t" in checked.stdout, checked.stderr
    path.write_text(DATA.replace('"tstbench/mini"', '"tstbench/maxi"'))
    missing = tstbench(tmp_path, endpoint, "data", "check", path)
    assert missing.returncode == 2
    assert "tstbench/maxi, styles, train could not be loaded" in missing.stderr
    assert "Traceback" not in missing.stderr
