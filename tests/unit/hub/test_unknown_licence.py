"""Sentences of data that nobody registered have no known licence: they are not published."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_artefacts import dataset_folder
from prepared import command_line, refusal

from tstbench.datasets_scripts import catalog
from tstbench.errors import InputError
from tstbench.pipelines.hub.guard import check_publishable
from tstbench.pipelines.hub.human_judgments import COLUMNS
from tstbench.pipelines.hub.manifest import write_repository

CARD = {"README.md": b"# Card\n"}
OURS = {"system": "ours", "direction": "manners/rude-to-polite"}
OUTPUT = {**OURS, "id": "1", "prediction": "Would you mind moving?", "origin": None}
JUDGMENT = {
    **OURS,
    "study": "ours",
    "dataset": "manners",
    "sample_id": "1",
    "source": "Move.",
    "output": "Would you mind moving?",
    "aspect": "style",
    "scale": "ordinal 1-5",
    "rater": "rater-1",
    "score": 1.0,
}


def of_dataset(name):
    """A judgment of a rewrite of its sentence."""
    return {**JUDGMENT, "dataset": name, "direction": f"{name}/rude-to-polite"}


def line(record):
    return json.dumps(record).encode() + b"\n"


def built_manners(tmp_path, capsys, data):
    folder = tmp_path / "built"
    assert command_line(capsys, "build", "manners", "--data", data, "--out", folder)[0] == 0
    files = {str(p.relative_to(folder)): p for p in folder.rglob("[!.]*") if p.is_file()}
    start = min(files, key=len).rpartition("/")[0]
    return {path.removeprefix(f"{start}/"): found for path, found in files.items()}


@pytest.mark.parametrize(
    "files",
    [{"outputs.jsonl": line(OUTPUT)}, {"human.jsonl": line(JUDGMENT)}],
    ids=["outputs", "judgments"],
)
def test_a_folder_is_pushed_only_with_the_data_file_of_its_sentences(
    files, tmp_path, capsys, manners
):
    """``hub push`` reads a folder that another computer made; only dry runs, which send nothing."""
    root = tmp_path / "hub"
    (root / "datasets").mkdir(parents=True)
    with pytest.raises(InputError, match="manners, whose licence is not known"):
        write_repository(root, "dataset", "tstbench/results", {**CARD, **files})
    assert command_line(capsys, "data", "check", manners)[0] == 0
    catalog.load_data(manners)
    write_repository(root, "dataset", "tstbench/results", {**CARD, **files})
    catalog.REGISTERED.clear()
    said = refusal(capsys, "hub", "push", root, "--dry-run")
    assert "has sentences of manners, whose licence is not known. Give its data file" in said
    _, _, err = command_line(capsys, "hub", "push", root, "--dry-run", "--data", manners)
    assert "licence" not in err


def test_a_built_dataset_is_published_only_with_its_data_file(tmp_path, capsys, manners):
    files = built_manners(tmp_path, capsys, manners)
    check_publishable("dataset", "tstbench/manners", files)
    catalog.REGISTERED.clear()
    with pytest.raises(InputError, match="sentences of manners, whose licence is not known"):
        check_publishable("dataset", "tstbench/manners", files)


def test_a_table_of_judgments_of_data_that_nobody_registered(tmp_path):
    kinds = {"score": pa.float64(), "certain": pa.bool_()}
    row = {**dict.fromkeys(COLUMNS), **JUDGMENT, "certain": True}
    columns = {name: pa.array([row[name]], kinds.get(name, pa.string())) for name in COLUMNS}
    pq.write_table(pa.table(columns), tmp_path / "judgments.parquet")
    files = {**CARD, "data/judgments.parquet": tmp_path / "judgments.parquet"}
    with pytest.raises(InputError, match="row 0 has sentences of manners, whose licence is not"):
        check_publishable("dataset", "tstbench/human_judgments", files)


def test_data_without_a_licence_are_not_published_though_registered(manners):
    manners.write_text(manners.read_text().replace('licence = "cc0-1.0"\n', ""))
    catalog.load_data(manners)
    with pytest.raises(InputError, match="manners, which has no licence"):
        check_publishable("dataset", "tstbench/outputs", {**CARD, "outputs.jsonl": line(OUTPUT)})


def test_judgments_of_a_published_study_are_under_its_own_terms():
    row = {**of_dataset("pauli2025"), "study": "pauli2025"}
    check_publishable("dataset", "tstbench/human_judgments", {**CARD, "human.jsonl": line(row)})
    files = {**CARD, "human.jsonl": line(of_dataset("unheard"))}
    with pytest.raises(InputError, match="sentences of unheard, whose licence is not known"):
        check_publishable("dataset", "tstbench/human_judgments", files)
    without = line({**of_dataset("unheard"), "source": None, "output": None})
    check_publishable("dataset", "tstbench/human_judgments", {**CARD, "human.jsonl": without})


def test_open_data_of_the_benchmark_are_published(tmp_path):
    folder = dataset_folder(tmp_path)
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    check_publishable("dataset", "tstbench/mini", files)


@pytest.mark.parametrize(
    "remembered",
    [
        {"memory.json": b"[[[4, 1, 2], [7, 3]]]"},  # sentences as the numbers of their words
        {"deep/sentences.json": b'["Move."]'},
        {"other.json": b'{"a": ["get out of my way now"]}'},
    ],
    ids=["numbers", "named", "found"],
)
def test_a_system_that_quotes_its_training_data_is_published_where_these_may_be(
    remembered, manners
):
    card = {"directions": ["manners/polite-to-rude", "manners/rude-to-polite"], "origin": "a " * 9}
    files = {"README.md": b"# Card\n", "system.json": json.dumps(card).encode(), **remembered}
    where = f"us/nearest: {next(iter(remembered))} has sentences of manners"
    with pytest.raises(InputError, match=f"^{where}, whose licence is not known"):
        check_publishable("model", "us/nearest", files)
    catalog.load_data(manners)
    check_publishable("model", "us/nearest", files)


def test_a_network_that_learned_from_anything_is_published():
    card = {"directions": ["manners/polite-to-rude"]}
    words = {"vocabulary.json": b'["get", "get out of my way"]', "a.safetensors": b""}
    check_publishable("model", "us/net", {"system.json": json.dumps(card).encode(), **words})
    scorer = {"scorer.json": b'{"dataset": "manners"}', **words}
    check_publishable("model", "us/scorer", scorer)
    with pytest.raises(InputError, match="has sentences of manners"):  # n-grams quote
        check_publishable("model", "us/scorer", {**scorer, "model.arpa": b"\\data\\\n"})
