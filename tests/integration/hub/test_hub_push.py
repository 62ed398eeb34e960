"""The real client pushes to a double of the Hub; what is there is loaded back by name."""

import json

import huggingface_hub.constants
import pytest
from answering import free_port
from hub_artefacts import (
    ONLINE,
    artefacts,
    published_views,
    run_user,
)
from hub_double import TOKEN, running
from places import SUPPORT

from tstbench.errors import InputError, IntegrityError, MissingFileError, UnknownNameError
from tstbench.pipelines.hub.build import build
from tstbench.pipelines.hub.manifest import list_repositories, write_repository
from tstbench.pipelines.hub.push import PushError, push

CLIENT = SUPPORT / "hub_client.py"
SAID = {"direction": "mini/negative-to-positive", "system": "ours", "id": "1"}
OUTPUTS = json.dumps({**SAID, "prediction": "A lovely soup.", "origin": None}).encode()
SIGNIFICANCE = "mini/negative-to-positive/significance.json"
RESULTS = {"README.md": b"# Results\n", "outputs.jsonl": OUTPUTS, SIGNIFICANCE: b"{}"}
MINI, WORDS = ("dataset", "tstbench/mini"), ("space", "tstbench/wordcount")
MODEL = ("model", "tstbench/classifier")
pytestmark = pytest.mark.usefixtures("online")


@pytest.fixture
def hub():
    with running() as double:
        yield double


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return artefacts(tmp_path_factory.mktemp("artefacts"))


@pytest.fixture
def root(made, tmp_path):
    build(tmp_path / "root", made)
    return tmp_path / "root"


@pytest.fixture
def results(tmp_path):
    write_repository(tmp_path / "small", "dataset", "tstbench/results", RESULTS)
    return tmp_path / "small"


def commits(hub):
    return {key: repo.messages for key, repo in hub.repos.items()}


def test_push_then_load_back_by_name_and_push_nothing_again(hub, root, tmp_path):
    seen = []
    plans = push(root, token=TOKEN, endpoint=hub.url, report=seen.append)
    assert plans == seen
    assert all(plan.create and plan.commit for plan in plans)
    # One commit each, after the Hub's own first one; contents equal, byte by byte.
    assert {key: len(made) for key, made in commits(hub).items()} == {MINI: 2, WORDS: 2, MODEL: 2}
    for repository in list_repositories(root):
        remote = hub.repos[repository.kind, repository.repo_id]
        local = {*repository.manifest().files, ".tstbench.json"}
        assert remote.files.keys() - {".gitattributes"} == local
        for path in local:
            assert remote.files[path] == (repository.path / path).read_bytes()
    space = hub.repos[WORDS]
    assert (space.tags, space.sdk) == ({"v0.4.6": space.head}, "gradio")
    assert any("/_large/" in request for request in hub.requests)
    by_name = run_user(CLIENT, [], cwd=tmp_path / "user", HF_ENDPOINT=hub.url, **ONLINE)
    assert by_name["views"] == by_name["streamed"] == published_views(root)
    assert by_name["words"] == {"words": 3.0}
    assert len(by_name["logits"]) == 2
    before = commits(hub)
    hub.requests.clear()
    plans = push(root, token=TOKEN, endpoint=hub.url)
    assert all(plan.is_empty and plan.commit is None for plan in plans)
    assert commits(hub) == before
    assert {request.split()[0] for request in hub.requests} <= {"GET", "HEAD"}
    assert str(plans[0]) == "dataset tstbench/mini: up to date"


