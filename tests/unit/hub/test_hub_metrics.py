"""Every metric of the benchmark, published, then loaded by name and computed."""

import pytest
from answering import answering
from hub_artefacts import ONLINE, run_user
from places import SUPPORT
from prepared import prepared_home

from tstbench.pipelines.hub.build import Artefact, build, spaces, trained_scorers
from tstbench.pipelines.hub.serve import make_server

CLIENT = SUPPORT / "hub_user.py"
SPACES = ("acc", "bertscore", "bleu", "cola", "joint", "ppl")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A machine with the scorers of the small dataset."""
    return prepared_home(tmp_path_factory)


@pytest.fixture(scope="module")
def root(home, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTBENCH_HOME", str(home))
        models = trained_scorers()
    scorers = [Artefact("model", name, "model", place) for name, place in models.items()]
    built = build(folder / "root", [*spaces(), *scorers])
    kinds = [(one.kind, one.repo_id) for one in built]
    assert {("space", f"tstbench/{name}") for name in SPACES} <= set(kinds)
    assert {("model", f"tstbench/{name}") for name in models} <= set(kinds)
    assert "classifier-mini-linear" in models
    return folder / "root"


@pytest.mark.slow
def test_metrics_by_name_from_a_server_and_from_folders(root, home, tmp_path):
    shared = {"TSTBENCH_HOME": str(home)}
    with answering(make_server(root)) as server:
        online = {**shared, **ONLINE, "HF_ENDPOINT": server.url}
        served = run_user(CLIENT, ["metrics", *SPACES], cwd=tmp_path / "user", **online)
    folders = {**shared, "HF_HOME": str(tmp_path / "hf-home")}
    local = run_user(CLIENT, ["metrics", "bleu", "joint"], cwd=root / "local", **folders)
    assert local == {name: served[name] for name in ("bleu", "joint")}
    assert set(served) == set(SPACES)
    values = {metric: served[metric][metric] for metric in ("acc", "cola", "joint", "ppl")}
    values |= {name: served["bleu"][name] for name in ("s_bleu", "r_bleu")}
    assert all(isinstance(value, float) for value in values.values()), values
