"""The Hub's endpoints, field by field, where a client would not notice a wrong one."""

import hashlib
import http.client
import json
import signal
import socket
import threading
from urllib.parse import urlsplit

import pytest
from answering import answering, ask

from tstbench.files import git_blob_id
from tstbench.pipelines.hub.manifest import find_repository, write_repository
from tstbench.pipelines.hub.serve import make_server, serve

CARD = b"---\nsdk: docker\ntags: [first, second]\n---\n# A card\n"
LARGE = b"x" * 1000
MODEL = {"README.md": CARD, "model.safetensors": LARGE, "data/a/vocab.txt": b"a\n"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two models, a Space, and the Space of somebody whose name begins alike."""
    root = tmp_path_factory.mktemp("answers")
    write_repository(root, "model", "we/text", {"README.md": b"text\n---\nsdk: x\n---\n"})
    write_repository(root, "model", "we/toy", MODEL, builder="us", tags=["v1"])
    write_repository(root, "space", "we/page", {"README.md": CARD})
    write_repository(root, "space", "we-too/page", {"README.md": CARD})
    return root


@pytest.fixture(scope="module")
def url(root):
    with answering(make_server(root)) as server:
        yield server.url


def facts(url, path):
    status, _, content = ask(url, path)
    assert status == 200, content
    return json.loads(content)


def test_there_is_one_revision_with_several_names(url, root):
    commit = find_repository(root, "model", "we/toy").commit
    for name in ("main", "v1", commit, commit[:7]):
        found = facts(url, f"/api/models/we/toy/revision/{name}")
        assert (found["sha"], found["createdAt"]) == (commit, found["lastModified"])
    for name in ("v2", commit[:6], commit[::-1], commit + "0", "HEAD", "main%5e0", "..%2fmain"):
        assert ask(url, f"/api/models/we/toy/revision/{name}")[0] == 404
    (only,) = facts(url, "/api/models/we/toy/commits/main")
    assert (only["id"], only["title"]) == (commit, "Built by us")
    refs = facts(url, "/api/models/we/toy/refs")
    assert [(r["ref"], r["targetCommit"]) for r in (*refs["branches"], *refs["tags"])] == [
        ("refs/heads/main", commit),
        ("refs/tags/v1", commit),
    ]


def test_a_card_begins_with_its_front_matter_or_has_none(url, root):
    assert facts(url, "/api/models/we/text")["cardData"] == {}
    assert facts(url, "/api/models/we/toy")["cardData"] == {
        "sdk": "docker",
        "tags": ["first", "second"],
    }
    assert facts(url, "/api/spaces/we/page")["sdk"] == "docker"


def test_files_have_their_sizes_and_large_ones_that_of_their_pointer(url, root):
    found = {e["rfilename"]: e for e in facts(url, "/api/models/we/toy?blobs=true")["siblings"]}
    sizes = {path: found[path]["size"] for path in found.keys() - {".tstbench.json"}}
    assert sizes == {path: len(content) for path, content in MODEL.items()}
    pointer = found["model.safetensors"]["lfs"]
    sha256 = hashlib.sha256(LARGE).hexdigest()
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize 1000\n"
    assert pointer == {"oid": sha256, "sha256": sha256, "size": 1000, "pointerSize": len(text)}
    assert found["model.safetensors"]["blobId"] == git_blob_id(text.encode())
    assert found["README.md"]["blobId"] == git_blob_id(CARD)
    plain = facts(url, "/api/models/we/toy")["siblings"]
    assert all(set(one) == {"rfilename"} for one in plain)


def test_a_tree_has_one_level_unless_all_are_asked_for(url):
    def paths(query=""):
        found = facts(url, f"/api/models/we/toy/tree/main{query}")
        return [(one["type"], one["path"]) for one in found]

    files = [("file", name) for name in (".tstbench.json", "README.md", "model.safetensors")]
    assert paths() == [("directory", "data"), *files]
    assert paths("/data") == [("directory", "data/a")]
    assert paths("?recursive=true") == [
        ("directory", "data"),
        ("directory", "data/a"),
        *files[:2],
        ("file", "data/a/vocab.txt"),
        files[2],
    ]


def test_paths_are_whole_names_one_or_several(url):
    several, readme = ["data", "dat", "data/a/", "README", "README.md"], ("file", "README.md")
    found = [("directory", "data"), ("directory", "data/a"), readme]
    for asked, wanted in ((several, found), (["README.md"], [readme]), ("README.md", [readme])):
        body = json.dumps({"paths": asked}).encode()
        path = "/api/models/we/toy/paths-info/main"
        _, _, content = ask(url, path, "POST", body, content_type="application/json")
        assert [(one["type"], one["path"]) for one in json.loads(content)] == wanted


def test_a_list_is_of_the_owner_that_was_named(url):
    def names(query):
        return [one["id"] for one in facts(url, f"/api/spaces{query}")]

    assert names("") == ["we/page", "we-too/page"]
    assert names("?author=we") == ["we/page"]
    assert names("?search=TOO") == ["we-too/page"]


def test_a_file_is_bytes_and_never_a_page(url):
    status, headers, content = ask(url, "/we/toy/resolve/main/README.md")
    assert (status, content) == (200, CARD)
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, headers, _ = ask(url, "/we/toy/resolve/v9/README.md")
    assert (status, headers["X-Error-Code"]) == (404, "RevisionNotFound")
    status, headers, _ = ask(url, "/we/none/resolve/main/README.md")
    assert (status, headers["X-Error-Code"]) == (404, "RepoNotFound")


def test_a_body_without_a_length_is_not_read(url):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    # The refusal comes before the body is sent, which the server would not take.
    connection.putrequest("POST", "/api/models/we/toy/paths-info/main")
    for name, value in {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Connection"]) == (413, "close")
    connection.close()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("GET / HTTP/x\r\n\r\n", "Error code: 400"),
        ("GET http://[/ HTTP/1.0\r\nHost: localhost\r\n\r\n", "HTTP/1.1 400 "),
    ],
)
def test_what_is_no_request_is_answered_once_and_ends(url, capsys, sent, said):
    """No client sends it: the standard library's own refuses to."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as client:
        client.sendall(sent.encode())
        assert said in client.makefile("r").read()
    assert capsys.readouterr().err == "", "a thread of the server failed"


def test_serving_passes_names_on_and_gives_sigterm_back(root, tmp_path, capsys):
    before = signal.getsignal(signal.SIGTERM)
    told = []

    def look(line):
        told.append(line)
        url = line.removeprefix("export HF_ENDPOINT=")

        def visit():
            told.extend(ask(url, "/", Host=f"{n}.example.org")[0] for n in ("hub", "else"))
            signal.raise_signal(signal.SIGTERM)  # as from another process: the main thread ends it

        threading.Thread(target=visit).start()

    serve(root, port=0, allowed_hosts=["hub.example.org"], announce=look)
    assert told[1:] == [200, 421]
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGTERM) is before
    serve(tmp_path, port=0, announce=lambda _: signal.raise_signal(signal.SIGTERM))
    assert f"careful: {tmp_path} has no repositories" in capsys.readouterr().err
