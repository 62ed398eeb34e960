"""The published dataset loads with every major version of `datasets` since 3, by name and locally.

Each version gets an environment of its own, so this asks a package index and takes minutes: it
runs where TSTBENCH_OLD_CLIENTS=1 says so.
"""

import json
import os
import subprocess
import venv

import pytest
from answering import answering
from hub_artefacts import ONLINE, dataset_folder, published_views

from tstbench.pipelines.hub.build import Artefact, build
from tstbench.pipelines.hub.serve import make_server

CLIENT = """
import json, datasets
datasets.disable_progress_bars()
views = {}
for view in datasets.get_dataset_config_names("tstbench/mini"):
    loaded = datasets.load_dataset("tstbench/mini", view)
    streamed = datasets.load_dataset("tstbench/mini", view, streaming=True)
    views[view] = {split: list(rows) for split, rows in loaded.items()}
    assert views[view] == {split: list(rows) for split, rows in streamed.items()}, view
print(json.dumps({"version": datasets.__version__, "views": views}))
"""

pytestmark = [
    pytest.mark.oldclients,
    pytest.mark.skipif(
        os.environ.get("TSTBENCH_OLD_CLIENTS") != "1",
        reason="TSTBENCH_OLD_CLIENTS is not 1: older clients are not installed for every run",
    ),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    build(folder / "root", [Artefact("dataset", "mini", "dataset", dataset_folder(folder))])
    return folder / "root"


@pytest.fixture(scope="module")
def endpoint(root):
    with answering(make_server(root)) as server:
        yield server.url


@pytest.fixture(scope="module", params=[3, 4, 5])
def client(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"datasets-{request.param}")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    wanted = f"datasets>={request.param},<{request.param + 1}"
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wanted]
    subprocess.run(command, check=True, timeout=600)
    return request.param, python


@pytest.mark.parametrize("where", ["served", "local"])
def test_every_view_loads(client, where, root, endpoint, tmp_path):
    major, python = client
    extra = {"HF_ENDPOINT": endpoint, **ONLINE} if where == "served" else {}
    settings = {**os.environ, "HF_HOME": str(tmp_path / "home"), "PYTHONPATH": "", **extra}
    done = subprocess.run(
        [python, "-c", CLIENT],
        cwd=root / "local" if where == "local" else tmp_path,
        env={name: value for name, value in settings.items() if value},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["version"].startswith(f"{major}.")
    assert result["views"] == published_views(root)
