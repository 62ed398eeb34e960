"""What is made from a base keeps the terms of the data that the base learned from.

The licensed corpus is our own sentences in its layout.
"""

from dataclasses import replace

import pytest
from backbone.__main__ import main as backbone
from backbone.text import backbone_text
from classifier_toys import CARD
from prepared import command_line, refusal, success

from tstbench.datasets_scripts import catalog
from tstbench.metrics.scorers.artefacts import store
from tstbench.metrics.scorers.finetuned import FinetunedConfig
from tstbench.metrics.scorers.probe import ProbeConfig
from tstbench.metrics.scorers.transformer import TransformerConfig
from tstbench.pipelines.hub.build import systems_in, trained_scorers, trained_systems
from tstbench.pipelines.hub.licensed import LicensedTextError

pytestmark = pytest.mark.slow
BACKBONE = ("--family", "bart", "--preset", "tiny", "--steps", "1")
TYB = ("train", "tyb", "--preset", "tiny", "--direction", "mini/negative-to-positive")


def test_a_licensed_copy_is_learned_from_only_if_it_is_named(corpus, monkeypatch):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    monkeypatch.setenv("TSTBENCH_GYAFC", str(corpus))
    assert not {"gyafc_em", "gyafc_fr"} & {*backbone_text().datasets}
    assert backbone_text(["mini", "gyafc_em"]).datasets == ("mini", "gyafc_em")


def test_nothing_made_from_a_licensed_base_is_published(corpus, tmp_path, capsys):
    for style in ("informal", "formal"):  # the guard looks for sentences of six words and more
        with (corpus / f"Entertainment_Music/train/{style}").open("a") as file:
            file.write("u should totally go 2 that concert with ur friends\n")
    base, again = tmp_path / "base", tmp_path / "again"
    learned = ("--dataset", "mini", "--dataset", "gyafc_em", "--data-dir", str(corpus))
    backbone([*BACKBONE, *learned, "--out", str(base)])
    tuned = (*TYB, "--device", "cpu", "--base")
    assert command_line(capsys, *tuned, base, "--out", again)[0] == 0
    # ... nor what is made from that: a system, and a classifier of either kind.
    assert command_line(capsys, *tuned, again, "--out", tmp_path / "third")[0] == 0
    for place in (again, tmp_path / "third"):
        assert "GYAFC" in (place / "README.md").read_text()
        with pytest.raises(LicensedTextError, match="learned from gyafc_em, so it is not publ"):
            systems_in([place])
    made = FinetunedConfig(base=str(again)), TransformerConfig(base=str(again))
    for config in (*made, ProbeConfig(encoder=str(again))):
        assert str(again) not in str(config.settings())
        card = replace(CARD, settings=config.settings())
        store(card, lambda folder: (folder / "model.safetensors").write_bytes(b"0"))
        capsys.readouterr()
        assert trained_scorers() == {}
        assert "it learned from gyafc_em" in capsys.readouterr().err
    assert trained_scorers() == trained_systems() == {}
    said = command_line(capsys, "hub", "build", tmp_path / "hub", "--datasets")
    assert said[0] == 0, said[2]
    assert "left out: tyb-mini" in said[2]
    assert "gyafc_em" in said[2]
    backbone([*BACKBONE, "--dataset", "mini", "--out", str(tmp_path / "open")])
    assert FinetunedConfig(base=str(tmp_path / "open")).settings()["base"].endswith("|mini")


def test_a_system_of_data_without_a_licence_is_left_out_with_a_line(tmp_path, capsys, manners):
    manners.write_text(manners.read_text().replace('licence = "cc0-1.0"\n', ""))
    more = [f"would you please {verb} it, please?" for verb in ("do", "try", "see", "buy", "eat")]
    (manners.parent / "polite.txt").write_text("\n".join(more) + "\n")
    data = ("--data", manners)
    asked = ("evaluate", "--baseline", "delete-retrieve", "--metrics", "s_bleu")
    out = ("--direction", "manners/rude-to-polite", "--out", tmp_path / "results")
    assert command_line(capsys, *asked, *out, *data)[0] == 0
    mini = ("--direction", "mini/negative-to-positive", "--out", tmp_path / "results")
    assert command_line(capsys, *asked, *mini)[0] == 0
    catalog.REGISTERED.clear()
    build = ("hub", "build", tmp_path / "hub", "--datasets", "--results", tmp_path / "results")
    out, err = success(capsys, *build, *data)
    assert "left out: delete-retrieve-manners" in err
    assert f"left out: {tmp_path / 'results' / 'manners'}" in err
    assert "models/tstbench/delete-retrieve-mini" in out
    assert "manners" not in out
    assert not list((tmp_path / "hub").rglob("*manners*"))
    assert "no licence" in refusal(capsys, *build[:4], "--datasets", "manners", *data)
