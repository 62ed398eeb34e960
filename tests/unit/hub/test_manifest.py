"""The hub folder: what was built, by hash; whole or not there; the same everywhere."""

import hashlib
import json
import os
import threading
from pathlib import Path

import pytest
from hub_artefacts import dataset_folder, metric_folder

from tstbench import files
from tstbench.errors import InputError, IntegrityError, MissingFileError, UnknownNameError
from tstbench.pipelines.hub.build import Artefact, build
from tstbench.pipelines.hub.manifest import (
    find_repository,
    link_local_names,
    list_repositories,
    write_repository,
)

FILES = {"README.md": b"# Card\n", "data/weights.bin": b"large, by name", "vocab.txt": b"a\r\n"}
SCRIPTS = {"日本語/vocab.txt": b"a\n", "हिन्दी/vocab.txt": b"a\n"}  # letters of any are letters
LATER = {"README.md": b"# Later\n", "vocab.txt": b"a\r\n", "new/config.json": b"{}"}
TOY = "models/tstbench/toy"
CHANGING = Path("/proc/sys/kernel/random/uuid")  # Linux: another content each time it is read


def write(root, files, repo_id="tstbench/toy", kind="model", **options):
    return write_repository(root, kind, repo_id, files, **options)


def content(folder):
    """Every file of a folder but its manifest."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".tstbench.json"
    }


def test_a_folder_holds_what_was_written_and_says_so(tmp_path):
    files = FILES | SCRIPTS
    commit = write(tmp_path, files, builder="somebody", tags=["v2", "v1"])
    assert content(tmp_path / TOY) == files
    manifest = (tmp_path / TOY / ".tstbench.json").read_bytes()
    assert json.loads(manifest) == {
        "builder": "somebody",
        "tags": ["v1", "v2"],
        "files": {
            path: {"sha256": hashlib.sha256(said).hexdigest(), "size": len(said)}
            for path, said in files.items()
        },
    }
    with pytest.raises(IntegrityError, match=r"other\.md is missing"):
        find_repository(tmp_path, "model", "tstbench/toy").source("other.md")
    assert commit == hashlib.sha256(manifest).hexdigest()[:40]
    assert [path.name for path in tmp_path.iterdir()] == ["models"]
    assert [path.name for path in (tmp_path / TOY).parent.iterdir()] == ["toy"]


def test_what_is_there_stays_and_what_changed_replaces_it(tmp_path):
    first = write(tmp_path, FILES)
    folder = (tmp_path / TOY).stat().st_ino
    assert write(tmp_path, FILES) == first
    assert (tmp_path / TOY).stat().st_ino == folder
    second = write(tmp_path, LATER)
    assert second != first
    assert content(tmp_path / TOY) == LATER
    assert not (tmp_path / TOY / "data").exists()
    assert write(tmp_path, LATER, tags=["v1"]) != second
    assert write(tmp_path, FILES) == first


def test_equal_content_has_an_equal_manifest_everywhere(tmp_path):
    folder = tmp_path / "source"
    for path, said in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(said)
    backwards = dict(reversed(FILES.items()))
    assert write(tmp_path / "a", folder) == write(tmp_path / "b", backwards)


@pytest.mark.parametrize("name", [*FILES, ".tstbench.json"])
@pytest.mark.parametrize("change", ["flipped", "cut", "empty", "missing"])
def test_what_is_not_as_it_was_built_is_not_read_and_is_written_again(tmp_path, name, change):
    commit = write(tmp_path, FILES)
    repository = find_repository(tmp_path, "model", "tstbench/toy")
    file = tmp_path / TOY / name
    said, state = file.read_bytes(), file.stat()
    assert repository.source(name).read_bytes() == said
    if change == "missing":
        file.unlink()
    else:
        new = {"flipped": b"m" + said[1:], "cut": said[:-4], "empty": b""}[change]
        file.write_bytes(new)
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(IntegrityError, match=f"{name} is (damaged|missing).*hub build"):
        [repository.source(path) for path in repository.manifest().files]
    if name == ".tstbench.json":
        with pytest.raises(InputError, match="contains files that TSTBench did not write"):
            write(tmp_path, FILES)
        return
    assert write(tmp_path, FILES) == commit
    assert content(tmp_path / TOY) == FILES


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a/../../b", ".git/config", ""])
def test_a_manifest_leads_to_its_own_folder_only(tmp_path, path):
    write(tmp_path, FILES)
    place = tmp_path / TOY / ".tstbench.json"
    manifest = json.loads(place.read_bytes())
    manifest["files"][path] = {"sha256": "0" * 64, "size": 1}
    place.write_text(json.dumps(manifest))
    with pytest.raises(IntegrityError, match=r"\.tstbench\.json is damaged"):
        find_repository(tmp_path, "model", "tstbench/toy").manifest()


def test_a_file_that_no_manifest_names_keeps_its_folder(tmp_path):
    write(tmp_path, FILES)
    (tmp_path / TOY / "NOTES.txt").write_text("mine")
    with pytest.raises(InputError, match="contains files that TSTBench did not write"):
        write(tmp_path, LATER)
    assert content(tmp_path / TOY) == {**FILES, "NOTES.txt": b"mine"}


def test_a_folder_that_a_killed_writer_moved_away_is_found(tmp_path):
    commit = write(tmp_path, FILES)
    for found in (list_repositories, lambda root: [find_repository(root, "model", "tstbench/toy")]):
        (tmp_path / TOY).rename((tmp_path / TOY).with_name(".toy.tstbench-old"))
        assert [one.commit for one in found(tmp_path)] == [commit]


def test_a_folder_of_somebody_else_is_neither_found_nor_written_over(tmp_path):
    (tmp_path / TOY).mkdir(parents=True)
    (tmp_path / TOY / "README.md").write_text("# Mine\n")
    assert list_repositories(tmp_path) == []
    with pytest.raises(InputError, match="contains files that TSTBench did not write"):
        write(tmp_path, FILES)
    assert content(tmp_path / TOY) == {"README.md": b"# Mine\n"}


@pytest.mark.skipif(not CHANGING.exists(), reason=f"there is no {CHANGING} here")
def test_a_file_that_changes_while_it_is_copied_is_whole_all_the_same(tmp_path):
    write(tmp_path, {**FILES, "vocab.txt": CHANGING})
    find_repository(tmp_path, "model", "tstbench/toy").source("vocab.txt")


def test_a_folder_is_taken_without_caches_and_hidden_files(tmp_path):
    folder = tmp_path / "source"
    hidden = (".env", "__pycache__/a.pyc", "metric.pyc", "__init__.py", ".git/config")
    for path in ("README.md", "a/vocab.txt", *hidden):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("" if path == "__init__.py" else "text")
    write(tmp_path / "root", folder)
    assert set(content(tmp_path / "root" / TOY)) == {"README.md", "a/vocab.txt"}
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        write(tmp_path / "root", folder)


@pytest.mark.parametrize("name", ["results", "tstbench/results/deeper", "tstbench/", "a b/c"])
def test_a_folder_whose_name_is_no_repositorys_is_none(name, tmp_path):
    (tmp_path / "datasets" / name).mkdir(parents=True)
    (tmp_path / "datasets" / name / ".tstbench.json").touch()
    assert find_repository(tmp_path, "dataset", name) is None


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
    (tmp_path / "spaces/tstbench/joint").rename(tmp_path / "kept")
    (tmp_path / TOY).rename(tmp_path / "gone")
    assert [link.name for link in (link_local_names(tmp_path) / "tstbench").iterdir()] == ["joint"]


def test_build_writes_each_kind_once(tmp_path):
    page = tmp_path / "leaderboard"
    page.mkdir()
    (page / "app.py").write_text("# page\n")
    (page / "README.md").write_text("---\nsdk: gradio\n---\n")
    metric = metric_folder(tmp_path / "wordcount")
    sources = [
        Artefact("dataset", "mini", "dataset", dataset_folder(tmp_path / "data")),
        Artefact("space", "wordcount", "metric", metric, ("v0.4.6",)),
        Artefact("space", "leaderboard", "page", page),
    ]
    root = tmp_path / "root"
    seen = []
    first = build(root, sources, report=seen.append)
    assert seen == first
    assert [(b.kind, b.repo_id, b.changed) for b in first] == [
        ("dataset", "tstbench/mini", True),
        ("space", "tstbench/wordcount", True),
        ("space", "tstbench/leaderboard", True),
    ]
    manifests = [repository.manifest() for repository in list_repositories(root)]
    assert [(one.builder, one.tags) for one in manifests] == [
        ("dataset", ()),
        ("page", ()),
        ("metric", ("v0.4.6",)),
    ]
    again = build(root, sources)
    assert [(b.commit, b.changed) for b in again] == [(b.commit, False) for b in first]
    (page / "app.py").write_text("# another page\n")
    assert [b.changed for b in build(root, sources, only=["leaderboard"])] == [True]
    assert len(list_repositories(root)) == 3
    with pytest.raises(UnknownNameError, match="Did you mean 'leaderboard'"):
        build(root, sources, only=["leaderbord"])
    with pytest.raises(MissingFileError):
        build(root, [Artefact("dataset", "gone", "dataset", tmp_path / "gone")])


def test_an_interrupted_writer_leaves_the_old_content(tmp_path, monkeypatch):
    first = write(tmp_path, FILES)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tstbench.pipelines.hub.manifest.write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, LATER)
    assert find_repository(tmp_path, "model", "tstbench/toy").commit == first
    assert content(tmp_path / TOY) == FILES
    assert [path.name for path in (tmp_path / TOY).parent.iterdir()] == ["toy"]


@pytest.mark.parametrize("work", [lambda root: write(root, FILES, "us/new"), link_local_names])
def test_a_second_writer_says_that_it_waits(tmp_path, monkeypatch, work):
    write(tmp_path, FILES)
    before, told, heard = {*tmp_path.rglob("[!.]*")}, [], threading.Event()
    monkeypatch.setattr(files, "_PATIENCE", 0)
    monkeypatch.setattr(files, "say", lambda text: told.append(text) or heard.set())
    writer = threading.Thread(target=work, args=[tmp_path])
    with files.lock(tmp_path, "hub", inside=True):
        writer.start()
        assert heard.wait(10)
        assert f"another tstbench is at work on {tmp_path}: waiting" in told[0]
        assert {*tmp_path.rglob("[!.]*")} == before
    writer.join()
    assert {*tmp_path.rglob("[!.]*")} > before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_takes_nothing_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written to"):
        write(tmp_path, FILES)
