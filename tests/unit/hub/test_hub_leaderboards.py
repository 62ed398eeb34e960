"""The Hub's own leaderboards: tasks of datasets, what models report, and how it is sent."""

import json
from dataclasses import replace
from types import SimpleNamespace
from urllib.request import urlopen

import huggingface_hub.constants
import pytest
import yaml
from answering import answering
from gyafc_copy import small_copy, write
from hub_double import TOKEN, Repo, running
from huggingface_hub import DatasetCard, HfApi, ModelCard
from huggingface_hub.errors import LocalEntryNotFoundError
from leaderboard_results import HOSTILE, report
from prepared import DIRECTION, refusal, success

from tstbench.datasets_scripts.catalog import BENCHMARK_DATASETS, DATASETS, DIRECTIONS
from tstbench.datasets_scripts.load import load_test_set, load_training
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.growth import keep, read_results
from tstbench.pipelines.hub.build import build_all
from tstbench.pipelines.hub.eval_results import (
    EVAL_FILE,
    About,
    eval_yaml,
    is_result_file,
    model_index,
    parse_results,
    result_files,
    scores_with_tasks,
    tasks_of,
)
from tstbench.pipelines.hub.licensed import LicensedTextError
from tstbench.pipelines.hub.manifest import write_repository
from tstbench.pipelines.hub.push import explained, send_results
from tstbench.pipelines.hub.serve import make_server
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.report import SystemInfo
from tstbench.pipelines.results import read_direction
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.transfer import predict
from tstbench.trainers.train import train_system

SYSTEM = "delete-retrieve"
REPOSITORY = f"tstbench/{SYSTEM}-mini-negative-to-positive"
MODEL = "you/delete-retrieve"
TASK = "negative-to-positive_s_bleu"
LOGS = "https://example.org/zeta"
CARD = b"---\nlicense: mit\n---\n# A card\n"
pytestmark = pytest.mark.usefixtures("online")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A trained system, its results beside a bound's, and a hub folder with both, served."""
    folder = tmp_path_factory.mktemp("leaderboards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTBENCH_HOME", str(folder / "home"))
        trained = train_system(SYSTEM, load_training(DIRECTION))
        test_set = load_test_set(DIRECTION)
        infos = {
            SYSTEM: SystemInfo(name=SYSTEM, family="rule", system_hash=trained.hash),
            "Zeta": SystemInfo(name="Zeta", family="rule", outputs_url=LOGS),
        }
        outputs = [
            Outputs(SYSTEM, tuple(predict(SYSTEM, test_set))),
            Outputs("copy", test_set.sources),
            Outputs("Zeta", tuple(some[1] for some in test_set.references)),
        ]
        how = scoring(["s_bleu", "r_bleu"])
        evaluate(outputs, test_set, how, infos, folder / "results")
        build_all(
            folder / "hub",
            datasets=["mini"],
            results=folder / "results",
            only=["mini", REPOSITORY.split("/")[1], "results", "outputs"],
        )
    other = [{"dataset": {"id": "tstbench/mini", "task_id": TASK}, "value": 99.5, "notes": HOSTILE}]
    write_repository(
        folder / "hub",
        "model",
        "somebody/model",
        {
            "README.md": b"---\nlicense: mit\n---\n# Theirs\n",
            ".eval_results/mini.yaml": yaml.safe_dump(other).encode(),
            ".eval_results/broken.yaml": b"- value: high\n",
        },
    )
    # Each further line stands for nine times as many values, as soon as they are written out.
    bomb = "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 9)}]\n" for n in range(5)
    )
    card = f"---\nlicense: mit\n{bomb}---\n".encode()
    write_repository(folder / "hub", "model", "somebody/bomb", {"README.md": card})
    with answering(make_server(folder / "hub")) as server:
        yield SimpleNamespace(
            results=folder / "results",
            hub=folder / "hub",
            url=server.url,
            reports=read_direction(folder / "results" / DIRECTION),
        )


def report_of(made, system):
    (found,) = (one.report for one in made.reports if one.report.system.name == system)
    return found


def value_of(made, metric):
    return report_of(made, SYSTEM).score(metric).value


def sent(made, model, **options):
    """What would be sent: the system, and its entries."""
    found = send_results(made.results, model, dry_run=True, endpoint=made.url, **options)
    return found.system, [e for path, c in found.files.items() for e in parse_results(c, path)]


@pytest.mark.parametrize("name", BENCHMARK_DATASETS)
def test_a_dataset_has_a_task_for_each_direction_and_metric(name):
    facts = BENCHMARK_DATASETS[name]
    content = yaml.safe_load(eval_yaml(facts))
    assert set(content) == {"name", "description", "evaluation_framework", "tasks"}
    ids = [task["id"] for task in content["tasks"]]
    assert len(ids) == len(set(ids)) == len(tasks_of(facts))
    assert {task["config"] for task in content["tasks"]} == {d.config for d in facts.directions}
    assert all(task.metric.higher_is_better for task in tasks_of(facts))
    assert not any(one.endswith("_ppl") for one in ids)
    assert any(one.endswith("_multi_bleu") for one in ids) == (facts.references > 1)


