"""Files and folders appear whole or not at all, nobody else's is replaced, and locks are locks."""

import hashlib
import multiprocessing
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tstbench.errors import InputError, MissingScorerError
from tstbench.files import (
    TEMPORARY,
    atomic_file,
    atomic_folder,
    check_free,
    file_state,
    folder_digest,
    lock,
    lock_if_writable,
    restore,
    write_text,
)
from tstbench.store import Store

OURS = "made.json"
FORK = multiprocessing.get_context("fork")
NOBODY = 65534
SEEN = ("open", "os.", "shutil.", "fcntl.")  # events that touch a disk


def is_ours(folder):
    return (folder / OURS).is_file()


def fill(scratch, content):
    (scratch / OURS).write_text(content)


def fill_and_be_interrupted(scratch):
    fill(scratch, "new")
    raise KeyboardInterrupt


def put_folder(path, content):
    with atomic_folder(path, ours=is_ours) as folder:
        fill(folder, content)
        (folder / "more").mkdir()
        (folder / "more" / "deep").write_text(content)


def names(folder, *, hidden=False):
    """What is in a folder; with ``hidden``, what begins with a dot."""
    found = (path.name for path in folder.iterdir())
    return sorted(n for n in found if n.startswith(".") == hidden)


# -- whole or not at all -------------------------------------------------------------------------


def test_our_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "out" / "system"
    for content in ("one", "two"):
        with atomic_folder(target, ours=is_ours) as scratch:
            fill(scratch, content)
    assert [p.name for p in target.iterdir()] == [OURS]
    assert (target / OURS).read_text() == "two"
    assert names(target.parent) == ["system"]


@pytest.mark.parametrize("ours", [None, is_ours])
def test_a_folder_that_is_not_ours_is_left_alone(tmp_path, ours):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with (
        pytest.raises(InputError, match="did not write"),
        atomic_folder(tmp_path / "thesis", ours=ours) as scratch,
    ):
        fill(scratch, "new")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"
    assert names(tmp_path) == ["thesis"]


def test_a_folder_with_nothing_but_locks_is_empty(tmp_path):
    with lock(tmp_path / "m" / "system"):
        pass
    put_folder(tmp_path / "m", "new")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".gitignore").touch()
    with pytest.raises(InputError, match="did not write"):
        put_folder(tmp_path / "own", "new")


