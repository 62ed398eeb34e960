"""A command that reads a licensed corpus arms the guard of everything published later.

Scores of it are published, its texts are not. The sentences are our own, in the layout of the
licensed corpus; no variable says where it is.
"""

import io
import json
from urllib.request import urlopen

import pyarrow.parquet as pq
import pytest
from gyafc_copy import lay_out
from hub_artefacts import JUDGED
from hub_double import TOKEN, running
from prepared import command_line, refusal, success

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.files import home
from tstbench.pipelines.hub.push import push
from tstbench.pipelines.results import read_direction

SOURCES = [
    "u should totally go 2 that concert with ur friends",
    "idk what 2 do about my sister and her dog",
]
REWRITES = [
    "You should certainly attend that concert with your friends.",
    "I do not know what to do about my sister and her dog.",
]
DIRECTION = "gyafc_em/informal-to-formal"
SCORED = ("evaluate", "--baseline", "copy", "--metrics", "s_bleu")
COMMANDS = {
    "evaluate": (*SCORED, "--direction", DIRECTION, "--out", "results"),
    "build": ("build", "gyafc_em", "--out", "built", "--accept-licence", "gyafc-research-only"),
    "transfer": ("transfer", "copy", "--direction", DIRECTION, "--out", "o.jsonl"),
}


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lay_out(tmp_path / "GYAFC_Corpus", SOURCES, REWRITES)


def publish(call, capsys, tmp_path):
    """A leaderboard of mini, whose judgments are of a sentence of the corpus."""
    results = tmp_path / "to_publish"
    success(capsys, *SCORED, "--direction", "mini/negative-to-positive", "--out", results)
    texts = {"source": SOURCES[0], "output": REWRITES[0].upper()}
    write_judgments(results / "human.jsonl", [JUDGED.model_copy(update=texts)])
    command = ("hub", "build", tmp_path / "hub", "--datasets", "mini", "--results", results)
    return call(capsys, *command, "--only", "results")


def test_what_was_never_read_is_not_known(corpus, tmp_path, capsys):
    publish(success, capsys, tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_the_corpus_arms_the_guard(corpus, tmp_path, capsys, name):
    success(capsys, *COMMANDS[name], "--data-dir", corpus.parent)
    known = json.loads((home() / "licensed_copies.json").read_text())
    assert known == {"TSTBENCH_GYAFC": [str(corpus)]}
    said = publish(refusal, capsys, tmp_path)
    assert "human.jsonl quotes a sentence of your copy of the licensed corpus" in said
    assert SOURCES[0] not in said


def test_a_copy_that_has_moved_is_asked_for(corpus, tmp_path, capsys, monkeypatch):
    command_line(capsys, *COMMANDS["evaluate"], "--data-dir", corpus)
    moved = corpus.rename(tmp_path / "moved")
    assert f"{corpus} is not there any more" in publish(refusal, capsys, tmp_path)
    monkeypatch.setenv("TSTBENCH_GYAFC", str(moved))
    assert "quotes a sentence" in publish(refusal, capsys, tmp_path)
    monkeypatch.delenv("TSTBENCH_GYAFC")
    (home() / "licensed_copies.json").unlink()  # as the message advises
    publish(success, capsys, tmp_path)


@pytest.mark.parametrize("content", ["[]", "{", '{"TSTBENCH_GYAFC": 1}'])
def test_a_damaged_list_stops_publishing(corpus, tmp_path, capsys, content):
    command_line(capsys, *COMMANDS["evaluate"], "--data-dir", corpus)
    (home() / "licensed_copies.json").write_text(content)
    assert "licensed_copies.json is damaged" in publish(refusal, capsys, tmp_path)


@pytest.fixture
def results(corpus, tmp_path, capsys):
    """Scores of a copy, and a judgment of it with a remark, with the user's own corpus."""
    success(capsys, *SCORED, "--direction", DIRECTION, "--data-dir", corpus, "--out", "scored")
    of = {"dataset": "gyafc_em", "direction": DIRECTION, "sample_id": "gyafc_em-test-0-00000"}
    texts = dict.fromkeys(("source", "output", "note"), SOURCES[0])
    write_judgments(tmp_path / "scored/human.jsonl", [JUDGED.model_copy(update=of | texts)])
    return tmp_path / "scored"


def texts_in(contents):
    found = [text for content in contents for text in (*SOURCES, *REWRITES) if text in content]
    return sorted(set(found))


@pytest.mark.slow
@pytest.mark.parametrize("armed", [False, True])
def test_scores_reach_the_hub_without_texts(
    corpus, results, tmp_path, capsys, monkeypatch, online, armed
):
    assert texts_in(p.read_text() for p in results.rglob("*.jsonl")) == sorted(SOURCES + REWRITES)
    if armed:
        monkeypatch.setenv("TSTBENCH_GYAFC", str(corpus))
    command = ("hub", "build", tmp_path / "hub", "--datasets", "mini", "--results", results)
    _, err = success(capsys, *command, "--only", "results")
    assert "its scores are published without samples.jsonl" in err
    with running() as hub:
        push(tmp_path / "hub", token=TOKEN, endpoint=hub.url)
        sent = hub.repos["dataset", "tstbench/results"].files
    assert texts_in(content.decode("utf-8", "replace") for content in sent.values()) == []
    rows = pq.read_table(io.BytesIO(sent["scores.parquet"])).to_pylist()
    assert {row["metric"]: row["value"] for row in rows} == {"s_bleu": 100}
    folder = f"{DIRECTION}/copy"
    assert {f"{folder}/report.json", f"{folder}/replicates.parquet"} <= sent.keys()
    assert f"{folder}/samples.jsonl" not in sent
    judged = json.loads(sent["human.jsonl"])
    assert (judged["score"], judged["source"], judged["output"]) == (1, None, None)
    assert judged.get("note") is None
    for path in (p for p in (tmp_path / "hub").rglob("*") if p.is_file()):
        assert texts_in([path.read_text("utf-8", "replace")]) == []
    # What is published is read as results again.
    (copy,) = read_direction(tmp_path / "hub/datasets/tstbench/results" / DIRECTION)
    assert not copy.has_samples
    assert copy.bootstrapped()["s_bleu"].value == pytest.approx(100)


@pytest.mark.slow
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
