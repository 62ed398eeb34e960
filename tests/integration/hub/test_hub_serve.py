"""The public clients, unmodified, against the local server; and against plain folders."""

import hashlib
import http.client
import json
import os
import shutil
import signal
import time

import pytest
from answering import answering, ask
from hub_artefacts import (
    ONLINE,
    artefacts,
    dataset_folder,
    published_views,
    run_user,
    start_server,
    tstbench,
)
from places import SUPPORT

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import MissingFileError
from tstbench.pipelines.hub.build import Artefact, build
from tstbench.pipelines.hub.manifest import find_repository, write_repository
from tstbench.pipelines.hub.serve import ServerError, make_server, serve

CLIENT = SUPPORT / "hub_client.py"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    build(folder / "root", artefacts(folder))
    return folder / "root"


@pytest.fixture(scope="module")
def endpoint(root):
    process = start_server(root)
    line = process.stdout.readline()
    assert line.startswith("export HF_ENDPOINT=http://127.0.0.1:"), process.stderr.read()
    yield line.split("=", 1)[1].strip()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert process.stderr.read() == ""


@pytest.fixture(scope="module")
def served(endpoint, tmp_path_factory):
    cwd = tmp_path_factory.mktemp("user")
    return run_user(CLIENT, ["api"], cwd=cwd, HF_ENDPOINT=endpoint, **ONLINE)


@pytest.fixture(scope="module")
def local(root, tmp_path_factory):
    home = str(tmp_path_factory.mktemp("home"))
    return run_user(CLIENT, [], cwd=root / "local", HF_HOME=home)


@pytest.mark.parametrize("where", ["served", "local"])
def test_every_view_by_name_equals_the_published_files(where, root, request):
    result = request.getfixturevalue(where)
    expected = published_views(root)
    assert set(expected) == {"default", "negative-to-positive", "positive-to-negative", "styles"}
    assert len(expected["default"]["test_negative_to_positive"]) == 40
    assert result["views"] == expected
    assert result["streamed"] == expected
    assert result["class"] == ["negative", "positive"]


@pytest.mark.parametrize("where", ["served", "local"])
def test_metric_and_model_by_name(where, root, request):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    result = request.getfixturevalue(where)
    assert result["words"] == {"words": 3.0}
    folder = root / "models/tstbench/classifier"
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        inputs = AutoTokenizer.from_pretrained(folder)("lovely soup", return_tensors="pt")
        assert result["logits"] == pytest.approx(model(**inputs).logits[0].tolist())


def test_the_hub_api_answers_what_is_published(served, root):
    api = served["api"]
    folder = root / "datasets/tstbench/mini"
    files = [p for p in folder.rglob("*") if p.is_file()]
    content = {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}
    repository = find_repository(root, "dataset", "tstbench/mini")
    assert api["snapshot"] == {p: hashlib.sha256(c).hexdigest() for p, c in content.items()}
    assert api["sizes"] == {path: len(c) for path, c in content.items()}
    assert api["card"] == (root / "models/tstbench/classifier/README.md").read_text()
    assert api["sha"] == api["at_sha"] == repository.commit
    assert api["commits"] == ["Built by dataset"]
    weights = (root / "models/tstbench/classifier/model.safetensors").read_bytes()
    assert api["large"] == hashlib.sha256(weights).hexdigest()
    assert "model.safetensors" in api["models"]
    assert api["exists"] == api["file"] == [True, False]
    assert sorted(api["tree"]) == [
        ".tstbench.json",
        "README.md",
        "fingerprint.json",
        "negative-to-positive",
        "positive-to-negative",
        "styles",
    ]
    assert sorted(api["folder"]) == [f"styles/{p}.parquet" for p in ("test", "train", "validation")]
    assert api["tags"] == ["v0.4.6"]
    assert api["datasets"] == ["tstbench/mini"]
    assert api["end_of_file"] == "PAR1"


def test_unknown_names_are_the_clients_own_errors(served):
    assert served["api"]["unknown"] == [
        "RepositoryNotFoundError",
        "RevisionNotFoundError",
        "RemoteEntryNotFoundError",
        "DatasetNotFoundError",
        "OSError",
    ]


DATA = """\
name = "borrowed"
styles = ["negative", "positive"]
licence = "apache-2.0"

[train]
hub = "tstbench/mini"
config = "styles"
split = "train"

[[direction]]
from = "negative"
to = "positive"

[direction.test]
hub = "tstbench/mini"
config = "negative-to-positive"
split = "test"
references = "references"
id = "id"
"""


