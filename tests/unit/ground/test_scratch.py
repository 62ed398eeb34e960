"""A process that is killed leaves the old content or the new, and the next one nothing else."""

import errno
import multiprocessing
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tstbench import locks, scratch, swaps
from tstbench.errors import InputError, MissingScorerError
from tstbench.files import atomic_file, atomic_folder, exclusive, exclusive_if_writable, write_text
from tstbench.store import Store

fcntl = pytest.importorskip("fcntl", reason="Windows has no such locks")
FORK = multiprocessing.get_context("fork")
NOBODY = 65534
SEEN = ("open", "os.", "shutil.", "fcntl.", "ctypes.")  # events that touch a disk


def in_child(work, *given):
    """Run a function in a process of its own; its exit code."""
    child = FORK.Process(target=work, args=given)
    child.start()
    child.join(30)
    return child.exitcode


def killed_at(number, work, *given):
    """Run a function, and kill -9 its process when it touches the disk the nth time."""

    def run():
        left = [number]

        def hook(event, _):
            if event.startswith(SEEN):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        work(*given)
        os._exit(0)

    return in_child(run)


def kills(work, *given, every=1):
    """Kill it at each of its steps, or every third, in turn, until it is quick enough to end."""
    for number in range(1, 500, every):
        ended = killed_at(number, work, *given)
        assert ended in (0, -signal.SIGKILL)
        if ended == 0:
            assert number > 5
            return
        yield number
    pytest.fail("it never ends")


def is_ours(folder):
    return (folder / "made").is_file()


def put_folder(path, content):
    with atomic_folder(path, ours=is_ours) as folder:
        write_text(folder / "made", content)
        (folder / "more").mkdir()
        (folder / "more" / "deep").write_text(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_writer_of_a_file_leaves_old_or_new_and_the_next_one_sweeps(tmp_path):
    file = tmp_path / "a.json"
    write_text(file, "old")
    for number in kills(write_text, file, "new"):
        assert file.read_text() in ("old", "new"), number
        scratch._swept.clear()
        write_text(tmp_path / "beside", "")
        assert names(tmp_path) == ["a.json", "beside"], number
        write_text(file, "old")


@pytest.mark.slow
@pytest.mark.parametrize("exchange", [True, False], ids=["exchanged", "two moves"])
def test_a_killed_writer_of_a_folder_leaves_old_or_new(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(swaps, "_exchange", lambda: None)
    else:
        (tmp_path / "one").mkdir()
        (tmp_path / "two").mkdir()
        if not swaps._exchanged(tmp_path / "one", tmp_path / "two"):
            pytest.skip("this disk cannot exchange two names")
        (tmp_path / "one").rmdir()
        (tmp_path / "two").rmdir()
    folder = tmp_path / "system"
    put_folder(folder, "old")
    was = set()
    for number in kills(put_folder, folder, "new"):
        if exchange:
            was.add((folder / "made").read_text())  # never a moment without it
        with pytest.raises(ZeroDivisionError), atomic_folder(folder, ours=is_ours):
            _ = 1 / 0  # the next writer fails for a reason of its own: the content is still there
        found = {(folder / name).read_text() for name in ("made", "more/deep")}
        assert found in ({"old"}, {"new"}), number
        was |= found
        scratch._swept.clear()
        put_folder(folder, "old")
        assert names(tmp_path) == ["system"], number
        assert names(folder) == ["made", "more"], number
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
def test_a_model_that_is_stored_is_there_whole_or_not_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path))
    for number in kills(keep_toy, every=3):
        if TOYS.index_file(("toys", "bear")).exists():
            TOYS.find(("toys", "bear"))
        scratch._swept.clear()
        keep_toy()
        model = TOYS.find(("toys", "bear"))
        assert names(tmp_path / "toys" / "objects") == [model.hash], number
        assert names(tmp_path / "toys" / "index" / "toys") == ["bear.json"], number
        shutil.rmtree(tmp_path / "toys")


def hold(path, ready):
    with exclusive(path, "change"):
        ready.set()
        time.sleep(60)


def holder(path):
    """A process that holds the lock of a path."""
    ready = FORK.Event()
    child = FORK.Process(target=hold, args=(path, ready))
    child.start()
    assert ready.wait(20)
    return child


