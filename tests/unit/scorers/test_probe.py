"""Probes: equal to scikit-learn's logistic regression, tied to their encoder, sharing its work."""

import json
import shutil

import numpy as np
import pytest
from acceptability.cola import cola_corpus, mcc
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tiny_models import make_bert

from tstbench.errors import IntegrityError, MissingScorerError
from tstbench.metrics.bertscore.bertscore import bertscore
from tstbench.metrics.scorers.encoder import load_encoder
from tstbench.metrics.scorers.probe import ProbeConfig, ProbeModel, fit, probe_features
from tstbench.metrics.scorers.train import labelled

STYLES = ("cold", "warm", "other")
SENTENCES = [
    *("the food was cold", "cold and slow", "a cold staff", "cold, cold food", "it was cold x"),
    *("the food was kind", "kind and good", "a kind staff", "kind, kind food", "it was kind x"),
    *("we came back", "they came", "we came and they came", "back we came", "we x back"),
]
LABELS = [0] * 5 + [1] * 5 + [2] * 5


@pytest.fixture
def folder(tmp_path):
    return make_bert(tmp_path / "encoder")


@pytest.mark.parametrize("styles", [STYLES, STYLES[:2]])
def test_equal_to_scikit_learn(folder, styles):
    n = 5 * len(styles)
    config = ProbeConfig(encoder=str(folder), layers=(1, 3), inverse_penalty=0.5)
    probe = fit(labelled(SENTENCES[:n], LABELS[:n], styles, what="test"), styles, config)
    new = ["the staff was slow", "", "kind", "cold cold cold"]
    oracle = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=1000, tol=1e-8))
    encoder = load_encoder(folder)
    oracle.fit(probe_features(encoder, SENTENCES[:n], (1, 3)).astype(float), LABELS[:n])
    want = oracle.predict_proba(probe_features(encoder, new, (1, 3)).astype(float))
    got = probe.distribution(new)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, want, atol=1e-5)
    np.testing.assert_allclose(got.sum(axis=1), 1)


def test_another_encoder_is_refused(folder, tmp_path):
    data = labelled(SENTENCES, LABELS, STYLES, what="test")
    (tmp_path / "probe").mkdir()
    fit(data, STYLES, ProbeConfig(encoder=str(folder), layers=(2,))).save(tmp_path / "probe")
    other = shutil.copytree(folder, tmp_path / "other")
    content = bytearray((other / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (other / "model.safetensors").write_bytes(content)
    file = tmp_path / "probe" / "model.json"
    settings = json.loads(file.read_text())
    settings["encoder"]["model"] = str(other)
    file.write_text(json.dumps(settings))
    with pytest.raises(IntegrityError, match="Install that encoder or train the scorer again"):
        ProbeModel.load(tmp_path / "probe")
    settings["encoder"]["model"] = str(tmp_path / "gone")
    file.write_text(json.dumps(settings))
    with pytest.raises(MissingScorerError):
        ProbeModel.load(tmp_path / "probe")


def test_what_bertscore_encoded_is_not_encoded_again_whatever_comes_first(monkeypatch):
    """The embedded encoder, as the embedded profile uses it."""
    encoder = load_encoder()
    bertscore(SENTENCES, [[sentence] for sentence in SENTENCES], encoder)

    def forward(*_):
        raise AssertionError("encoded again")

    monkeypatch.setattr(encoder, "_forwards", [forward])
    weights = np.zeros((2, 3 * 384), np.float32)
    probe = ProbeModel(("no", "yes"), encoder, ProbeConfig().layers, weights, np.zeros(2))
    np.testing.assert_array_equal(probe.distribution(SENTENCES), np.full((15, 2), 0.5))


@pytest.mark.realdata
def test_cola_is_learned_in_part(sources):
    corpus = cola_corpus(sources / "nyu-mll/CoLA-baselines/acceptability_corpus/raw")
    some = labelled(
        corpus.train.sentences[::2], corpus.train.labels[::2], ("bad", "good"), what="CoLA"
    )
    probe = fit(some, ("bad", "good"), ProbeConfig())
    assert mcc(probe, corpus.dev["in_domain"]) > 0.1