def test_columns_of_the_hub_are_the_same_test_set(tmp_path, endpoint):
    """A data file over a dataset of the Hub."""
    path = tmp_path / "borrowed.toml"
    path.write_text(DATA)
    name = "borrowed/negative-to-positive"
    arguments = ("--direction", name, "--data", path, "--metrics", "r_bleu", "--json")
    done = tstbench(tmp_path, "evaluate", "--baseline", "copy", *arguments, HF_ENDPOINT=endpoint)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["data"]["fingerprint"] == load_test_set("mini/negative-to-positive").fingerprint
    assert report["data"]["references_max"] == 4
    checked = tstbench(tmp_path, "data", "check", path, HF_ENDPOINT=endpoint)
    assert "train sentences\t" in checked.stdout, checked.stderr
    path.write_text(DATA.replace('"tstbench/mini"', '"tstbench/maxi"'))
    missing = tstbench(tmp_path, "data", "check", path, HF_ENDPOINT=endpoint)
    assert missing.returncode == 2
    assert "tstbench/maxi, styles, train could not be loaded" in missing.stderr
    assert "Traceback" not in missing.stderr


FILE = "/tstbench/classifier/resolve/main/model.safetensors"


def test_byte_ranges(endpoint, root):
    weights = (root / "models/tstbench/classifier/model.safetensors").read_bytes()
    size = len(weights)
    for span, first, last in (
        ("bytes=0-9", 0, 10),
        (f"bytes={size - 3}-{size + 99}", size - 3, size),
        ("bytes=-5", size - 5, size),
    ):
        status, headers, content = ask(endpoint, FILE, Range=span)
        assert (status, content) == (206, weights[first:last])
        assert headers["Content-Range"] == f"bytes {first}-{last - 1}/{size}"
    assert ask(endpoint, FILE, Range=f"bytes={size}-")[0] == 416
    status, headers, content = ask(endpoint, FILE, "HEAD")
    assert (status, content, int(headers["Content-Length"])) == (200, b"", size)
    assert headers["ETag"] == f'"{hashlib.sha256(weights).hexdigest()}"'


@pytest.fixture(scope="module")
def surrounded(tmp_path_factory):
    """A server whose repositories have something to find all round them."""
    outside = tmp_path_factory.mktemp("outside")
    root = outside / "root"
    build(root, [Artefact("dataset", "mini", "dataset", dataset_folder(outside))])
    (outside / "secret.txt").write_text("secret")
    (root / "datasets/tstbench/secret.txt").write_text("secret")
    repository = root / "datasets/tstbench/mini"
    for name in ("draft.txt", ".env"):  # in the folder, in no manifest
        (repository / name).write_text("secret")
    shutil.copytree(repository, root / "outside", symlinks=True)  # of no kind
    shutil.copytree(repository, root / "datasets/outside", symlinks=True)  # without a namespace
    shutil.copytree(repository, root / "datasets/tstbench/far/in", symlinks=True)
    with answering(make_server(root)) as server:
        yield root, server.url


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("/datasets/tstbench/mini/resolve/main/../secret.txt", "datasets/tstbench/secret.txt"),
        ("/datasets/tstbench/mini/resolve/main/..%2fsecret.txt", "datasets/tstbench/secret.txt"),
        ("/datasets/tstbench/mini/resolve/main/../../../../secret.txt", "../secret.txt"),
        (f"/datasets/tstbench/mini/resolve/main/{'../' * 20}etc/passwd", "/etc/passwd"),
        ("/etc/passwd", "/etc/passwd"),
        ("/local/tstbench/mini/README.md", "local/tstbench/mini/README.md"),
        ("/datasets/tstbench/..%2fmini/resolve/main/README.md", "datasets/tstbench/mini/README.md"),
        ("/datasets/tstbench/mini/resolve/main/draft.txt", "datasets/tstbench/mini/draft.txt"),
        ("/datasets/tstbench/mini/resolve/main/.env", "datasets/tstbench/mini/.env"),
        ("/datasets/../outside/resolve/main/README.md", "datasets/../outside/README.md"),
        ("/api/datasets/../outside", "datasets/../outside/.tstbench.json"),
        ("/api/datasets/..%2foutside/.", "datasets/../outside/./.tstbench.json"),
        ("/api/datasets/./outside", "datasets/./outside/.tstbench.json"),
        ("/api/datasets/outside/.", "datasets/outside/./.tstbench.json"),
        ("/api/datasets/tstbench%2ffar/in", "datasets/tstbench/far/in/.tstbench.json"),
        ("/api/datasets/tstbench%2fmini/.", "datasets/tstbench/mini/./.tstbench.json"),
    ],
)
def test_what_lies_beside_the_repositories_is_not_served(surrounded, path, there):
    root, url = surrounded
    assert (root / there).exists(), "there is something to find"
    assert ask(url, path)[0] == 404


