"""Hub folders whose writer was killed, or has company: the next one finds or leaves them whole."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tstbench.errors import InputError, IntegrityError
from tstbench.pipelines.hub.lfs import object_path, parse_pointer
from tstbench.pipelines.hub.one_writer import hub_lock
from tstbench.pipelines.hub.repositories import find_repository
from tstbench.pipelines.hub.writing import write_repository

FILES = {"README.md": b"# Card\n", "data/weights.bin": b"large, by name", "vocab.txt": b"a\n"}
LATER = {**FILES, "README.md": b"# Later\n"}
NAME = "tstbench/toy"

# Writes FILES, and is killed before (or after) its n-th git command.
KILLED = """
import os, signal, sys
from tstbench.pipelines.hub import one_writer, writing
sys.path.insert(0, {tests!r})
from test_hub_one_writer import FILES, LATER, NAME

real, count = writing.git, 0

def killing(git_dir, *arguments, **options):
    global count
    count += 1
    if count == {at} and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(git_dir, *arguments, **options)
    if count == {at}:
        (git_dir / "index.lock").touch()  # as git leaves it if it is killed too
        os.kill(os.getpid(), signal.SIGKILL)
    return done

writing.git = one_writer.git = killing
writing.write_repository({root!r}, "model", NAME, {files}, tags=["v1"])
"""


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def git(root, *command):
    path = root / "models" / NAME
    done = subprocess.run(["git", "-C", path, *command], capture_output=True, check=True, text=True)
    return done.stdout.strip()


def names(root):
    """Every file but what git itself may order differently."""
    skipped = ("objects", "index", "logs")
    return {
        p.relative_to(root).as_posix()
        for p in root.rglob("*")
        if p.is_file() and not any(part in skipped for part in p.parts)
    }


def killed(root, at, before, files="FILES"):
    tests = str(Path(__file__).parent)
    done = run(KILLED.format(tests=tests, at=at, before=before, root=str(root), files=files))
    return done.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    root = tmp_path_factory.mktemp("undisturbed")
    commits = [
        write_repository(root, "model", NAME, files, tags=["v1"]) for files in (FILES, LATER)
    ]
    return root, commits


@pytest.mark.parametrize("before", [True, False])
def test_killed_between_any_two_git_commands(tmp_path, undisturbed, before):
    whole, (first, second) = undisturbed
    kills = 0
    for at in range(1, 20, 1 if before else 2):
        root = tmp_path / str(at)
        if not killed(root, at, before):
            break
        kills += 1
        assert write_repository(root, "model", NAME, FILES, tags=["v1"]) == first
        assert git(root, "symbolic-ref", "HEAD") == "refs/heads/main"
        # Without git-lfs, git compares the large file with its pointer.
        assert git(root, "status", "--short") in ("", "M data/weights.bin")
        assert git(root, "fsck", "--strict") == ""
        assert write_repository(root, "model", NAME, LATER, tags=["v1"]) == second
        assert names(root) == names(whole)
    assert kills > 2


def test_killed_while_a_later_version_is_written(tmp_path, undisturbed):
    whole, (first, second) = undisturbed
    assert write_repository(tmp_path, "model", NAME, FILES, tags=["v1"]) == first
    assert killed(tmp_path, 4, False, "LATER")
    assert write_repository(tmp_path, "model", NAME, LATER, tags=["v1"]) == second
    assert git(tmp_path, "rev-parse", "v1") == second
    assert names(tmp_path) == names(whole)


def test_three_writers_at_once(tmp_path):
    program = (
        "import sys; from pathlib import Path; from tstbench.pipelines.hub.build import *;"
        "from tstbench.pipelines.hub.writing import write_repository;"
        "[write_repository(Path(sys.argv[1]), 'model', f'tstbench/toy{n % 2}',"
        " {'README.md': f'# {n} of {sys.argv[2]}\\n'.encode()}) for n in range(6)];"
        "link_local_names(Path(sys.argv[1]))"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), str(n)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for writer in writers:
        said = writer.communicate(timeout=100)[1]
        assert writer.returncode == 0, said
        assert ".lock" not in said
    for n in range(2):
        assert len(find_repository(tmp_path, "model", f"tstbench/toy{n}").history()) == 9


def test_a_second_writer_says_that_it_waits(tmp_path):
    program = (
        "import sys; from pathlib import Path;"
        "from tstbench.pipelines.hub.writing import write_repository;"
        f"write_repository(Path(sys.argv[1]), 'model', {NAME!r}, {{'README.md': b'# A'}})"
    )
    with hub_lock(tmp_path):
        other = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stderr=subprocess.PIPE, text=True
        )
        assert f"another tstbench is at work on {tmp_path}: waiting" in other.stderr.readline()
        assert find_repository(tmp_path, "model", NAME) is None
    assert other.wait(60) == 0
    other.stderr.close()
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["models"]


def test_a_git_program_of_somebody_else_is_left_alone(tmp_path):
    write_repository(tmp_path, "model", NAME, FILES)
    lock = tmp_path / "models" / NAME / ".git/index.lock"
    lock.touch()
    with pytest.raises(InputError, match="another git program is at work"):
        write_repository(tmp_path, "model", NAME, LATER)
    assert lock.exists()
    lock.unlink()
    write_repository(tmp_path, "model", NAME, LATER)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_takes_nothing_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written to"):
        write_repository(tmp_path, "model", NAME, FILES)


@pytest.mark.parametrize("change", ["flipped", "cut", "empty", "missing"])
def test_a_damaged_large_file_is_not_read_and_is_written_again(tmp_path, change):
    commit = write_repository(tmp_path, "model", NAME, FILES)
    repository = find_repository(tmp_path, "model", NAME)
    entry = repository.files(commit)["data/weights.bin"]
    file = object_path(repository.git_dir, entry.pointer.sha256)
    content = FILES["data/weights.bin"]
    assert repository.source(entry) == file
    if change == "missing":
        file.unlink()
    else:
        new = {"flipped": b"m" + content[1:], "cut": content[:-1], "empty": b""}[change]
        file.write_bytes(new)
    with pytest.raises(IntegrityError, match=r"data/weights\.bin is (damaged|missing)"):
        repository.source(entry)
    assert write_repository(tmp_path, "model", NAME, FILES) == commit
    assert repository.source(entry).read_bytes() == content


def test_a_pointer_names_its_content(tmp_path):
    commit = write_repository(tmp_path, "model", NAME, FILES)
    repository = find_repository(tmp_path, "model", NAME)
    entry = repository.files(commit)["data/weights.bin"]
    stored = git(tmp_path, "cat-file", "blob", entry.blob) + "\n"
    assert parse_pointer(stored.encode()) == entry.pointer
