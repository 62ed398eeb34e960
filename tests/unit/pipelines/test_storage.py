"""Files that travel: to the same places on another machine, named by content, checked."""

from hashlib import sha256

import pytest

from tstbench.errors import InputError, IntegrityError
from tstbench.pipelines.storage import Storage


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine by its name: it has a home and a results folder of its own."""

    def one(name):
        monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / name / "home"))
        return Storage((tmp_path / "storage").as_uri(), tmp_path / name / "out")

    return one


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_what_one_machine_puts_another_gets(machine, tmp_path):
    one, here = machine("one"), tmp_path / "one"
    model = write(here / "home" / "systems" / "objects" / "abc" / "deep" / "weights", "1 2")
    index = write(here / "home" / "systems" / "index" / "x.json", "{}")
    report = write(here / "out" / "mini" / "report.json", "[]")
    files = one.put([model, index, report])
    hashes = {text: sha256(text.encode()).hexdigest() for text in ("1 2", "{}", "[]")}
    assert files == {
        "home/systems/objects/abc/deep/weights": hashes["1 2"],
        "home/systems/index/x.json": hashes["{}"],
        "out/mini/report.json": hashes["[]"],
    }
    machine("two").get(files)
    for file in (model, index, report):
        there = tmp_path / "two" / file.relative_to(here)
        assert there.read_text() == file.read_text()
    report.write_text("[1]")
    old = tmp_path / "two" / "out" / "mini" / "report.json"
    machine("two").get(machine("one").put([report]))
    assert old.read_text() == "[1]"


def test_no_place_outside_and_no_other_content(machine, tmp_path):
    storage = machine("one")
    file = write(tmp_path / "one" / "out" / "report.json", "[]")
    ((place, digest),) = storage.put([file]).items()
    for outside in ("out/../../x", "etc/passwd", "/etc/passwd"):
        with pytest.raises(InputError, match="no place"):
            storage.get({outside: digest})
    with pytest.raises(InputError, match="neither in TSTBENCH_HOME"):
        storage.put([write(tmp_path / "elsewhere", "")])
    (tmp_path / "storage" / "objects" / digest).write_text("[2]")
    with pytest.raises(IntegrityError, match=digest[:16]):
        machine("two").get({place: digest})
    assert not (tmp_path / "two" / "out" / "report.json").exists()
