"""Upstream files: the mirror, and downloads over real HTTP on loopback."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from answering import answering, free_port
from disks import short_files

from tstbench.datasets_scripts import sources as sources_module
from tstbench.datasets_scripts.sources import (
    BENCHMARK,
    COLA,
    UpstreamFile,
    UserFile,
    fetch,
    upstream_file,
    upstream_files,
)
from tstbench.errors import IntegrityError, MissingFileError
from tstbench.files import git_blob_id

CONTENT = b"".join(b"our own line number %d\n" % i for i in range(20_000))
FILE = UpstreamFile("owner/repository", "data/a file.0", git_blob_id(CONTENT), commit="c" * 40)


class Handler(BaseHTTPRequestHandler):
    """Has its server's content under FILE's address; can break off, or lie."""

    def do_GET(self):
        server = self.server
        server.requests.append(self.path)
        if self.path != f"/owner/repository/{'c' * 40}/data/a%20file.0":
            self.send_error(404)
        elif server.errors:
            self.send_error(server.errors.pop(0))
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(server.content)))
            self.end_headers()
            self.wfile.write(server.content[: server.breaks.pop(0) if server.breaks else None])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr(sources_module, "PAUSE", 0.001)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.content, server.breaks, server.requests = CONTENT, [], []
    server.errors = []  # the statuses of the first requests
    monkeypatch.setenv("TSTBENCH_UPSTREAM_URL", f"http://127.0.0.1:{server.server_port}")
    with answering(server):
        yield server


def kept(home):
    return sorted(p.name for p in home.rglob("[!.]*") if p.is_file())


def test_download_is_verified_and_kept(server, tstbench_home):
    path = fetch(FILE)
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(tstbench_home / "downloads")
    assert kept(tstbench_home) == ["a file.0"]
    assert fetch(FILE) == path
    assert len(server.requests) == 1  # the second time it was there


def test_a_mirror_is_looked_at_first_and_never_written_to(server, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    monkeypatch.setenv("TSTBENCH_SOURCES", str(mirror))
    downloaded = fetch(FILE)  # the mirror has it not
    assert not list(mirror.iterdir())
    there = mirror / FILE.repository / FILE.path
    there.parent.mkdir(parents=True)
    there.write_bytes(CONTENT)
    assert fetch(FILE) == there
    assert FILE.state().startswith(f"{there} ")
    there.unlink()
    assert fetch(FILE) == downloaded
    assert len(server.requests) == 1


def test_wrong_mirror_content_is_refused_and_left_alone(server, tmp_path, monkeypatch):
    place = tmp_path / "owner/repository/data/a file.0"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"something else\n")
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    with pytest.raises(IntegrityError, match=r"a file\.0") as error:
        fetch(FILE)
    assert FILE.blob in str(error.value)
    assert place.read_bytes() == b"something else\n"


def test_after_a_broken_line_the_whole_file_is_asked_for_again(server, tstbench_home):
    server.breaks = [100_000, 50_000]
    assert fetch(FILE).read_bytes() == CONTENT
    assert len(server.requests) == 3
    assert kept(tstbench_home) == ["a file.0"]
    fetch(FILE).unlink()
    server.breaks = [1000] * sources_module.ATTEMPTS
    with pytest.raises(MissingFileError, match="lost after 1000 of"):
        fetch(FILE)
    assert kept(tstbench_home) == []


def test_wrong_content_is_refused_and_nothing_kept(server, tstbench_home):
    server.content = b"<html>please log in</html>"
    with pytest.raises(IntegrityError, match=r"owner/repository/data/a file\.0"):
        fetch(FILE)
    assert kept(tstbench_home) == []
    server.content = CONTENT
    assert fetch(FILE).read_bytes() == CONTENT


def test_404_names_file_upstream_and_variable(server):
    absent = UpstreamFile("owner/repository", "data/none.0", "0" * 40, commit="c" * 40)
    with pytest.raises(MissingFileError) as error:
        fetch(absent)
    for part in ("data/none.0", "owner/repository", "TSTBENCH_SOURCES", "404"):
        assert part in str(error.value)
    assert len(server.requests) == 1  # asking again would not help


def test_what_may_pass_is_tried_again_and_what_may_not_is_not(server, tstbench_home):
    server.errors = [429, 500, 503]
    assert fetch(FILE).read_bytes() == CONTENT
    assert len(server.requests) == 4
    fetch(FILE).unlink()
    for status in (401, 403, 410):
        server.errors, server.requests = [status] * 9, []
        with pytest.raises(MissingFileError, match=f"HTTP {status}"):
            fetch(FILE)
        assert len(server.requests) == 1
    server.errors, server.requests = [429] * 9, []
    with pytest.raises(MissingFileError, match="4 attempts"):
        fetch(FILE)
    assert len(server.requests) == 4
    assert kept(tstbench_home) == []


def test_no_network(server, monkeypatch):
    monkeypatch.setenv("TSTBENCH_UPSTREAM_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(MissingFileError, match="TSTBENCH_SOURCES"):
        fetch(FILE)


def test_offline_switch_is_obeyed(server, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingFileError, match="HF_HUB_OFFLINE"):
        fetch(FILE)
    assert server.requests == []


def test_only_web_addresses(monkeypatch, tmp_path):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("TSTBENCH_UPSTREAM_URL", f"file://{tmp_path}")
    with pytest.raises(MissingFileError, match="http or https"):
        fetch(FILE)


def test_two_at_once_download_once(server):
    results = []
    threads = [threading.Thread(target=lambda: results.append(fetch(FILE))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes() == CONTENT for path in results] == [True] * 4
    assert len(server.requests) == 1


def test_large_files_that_nobody_here_saw_are_pinned_too():
    for name in ("yelp/train.0", "yelp/train.1", "amazon/train.0", "amazon/train.1"):
        file = upstream_file(BENCHMARK, f"Dataprepro/datasets/{name}")
        assert file.size is None
        assert len(file.blob) == 40
    assert [f.path.rsplit("/")[-1] for f in upstream_files(COLA, "acceptability_corpus/raw/")] == [
        "in_domain_dev.tsv",
        "in_domain_train.tsv",
        "out_of_domain_dev.tsv",
    ]


def test_user_files_say_how_to_get_the_corpus(tmp_path, monkeypatch):
    monkeypatch.delenv("OUR_CORPUS", raising=False)
    file = UserFile("test/informal", "Our_Corpus", "OUR_CORPUS", "Ask its owner.")
    with pytest.raises(MissingFileError, match=r"OUR_CORPUS.*Ask its owner"):
        file.locate()
    with pytest.raises(MissingFileError, match="test/informal is not in"):
        file.locate(tmp_path)
    place = tmp_path / "Our_Corpus/test/informal"
    place.parent.mkdir(parents=True)
    place.write_text("hey\n")
    monkeypatch.setenv("OUR_CORPUS", str(tmp_path))
    assert file.locate() == file.locate(tmp_path / "Our_Corpus") == place
    assert (file.name, file.digest()) == ("Our_Corpus/test/informal", git_blob_id(b"hey\n"))


@pytest.mark.realdata
def test_the_mirror_holds_what_is_pinned(sources):
    present = [f for name in (BENCHMARK, COLA) for f in upstream_files(name) if f.size is not None]
    for file in present:
        assert fetch(file).stat().st_size == file.size
    assert len(present) > 100


def test_a_full_disk_is_no_fault_of_the_connection(server, tstbench_home):
    with short_files(100_000), pytest.raises(OSError, match="File too large") as raised:
        fetch(FILE)
    assert raised.value.filename.endswith("a file.0")
    assert len(server.requests) == 1
    assert fetch(FILE).read_bytes() == CONTENT
