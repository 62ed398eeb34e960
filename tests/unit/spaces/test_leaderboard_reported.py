"""What others report on the Hub is shown apart from what was verified, and as data."""

import http.server
from contextlib import contextmanager

import huggingface_hub.constants
import pytest
import yaml
from answering import answering
from leaderboard_pages import Page
from leaderboard_results import HOSTILE, THERE, report, write

from tstbench.datasets_scripts.catalog import DATASETS, DIRECTIONS
from tstbench.errors import MissingFileError
from tstbench.hub import hub_answers
from tstbench.pipelines.hub.eval_results import EVAL_FILE, eval_yaml
from tstbench.pipelines.hub.manifest import write_repository
from tstbench.pipelines.hub.serve import make_server
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.query import Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.reported import read_reported
from tstbench.spaces.leaderboard.views import render
from tstbench.untrusted import MAX_YAML_BYTES

pytestmark = pytest.mark.usefixtures("online")
NAME = "somebody/model"


def entry(task="negative-to-positive_acc", value=97.0, **fields):
    return {"dataset": {"id": "tstbench/mini", "task_id": task}, "value": value, **fields}


ENTRIES = [
    entry(
        notes=HOSTILE,
        date="2026-01-02",
        source={"url": "javascript:alert(1)", "name": HOSTILE, "user": HOSTILE},
    ),
    entry(value=12.5, source={"url": "https://example.org/logs", "name": "logs"}),
    entry("positive-to-negative_acc", 55.0),
    entry("nothing", 1.0),
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub folder with a dataset, a model that reports, and one whose file is broken."""
    root = tmp_path_factory.mktemp("reported")
    card = b"---\nlicense: mit\n---\n# A card\n"
    dataset = {"README.md": card, EVAL_FILE: eval_yaml(DATASETS["mini"])}
    write_repository(root, "dataset", "tstbench/mini", dataset)
    files = {"README.md": card, ".eval_results/mini.yaml": yaml.safe_dump(ENTRIES).encode()}
    write_repository(root, "model", NAME, files)
    broken = {"README.md": card, ".eval_results/mini.yaml": b"- value: high\n"}
    write_repository(root, "model", "somebody/broken", broken)
    return root


@contextmanager
def listening(server, monkeypatch):
    """The Hub's own client asks this server."""
    url = f"http://127.0.0.1:{server.server_address[1]}"
    with answering(server), monkeypatch.context() as patch:
        patch.setattr(huggingface_hub.constants, "ENDPOINT", url)
        hub_answers.cache_clear()
        yield
    hub_answers.cache_clear()


def page(tmp_path, found):
    write(tmp_path, report("ours", {"acc": 50.0}))
    return Page(render(Results(tmp_path, found).board(), Query(direction=THERE), RankCache()).html)


def values(found):
    return [(one.direction.name, one.reported.entry.value) for one in found.scores]


EXPECTED = [(THERE, 97.0), (THERE, 12.5), ("mini/positive-to-negative", 55.0)]


def test_a_folder_is_read_and_what_is_broken_is_named(hub, capsys):
    assert values(read_reported(str(hub / "models"))) == EXPECTED
    assert "somebody/broken/.eval_results/mini.yaml: 0." in capsys.readouterr().err
    with pytest.raises(MissingFileError, match="--reported hub"):
        read_reported(str(hub / "nothing"))


def test_the_highest_is_first_then_by_name_and_licensed_or_endless_files_have_no_place(
    tmp_path, capsys
):
    licensed = {"id": "tstbench/gyafc_em", "task_id": "informal-to-formal_acc"}
    models = {
        "b/x": [entry(value=50.0)],
        "a/x": [entry(value=50.0), {"dataset": licensed, "value": 9.0}],
        "c/x": [entry(value=70.0)],
        "d/x": [entry(value=99.0, notes="a comment follows")],
    }
    for name, entries in models.items():
        file = tmp_path / name / ".eval_results/mini.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump(entries))
    with file.open("a") as stream:
        stream.write(f"# {'x' * MAX_YAML_BYTES}\n")
    found = read_reported(str(tmp_path))
    ranked = found.of(DIRECTIONS[THERE])
    assert [(one.reported.model, one.reported.entry.value) for one in ranked] == [
        ("c/x", 70.0),
        ("a/x", 50.0),
        ("b/x", 50.0),
    ]
    assert len(found.scores) == len(ranked)
    assert f"left out: {file}" in capsys.readouterr().err


def test_the_hub_is_asked_with_its_own_client(hub, monkeypatch):
    with listening(make_server(hub), monkeypatch):
        found = read_reported("hub")
    assert values(found) == EXPECTED
    assert found.problem is None


def test_a_hub_that_fails_is_told_and_the_page_is_there(tmp_path, monkeypatch):
    broken = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Garbage)
    with listening(broken, monkeypatch):
        found = read_reported("hub")
    assert found.scores == ()
    assert found.problem == "The Hub could not be read when this page was started."
    shown = page(tmp_path, found)
    assert found.problem in shown.text
    assert "ours" in shown.text


class Garbage(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"garbage")

    def log_message(self, *arguments):
        pass


def test_reported_values_are_apart_from_the_ranking_as_text_and_https_links(hub, tmp_path):
    shown = page(tmp_path, read_reported(str(hub / "models")))
    assert shown.names == ["ours"]
    assert "Reported on the Hub" in shown.text
    assert "not verified" in shown.text
    assert shown.text.index("ours") < shown.text.index(NAME)
    assert "55.0" not in shown.text  # of the other direction
    assert not shown.all("script")
    assert not shown.all("img")
    assert HOSTILE in shown.text
    links = [a["href"] for a in shown.all("a") if a.get("target") == "_blank"]
    assert "https://example.org/logs" in links
    assert f"https://huggingface.co/{NAME}" in links
    assert all(link.startswith("https://") for link in links)