def test_nothing_can_be_written(endpoint):
    body = json.dumps({"name": "x", "organization": "tstbench"})
    for method, path in (
        ("POST", "/api/repos/create"),
        ("POST", "/tstbench/classifier.git/info/lfs/objects/batch"),
        ("PUT", FILE),
        ("DELETE", "/api/repos/delete"),
    ):
        status, _, content = ask(endpoint, path, method, body)
        assert status == 405
        assert b"tstbench hub push" in content
    huge = {"Content-Length": str(10**9)}
    assert ask(endpoint, "/api/datasets/tstbench/mini/paths-info/main", "POST", **huge)[0] == 413


def test_a_person_sees_what_is_there(endpoint):
    _, headers, content = ask(endpoint, "/")
    assert headers["Content-Type"].startswith("text/plain")
    assert b"dataset tstbench/mini" in content


def test_new_repositories_and_commits_are_served_at_once(tmp_path):
    root = tmp_path / "root"
    (root / "datasets").mkdir(parents=True)
    with answering(make_server(root)) as server:
        path = "/api/datasets/tstbench/mini"
        assert ask(server.url, path)[0] == 404
        folder = dataset_folder(tmp_path)
        seen = []
        for text in ("# One\n", "# Two\n"):
            (folder / "README.md").write_text(text)
            made = build(root, [Artefact("dataset", "mini", "dataset", folder)])
            seen.append(json.loads(ask(server.url, path)[2])["sha"])
            assert seen[-1] == made[0].commit
        assert len(set(seen)) == 2
        at = "/datasets/tstbench/mini/resolve/{}/README.md"
        assert ask(server.url, at.format(seen[0]))[0] == 404  # only what is there
        assert ask(server.url, at.format(seen[1]))[2] == b"# Two\n"


def test_a_port_in_use_and_a_missing_folder_are_said(root, tmp_path):
    with make_server(root) as first:
        taken = first.server_port
        with pytest.raises(ServerError, match=f"127.0.0.1:{taken} is in use"):
            serve(root, port=taken)
    with pytest.raises(ServerError, match="is not a port"):
        make_server(root, port=70000)
    with pytest.raises(MissingFileError, match="tstbench hub build"):
        serve(tmp_path / "nothing")


def test_ctrl_c_stops_it_with_requests_open(root):
    process = start_server(root)
    endpoint = process.stdout.readline().split("=", 1)[1].strip()
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    connection.request("GET", "/")
    connection.getresponse().read()  # and keep the connection open
    started = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(10) == 0
    assert time.monotonic() - started < 5
    assert process.stderr.read() == ""
    connection.close()


INFO = "/api/datasets/tstbench/mini/paths-info/main"


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        (FILE, None, {"Range": f"bytes={'9' * 4301}-"}),
        (FILE, None, {"Range": f"bytes=-{'9' * 4301}"}),
        (FILE, None, {"Range": f"bytes=0-{'9' * 4301}"}),
        (INFO, b'{"paths": 5}', {"Content-Type": "application/json"}),
        (INFO, b'{"paths": [["README.md"]]}', {"Content-Type": "application/json"}),
        (INFO, b"5", {"Content-Type": "application/json"}),
        (INFO, b"\xff", {"Content-Type": "application/json"}),
        (INFO, b"{}", {"Content-Type": "application/json"}),
        (INFO, b"[" * 100_000, {"Content-Type": "application/json"}),
        ("/api/datasets/tstbench/mi%00ni", None, {}),
        ("/datasets/tstbench/mini/resolve/ma%00in/README.md", None, {}),
    ],
)
def test_what_cannot_be_understood_is_answered_in_words(endpoint, path, body, headers):
    status, _, content = ask(endpoint, path, "POST" if body else "GET", body, **headers)
    assert status == 400
    assert len(json.loads(content)["error"]) > 20


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_flipped_byte_is_not_served(tmp_path, method, capsys):
    files = {"README.md": b"# A\n", "a.bin": b"abc"}
    write_repository(tmp_path, "model", "somebody/toy", files)
    repository = find_repository(tmp_path, "model", "somebody/toy")
    with answering(make_server(tmp_path)) as server:
        url = server.url
        path = "/somebody/toy/resolve/main/a.bin"
        assert ask(url, path, method)[0] == 200
        repository.source("a.bin").write_bytes(b"abd")  # after it was served, and found whole
        status, _, content = ask(url, path, method)
        assert status == 500
        assert b"abd" not in content
        assert b"a.bin is damaged" in content or method == "HEAD"
        assert "hub build" in capsys.readouterr().err
        write_repository(tmp_path, "model", "somebody/toy", files)
        assert ask(url, path, method)[0] == 200
