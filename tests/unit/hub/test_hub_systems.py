"""A trained system from one machine to another, over the Hub; never a licensed one."""

import dataclasses
import json

import pytest
from answering import answering
from hub_artefacts import ONLINE, run_user, tstbench
from places import SUPPORT
from prepared import DIRECTION, refusal, success

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_test_set, load_training
from tstbench.errors import InputError
from tstbench.pipelines.hub.build import trained_systems
from tstbench.pipelines.hub.manifest import find_repository, write_repository
from tstbench.pipelines.hub.serve import make_server
from tstbench.pipelines.outputs import read_outputs
from tstbench.pipelines.transfer import predict
from tstbench.trainers.delete_retrieve import DeleteRetrieve
from tstbench.trainers.train import system_config, train_system

CLIENT = SUPPORT / "hub_user.py"
REPOSITORY = "delete-retrieve-mini-negative-to-positive"


@pytest.fixture
def published(tmp_path, capsys):
    """``delete-retrieve``, trained, written to a folder and published, as a user would."""
    folder, root = tmp_path / "dr", tmp_path / "hub"
    train = ("train", "delete-retrieve", "--direction", DIRECTION, "--out", folder)
    success(capsys, *train)
    build = ("hub", "build", root, "--datasets", "--systems", folder, "--only", REPOSITORY)
    out, _ = success(capsys, *build)
    assert out.startswith(f"models/tstbench/{REPOSITORY}\t")
    with answering(make_server(root)) as server:
        yield root, server.url


@pytest.mark.slow
def test_trained_here_published_and_asked_there(published, tmp_path):
    root, url = published
    test_set = load_test_set(DIRECTION)
    expected = predict("delete-retrieve", test_set)
    revision = find_repository(root, "model", f"tstbench/{REPOSITORY}").commit
    there = run_user(
        CLIENT,
        ["system", f"tstbench/{REPOSITORY}", DIRECTION, revision],
        cwd=tmp_path / "user",
        HF_ENDPOINT=url,
        **ONLINE,
    )
    assert there == expected

    user = tmp_path / "another"
    asking = ("transfer", f"tstbench/{REPOSITORY}", "--direction", DIRECTION, "--out", "o.jsonl")
    done = tstbench(user, *asking, HF_ENDPOINT=url)
    assert done.returncode == 0, done.stderr
    assert read_outputs(user / "o.jsonl", test_set).predictions == tuple(expected)
    assert not (user / "home" / "systems").exists()  # nothing was trained
    scoring = ("evaluate", "o.jsonl", "--direction", DIRECTION, "--metrics", "s_bleu", "--json")
    done = tstbench(user, *scoring, HF_ENDPOINT=url)
    score = json.loads(done.stdout)["scores"][0]
    assert (score["metric"], 0 < score["value"] < 100) == ("s_bleu", True)

    card = (find_repository(root, "model", f"tstbench/{REPOSITORY}").path / "README.md").read_text()
    assert "library_name: tstbench" in card
    assert "mini/train without test sentences" in card


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "asked"),
    [
        ("HF_TOKEN", "hf_tökén", ("nobody/system",)),
        ("HTTPS_PROXY", "http://[proxy", ("chat", "--base-url", "https://127.0.0.1:9/v1")),
        ("HTTPS_PROXY", "http://proxy:port", ("nobody/system",)),
    ],
)
def test_an_environment_that_no_client_can_use_is_told(tmp_path, name, value, asked):
    model = ("--model", "m") if asked[0] == "chat" else ()
    asking = ("transfer", *asked, *model, "--direction", DIRECTION, "--out", "o.jsonl")
    own = {"HF_ENDPOINT": "https://127.0.0.1:9", "OPENAI_API_KEY": "x" * 9, name: value}
    done = tstbench(tmp_path / "user", *asking, **own)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert name in done.stderr
    assert value not in done.stderr


@pytest.mark.slow
def test_a_name_without_a_system_is_told(published, tmp_path):
    root, url = published
    write_repository(root, "model", "tstbench/other", {"README.md": b"# Something else\n"})
    for name, expected in (
        ("tstbench/nothing", "no folder tstbench/nothing, and tstbench/nothing could not be down"),
        ("tstbench/acc", "no folder tstbench/acc, and tstbench/acc could not be downloaded from"),
        ("tstbench/other", "tstbench/other on the Hub is not a system: system.json is missing\n"),
        (REPOSITORY, f"unknown system '{REPOSITORY}'. Did you mean 'delete-retrieve'?"),
    ):
        asking = ("transfer", name, "--direction", DIRECTION, "--out", "o.jsonl")
        done = tstbench(tmp_path / "user", *asking, HF_ENDPOINT=url)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"\ntstbench: {expected}" in f"\n{done.stderr}"
        assert "Traceback" not in done.stderr


def test_systems_of_the_store_are_published_but_for_licensed_ones(tmp_path, capsys):
    data = load_training(DIRECTION)
    train_system("delete-retrieve", data)
    licensed = parse_direction("gyafc_fr/informal-to-formal")
    secret = train_system("delete-retrieve", dataclasses.replace(data, direction=licensed))
    assert list(trained_systems()) == [REPOSITORY]
    message = refusal(
        capsys, "hub", "build", tmp_path / "hub", "--datasets", "--systems", secret.folder,
        "--only", "delete-retrieve-gyafc-fr-informal-to-formal",
    )  # fmt: skip
    assert "learned from gyafc_fr, so it is not published" in message
    assert not (tmp_path / "hub" / "models").exists()


def test_settings_of_another_system_are_refused():
    data = load_training(DIRECTION)
    config = system_config("random-target", data.direction)
    with pytest.raises(InputError, match="is trained with DeleteRetrieveConfig, got SystemConfig"):
        train_system("delete-retrieve", data, config)


def test_the_same_recipe_is_not_trained_twice(monkeypatch):
    data = load_training(DIRECTION)
    real, trained = DeleteRetrieve.train.__func__, []

    def counting(cls, data, config, run):
        trained.append(config.gamma)
        return real(cls, data, config)

    monkeypatch.setattr(DeleteRetrieve, "train", classmethod(counting))
    stored = train_system("delete-retrieve", data)
    assert train_system("delete-retrieve", load_training(DIRECTION)) == stored
    other = system_config("delete-retrieve", data.direction, {"gamma": 9})
    assert train_system("delete-retrieve", data, other).hash != stored.hash
    assert trained == [3.5, 9.0]
