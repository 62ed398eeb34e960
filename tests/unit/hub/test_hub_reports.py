"""What a system's scores say on the Hub: whose, of when, from where, and in which order."""

import json
from urllib.request import urlopen

import pytest
import yaml
from answering import answering
from gyafc_copy import small_copy, write
from huggingface_hub.errors import LocalEntryNotFoundError
from leaderboard_results import report
from prepared import DIRECTION

from tstbench.datasets_scripts.catalog import DATASETS
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.hub.eval_results import (
    EVAL_FILE,
    About,
    eval_yaml,
    is_result_file,
    model_index,
    parse_results,
    result_files,
)
from tstbench.pipelines.hub.licensed import LicensedTextError
from tstbench.pipelines.hub.manifest import write_repository
from tstbench.pipelines.hub.push import explained, send_results
from tstbench.pipelines.hub.serve import make_server
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.report import SystemInfo
from tstbench.pipelines.results import read_direction
from tstbench.pipelines.scoring import scoring

LOGS = "https://example.org/alpha"
TASK = "negative-to-positive_s_bleu"
CARD = b"---\nlicense: mit\n---\n# A card\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two systems beside a bound; only one says where its outputs are."""
    test_set = load_test_set(DIRECTION)
    first, second = ([some[i] for some in test_set.references] for i in (0, 1))
    outputs = [
        Outputs("Alpha", tuple(first)),
        Outputs("beta", (*test_set.sources[:9], *second[9:])),
        Outputs("copy", test_set.sources),
    ]
    infos = {"Alpha": SystemInfo(name="Alpha", family="rule", outputs_url=LOGS)}
    folder = tmp_path_factory.mktemp("reports") / "results"
    evaluate(outputs, test_set, scoring(["s_bleu", "r_bleu"]), infos, folder)
    return folder


def sent(results, model, **options):
    """What would be sent: the system, and its entries."""
    found = send_results(results, model, dry_run=True, **options)
    return found.system, [e for path, c in found.files.items() for e in parse_results(c, path)]


def test_the_system_is_that_of_the_models_name_in_any_case_and_else_is_asked_for(results):
    assert sent(results, "you/ALPHA")[0] == "Alpha"
    assert sent(results, "you/other", system="beta")[0] == "beta"
    with pytest.raises(InputError, match=r"which system is you/other\?.*here are: Alpha, beta$"):
        sent(results, "you/other")


def test_an_entry_says_where_the_outputs_are_and_no_day(results):
    """A file's own day is that of the last copy: the Hub takes its commit's."""
    _, entries = sent(results, "you/alpha")
    assert {entry.date for entry in entries} == {None}
    assert {entry.source.url for entry in entries} == {LOGS}
    assert {entry.source for entry in sent(results, "you/beta")[1]} == {None}
    _, entries = sent(results, "you/alpha", source="https://example.org/else")
    assert {entry.source.url for entry in entries} == {"https://example.org/else"}


def test_what_is_sent_quotes_no_licensed_corpus(results, tmp_path, monkeypatch):
    write(
        small_copy(tmp_path) / "Entertainment_Music/train/formal", ["You should see the old boat."]
    )
    monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "GYAFC_Corpus"))
    with pytest.raises(LicensedTextError, match="quotes a sentence"):
        sent(results, "you/alpha", source="https://example.org/you-should-see-the-old-boat")
    assert sent(results, "you/alpha")[0] == "Alpha"


def test_the_notes_of_an_entry_are_what_its_report_says(results):
    (report,) = (
        one.report
        for one in read_direction(results / DIRECTION)
        if one.report.system.name == "beta"
    )
    values = {entry.dataset.task_id: entry for entry in sent(results, "you/beta")[1]}
    for one in report.scores:
        entry = values[f"negative-to-positive_{one.metric}"]
        assert entry.value == one.value
        assert entry.notes == (
            f"signature {one.signature}; 95% interval {one.interval.low} to {one.interval.high}; "
            f"scorers {one.profile}; made with {one.made_with}"
        )