def test_one_commit_per_change_and_the_tag_follows(hub, root):
    push(root, token=TOKEN, endpoint=hub.url)
    space = hub.repos[WORDS]
    first = space.head
    folder = root / "spaces/tstbench/wordcount"
    files = {p.name: p.read_bytes() for p in folder.iterdir() if p.name[0] != "."}
    del files["app.py"]
    files = {**files, "counting.py": b"def count_words(texts):\n    return 0\n", "new.py": b"# x\n"}
    write_repository(root, "space", "tstbench/wordcount", files, tags=["v0.4.6"])
    (plan,) = push(root, token=TOKEN, endpoint=hub.url, only=["wordcount"])
    assert (plan.added, plan.changed, plan.deleted) == (("new.py",), ("counting.py",), ("app.py",))
    assert space.messages[2:] == ["tstbench hub push: 2 files written, 1 files deleted"]
    assert space.head == plan.commit != first
    assert space.tags == {"v0.4.6": space.head}
    assert {path for path in space.files if path[0] != "."} == set(files)
    assert all(space.files[path] == content for path, content in files.items())
    space.tags.clear()  # as after a crash
    (plan,) = push(root, token=TOKEN, endpoint=hub.url, only=["wordcount"])
    assert (plan.tags, plan.commit, space.tags) == (("v0.4.6",), None, {"v0.4.6": space.head})


def test_dry_run_changes_nothing_and_lists_everything(hub, root, results):
    plans = push(root, token=TOKEN, endpoint=hub.url, dry_run=True)
    assert hub.repos == {}
    assert str(plans[-1]) == (
        "space tstbench/wordcount: new repository\n  + README.md\n  + app.py\n  + counting.py\n"
        "  + requirements.txt\n  + wordcount.py\n  tag v0.4.6"
    )
    push(results, token=TOKEN, endpoint=hub.url)
    changed = {**RESULTS, "README.md": b"# More results\n", "scores.parquet": b""}
    del changed[SIGNIFICANCE]
    write_repository(results, "dataset", "tstbench/results", changed)
    before = commits(hub)
    (plan,) = push(results, endpoint=hub.url, dry_run=True)  # reading needs no token
    assert str(plan) == (
        f"dataset tstbench/results:\n  + scores.parquet\n  ~ README.md\n  - {SIGNIFICANCE}"
    )
    assert commits(hub) == before


def test_files_of_others_are_left_alone(hub, results):
    push(results, token=TOKEN, endpoint=hub.url)
    repo = hub.repos["dataset", "tstbench/results"]
    repo.commit({**repo.files, "submission/report.json": b'{"theirs": 1}'}, "merge a submission")
    write_repository(results, "dataset", "tstbench/results", {**RESULTS, "scores.parquet": b""})
    (plan,) = push(results, token=TOKEN, endpoint=hub.url)
    assert (plan.added, plan.changed, plan.deleted) == (("scores.parquet",), (), ())
    assert repo.files["submission/report.json"] == b'{"theirs": 1}'
    assert repo.files["scores.parquet"] == b""


def test_a_file_that_somebody_deleted_is_sent_again(hub, results):
    push(results, token=TOKEN, endpoint=hub.url)
    repo = hub.repos["dataset", "tstbench/results"]
    path = next(path for path in RESULTS if path != "README.md")
    repo.commit({name: said for name, said in repo.files.items() if name != path}, "tidy")
    (plan,) = push(results, token=TOKEN, endpoint=hub.url)
    assert (plan.added, plan.changed, plan.deleted) == ((path,), (), ())
    assert path in repo.files


def test_an_interrupted_push_is_taken_up_again(hub, root):
    hub.refuse["tstbench/classifier"] = (507, "quota exceeded")
    with pytest.raises(PushError, match=r"model tstbench/classifier: .*507.*quota.*delete"):
        push(root, token=TOKEN, endpoint=hub.url)
    done = commits(hub)
    assert MINI in done
    hub.refuse.clear()
    plans = push(root, token=TOKEN, endpoint=hub.url)
    assert [plan.is_empty for plan in plans] == [True, False, False]
    assert len(hub.repos[MINI].messages) == len(done[MINI])


@pytest.mark.parametrize(
    ("status", "advice"),
    [(403, "role `write`"), (402, "billing"), (413, "too large"), (500, "Hub's message")],
)
def test_refusals_name_the_repository_and_the_remedy(hub, results, status, advice):
    hub.refuse["tstbench/results"] = (status, "no, {token}")
    with pytest.raises(PushError, match=f"dataset tstbench/results: .*{status}") as caught:
        push(results, token=TOKEN, endpoint=hub.url)
    assert advice in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert caught.value.__suppress_context__  # nor in the traceback that would be printed


