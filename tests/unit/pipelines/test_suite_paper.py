"""The benchmark as a suite: what it would take, and all of it with tiny models under its names."""

import json
import re
from pathlib import Path

import pytest
import torch
from chat_server import KEY, serving
from prepared import DIRECTION, command_line, success
from tiny_models import make_bert
from transformers import BertConfig, BertForSequenceClassification

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.judgments.studies import STUDIES
from tstbench.metrics.registry import benchmark_metrics
from tstbench.metrics.scorers.profile import COLA_MODEL
from tstbench.pipelines.report import read_report
from tstbench.pipelines.suite_file import suite_file
from tstbench.trainers.system import system_class

COLA_REVISION = "efffc0dbebedfdb84747a32b30ec0c3df15812b1"  # the pinned one
GYAFC = "gyafc_em/informal-to-formal"
CHATS = ("chatgpt", "chatgpt-fs", "gpt4", "gpt4-fs")
SYSTEMS = (
    "stytrans", "tsst", "nast", "ctat", "strap", "bsrr", "tyb", "llama-lora",
    "llama-lora-inst", *CHATS,
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_at_hand(tmp_path, monkeypatch):
    """No network, no key, no licensed corpus, an empty cache of the Hub."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TSTBENCH_GYAFC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TSTBENCH_UPSTREAM_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)


def table(out):
    """The cells of a dry run's table: (system, direction) -> letter."""
    directions = dict(re.findall(r"^ +(\d+)  (\S+/\S+)$", out, re.M))
    rows = re.findall(r"^  ([a-z][\w-]*) +((?:[^\s]   ?)*[^\s])$", out, re.M)
    return {
        (system, directions[str(number)]): letter
        for system, letters in rows
        for number, letter in enumerate(letters.split(), start=1)
    }


@pytest.mark.parametrize("asked", ["paper", "paper --seeds 3 --system tyb", "mir"])
def test_what_a_published_suite_would_take(asked, capsys, monkeypatch, tstbench_home, snapshot):
    """All of it on record: states, trainings, what is missing, what would be downloaded."""
    if torch.cuda.is_available():
        pytest.skip("with a GPU less takes long")
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    out, _ = success(capsys, "run", *asked.split(), "--dry-run")
    assert out == snapshot
    assert all(len(line) <= 80 for line in out.splitlines() if line.startswith("  "))
    assert not list(tstbench_home.rglob("downloads"))
    assert not list(Path().iterdir())


@pytest.mark.realdata
def test_the_systems_of_a_direction_are_those_that_the_papers_raters_saw(capsys, monkeypatch):
    monkeypatch.delenv("TSTBENCH_SOURCES")
    _, out, _ = command_line(capsys, "run", "paper", "--dry-run")
    monkeypatch.undo()
    rated = {}
    for row in STUDIES["tstbench2025"].judgments():
        rated.setdefault(row.direction, set()).add(row.system)
    assert len(rated) == 7
    for direction, systems in rated.items():
        back = parse_direction(direction).reverse.name
        cells = {key for key, letter in table(out).items() if letter != "."}
        for where in {direction, back} & {d for _, d in cells}:
            assert {s for s, d in cells if d == where} == {*systems, "copy", "reference-1"}


@pytest.fixture
def weights(tmp_path):
    """Tiny models in the Hub's cache, under the names of the paper profile."""
    for name, revision in (
        ("FacebookAI/roberta-large", "a" * 40),
        ("FacebookAI/roberta-base", "b" * 40),
        (COLA_MODEL, COLA_REVISION),
    ):
        folder = tmp_path / "hub" / f"models--{name.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text(revision)
        model = make_bert(folder / "snapshots" / revision, layers=10)
        if name == COLA_MODEL:
            BertForSequenceClassification(BertConfig.from_pretrained(model)).save_pretrained(model)


@pytest.mark.slow
def test_all_thirteen_from_an_empty_home_to_tables_and_pictures(capsys, monkeypatch, weights):
    """The file of the benchmark itself, on mini and with the presets ``tiny``."""
    text = suite_file("paper")[0].read_text()
    text = re.sub(r"^(preset|directions) = .*\n", "", text, flags=re.M)
    text = f'directions = ["{DIRECTION}", "{GYAFC}"]\n{text}'
    for name in SYSTEMS:
        if system_class(name).Config:
            text = text.replace(f'system = "{name}"\n', f'system = "{name}"\npreset = "tiny"\n')
    Path("suite.toml").write_text(text)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    everything = {*SYSTEMS, "copy", "reference-1"}
    with serving(key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        _, out, _ = command_line(capsys, "run", "suite.toml", "--dry-run")
        before = table(out)
        assert {before[name, GYAFC] for name in everything} == {"!"}
        letters = {name: before[name, DIRECTION] for name in everything}
        assert {letters[name] for name in CHATS} == {"Q"}
        assert {letters[name] for name in SYSTEMS if name not in CHATS} == {"T"}
        assert re.search(r"Asking: 160 requests, .*: \$0\.\d\d to \$0\.\d\d", " ".join(out.split()))
        assert not server.times
        code, _, err = command_line(capsys, "run", "suite.toml")
    assert code == 1
    assert re.search(r"15 of 30 cells were left out.* 15 for: GYAFC", err), err[-2000:]
    for name in everything:
        report = read_report(Path("paper") / DIRECTION / name)
        assert [score.metric for score in report.scores] == list(benchmark_metrics())
        assert {score.profile for score in report.scores} == {"paper"}
    code, _, err = command_line(capsys, "run", "suite.toml", "--direction", "mini")
    assert (code, "computed 0" in err) == (0, True)  # asks no server: it is gone
    _, out, _ = command_line(capsys, "run", "suite.toml", "--dry-run", "--direction", "mini")
    assert set(table(out).values()) == {"="}
    code, out, _ = command_line(capsys, "report", "paper", "--format", "csv")
    assert (code, out.count(f"{DIRECTION},")) == (0, 15 * len(benchmark_metrics()))
    _, err = success(capsys, "analyze", "paper", "--no-style-map")
    pictures = {path.stem for path in Path("paper/analysis").rglob("*.png")}
    assert {"scores", "correlation-systems", "trade-off-content"} <= pictures
    assert json.loads((Path("paper") / DIRECTION / "significance.json").read_text())