def test_a_lock_leaves_nothing_and_a_killed_one_is_free(tmp_path):
    path = tmp_path / "answers"
    with exclusive(path):
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == []

    child = holder(path)
    assert not exclusive(path).acquire(wait=False)
    assert exclusive(path, "other").acquire(wait=False)
    child.kill()
    child.join()
    assert [name for name in names(tmp_path) if name.endswith("lock-change")]
    with exclusive(path):
        pass
    assert names(tmp_path) == [".answers.tstbench-lock-other"]  # held by this test


@pytest.mark.parametrize("errno_", [None, errno.ENOSYS], ids=["filelock", "soft lock"])
@pytest.mark.filterwarnings("ignore:flock not supported")
def test_a_disk_without_flock_has_locks_as_well(tmp_path, monkeypatch, errno_):
    monkeypatch.setattr(locks, "take", lambda _: None)
    if errno_ is not None:

        def absent(*_):
            raise OSError(errno_, "no flock on this disk")

        monkeypatch.setattr(fcntl, "flock", absent)
    path = tmp_path / "answers"
    for _ in range(2):
        with exclusive(path):
            assert not exclusive(path).acquire(wait=False)
            with exclusive(path, "other"):
                pass
    write_text(path, "x")
    assert path.read_text() == "x"


def test_a_forked_process_that_lives_on_keeps_no_lock(shared):
    """Where the lock's file cannot be removed, it is free all the same."""
    shared.chmod(0o1777)
    (shared / ".a.tstbench-lock-change").touch()
    (shared / ".a.tstbench-lock-change").chmod(0o666)

    def work():
        with exclusive(shared / "a"):
            FORK.Process(target=time.sleep, args=(3,), daemon=True).start()
        assert exclusive(shared / "a").acquire(wait=False)

    assert as_nobody(work) == 0


def test_a_sweep_takes_a_dead_lock_and_spares_a_living_one(tmp_path):
    child = holder(tmp_path / "a")
    scratch.sweep(tmp_path)
    assert names(tmp_path) == [".a.tstbench-lock-change"]
    assert not exclusive(tmp_path / "a").acquire(wait=False)
    child.kill()
    child.join()
    scratch._swept.clear()
    scratch.sweep(tmp_path)
    assert names(tmp_path) == []


def test_a_long_wait_is_told_once_with_the_path(tmp_path, capsys):
    path = tmp_path / "answers"
    child = holder(path)
    FORK.Process(target=_kill_later, args=(child.pid,)).start()
    with exclusive(path):
        pass
    child.join()
    said = capsys.readouterr().err
    assert said.count("waiting until") == 1
    assert str(path) in said
    assert "Ctrl-C" in said


def _kill_later(number):
    time.sleep(2.4)
    os.kill(number, signal.SIGKILL)


def add_one(path):
    for _ in range(200):
        with exclusive(path):
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
    assert path.read_text() == "800"
    assert names(tmp_path) == ["number"]


@pytest.fixture
def shared(tmp_path):
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
        scratch._swept.clear()
        work(*given)

    return in_child(run)


def test_two_users_of_one_folder_take_turns_and_clean_up(shared):
    path = shared / "system"
    put_folder(path, "old")
    child = holder(path)
    child.kill()
    child.join()
    assert names(shared) == [".system.tstbench-lock-change", "system"]
    assert as_nobody(lock_briefly, path) == 0
    assert as_nobody(put_folder, path, "new") == 0
    assert (path / "made").read_text() == "new"
    put_folder(path, "newest")
    assert names(shared) == ["system"]


def test_a_lock_left_in_a_folder_like_tmp_keeps_nobody_out(shared):
    shared.chmod(0o1777)  # sticky: nobody removes, or "makes" again, somebody else's file
    child = holder(shared / "system")
    child.kill()
    child.join()
    assert as_nobody(lock_briefly, shared / "system") == 0


def lock_briefly(path):
    assert exclusive(path).acquire(wait=False)


