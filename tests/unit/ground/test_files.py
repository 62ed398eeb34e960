"""Folders appear whole or not at all, and nobody else's is ever replaced."""

import hashlib
import multiprocessing
import os
import threading

import pytest

from tstbench import swaps
from tstbench.errors import InputError
from tstbench.files import atomic_folder, exclusive, file_state, folder_digest, write_text

OURS = "made.json"


def is_ours(folder):
    return (folder / OURS).is_file()


def fill(scratch, content):
    (scratch / OURS).write_text(content)


def fill_and_be_interrupted(scratch):
    fill(scratch, "new")
    raise KeyboardInterrupt


def test_our_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "out" / "system"
    for content in ("one", "two"):
        with atomic_folder(target, ours=is_ours) as scratch:
            fill(scratch, content)
    assert [p.name for p in target.iterdir()] == [OURS]
    assert (target / OURS).read_text() == "two"
    assert [p.name for p in target.parent.iterdir()] == ["system"]


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
    assert [p.name for p in tmp_path.iterdir()] == ["thesis"]


def test_an_error_or_an_interrupt_leaves_the_old_content(tmp_path, monkeypatch):
    target = tmp_path / "system"
    with atomic_folder(target, ours=is_ours) as scratch:
        fill(scratch, "old")
    with pytest.raises(KeyboardInterrupt), atomic_folder(target, ours=is_ours) as scratch:
        fill_and_be_interrupted(scratch)
    assert (target / OURS).read_text() == "old"

    # The worst moment, where two names cannot be exchanged: the old folder is out of the way, the
    # new one not yet in place.
    monkeypatch.setattr(swaps, "_exchange", lambda: None)
    real = type(target).replace

    def interrupted(self, to):
        if to == target and not self.name.endswith("-old"):
            raise KeyboardInterrupt
        return real(self, to)

    monkeypatch.setattr(type(target), "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_folder(target, ours=is_ours) as scratch:
        fill(scratch, "new")
    assert (target / OURS).read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["system"]


def write_many_times(target, content):
    for _ in range(30):
        with atomic_folder(target, ours=is_ours) as scratch:
            fill(scratch, content)


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
    with exclusive(target, "swap"):
        writer.start()
        assert not judged.wait(0.3)
    writer.join()
    assert (target / OURS).read_text() == "new"


def test_writers_in_several_processes_take_turns(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=write_many_times, args=(tmp_path / "system", content))
        for content in ("a", "b", "c")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert (tmp_path / "system" / OURS).read_text() in {"a", "b", "c"}


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
