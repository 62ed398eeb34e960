"""Files that travel: to the same places on another machine, named by content, checked."""

from hashlib import sha256

import pytest

from tstbench.datasets_scripts.own import read_data
from tstbench.errors import InputError, IntegrityError
from tstbench.pipelines.storage import Storage


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine by its name: it has a home and a results folder of its own."""

    def one(name, url=None):
        monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / name / "home"))
        return Storage(url or (tmp_path / "storage").as_uri(), tmp_path / name / "out")

    return one


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("url", [None, "memory://bucket/folder"])
def test_what_one_machine_puts_another_gets(url, machine, tmp_path):
    one, here = machine("one", url), tmp_path / "one"
    one.check()
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
    machine("two", url).get(files)
    for file in (model, index, report):
        there = tmp_path / "two" / file.relative_to(here)
        assert there.read_text() == file.read_text()
    report.write_text("[1]")
    old = tmp_path / "two" / "out" / "mini" / "report.json"
    machine("two", url).get(machine("one", url).put([report]))
    assert old.read_text() == "[1]"


def test_a_dataset_of_ones_own_is_read_where_its_files_are_not(machine, manners):
    corpus = read_data(manners)
    before = {file: file.lines() for part in corpus.parts for file in part.files}
    (value, *_), files = machine("one").put_paths((corpus,))
    for path in manners.parent.glob("*.txt"):
        path.unlink()
    (there,) = machine("two").get_paths((value,), files)
    found = {file: file.lines() for part in there.parts for file in part.files}
    assert list(found.values()) == list(before.values())
    assert not {*found} & {*before}
    assert [file.name for file in found] == [file.name for file in before]


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


def test_an_object_that_was_cut_off_is_written_again_and_a_missing_one_is_told(machine, tmp_path):
    storage = machine("one")
    file = write(tmp_path / "one" / "out" / "report.json", "[1, 2]")
    ((place, digest),) = storage.put([file]).items()
    stored = tmp_path / "storage" / "objects" / digest
    stored.write_text("[1")
    storage.put([file])
    assert stored.read_text() == "[1, 2]"
    stored.unlink()
    with pytest.raises(InputError, match=f"{tmp_path}/storage cannot be read: .*{digest}"):
        machine("two").get({place: digest})


@pytest.mark.parametrize("url", ["s3://key:s3cr3t@bucket", "simplecache::ftp://me:s3/cr3t@host/x"])
def test_a_password_is_refused_and_not_repeated(url, tmp_path):
    with pytest.raises(InputError, match="has a password") as caught:
        Storage(url, tmp_path)
    assert "cr3t" not in str(caught.value)


def test_what_opens_nothing_or_takes_nothing_is_told_with_its_address(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="nosuch://bucket cannot be opened: Protocol not known"):
        Storage("nosuch://bucket", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="/file does not take a file"):
        Storage(f"{tmp_path}/file", tmp_path).check()
    monkeypatch.chdir(tmp_path)
    for url in ("there", "file://there"):
        assert Storage(url, tmp_path).url == f"file://{tmp_path}/there"
    assert not (tmp_path / "there").exists()


def test_the_results_folder_of_a_worker_is_in_its_home(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    storage = Storage(str(tmp_path / "storage"), tmp_path / "home" / "suites" / "one")
    report = write(tmp_path / "home" / "suites" / "one" / "report.json", "[]")
    assert list(storage.put([report])) == ["out/report.json"]