def test_a_folder_that_takes_nothing_is_an_error_that_says_so(shared):
    shared.chmod(0o755)

    def work():
        with pytest.raises(InputError, match=r"results cannot be written to: Permission denied"):
            lock_briefly(shared / "system")
        with pytest.raises(PermissionError):
            lock_briefly(shared / "system")

    assert as_nobody(work) == 0


def test_where_nothing_can_be_written_nothing_is_locked(shared):
    shared.chmod(0o755)

    def work():
        with exclusive_if_writable(shared / "system"):
            assert names(shared) == []

    assert as_nobody(work) == 0
    with exclusive_if_writable(shared / "system"):  # root may write
        assert names(shared) == [".system.tstbench-lock-change"]


def leave_temporary(ready):
    with scratch.scratch_folder() as folder:
        (folder / "text").write_text("x")
        ready.put(folder)
        time.sleep(60)


def test_a_temporary_folder_of_a_killed_process_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    told = FORK.SimpleQueue()
    child = FORK.Process(target=leave_temporary, args=(told,))
    child.start()
    left = told.get()
    assert left.parent == tmp_path
    with scratch.scratch_folder() as folder:
        assert left.is_dir()  # its owner lives
        assert folder != left
    child.kill()
    child.join()
    assert names(tmp_path) == [left.name]
    scratch._swept.clear()
    with scratch.scratch_folder():
        assert not left.exists()
    assert names(tmp_path) == []


def test_only_what_is_ours_is_swept(tmp_path):
    theirs = ["tstbench-notes", ".a.tstbench-", ".env", "tstbench-0123", ".tstbench-" + "0" * 11]
    for name in theirs:
        (tmp_path / name).mkdir()
    label = scratch._machine() + "01234567"
    (tmp_path / f".a.tstbench-{label}").mkdir()
    (tmp_path / "thesis").mkdir()
    (tmp_path / f".b.tstbench-{label}").symlink_to(tmp_path / "thesis")
    elsewhere = tmp_path / ".a.tstbench-zzzz".replace("zzzz", _other_machine() + "01234567")
    elsewhere.write_text("of another machine, whose locks are not seen here")
    scratch.sweep(tmp_path)
    kept = {*theirs, "thesis", elsewhere.name, f".b.tstbench-{label}"}
    assert set(names(tmp_path)) == kept
    os.utime(elsewhere, (0, 0))
    scratch._swept.clear()
    scratch.sweep(tmp_path)
    assert elsewhere.name not in names(tmp_path)


def _other_machine():
    return "0000" if scratch._machine() != "0000" else "1111"