def test_the_client_reads_the_leaderboard_of_the_hub_folder(made):
    api = HfApi(endpoint=made.url)
    dataset = api.dataset_info("tstbench/mini")
    assert "eval.yaml" in [file.rfilename for file in dataset.siblings]
    board = api.get_dataset_leaderboard("tstbench/mini")
    ours = value_of(made, "s_bleu")
    first = [(e.rank, e.model_id, e.value, e.verified) for e in board if e.taskId == TASK]
    theirs = ("somebody/model", 99.5)
    expected = sorted([theirs, (REPOSITORY, ours)], key=lambda pair: -pair[1])
    assert first == [(i, *pair, False) for i, pair in enumerate(expected, start=1)]
    source = next(e.source for e in board if e.model_id == REPOSITORY)
    assert source["url"].endswith(f"/datasets/tstbench/results/tree/main/{DIRECTION}/{SYSTEM}")
    with pytest.raises(huggingface_hub.errors.HfHubHTTPError, match="no leaderboard"):
        api.get_dataset_leaderboard("tstbench/outputs")


def test_a_published_system_carries_its_scores(made):
    api = HfApi(endpoint=made.url)
    info = api.model_info(REPOSITORY, expand=["evalResults"])
    found = {entry.task_id: entry for entry in info.eval_results}
    assert set(found) == {TASK, "negative-to-positive_r_bleu"}
    entry = found[TASK]
    assert entry.value == value_of(made, "s_bleu")
    assert entry.dataset_revision is None, "the Hub makes commits of its own"
    assert "signature s_bleu|v:" in entry.notes
    assert entry.source_url.startswith("https://")
    index = ModelCard.load(made.hub / "models" / REPOSITORY / "README.md").data.eval_results
    assert {(one.metric_type, one.metric_value) for one in index} == {
        (metric, value_of(made, metric)) for metric in ("s_bleu", "r_bleu")
    }
    (theirs,) = api.model_info("somebody/model", expand=["evalResults"]).eval_results
    assert theirs.notes == HOSTILE  # the broken file beside it is left out by the client
    assert api.model_info(REPOSITORY).eval_results is None


def test_every_card_says_what_the_hub_asks(made):
    datasets = made.hub / "datasets" / "tstbench"
    for name in ("mini", "results", "outputs"):
        data = DatasetCard.load(datasets / name / "README.md").data
        assert data.license
        assert data.pretty_name
    card = DatasetCard.load(datasets / "mini" / "README.md").data.to_dict()
    described = {one["config_name"]: one["description"] for one in card["configs"]}
    assert described["negative-to-positive"].startswith("From negative to positive (content ")
    assert described["styles"].startswith("Sentences labelled with their style: negative, positive")
    assert not any(text.startswith("rows") for text in described.values())
    model = ModelCard.load(made.hub / "models" / REPOSITORY / "README.md").data
    assert (model.library_name, model.license, model.datasets) == (
        "tstbench",
        "apache-2.0",
        ["tstbench/mini"],
    )


def test_bounds_and_licensed_directions_are_not_reported(made, tmp_path):
    assert list(scores_with_tasks(report_of(made, "copy"))) == []
    ours = read_results(made.results, DIRECTIONS[DIRECTION], SYSTEM)
    secret = DIRECTIONS["gyafc_fr/informal-to-formal"]
    keep(tmp_path, replace(ours, direction=secret, on_disk=None))
    sent = None
    with pytest.raises(Exception, match="gyafc_fr/informal-to-formal is left out: gyafc_fr is not"):
        sent = send_results(tmp_path, MODEL, dry_run=True, endpoint=made.url)
    assert sent is None


@pytest.fixture
def hub(made):
    """A Hub that can be written to, with the dataset and the user's model."""
    with running() as double:
        folder = made.hub / "datasets/tstbench/mini"
        files = {
            p.relative_to(folder).as_posix(): p.read_bytes()
            for p in folder.rglob("*")
            if p.is_file()
        }
        for key, content in {
            ("dataset", "tstbench/mini"): files,
            ("model", MODEL): {"README.md": b"# A model\n"},
        }.items():
            double.repos[key] = Repo()
            double.repos[key].commit(content, "initial commit")
        yield double


def test_scores_are_sent_once(hub, made):
    sent = send_results(made.results, MODEL, token=TOKEN, endpoint=hub.url)
    model = hub.repos["model", MODEL]
    assert sent.url.endswith(model.head)
    (path,) = sent.files
    entries = parse_results(model.files[path], path)
    assert {e.dataset.task_id: e.value for e in entries}[TASK] == value_of(made, "s_bleu")
    assert {e.dataset.revision for e in entries} == {hub.repos["dataset", "tstbench/mini"].head}
    assert {e.date for e in entries} == {None}
    assert (model.messages[1:], model.files["README.md"]) == (
        ["Report TSTBench scores of delete-retrieve"],
        b"# A model\n",
    )
    again = send_results(made.results, MODEL, token=TOKEN, endpoint=hub.url)
    assert (again.url, again.changed, len(model.messages)) == (None, (), 2)


