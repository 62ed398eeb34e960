"""The way out that a refusal advises: scores of a licensed corpus are published, its texts are not.

The corpus is made up, in the layout of GYAFC; every sentence is our own.
"""

import io
import json
from urllib.request import urlopen

import huggingface_hub.constants
import pyarrow.parquet as pq
import pytest
from gyafc_copy import lay_out
from hub_artefacts import JUDGED
from hub_double import TOKEN, running
from prepared import command_line

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.pipelines.hub.push import push
from tstbench.pipelines.results import read_direction

SOURCES = [
    "u should totally go 2 that concert with ur friends",
    "idk what 2 do abt my sis n her dog",
]
REWRITES = [
    "You should certainly attend that concert with your friends.",
    "I do not know what to do about my sister and her dog.",
]
DIRECTION = "gyafc_em/informal-to-formal"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:httpx2")


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)
    return lay_out(tmp_path / "GYAFC_Corpus", SOURCES, REWRITES)


@pytest.fixture
def results(corpus, tmp_path, capsys):
    """Scores of a copy, with the user's own corpus, and a judgment of it with a remark."""
    scoring = ("--metrics", "s_bleu", "r_bleu", "--out", tmp_path / "results")
    asked = ("evaluate", "--direction", DIRECTION, "--data-dir", corpus, "--baseline", "copy")
    code, _, err = command_line(capsys, *asked, *scoring)
    assert code == 0, err
    texts = dict.fromkeys(("source", "output", "note"), SOURCES[0])
    judgment = JUDGED.model_copy(
        update={"dataset": "gyafc_em", "direction": DIRECTION, "sample_id": "gyafc_em-test-0-00000"}
    )
    write_judgments(tmp_path / "results/human.jsonl", [judgment.model_copy(update=texts)])
    return tmp_path / "results"


def texts_in(contents):
    found = [text for content in contents for text in (*SOURCES, *REWRITES) if text in content]
    return sorted(set(found))


@pytest.mark.parametrize("armed", [False, True])
def test_scores_of_a_licensed_corpus_reach_the_hub_without_its_texts(
    corpus, results, tmp_path, capsys, monkeypatch, armed
):
    assert texts_in(p.read_text() for p in results.rglob("*.jsonl")) == sorted(SOURCES + REWRITES)
    if armed:
        monkeypatch.setenv("TSTBENCH_GYAFC", str(corpus))
    command = ("hub", "build", tmp_path / "hub", "--datasets", "mini", "--results", results)
    code, _, err = command_line(capsys, *command, "--only", "results")
    assert code == 0, err
    assert "its scores are published without samples.jsonl" in err
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with running() as hub:
        push(tmp_path / "hub", token=TOKEN, endpoint=hub.url)
        sent = hub.repos["dataset", "tstbench/results"].files
    assert texts_in(content.decode("utf-8", "replace") for content in sent.values()) == []
    rows = pq.read_table(io.BytesIO(sent["scores.parquet"])).to_pylist()
    assert {row["metric"]: row["value"] for row in rows}["s_bleu"] == 100
    folder = f"{DIRECTION}/copy"
    assert {f"{folder}/report.json", f"{folder}/replicates.parquet"} <= sent.keys()
    assert f"{folder}/samples.jsonl" not in sent
    judged = json.loads(sent["human.jsonl"])
    assert (judged["score"], judged["source"], judged["output"]) == (1, None, None)
    assert "note" not in judged or judged["note"] is None
    for path in (p for p in (tmp_path / "hub").rglob("*") if p.is_file()):
        assert texts_in([path.read_text("utf-8", "replace")]) == []
    # What is published is read as results again.
    (copy,) = read_direction(tmp_path / "hub/datasets/tstbench/results" / DIRECTION)
    assert not copy.has_samples
    assert copy.bootstrapped()["s_bleu"].value == pytest.approx(100)


@pytest.mark.parametrize(
    ("host", "allowed"), [("127.0.0.1", []), ("0.0.0.0", []), ("127.0.0.1", ["board.example.org"])]
)
def test_a_page_that_others_can_reach_has_no_licensed_text(results, capsys, host, allowed):
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import launch

    running = launch(results, host=host, port=0, block=False, allowed_hosts=allowed)
    at = f"http://127.0.0.1:{running.url.rstrip('/').rpartition(':')[2]}"
    try:
        there = [f"view=samples&direction={DIRECTION}", "view=system&system=copy", ""]
        texts = [urlopen(f"{at}/?{query}").read().decode() for query in there]
    finally:
        running.close()
    seen = texts_in(texts)
    said = capsys.readouterr().err
    if host == "127.0.0.1" and not allowed:
        assert not said
        assert set(SOURCES) <= set(seen)
    else:
        assert seen == []
        assert "copy" in texts[0]
        assert said.count("warning: ") == 1