def test_what_is_made_is_shared_as_its_folder_is(tmp_path):
    (tmp_path / "alone").mkdir(mode=0o755)
    (tmp_path / "group").mkdir()
    (tmp_path / "group").chmod(0o2775)
    for folder, file_mode, folder_mode in (("alone", 0o644, 0o755), ("group", 0o664, 0o2775)):
        write_text(tmp_path / folder / "file", "")
        put_folder(tmp_path / folder / "made", "x")
        modes = [stat.S_IMODE((tmp_path / folder / n).stat().st_mode) for n in ("file", "made")]
        assert modes == [file_mode, folder_mode]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    write_text(tmp_path / "file", "old")
    with pytest.raises(ZeroDivisionError), atomic_file(tmp_path / "file") as stream:
        stream.write(b"new" * (1 // 0))
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_a_folder_behind_a_link_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "disk" / "big")
    for content in ("one", "two"):
        put_folder(tmp_path / "results", content)
    assert (tmp_path / "disk" / "big" / "made").read_text() == "two"
    assert (tmp_path / "results").is_symlink()
    assert names(tmp_path / "disk") == ["big"]


def test_files_with_the_longest_names_can_be_written(tmp_path):
    name = "ü" * 127
    write_text(tmp_path / name, "x")
    with exclusive(tmp_path / name):
        assert (tmp_path / name).read_text() == "x"


def test_everything_is_on_the_disk_before_and_after_it_gets_its_name(tmp_path, monkeypatch):
    """Files and folders before the swap, the names in their folder after it."""
    put_folder(tmp_path / "system", "old")
    events = []
    real_sync, real_exchanged = os.fsync, swaps._exchanged

    def sync(handle):
        events.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        real_sync(handle)

    def exchanged(one, other):
        events.append("swap")
        return real_exchanged(one, other)

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("only Linux tells what a handle is of")
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(swaps, "_exchanged", exchanged)
    put_folder(tmp_path / "system", "new")
    before = events[: events.index("swap")]
    assert {Path(path).name for path in before} >= {"made", "more", "deep"}
    assert events[-1] == str(tmp_path)

    events.clear()
    write_text(tmp_path / "file", "x")
    assert [Path(path).parent for path in events] == [tmp_path, tmp_path.parent]


def sweep_for_ever(folder):
    while True:
        scratch._swept.clear()
        scratch.sweep(folder)


@pytest.mark.slow
def test_what_is_being_made_is_swept_before_it_is_used_or_never(tmp_path):
    """Sweepers meet scratch between its making and its locking: its maker then makes another."""
    sweepers = [FORK.Process(target=sweep_for_ever, args=(tmp_path,)) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for number in range(300):
            with scratch.scratch_folder(beside=tmp_path / "model") as folder:
                write_text(folder / "made.json", str(number))
            write_text(tmp_path / "report.json", str(number))
    finally:
        for sweeper in sweepers:
            sweeper.kill()
            sweeper.join()
    assert (tmp_path / "report.json").read_text() == "299"


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    opened, swept = scratch._opened, []

    def too_late(path):
        if not swept:
            swept.append(path)
            path.rmdir()
        return opened(path)

    monkeypatch.setattr(scratch, "_opened", too_late)
    with scratch.scratch_folder(beside=tmp_path / "model") as folder:
        assert folder.is_dir()
        assert swept != [folder]


@pytest.mark.parametrize("call", ["fchmod", "take", "has_name"])
def test_a_lock_that_is_interrupted_while_it_is_made_leaves_no_file(tmp_path, monkeypatch, call):
    lock = exclusive(tmp_path / "report.json")
    owner = os if call == "fchmod" else locks
    real, stopped = getattr(owner, call), []

    def stop(*arguments):
        found = real(*arguments)
        if not stopped:
            stopped.append(call)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(owner, call, stop)
    with pytest.raises(KeyboardInterrupt):
        lock.acquire()
    assert list(tmp_path.iterdir()) == []
    with lock:
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [scratch.scratch_file, scratch.scratch_folder])
@pytest.mark.parametrize("call", ["_opened", "take", "has_name"])
def test_scratch_that_is_interrupted_while_it_is_made_is_not_left(
    tmp_path, monkeypatch, make, call
):
    """A file is not opened a second time to be locked."""
    path, real, stopped = tmp_path / "model", getattr(scratch, call), []

    def stop(*arguments):
        if not stopped:
            stopped.append(call)
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(scratch, call, stop)
    if make is scratch.scratch_folder or call != "_opened":
        with pytest.raises(KeyboardInterrupt), make(path):
            pass
        assert list(tmp_path.iterdir()) == []
    with make(path):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("make", [scratch.scratch_file, scratch.scratch_folder, exclusive])
def test_what_is_interrupted_while_it_is_taken_away_is_gone_all_the_same(tmp_path, make, nth):
    """Ctrl-C comes before the first or the second removal in the folder: one line, then the end."""
    script = """if True:
        import os, signal, sys
        from pathlib import Path
        from tstbench.files import exclusive
        from tstbench.scratch import scratch_file, scratch_folder
        left = int(sys.argv[3])

        def stop(event, arguments):
            global left
            if event in ("os.remove", "os.rmdir"):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGINT)

        with globals()[sys.argv[1]](Path(sys.argv[2]) / "model") as made:
            if isinstance(made, Path):
                for name in "ab":
                    (made / name).write_text("x")
            sys.addaudithook(stop)
    """
    command = [sys.executable, "-c", script, make.__name__, str(tmp_path), str(nth)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if nth == 1 or make is scratch.scratch_folder:
        assert done.returncode in (1, 130, -2), done.stderr
        assert done.stderr.strip().endswith("KeyboardInterrupt")
    else:
        assert (done.returncode, done.stderr) == (0, "")  # there was nothing more to take away
    assert list(tmp_path.iterdir()) == []