def test_for_the_model_of_somebody_else_a_proposal_is_advised(hub, made):
    hub.refuse[MODEL] = (403, "no, {token}")
    with pytest.raises(Exception, match="add --pull-request") as caught:
        send_results(made.results, MODEL, token=TOKEN, endpoint=hub.url)
    assert TOKEN not in str(caught.value)


def test_the_command_proposes_what_names_the_datasets_of_their_owner(
    hub, made, capsys, monkeypatch
):
    hub.repos["dataset", "they/mini"] = hub.repos.pop(("dataset", "tstbench/mini"))
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.url)
    resolve = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", resolve)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    options = ("--system", SYSTEM, "--namespace", "they", "--pull-request")
    out, _ = success(capsys, "hub", "results", made.results, "--model", MODEL, *options)
    assert out == f"{hub.url}/{MODEL}/discussions/1\n"
    model = hub.repos["model", MODEL]
    (proposed,) = model.proposed
    assert len(model.messages) == 1  # main is as it was
    (path,) = proposed.keys() - model.files.keys()
    assert {e.dataset.id for e in parse_results(proposed[path], path)} == {"they/mini"}


def test_scores_of_other_sentences_are_refused(hub, made):
    dataset = hub.repos["dataset", "tstbench/mini"]
    other = dataset.files["fingerprint.json"].replace(b'/test": "', b'/test": "0')
    dataset.commit({**dataset.files, "fingerprint.json": other}, "other rows")
    with pytest.raises(Exception, match="was not scored on the test set of tstbench/mini"):
        send_results(made.results, MODEL, token=TOKEN, endpoint=hub.url)


def test_a_dry_run_needs_no_hub(made, capsys, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    asking = ("hub", "results", made.results, "--model", MODEL, "--system=Zeta", "--dry-run")
    out, err = success(capsys, *asking, "--source", "https://example.org/logs")
    assert out.startswith("# .eval_results/tstbench-mini-")
    (first, _) = yaml.safe_load(out)
    assert first["source"] == {"url": "https://example.org/logs", "name": "TSTBench"}
    assert "the revision of tstbench/mini is not known" in err
    assert "nothing was sent" in err


def test_the_system_is_that_of_the_models_name_in_any_case_and_else_is_asked_for(made, capsys):
    assert sent(made, "you/ZETA")[0] == "Zeta"
    assert sent(made, "you/other", system=SYSTEM)[0] == SYSTEM
    message = refusal(capsys, "hub", "results", made.results, "--model", "you/it")
    assert "you/it? Add --system NAME; here are: Zeta, delete-retrieve" in message


def test_an_entry_says_what_its_report_says_and_where_the_outputs_are_and_no_day(made):
    """A file's own day is that of the last copy: the Hub takes its commit's."""
    for system, source in (("Zeta", LOGS), (SYSTEM, None)):
        entries = {entry.dataset.task_id: entry for entry in sent(made, f"you/{system}")[1]}
        scores = report_of(made, system).scores
        assert len(entries) == len(scores) == 2
        for one in scores:
            entry = entries[f"negative-to-positive_{one.metric}"]
            found = (entry.value, entry.date, entry.source and entry.source.url)
            assert found == (one.value, None, source)
            assert entry.notes == (
                f"signature {one.signature}; 95% interval {one.interval.low} to "
                f"{one.interval.high}; scorers {one.profile}; made with {one.made_with}"
            )


def test_what_is_sent_quotes_no_licensed_corpus(made, tmp_path, monkeypatch):
    write(
        small_copy(tmp_path) / "Entertainment_Music/train/formal", ["You should see the old boat."]
    )
    monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "GYAFC_Corpus"))
    with pytest.raises(LicensedTextError, match="quotes a sentence"):
        sent(made, MODEL, source="https://example.org/you-should-see-the-old-boat")
    assert sent(made, MODEL)[0] == SYSTEM


def test_what_is_missing_names_the_option(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    message = refusal(
        capsys, "hub", "build", tmp_path / "h", "--datasets", "styptb_tfu", "--only", "styptb_tfu"
    )
    assert "--allow-missing" in message


def test_help_explains_every_argument(capsys):
    out, _ = success(capsys, "hub", "build", "--help")
    assert "the hub folder" in out
    assert "train ... --out" in out


def test_a_card_of_aliases_without_end_is_no_card(made):
    with urlopen(f"{made.url}/api/models/somebody/bomb") as answer:
        assert json.load(answer)["cardData"] == {}


def test_the_same_metric_with_other_options_is_in_a_file_of_its_own():
    usual = report("ours", {"s_bleu": 40.0, "acc": None})  # without a value it is no entry
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
