"""``tstbench hub``: every option of the commands that publish reaches what it is about."""

import huggingface_hub.constants
import pytest
from hub_artefacts import JUDGED
from hub_double import TOKEN, running
from prepared import refusal, success

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.pipelines.hub.manifest import find_repository, write_repository


@pytest.fixture
def hub(monkeypatch, online):
    """A Hub that the command finds as a user's does: by ``HF_ENDPOINT`` and ``HF_TOKEN``."""
    with running() as double:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", double.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield double


@pytest.fixture
def root(tmp_path, capsys):
    """A hub folder with judgments and something else."""
    write_judgments(tmp_path / "judgments" / "ours.jsonl", [JUDGED])
    command = ("hub", "build", tmp_path / "root", "--datasets", "--namespace", "you")
    judgments = ("--judgments", tmp_path / "judgments", "--only", "human_judgments")
    out, _ = success(capsys, *command, *judgments)
    assert out.startswith("datasets/you/human_judgments\t")
    files = {"README.md": b"# Results\n", "scores.parquet": b""}
    write_repository(tmp_path / "root", "dataset", "you/results", files)
    return tmp_path / "root"


def test_the_folder_has_what_was_named_under_the_owner_that_was_named(root):
    judgments = find_repository(root, "dataset", "you/human_judgments")
    assert set(judgments.manifest().files) == {"README.md", "data/ours.parquet"}
    assert (root / "local/you/human_judgments/README.md").is_file()
    assert find_repository(root, "dataset", "tstbench/human_judgments") is None


def test_push_sends_what_it_was_told_to_where_it_was_told_to(hub, root, capsys):
    push = ("hub", "push", root, "--namespace", "me", "--only", "human_judgments", "--private")
    out, _ = success(capsys, *push, "--dry-run")
    assert hub.repos == {}
    assert out.splitlines()[0] == "dataset me/human_judgments: new repository"
    assert success(capsys, *push)[0] == out
    assert {key: repo.private for key, repo in hub.repos.items()} == {
        ("dataset", "me/human_judgments"): True
    }
    success(capsys, "hub", "push", root, "--namespace", "us")
    assert {repo_id: repo.private for (_, repo_id), repo in hub.repos.items()} == {
        "me/human_judgments": True,
        "us/human_judgments": False,
        "us/results": False,
    }


def test_push_of_two_owners_repositories_of_one_name_asks_which(hub, root, capsys):
    files = {"README.md": b"# Theirs\n", "scores.parquet": b""}
    write_repository(root, "dataset", "them/results", files)
    assert "has results in two namespaces" in refusal(capsys, "hub", "push", root)
    assert hub.repos == {}
