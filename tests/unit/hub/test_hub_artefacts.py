"""Everything there is to publish: staged, written once, and never what is licensed."""

from dataclasses import replace

import pytest
from datasets import load_dataset
from hub_artefacts import JUDGED
from prepared import DIRECTION, prepared_home

from tstbench.datasets_scripts.catalog import DIRECTIONS
from tstbench.datasets_scripts.judgments.schema import read_judgments, write_judgments
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import TSTBenchError
from tstbench.files import write_jsonl
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.growth import keep, read_results
from tstbench.pipelines.hub.build import build_all
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.scoring import scoring


@pytest.fixture
def results(tmp_path, tmp_path_factory, monkeypatch):
    """Two systems and one human judgment of mini."""
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    test_set = load_test_set(DIRECTION)
    outputs = [
        Outputs("copy", test_set.sources),
        Outputs("second", tuple(some[1] for some in test_set.references)),
    ]
    evaluate(outputs, test_set, scoring(["s_bleu", "r_bleu"]), root=tmp_path / "results")
    write_judgments(tmp_path / "results" / "human.jsonl", [JUDGED])
    return tmp_path / "results"


@pytest.mark.slow
def test_results_outputs_scorers_and_metrics_become_repositories(results, tmp_path):
    root = tmp_path / "hub"
    built = {one.repo_id: one for one in build_all(root, datasets=["mini"], results=results)}
    for name in ("mini", "results", "outputs", "joint", "leaderboard", "classifier-mini-linear"):
        assert built[f"tstbench/{name}"].changed
    folder = root / "datasets" / "tstbench"
    cache = str(tmp_path / "cache")
    scores = load_dataset(str(folder / "results"), split="scores", cache_dir=cache)
    assert scores.num_rows == 4  # two systems, two metrics
    assert {row["system"] for row in scores} == {"copy", "second"}
    assert scores.filter(lambda row: row["system"] == "copy")["value"][0] == 100
    outputs = load_dataset(str(folder / "outputs"), split="test", cache_dir=cache)
    assert outputs.num_rows == 2 * len(load_test_set(DIRECTION))
    assert read_judgments(folder / "results" / "human.jsonl")[0].score == 1
    report = folder / "results" / DIRECTION / "copy" / "report.json"
    assert report.read_text() == (results / DIRECTION / "copy" / "report.json").read_text()

    again = build_all(root, datasets=["mini"], results=results)
    assert not any(one.changed for one in again)


def test_gyafc_is_refused(tmp_path, results):
    # `hub build` takes no licence, so it advises none
    said = "^gyafc_fr is licensed: it may only be built .`tstbench build`. and used locally$"
    with pytest.raises(TSTBenchError, match=said):
        build_all(tmp_path / "hub", datasets=["gyafc_fr"])
    copy = read_results(results, DIRECTIONS[DIRECTION], "copy")
    keep(results, replace(copy, direction=DIRECTIONS["gyafc_fr/informal-to-formal"], scored=()))
    build_all(tmp_path / "hub", datasets=[], results=results, only=["results", "outputs"])
    outputs = (tmp_path / "hub/datasets/tstbench/outputs/outputs.jsonl").read_text()
    assert DIRECTION in outputs
    assert "gyafc_fr" not in outputs
    built = tmp_path / "hub/datasets/tstbench/results"
    assert not (built / "gyafc_fr/informal-to-formal/copy/samples.jsonl").exists()
    assert (built / DIRECTION / "copy/samples.jsonl").exists()


def test_judgments_that_are_none_are_refused(tmp_path, results):
    (tmp_path / "judgments").mkdir()
    write_jsonl(tmp_path / "judgments" / "study.jsonl", [{"score": 9}])
    with pytest.raises(TSTBenchError, match=r"study\.jsonl, line 1"):
        build_all(tmp_path / "hub", datasets=[], judgments=tmp_path / "judgments")


def test_judgments_become_a_dataset_with_a_card(tmp_path, results):
    folder = tmp_path / "judgments"
    folder.mkdir()
    (folder / "ours.jsonl").write_bytes((results / "human.jsonl").read_bytes())
    build_all(tmp_path / "hub", datasets=[], judgments=folder, only=["human_judgments"])
    built = tmp_path / "hub" / "datasets" / "tstbench" / "human_judgments"
    for config in ("default", "ours"):
        rows = load_dataset(
            str(built), config, split="judgments", cache_dir=str(tmp_path / "cache")
        )
        assert (rows[0]["score"], rows[0]["flag"]) == (1.0, None)
    assert "1 rows: style" in (built / "README.md").read_text()


@pytest.mark.realdata
def test_published_studies_become_a_dataset(tmp_path):
    names = ["li2018", "mir2019", "pauli2025", "tstbench2025"]
    build_all(tmp_path / "hub", datasets=[], studies=names, only=["human_judgments"])
    built = tmp_path / "hub" / "datasets" / "tstbench" / "human_judgments"
    rows = load_dataset(str(built), split="judgments", cache_dir=str(tmp_path / "cache"))
    assert rows.num_rows == 9600 + 10492 + 1200 + 15000
    card = (built / "README.md").read_text()
    for said in ("CC BY-SA 4.0", "CC-BY-4.0", "none stated", "Only the public outputs of ChatGPT"):
        assert said in card
    licensed = rows.filter(lambda row: row["dataset"].startswith("gyafc"))
    assert licensed.num_rows == 5200
    assert set(licensed["output"]) == {None}
