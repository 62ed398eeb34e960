"""The Hub's own leaderboards: tasks of datasets, what models report, and how it is sent."""

import json
from dataclasses import replace
from types import SimpleNamespace
from urllib.request import urlopen

import huggingface_hub.constants
import pytest
import yaml
from answering import answering
from hub_double import TOKEN, Repo, running
from huggingface_hub import DatasetCard, HfApi, ModelCard
from leaderboard_results import HOSTILE
from prepared import DIRECTION, command_line, refusal

from tstbench.datasets_scripts.catalog import BENCHMARK_DATASETS, DIRECTIONS
from tstbench.datasets_scripts.load import load_test_set, load_training
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.growth import keep, read_results
from tstbench.pipelines.hub.build import build_all
from tstbench.pipelines.hub.eval_results import (
    eval_yaml,
    parse_results,
    scores_with_tasks,
    tasks_of,
)
from tstbench.pipelines.hub.manifest import write_repository
from tstbench.pipelines.hub.push import send_results
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

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:httpx2")


@pytest.fixture(autouse=True)
def online(monkeypatch):
    """The tests' switch against the network also stops requests to loopback."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", "/nowhere/token")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A trained system, its results beside a bound's, and a hub folder with both, served."""
    folder = tmp_path_factory.mktemp("leaderboards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTBENCH_HOME", str(folder / "home"))
        trained = train_system(SYSTEM, load_training(DIRECTION))
        test_set = load_test_set(DIRECTION)
        info = SystemInfo(name=SYSTEM, family="rule", system_hash=trained.hash)
        outputs = [
            Outputs(SYSTEM, tuple(predict(SYSTEM, test_set))),
            Outputs("copy", test_set.sources),
            Outputs("zeta", tuple(some[1] for some in test_set.references)),
        ]
        how = scoring(["s_bleu", "r_bleu"])
        evaluate(outputs, test_set, how, {SYSTEM: info}, folder / "results")
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


def value_of(made, metric):
    (report,) = (one.report for one in made.reports if one.report.system.name == SYSTEM)
    return report.score(metric).value


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
    (copy,) = (one.report for one in made.reports if one.report.system.name == "copy")
    assert list(scores_with_tasks(copy)) == []
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


def test_scores_are_proposed_for_the_model_of_somebody_else(hub, made):
    sent = send_results(made.results, MODEL, pull_request=True, token=TOKEN, endpoint=hub.url)
    assert sent.url == f"{hub.url}/{MODEL}/discussions/1"
    assert len(hub.repos["model", MODEL].messages) == 1  # main is as it was
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
    code, out, err = command_line(
        capsys, "hub", "results", made.results, "--model", MODEL, *options
    )
    assert (code, out) == (0, f"{hub.url}/{MODEL}/discussions/1\n"), err
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
    asking = ("hub", "results", made.results, "--model", MODEL, "--dry-run")
    code, out, err = command_line(capsys, *asking, "--source", "https://example.org/logs")
    assert code == 0, err
    assert out.startswith("# .eval_results/tstbench-mini-")
    (first, _) = yaml.safe_load(out)
    assert first["source"] == {"url": "https://example.org/logs", "name": "TSTBench"}
    assert "the revision of tstbench/mini is not known" in err
    assert "nothing was sent" in err


def test_which_of_several_systems_is_meant_is_asked(made, capsys):
    message = refusal(capsys, "hub", "results", made.results, "--model", "you/it")
    assert "you/it? Add --system NAME; here are: delete-retrieve, zeta" in message


def test_what_is_missing_names_the_option(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    message = refusal(
        capsys, "hub", "build", tmp_path / "h", "--datasets", "styptb_tfu", "--only", "styptb_tfu"
    )
    assert "--allow-missing" in message


def test_help_explains_every_argument(capsys):
    _, out, _ = command_line(capsys, "hub", "build", "--help")
    assert "the hub folder" in out
    assert "train ... --out" in out


def test_a_card_of_aliases_without_end_is_no_card(made):
    with urlopen(f"{made.url}/api/models/somebody/bomb") as answer:
        assert json.load(answer)["cardData"] == {}
