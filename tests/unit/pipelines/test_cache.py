"""``tstbench cache``: what is kept, and what pruning takes and leaves."""

import os
import shutil
import threading
from datetime import date

import pytest
from own_data import write_lines, write_manners
from prepared import command_line, success

from tstbench.files import TEMPORARY, temporary_folder
from tstbench.metrics.scorers.artefacts import SCORERS, find
from tstbench.pipelines.cache import entries


@pytest.fixture
def used(tmp_path, tstbench_home, capsys):
    """A home in which a classifier was trained, and again after its data changed."""
    data = write_manners(tmp_path / "data")
    things = ("salt", "door", "bill", "soup", "coat", "lamp", "book", "cup", "chair", "map")
    rude = [f"give me the {thing} now" for thing in things]
    write_lines(tmp_path / "data" / "rude.txt", rude)
    write_lines(tmp_path / "data" / "polite.txt", [f"kindly pass the {t}" for t in things])
    arguments = ("evaluate", "--baseline", "delete-retrieve", "--metrics", "acc")
    arguments += ("--direction", "manners/rude-to-polite", "--data", data)
    success(capsys, *arguments)
    write_lines(tmp_path / "data" / "rude.txt", [*rude, "go away now"])
    assert command_line(capsys, *arguments)[0] == 0
    assert len(list((tstbench_home / "scorers" / "objects").iterdir())) == 2
    return tstbench_home


def test_the_list_tells_current_from_replaced(used, capsys):
    out, err = success(capsys, "cache")
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["kind", "name", "size", "last used", "state"]
    states = sorted((kind, state) for kind, _, _, _, state in rows[1:])
    assert states.count(("scorer", "current")) == states.count(("scorer", "replaced")) == 1
    assert states.count(("system", "replaced")) == 1
    assert any("manners classifier linear" in row[1] for row in rows)
    assert "would remove" in err
    _, out, _ = command_line(capsys, "cache", "size")
    assert [line.split("\t")[:2] for line in out.splitlines()[1:3]] == [
        ["scorer", "2"],
        ["system", "2"],
    ]


def test_what_a_gguf_file_was_read_into_is_listed_and_kept(tstbench_home, capsys):
    (folder := tstbench_home / "models" / "0123456789abcdef").mkdir(parents=True)
    write_lines(folder / "config.json", ["{}"])
    _, out, err = command_line(capsys, "cache")
    rows = [line.split("\t") for line in out.splitlines()]
    listed = ["model", "GGUF file 0123456789abcdef, as read", "3 B", "current"]
    assert [[*row[:3], row[4]] for row in rows[1:]] == [listed]
    assert err == f"{tstbench_home}: 3 B, of which 'tstbench cache prune' would remove 0 B\n"
    write_lines(folder / "more.bin", ["x" * 1_499_996])
    assert command_line(capsys, "cache", "size")[1].splitlines()[1:] == ["model\t1\t1.5 MB"]
    days = (("config.json", 100, 200), ("more.bin", 400, 300))  # read and written
    for name, *times in days:
        os.utime(folder / name, tuple(86_400 * (time + 0.5) for time in times))
    assert entries()[0].last_used == date.fromtimestamp(86_400 * 400.5)
    command_line(capsys, "cache", "prune", "--yes")
    assert folder.is_dir()


def test_pruning_asks_and_leaves_what_is_current(used, capsys, tmp_path):
    before = sorted(used.rglob("*"))
    code, out, err = command_line(capsys, "cache", "prune", "--dry-run")
    assert (code, sorted(used.rglob("*"))) == (0, before)
    assert "replaced" in out
    assert "would be removed" in err
    code, _, err = command_line(capsys, "cache", "prune")  # nobody is there to be asked
    assert (code, sorted(used.rglob("*"))) == (2, before)
    assert "--yes" in err
    current = find("classifier", "manners", "linear")
    assert command_line(capsys, "cache", "prune", "--yes")[0] == 0
    assert find("classifier", "manners", "linear") == current
    assert [f.name for f in (used / "scorers" / "objects").iterdir()] == [current.hash]
    assert len(list((used / "systems" / "objects").iterdir())) == 2  # somebody trained them
    assert command_line(capsys, "cache", "prune", "--yes", "--systems")[0] == 0
    assert len(list((used / "systems" / "objects").iterdir())) == 1
    assert "nothing to remove" in command_line(capsys, "cache", "prune", "--systems")[2]