def test_an_error_or_an_interrupt_leaves_the_old_content(tmp_path):
    put_folder(tmp_path / "system", "old")
    write_text(tmp_path / "file", "old")
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "system", ours=is_ours) as new:
        fill_and_be_interrupted(new)
    with pytest.raises(ZeroDivisionError), atomic_file(tmp_path / "file") as stream:
        stream.write(b"new" * (1 // 0))
    assert (tmp_path / "system" / OURS).read_text() == "old"
    assert (tmp_path / "file").read_text() == "old"
    assert (names(tmp_path), names(tmp_path, hidden=True)) == (["file", "system"], [])


def test_an_interrupt_between_the_two_moves_puts_the_folder_back(tmp_path, monkeypatch):
    put_folder(target := tmp_path / "system", "old")
    real = Path.replace

    def interrupted(self, to):
        if to == target and self.name.startswith(TEMPORARY):
            raise KeyboardInterrupt
        return real(self, to)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put_folder(target, "new")
    assert (target / OURS).read_text() == "old"
    assert (names(tmp_path), names(tmp_path, hidden=True)) == (["system"], [])


def test_a_folder_is_not_judged_while_another_writer_swaps_it(tmp_path):
    """Between the two moves the folder is gone: its mark cannot be seen, and it is still ours."""
    target = tmp_path / "system"
    with atomic_folder(target, ours=is_ours) as scratch:
        fill(scratch, "old")
    judged = threading.Event()

    def judge(folder):
        judged.set()
        return is_ours(folder)

    def write():
        with atomic_folder(target, ours=judge) as scratch:
            fill(scratch, "new")

    writer = threading.Thread(target=write)
    with lock(tmp_path, "swap", inside=True):
        writer.start()
        assert not judged.wait(0.3)
    writer.join()
    assert (target / OURS).read_text() == "new"


# -- kills ---------------------------------------------------------------------------------------


def in_child(work, *given):
    """Run a function in a process of its own; its exit code."""
    child = FORK.Process(target=work, args=given)
    child.start()
    child.join(30)
    return child.exitcode


def kills(work, *given, every=1):
    """Kill it before each of its steps, or every third, in turn, until it comes to its end."""

    def run(left):
        def hook(event, _):
            nonlocal left
            if event.startswith(SEEN):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        work(*given)
        os._exit(0)

    for number in range(1, 500, every):
        ended = in_child(run, number)
        assert ended in (0, -signal.SIGKILL)
        if ended == 0:
            assert number > 5
            return
        yield number
    pytest.fail("it never ends")


def test_a_killed_writer_of_a_file_leaves_old_or_new(tmp_path):
    file = tmp_path / "a.json"
    write_text(file, "old")
    for number in kills(write_text, file, "new"):
        assert file.read_text() in ("old", "new"), number
        assert names(tmp_path) == ["a.json"], number
        assert all(name.startswith(TEMPORARY) for name in names(tmp_path, hidden=True)), number
        write_text(file, "old")


@pytest.mark.slow
@pytest.mark.parametrize("then", ["a reader", "a writer who fails"])
def test_a_killed_writer_of_a_folder_leaves_old_or_new(tmp_path, then):
    put_folder(folder := tmp_path / "system", "old")
    was = set()
    for number in kills(put_folder, folder, "new"):
        if then == "a reader":
            restore(folder)
        else:
            with pytest.raises(ZeroDivisionError), atomic_folder(folder, ours=is_ours):
                _ = 1 / 0
        found = {(folder / name).read_text() for name in (OURS, "more/deep")}
        assert found in ({"old"}, {"new"}), number
        was |= found
        put_folder(folder, "old")
        assert names(tmp_path) == ["system"], number
        assert names(folder) == [OURS, "more"], number
        assert all(name.startswith(TEMPORARY) for name in names(tmp_path, hidden=True)), number
    assert was == {"old", "new"}


@dataclass(frozen=True)
class Toy:
    """A card of the smallest store."""

    name: str
    recipe: str = "0" * 64


TOYS = Store(
    what="toy",
    folder="toys",
    card_file="toy.json",
    card_type=Toy,
    key=lambda card: ("toys", card.name),
    describe=lambda _: {"README.md": "a toy"},
    command=lambda _: "make it",
    missing=MissingScorerError,
)


def keep_toy():
    TOYS.keep(Toy("bear"), lambda folder: write_text(folder / "weights", "1 2 3"))


@pytest.mark.slow
def test_a_model_that_is_stored_is_there_whole_or_not(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path))
    for number in kills(keep_toy, every=3):
        if TOYS.index_file(("toys", "bear")).exists():
            TOYS.find(("toys", "bear"))
        keep_toy()
        model = TOYS.find(("toys", "bear"))
        assert names(tmp_path / "toys" / "objects") == [model.hash], number
        assert names(tmp_path / "toys" / "index" / "toys") == ["bear.json"], number
        shutil.rmtree(tmp_path / "toys")


@pytest.mark.parametrize("nth", [1, 2])
def test_a_temporary_folder_is_gone_though_its_removal_was_interrupted(tmp_path, nth):
    """Ctrl-C comes before its first or its second file is removed."""
    script = """if True:
        import os, signal, sys
        from pathlib import Path
        from tstbench.files import temporary_folder
        left = int(sys.argv[2])

        def stop(event, arguments):
            global left
            if event in ("os.remove", "os.rmdir"):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGINT)

        with temporary_folder(Path(sys.argv[1]) / "model") as made:
            for name in "ab":
                (made / name).write_text("x")
            sys.addaudithook(stop)
    """
    command = [sys.executable, "-c", script, str(tmp_path), str(nth)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode in (1, 130, -2), done.stderr
    assert done.stderr.strip().endswith("KeyboardInterrupt")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_process_outlives_its_forks_and_not_itself():
    code = (
        "import os, sys; from tstbench.files import process_folder; print(process_folder())\n"
        "sys.stdout.flush(); child = os.fork()\n"
        "if child: os.waitpid(child, 0); print(process_folder().is_dir())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    folder, there = done.stdout.splitlines()
    assert (there, Path(folder).exists()) == ("True", False)


def test_everything_is_on_the_disk_before_and_after_it_gets_its_name(tmp_path, monkeypatch):
    """Files and folders before the move, the names in their folder after it."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("only Linux tells what a handle is of")
    events = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(handle):
        events.append(Path(f"/proc/self/fd/{handle}").readlink())
        real_sync(handle)

    def replace(self, to):
        events.append("move")
        return real_replace(self, to)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    put_folder(tmp_path / "system", "new")
    before, after = events[: events.index("move")], events[events.index("move") + 1 :]
    assert {path.name for path in before} >= {OURS, "more", "deep"}
    assert after == [tmp_path]

    events.clear()
    write_text(tmp_path / "file", "x")
    assert [getattr(event, "name", event) for event in events] == ["new", "move", tmp_path.name]


# -- folders that are shared ---------------------------------------------------------------------


def test_what_is_made_is_shared_as_its_folder_is(tmp_path):
    (tmp_path / "alone").mkdir(mode=0o755)
    (tmp_path / "group").mkdir()
    (tmp_path / "group").chmod(0o2775)
    for folder, file_mode, folder_mode in (("alone", 0o644, 0o755), ("group", 0o664, 0o2775)):
        write_text(tmp_path / folder / "file", "")
        put_folder(tmp_path / folder / "made", "x")
        modes = [stat.S_IMODE((tmp_path / folder / n).stat().st_mode) for n in ("file", "made")]
        assert modes == [file_mode, folder_mode]


def test_a_folder_behind_a_link_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "disk" / "big")
    for content in ("one", "two"):
        put_folder(tmp_path / "results", content)
    assert (tmp_path / "disk" / "big" / OURS).read_text() == "two"
    assert (tmp_path / "results").is_symlink()
    assert names(tmp_path / "disk") == ["big"]


def test_a_file_with_the_longest_name_can_be_written(tmp_path):
    write_text(tmp_path / ("ü" * 127), "x")
    assert names(tmp_path) == ["ü" * 127]


@pytest.fixture
def shared():
    """A folder that root and another user can write to."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can be two users")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    (folder / "results").mkdir()
    folder.chmod(0o755)
    (folder / "results").chmod(0o777)
    yield folder / "results"
    shutil.rmtree(folder)


def as_nobody(work, *given):
    def run():
        os.umask(0o022)
        os.setuid(NOBODY)
        work(*given)

    return in_child(run)


def lock_briefly(path):
    with lock(path, wait=False) as free:
        assert free


def test_two_users_of_one_folder_take_turns(shared):
    path = shared / "system"
    put_folder(path, "old")
    child = holder(path)
    child.kill()
    child.join()
    assert as_nobody(lock_briefly, path) == 0
    assert as_nobody(put_folder, path, "new") == 0
    assert (path / OURS).read_text() == "new"
    put_folder(path, "newest")
    assert names(shared) == ["system"]


def test_what_a_user_may_not_remove_keeps_nobody_from_writing_again(shared):
    with atomic_folder(shared / "system", ours=is_ours) as new:
        fill(new, "old")
        (new / "pages").mkdir(mode=0o755)
        (new / "pages" / "one.html").touch()
    for content in ("new", "newest"):
        assert as_nobody(put_folder, shared / "system", content) == 0
        assert (shared / "system" / OURS).read_text() == content
    (left,) = names(shared, hidden=True)
    assert left.startswith(TEMPORARY)


def test_a_lock_in_a_folder_like_tmp_keeps_nobody_out(shared):
    shared.chmod(0o1777)  # sticky: nobody removes, or "makes" again, somebody else's file
    lock_briefly(shared / "system")
    assert as_nobody(lock_briefly, shared / "system") == 0


def test_a_folder_that_takes_nothing_is_an_error_that_says_so(shared):
    shared.chmod(0o755)

    def work():
        writers = (partial(write_text, content="new"), partial(check_free, ours=None))
        for attempt in (lock_briefly, *writers):
            with pytest.raises(InputError, match="results cannot be written to: Perm") as told:
                attempt(shared / "system")
            assert isinstance(told.value, PermissionError)
        with lock_if_writable(shared / "system"):
            assert list(shared.iterdir()) == []

    assert as_nobody(work) == 0
    with lock_if_writable(shared / "system"):  # root may write
        assert list(shared.iterdir()) != []


# -- locks ---------------------------------------------------------------------------------------


def hold(path, ready):
    with lock(path):
        ready.set()
        time.sleep(60)


def holder(path):
    """A process that holds the lock of a path."""
    ready = FORK.Event()
    child = FORK.Process(target=hold, args=(path, ready))
    child.start()
    assert ready.wait(20)
    return child


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "answers"
    child = holder(path)
    with lock(path, wait=False) as free, lock(path, "other", wait=False) as other:
        assert (free, other) == (False, True)
    with lock(path, wait=False) as free:
        assert not free, "who was refused took the file away"
    assert names(tmp_path, hidden=True) == [".answers.change.lock"]
    child.kill()
    child.join()
    lock_briefly(path)
    assert names(tmp_path, hidden=True) == []


def test_a_forked_process_that_lives_on_keeps_no_lock(tmp_path):
    with lock(tmp_path / "a"):
        child = FORK.Process(target=time.sleep, args=(60,), daemon=True)
        child.start()
    lock_briefly(tmp_path / "a")
    child.kill()


def test_threads_take_turns(tmp_path):
    seen = []

    def work():
        with lock(tmp_path / "a", wait=False) as free:
            seen.append(free)

    with lock(tmp_path / "a"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [False]


def test_a_long_wait_is_told_once_with_the_path(tmp_path, capsys):
    path = tmp_path / "answers"
    child = holder(path)
    FORK.Process(target=_kill_later, args=(child.pid,)).start()
    with lock(path):
        pass
    child.join()
    said = capsys.readouterr().err
    assert said.count("waiting for it") == 1
    assert str(path) in said
    assert "Ctrl-C" in said


def _kill_later(number):
    time.sleep(2.4)
    os.kill(number, signal.SIGKILL)


def add_one(path):
    for _ in range(20):
        with lock(path):
            number = int(path.read_text())
            path.write_text(str(number + 1))


def test_many_processes_take_turns(tmp_path):
    path = tmp_path / "number"
    path.write_text("0")
    workers = [FORK.Process(target=add_one, args=(path,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert path.read_text() == "80"


# -- what is in them ------------------------------------------------------------------------------


def test_a_folders_digest_is_that_of_its_names_and_contents_in_order(tmp_path):
    names = [f"{number * 7 % 13:02d}/{letter}" for number in range(13) for letter in "zBa"]
    for name in names:
        write_text(tmp_path / name, f"content of {name}, é\n")
    digest = hashlib.sha256()
    for name in sorted(names, key=lambda name: tuple(name.split("/"))):
        content = f"content of {name}, é\n".encode()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    assert folder_digest(tmp_path) == digest.hexdigest()
    write_text(tmp_path / "more", "")
    assert folder_digest(tmp_path) != digest.hexdigest()
    assert folder_digest(tmp_path, skip=["more"]) == digest.hexdigest()


def test_another_file_of_the_same_size_and_time_has_another_state(tmp_path):
    first, other = tmp_path / "a.txt", tmp_path / "b.txt"
    for path, text in ((first, "one"), (other, "two")):
        path.write_text(text)
        os.utime(path, ns=(10**18, 10**18))
    before = file_state(first)
    assert file_state(first) == before
    other.replace(first)
    assert file_state(first) != before
    first.unlink()
    assert file_state(first) == f"{first} absent"


def test_a_whole_folder_is_read_without_a_lock(tmp_path):
    """Readers may have no right to write there."""
    folder, left = tmp_path / "kept", tmp_path / ".kept.tstbench-old"
    folder.mkdir()
    left.mkdir()
    restore(folder)
    assert names(tmp_path, hidden=True) == [left.name]