def test_the_same_metric_with_other_options_is_in_a_file_of_its_own():
    usual = report("ours", {"s_bleu": 40.0})
    other = usual.scores[0].model_copy(update={"key": "s_bleu@13a", "value": 55.0})
    both = usual.model_copy(update={"scores": (*usual.scores, other)})
    files = result_files([both], About("you"))
    assert {
        path: [entry.value for entry in parse_results(content, path)]
        for path, content in files.items()
    } == {
        ".eval_results/tstbench-mini-embedded.yaml": [40.0],
        ".eval_results/tstbench-mini-embedded-13a.yaml": [55.0],
    }


def test_a_card_lists_numbers_of_systems_only():
    ours = report("ours", {"s_bleu": 40.0, "acc": None, "ppl": 200.0})
    copy = report("copy", {"s_bleu": 100.0})
    assert [(one.metric_type, one.metric_value) for one in model_index([ours, copy])] == [
        ("s_bleu", 40.0),
        ("ppl", 200.0),
    ]


def test_results_are_read_from_their_own_folder_only():
    assert is_result_file(".eval_results/a.yaml")
    assert is_result_file(".eval_results/a.yml")
    for path in ("a.yaml", "results/a.yaml", "x/.eval_results/a.yaml", ".eval_results/a.json"):
        assert not is_result_file(path)


def test_a_download_that_breaks_off_is_the_connections_fault_and_not_a_files():
    """As the client says it when the Hub answered and then was gone: no file of ours is missing."""
    error = LocalEntryNotFoundError("An error happened while trying to locate the file")
    said = str(explained(error, "dataset tstbench/mini", None))
    assert said.startswith("dataset tstbench/mini: the Hub cannot be reached (An error happened")
    assert "hub build" not in said
    missing = FileNotFoundError(2, "No such file", "/hub/x.bin")
    assert "/hub/x.bin is missing: run `tstbench hub build`" in str(explained(missing, "x", None))


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Asks a served hub folder for the leaderboard of its dataset."""
    root = tmp_path_factory.mktemp("board")
    dataset = {"README.md": CARD, EVAL_FILE: eval_yaml(DATASETS["mini"])}
    write_repository(root, "dataset", "tstbench/mini", dataset)
    derived = b"---\nlicense: mit\nbase_model: a/first\n---\n# A card\n"
    for name, value, about, card in (
        ("c/third", 40.0, "tstbench/mini", CARD),
        ("b/second", 50.5, "tstbench/mini", CARD),
        ("a/first", 50.5, "tstbench/mini", CARD),
        ("d/tuned", 99.0, "tstbench/mini", derived),
        ("e/elsewhere", 98.0, "somebody/mini", CARD),
    ):
        entry = {"dataset": {"id": about, "task_id": TASK}, "value": value}
        files = {"README.md": card, ".eval_results/mini.yaml": yaml.safe_dump([entry]).encode()}
        write_repository(root, "model", name, files)

    def ask(query=""):
        with urlopen(f"{server.url}/api/datasets/tstbench/mini/leaderboard{query}") as answer:
            return [(row["rank"], row["modelId"], row["value"]) for row in json.load(answer)]

    with answering(make_server(root)) as server:
        yield ask


RANKED = [(1, "a/first", 50.5), (1, "b/second", 50.5), (3, "c/third", 40.0)]


def test_equal_values_share_a_rank_and_other_datasets_have_none(board):
    assert board() == RANKED
    assert board(f"?task_id={TASK}") == RANKED
    assert board("?task_id=negative-to-positive_acc") == []


def test_derived_models_are_ranked_only_if_they_are_asked_for(board):
    moved = [(rank + 1, *rest) for rank, *rest in RANKED]
    assert board("?base_model=false") == [(1, "d/tuned", 99.0), *moved]
    assert board("?base_model=true") == RANKED