def test_a_person_is_asked_and_only_a_yes_removes(used, capsys, monkeypatch):
    current = find("classifier", "manners", "linear")
    for said, is_kept in (("", True), ("n", True), ("nay", True), ("Yes ", False)):
        person, terminal = os.openpty()
        os.write(person, f"{said}\n".encode())
        with os.fdopen(terminal, encoding="utf-8") as stream, monkeypatch.context() as patch:
            patch.setattr("sys.stdin", stream)
            code, _, err = command_line(capsys, "cache", "prune")
        os.close(person)
        assert (code, "? [y/N] " in err) == (0, True)
        assert ("nothing was removed" in err) == is_kept
        kept = {folder.name for folder in (used / "scorers" / "objects").iterdir()}
        assert (len(kept) == 2, current.hash in kept) == (is_kept, True)


def test_pruning_follows_no_link(used, capsys, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    (used / "scorers" / "objects" / ("a" * 64)).symlink_to(precious, target_is_directory=True)
    (used / "downloads").symlink_to(precious, target_is_directory=True)
    systems = tmp_path / "elsewhere"
    shutil.move(used / "systems" / "objects", systems)
    (used / "systems" / "objects").symlink_to(systems, target_is_directory=True)
    assert command_line(capsys, "cache", "prune", "--yes", "--systems")[0] == 0
    assert (precious / "thesis.txt").read_text() == "years of work"
    assert not (used / "scorers" / "objects" / ("a" * 64)).is_symlink()
    assert len(list(systems.iterdir())) == 2


def test_what_cannot_be_removed_is_told(used, capsys, tmp_path):
    shutil.move(used / "scorers", tmp_path / "scorers")
    (used / "scorers").symlink_to(tmp_path / "scorers", target_is_directory=True)
    (tmp_path / "scorers" / "index" / "stray.json").write_text('{"artefact": "x"}')
    code, _, err = command_line(capsys, "cache", "prune", "--yes")
    assert (code, "lies outside" in err, err.count("\n")) == (2, True, 1), err
    assert len(list((tmp_path / "scorers" / "objects").iterdir())) == 2


def test_half_written_models_go_only_when_old(used, capsys):
    for place in (SCORERS.root / "objects", used / "fingerprints"):
        place.mkdir(exist_ok=True)
        for name, age in (("now", 0), ("old", 10**6)):
            folder = place / f"{TEMPORARY}{name}"
            folder.mkdir()
            os.utime(folder, (folder.stat().st_mtime - age,) * 2)
    assert command_line(capsys, "cache", "prune", "--yes")[0] == 0
    left = sorted(path.relative_to(used).as_posix() for path in used.rglob(f"{TEMPORARY}*"))
    assert left == [f"fingerprints/{TEMPORARY}now", f"scorers/objects/{TEMPORARY}now"]


def test_the_list_can_be_made_while_other_processes_write(tstbench_home):
    (tstbench_home / "scores").mkdir(parents=True)
    ended = threading.Event()

    def write():
        while not ended.is_set():
            with temporary_folder(tstbench_home / "scores" / "new"):
                pass

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            assert entries() == []
    finally:
        ended.set()
        writer.join()


def test_an_empty_home_is_no_error(tstbench_home, capsys):
    assert command_line(capsys, "cache")[0] == 0
    assert "invalid choice" in command_line(capsys, "cache", "burn")[2]
    assert not tstbench_home.exists()
