"""The hub folder's git repositories, looked at with git itself."""

import hashlib
import subprocess

import pytest
from hub_artefacts import dataset_folder, metrics_folder

from tstbench.errors import (
    InputError,
    IntegrityError,
    MissingExtraError,
    MissingFileError,
    UnknownNameError,
)
from tstbench.files import git_blob_id
from tstbench.pipelines.hub.build import build, link_local_names
from tstbench.pipelines.hub.lfs import REGULAR_LIMIT
from tstbench.pipelines.hub.repositories import _entries, find_repository, list_repositories
from tstbench.pipelines.hub.writing import write_repository

FILES = {"README.md": b"# Card\n", "data/weights.bin": b"large, by name", "vocab.txt": b"a\r\n"}


def write(root, files, repo_id="tstbench/toy", kind="model", **options):
    return write_repository(root, kind, repo_id, files, **options)


def git(root, *command, repo="models/tstbench/toy"):
    done = subprocess.run(["git", "-C", root / repo, *command], capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_git_holds_what_was_written(tmp_path):
    commit = write(tmp_path, FILES)
    assert git(tmp_path, "rev-parse", "main") == commit
    assert git(tmp_path, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(tmp_path, "fsck", "--strict") == ""
    names = git(tmp_path, "ls-tree", "-r", "--name-only", "main").split()
    assert names == [".gitattributes", "README.md", "data/weights.bin", "vocab.txt"]
    blob = git(tmp_path, "rev-parse", "main:vocab.txt")
    assert blob == git_blob_id(b"a\r\n")  # no line ending was changed
    sha256 = hashlib.sha256(FILES["data/weights.bin"]).hexdigest()
    pointer = git(tmp_path, "show", "main:data/weights.bin")
    assert pointer.splitlines()[1:] == [f"oid sha256:{sha256}", "size 14"]
    attribute = git(tmp_path, "check-attr", "filter", "data/weights.bin")
    assert attribute == "data/weights.bin: filter: lfs"
    folder = tmp_path / "models/tstbench/toy"
    large = folder / ".git/lfs/objects" / sha256[:2] / sha256[2:4] / sha256
    assert large.read_bytes() == FILES["data/weights.bin"]
    for path, content in FILES.items():  # the work tree holds the contents, not the pointers
        assert (folder / path).read_bytes() == content


def test_no_change_no_commit_and_one_commit_per_change(tmp_path):
    first = write(tmp_path, FILES)
    assert write(tmp_path, FILES) == first
    changed = {**FILES, "README.md": b"# Another\n", "new/config.json": b"{}"}
    del changed["data/weights.bin"]
    second = write(tmp_path, changed)
    assert second != first
    assert git(tmp_path, "rev-list", "main").split() == [second, first]
    assert git(tmp_path, "log", "-1", "--format=%s") == (
        "Add new/config.json; change README.md; delete data/weights.bin"
    )
    folder = tmp_path / "models/tstbench/toy"
    assert not (folder / "data").exists()
    assert (folder / "new/config.json").read_bytes() == b"{}"
    assert git(tmp_path, "status", "--short") == ""
    repository = find_repository(tmp_path, "model", "tstbench/toy")
    old = repository.files(first)["data/weights.bin"]
    assert repository.large_file(old).read_bytes() == FILES["data/weights.bin"]


def test_same_content_and_history_is_the_same_commit_everywhere(tmp_path, monkeypatch):
    ids = []
    for place, author in (("a", "Ann"), ("b", "Bob")):
        monkeypatch.setenv("GIT_AUTHOR_NAME", author)
        monkeypatch.setenv("GIT_DIR", "/nowhere")
        root = tmp_path / place
        ids.append([write(root, FILES), write(root, {**FILES, "merges.txt": b"x"})])
    assert ids[0] == ids[1]


def test_an_edited_or_broken_work_tree_is_mended(tmp_path):
    commit = write(tmp_path, FILES)
    readme = tmp_path / "models/tstbench/toy/README.md"
    readme.write_text("edited by hand")
    assert write(tmp_path, FILES) == commit
    assert readme.read_bytes() == FILES["README.md"]


@pytest.mark.parametrize("left", [b"", b"\0" * 41, b"0123"])
def test_a_branch_that_leads_nowhere_is_written_again(tmp_path, capsys, left):
    commit = write(tmp_path, FILES)
    (tmp_path / "models/tstbench/toy/.git/refs/heads/main").write_bytes(left)
    capsys.readouterr()
    assert write(tmp_path, FILES) == commit
    assert "toy: its branch was damaged, so its history begins again" in capsys.readouterr().err
    assert write(tmp_path, FILES) == commit
    assert capsys.readouterr().err == ""
    assert git(tmp_path, "fsck") == ""


def test_a_file_that_git_has_lost_is_named_with_what_to_do(tmp_path):
    commit = write(tmp_path, FILES)
    blob = git(tmp_path, "rev-parse", "main:vocab.txt")
    (tmp_path / f"models/tstbench/toy/.git/objects/{blob[:2]}/{blob[2:]}").unlink()
    _entries.cache_clear()  # another process
    said = "toy: the content of vocab.txt is missing. Move the folder away and write it again"
    with pytest.raises(IntegrityError, match=said):
        find_repository(tmp_path, "model", "tstbench/toy").files(commit)
    with pytest.raises(IntegrityError, match=said):
        write(tmp_path, FILES)


def test_large_files_of_any_name_go_through_lfs(tmp_path):
    content = b"x" * (REGULAR_LIMIT + 1)
    commit = write(tmp_path, {**FILES, "merges.txt": content})
    entry = find_repository(tmp_path, "model", "tstbench/toy").files(commit)["merges.txt"]
    assert entry.pointer.size == len(content)
    assert git(tmp_path, "check-attr", "filter", "merges.txt", "vocab.txt").splitlines() == [
        "merges.txt: filter: lfs",
        "vocab.txt: filter: unspecified",
    ]


def test_tags_follow(tmp_path):
    first = write(tmp_path, FILES, tags=["v0.4.6"])
    assert git(tmp_path, "rev-parse", "v0.4.6") == first
    second = write(tmp_path, {**FILES, "README.md": b"# New\n"}, tags=["v0.4.6"])
    assert git(tmp_path, "rev-parse", "v0.4.6") == second
    repository = find_repository(tmp_path, "model", "tstbench/toy")
    assert repository.resolve("v0.4.6") == second
    assert repository.resolve(first[:10]) == first
    assert repository.resolve("v9") is None
    assert repository.resolve("--all") is None


def test_letters_of_any_script_are_letters_in_a_path(tmp_path):
    paths = {"日本語/vocab.txt": b"a\n", "हिन्दी/vocab.txt": b"a\n"}
    commit = write(tmp_path, {**FILES, **paths})
    repository = find_repository(tmp_path, "model", "tstbench/toy")
    assert paths.keys() <= set(repository.files(commit))


def test_a_folder_is_taken_without_caches_and_hidden_files(tmp_path):
    folder = tmp_path / "source"
    for path in (
        "README.md",
        ".env",
        "__pycache__/a.pyc",
        "a/vocab.txt",
        "__init__.py",
        ".git/config",
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("" if path == "__init__.py" else "text")
    commit = write(tmp_path / "root", folder)
    repository = find_repository(tmp_path / "root", "model", "tstbench/toy")
    assert set(repository.files(commit)) == {".gitattributes", "README.md", "a/vocab.txt"}
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        write(tmp_path / "root", folder)


def test_no_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtraError, match="git is not installed"):
        write(tmp_path / "root", FILES)


def test_names_load_from_a_folder_without_a_server(tmp_path):
    write(tmp_path, FILES)
    write(tmp_path, {"README.md": b"# A\n"}, "tstbench/joint", kind="space")
    view = link_local_names(tmp_path)
    assert (view / "tstbench/toy/README.md").read_bytes() == FILES["README.md"]
    assert {p.name for p in (view / "tstbench").iterdir()} == {"toy", "joint"}
    moved = tmp_path.with_name("moved")
    tmp_path.rename(moved)  # links are relative
    assert (moved / "local/tstbench/joint/README.md").read_bytes() == b"# A\n"
    moved.rename(tmp_path)
    write(tmp_path, {"README.md": b"# B\n"}, "tstbench/joint")
    with pytest.raises(InputError, match="one of them needs another name"):
        link_local_names(tmp_path)


def test_build_writes_each_kind_once(tmp_path):
    sources = {
        "datasets": {"mini": dataset_folder(tmp_path / "data")},
        "metrics_folder": metrics_folder(tmp_path / "metrics"),
        "spaces_folder": tmp_path / "spaces",
    }
    page = tmp_path / "spaces/leaderboard"
    page.mkdir(parents=True)
    (page / "app.py").write_text("# page\n")
    (page / "README.md").write_text("---\nsdk: gradio\n---\n")
    root = tmp_path / "root"
    seen = []
    first = build(root, **sources, report=seen.append)
    assert seen == first
    assert [(b.kind, b.repo_id, b.changed) for b in first] == [
        ("dataset", "tstbench/mini", True),
        ("space", "tstbench/wordcount", True),
        ("space", "tstbench/leaderboard", True),
    ]
    assert git(root, "tag", repo="spaces/tstbench/wordcount") == "v0.4.6"
    again = build(root, **sources)
    assert [(b.commit, b.changed) for b in again] == [(b.commit, False) for b in first]
    (page / "app.py").write_text("# another page\n")
    assert [b.changed for b in build(root, **sources, only=["leaderboard"])] == [True]
    assert len(list_repositories(root)) == 3
    with pytest.raises(UnknownNameError, match="Did you mean 'leaderboard'"):
        build(root, **sources, only=["leaderbord"])
    with pytest.raises(MissingFileError):
        build(root, datasets={"gone": tmp_path / "gone"})


def test_an_interrupted_commit_leaves_the_old_one(tmp_path, monkeypatch):
    first = write(tmp_path, FILES)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tstbench.pipelines.hub.writing._update_work_tree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, {**FILES, "README.md": b"# New\n"}, tags=["v1"])
    second = write(tmp_path, {**FILES, "README.md": b"# New\n"}, tags=["v1"])
    assert git(tmp_path, "rev-list", "main").split() == [second, first]
    assert git(tmp_path, "rev-parse", "v1") == second
    assert (tmp_path / "models/tstbench/toy/README.md").read_bytes() == b"# New\n"
