"""Sentences of data that nobody registered have no known licence: they are not published."""

import shutil
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hub_artefacts import JUDGED
from prepared import DIRECTION, refusal, success

from tstbench.datasets_scripts import catalog
from tstbench.datasets_scripts.judgments.schema import write_judgments

LICENCE = 'licence = "cc0-1.0"\n'


def judged(folder, name, **changed):
    """A file of one judgment of a rewrite of a dataset's sentence."""
    about = {"dataset": name, "direction": f"{name}/rude-to-polite"}
    write_judgments(folder / "ours.jsonl", [JUDGED.model_copy(update={**about, **changed})])
    return folder


def scored(capsys, folder, direction, *options):
    asked = ("evaluate", "--baseline", "copy", "--metrics", "s_bleu", "--direction", direction)
    success(capsys, *asked, "--out", folder, *options)


@pytest.fixture
def results(tmp_path, capsys, manners):
    """Results of an open dataset and of the user's own, which is known no more."""
    folder = tmp_path / "results"
    scored(capsys, folder, DIRECTION)
    scored(capsys, folder, "manners/rude-to-polite", "--data", manners)
    catalog.REGISTERED.clear()
    return folder


def test_results_of_unknown_data_are_left_out_and_those_of_described_data_are_not(
    results, tmp_path, capsys, manners
):
    build = ("hub", "build", tmp_path / "hub", "--results", results, "--datasets")
    only = ("--only", "results", "outputs")
    _, err = success(capsys, *build, *only)
    assert f"left out: {results / 'manners/rude-to-polite'}: no licence of manners" in err
    published = tmp_path / "hub/datasets/tstbench"
    texts = [p.read_text() for p in published.rglob("*.jsonl")]
    assert texts
    assert not any("manners" in text for text in texts)
    success(capsys, *build, *only, "--data", manners)
    assert (published / "results/manners/rude-to-polite/copy/samples.jsonl").is_file()
    assert "manners" in (published / "outputs/outputs.jsonl").read_text()
    manners.write_text(manners.read_text().replace(LICENCE, ""))
    catalog.REGISTERED.clear()
    success(capsys, *build, *only, "--data", manners)
    assert not (published / "results/manners").exists()
    shutil.rmtree(results / "mini")
    assert "no complete results in" in refusal(capsys, *build, *only)


def test_texts_of_another_packages_licensed_dataset_stay(results, tmp_path, capsys, manners):
    scored(capsys, results, "manners/rude-to-polite", "--data", manners)
    corpus = catalog.REGISTERED["manners"]
    facts = replace(corpus.facts, licensed=True)
    catalog.REGISTERED["manners"] = replace(corpus, facts=facts)
    build = ("hub", "build", tmp_path / "hub", "--results", results, "--datasets")
    success(capsys, *build, "--only", "results", "outputs")
    published = tmp_path / "hub/datasets/tstbench"
    assert (published / "results/manners/rude-to-polite/copy/report.json").is_file()
    assert not (published / "results/manners/rude-to-polite/copy/samples.jsonl").exists()
    assert "manners" not in (published / "outputs/outputs.jsonl").read_text()


@pytest.mark.parametrize("kept", ["source", "output", "note"])
def test_judgments_of_unknown_data_are_published_without_texts_only(
    kept, tmp_path, capsys, manners
):
    one = {"source": None, "output": None, kept: "the soup was warm ."}
    folder = judged(tmp_path / "judgments", "manners", **one)
    build = ("hub", "build", tmp_path / "hub", "--datasets", "--judgments", folder)
    only = ("--only", "human_judgments")
    said = refusal(capsys, *build, *only)
    assert "ours.jsonl has sentences of manners, whose licence is not known" in said
    success(capsys, *build, *only, "--data", manners)
    catalog.REGISTERED.clear()
    judged(folder, "manners", source=None, output=None)
    success(capsys, *build, *only)
    table = pq.read_table(tmp_path / "hub/datasets/tstbench/human_judgments/data/ours.parquet")
    assert table["output"].to_pylist() == [None]


def test_judgments_beside_results_are_no_way_round(results, tmp_path, capsys):
    judged(results, "manners").joinpath("ours.jsonl").rename(results / "human.jsonl")
    said = refusal(capsys, "hub", "build", tmp_path / "hub", "--results", results, "--datasets")
    assert "human.jsonl has sentences of manners, whose licence is not known" in said
    assert not list((tmp_path / "hub").glob("datasets/*/*"))


def test_judgments_of_a_published_study_are_under_its_own_terms(tmp_path, capsys):
    folder = judged(tmp_path / "judgments", "pauli2025", study="pauli2025")
    build = ("hub", "build", tmp_path / "hub", "--datasets", "--judgments", folder)
    success(capsys, *build, "--only", "human_judgments")


def test_a_system_is_published_where_its_data_may_be(tmp_path, capsys, manners):
    more = [f"would you please {verb} it, please?" for verb in ("do", "try", "see", "buy", "eat")]
    (manners.parent / "polite.txt").write_text("\n".join(more) + "\n")
    train = ("train", "delete-retrieve", "--direction", "manners/rude-to-polite", "--data", manners)
    success(capsys, *train, "--out", tmp_path / "trained")
    catalog.REGISTERED.clear()
    build = ("hub", "build", tmp_path / "hub", "--datasets", "--systems", tmp_path / "trained")
    only = ("--only", "delete-retrieve-manners-rude-to-polite")
    assert "learned from manners, so it is not published" in refusal(capsys, *build, *only)
    success(capsys, *build, *only, "--data", manners)