def test_a_wrong_token_is_not_repeated(hub, results):
    wrong = "hf_" + "x" * 34
    for dry_run in (False, True):
        with pytest.raises(PushError, match=r"401.*HF_TOKEN") as caught:
            push(results, token=wrong, endpoint=hub.url, dry_run=dry_run)
        assert wrong not in str(caught.value)
    assert hub.repos == {}


def test_no_token_and_token_from_the_environment(hub, results, monkeypatch):
    with pytest.raises(PushError, match="set HF_TOKEN or run `hf auth login`"):
        push(results, endpoint=hub.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    push(results, endpoint=hub.url)
    assert len(hub.repos) == 1


def test_no_connection(results, monkeypatch):
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(PushError, match="dataset tstbench/results: the Hub cannot be reached"):
        push(results, token=TOKEN, endpoint=url)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(PushError, match="cannot be reached"):
        push(results, token=TOKEN, endpoint=url)


def test_somebody_else_commits_meanwhile(hub, results, monkeypatch):
    push(results, token=TOKEN, endpoint=hub.url)
    write_repository(results, "dataset", "tstbench/results", {**RESULTS, "scores.parquet": b""})
    repo = hub.repos["dataset", "tstbench/results"]
    create_commit = huggingface_hub.HfApi.create_commit

    def late(*arguments, **options):
        repo.commit({**repo.files, "c.json": json.dumps([]).encode()}, "theirs")
        return create_commit(*arguments, **options)

    monkeypatch.setattr(huggingface_hub.HfApi, "create_commit", late)
    with pytest.raises(PushError, match=r"412.*run again"):
        push(results, token=TOKEN, endpoint=hub.url)
    monkeypatch.undo()
    assert "scores.parquet" not in repo.files


def test_wrong_arguments(hub, root, tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'mini'"):
        push(root, only=["minni"], token=TOKEN, endpoint=hub.url)
    with pytest.raises(MissingFileError, match="tstbench hub build"):
        push(tmp_path / "none", token=TOKEN, endpoint=hub.url)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="--systems FOLDER"):
        push(tmp_path / "empty", token=TOKEN, endpoint=hub.url)


@pytest.mark.parametrize(("line", "sdk"), [("sdk: static\n", "static"), ("", "gradio")])
def test_a_space_is_made_with_the_sdk_of_its_card(hub, tmp_path, line, sdk):
    card = f"---\ntitle: Page\n{line}---\n# Page\n".encode()
    write_repository(tmp_path, "space", "tstbench/page", {"README.md": card})
    push(tmp_path, token=TOKEN, endpoint=hub.url)
    assert hub.repos["space", "tstbench/page"].sdk == sdk


def test_a_folder_without_a_manifest_is_not_pushed(hub, results):
    (repository,) = list_repositories(results)
    (repository.path / "draft.md").write_text("# Not built by anybody\n")
    other = repository.path.with_name("other")
    other.mkdir()
    (other / "README.md").write_text("# Not built by anybody\n")
    push(results, token=TOKEN, endpoint=hub.url)
    assert list(hub.repos) == [("dataset", "tstbench/results")]
    assert "draft.md" not in hub.repos["dataset", "tstbench/results"].files


def test_a_flipped_byte_in_a_large_file_is_not_pushed(hub, root, made):
    (repository,) = (one for one in list_repositories(root) if one.kind == "model")
    file = repository.source("model.safetensors")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(IntegrityError, match=r"model\.safetensors is damaged.*hub build"):
        push(root, token=TOKEN, endpoint=hub.url)
    assert hub.repos == {}
    build(root, made)  # which the message advises
    push(root, token=TOKEN, endpoint=hub.url)
    content[-1] ^= 1
    assert hub.repos[MODEL].files["model.safetensors"] == bytes(content)
