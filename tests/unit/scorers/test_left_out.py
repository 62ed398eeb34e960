"""Training without the sentences of a study of human judgments; what metrics use stays as it is."""

import csv

import pytest
from prepared import command_line, refusal

from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.judgments.studies import sentences_left_out
from tstbench.datasets_scripts.load import load_styles
from tstbench.errors import InputError
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.prepare import (
    train_dataset_vectors,
    train_style_classifier,
    train_style_lexicon,
)
from tstbench.metrics.scorers.word_vectors import WordVectorsConfig

QUICK = WordVectorsConfig(dimensions=4, least_words=1)


@pytest.fixture
def learned(tmp_path, monkeypatch):
    """Three of mini's training sentences, in other case and spacing."""
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    texts = load_styles("mini").training.texts
    return [f" {texts[place].upper()} " for place in (0, 7, 21)]


@pytest.fixture
def study(tmp_path, learned):
    """The same as sources of somebody's ratings."""
    file = tmp_path / "ratings.csv"
    with file.open("w", newline="") as opened:
        table = csv.writer(opened)
        table.writerow(("source", "output", "system", "direction", "style"))
        for source in learned:
            for system in ("one", "other"):
                table.writerow((source, "it was fine .", system, "mini/negative-to-positive", 3))
    return file


def copies(texts):
    """How often mini's training data has them."""
    keys = set(map(match_key, texts))
    return sum(match_key(text) in keys for text in load_styles("mini").training.texts)


@pytest.mark.parametrize(
    ("role", "name", "train"),
    [
        ("classifier", "linear", lambda **more: train_style_classifier(
            load_styles("mini"), "linear", **more)),
        ("lexicon", "logistic", lambda **more: train_style_lexicon(load_styles("mini"), **more)),
        ("word_vectors", "word2vec", lambda **more: train_dataset_vectors(
            load_styles("mini"), QUICK, **more)),
    ],
)  # fmt: skip
def test_a_scorer_without_them_stands_beside_the_one_that_metrics_use(learned, role, name, train):
    usual = train()
    other = train(without=learned, name="held")
    assert other.card.n_excluded == usual.card.n_excluded + copies(learned)
    assert other.card.data_fingerprint != usual.card.data_fingerprint
    assert find(role, "mini", name).hash == usual.hash == train().hash
    assert find(role, "mini", "held").hash == other.hash


def test_a_study_of_ones_own_or_a_text_file(study, learned, tmp_path):
    text = tmp_path / "sentences.txt"
    text.write_text("\n".join(learned) + "\n\n")
    assert sentences_left_out([str(study)]) == tuple(learned)
    assert sentences_left_out([str(text), str(study)]) == tuple(learned)


def test_from_the_command_line(study, tmp_path, monkeypatch, capsys):
    for words in (["classifier", "mini"], ["lexicon", "mini"]):
        train = ["train", *words, "--without", study]
        code, out, err = command_line(capsys, *train, "--name", "held")
        assert code == 0, err
        assert "folder" in out
        assert "--without needs --name" in refusal(capsys, *train)
    for words, name in (("classifier", "linear"), ("lexicon", "logistic")):
        train = ["train", words, "mini", "--without", study, "--name", name]
        assert f"--name {name} is the scorer that metrics use" in refusal(capsys, *train)


@pytest.mark.realdata
def test_the_inputs_of_mir_et_al_are_among_yelps_training_sentences():
    sentences = sentences_left_out(["mir2019"])
    assert len(sentences) == 243, "one of the 244 is there twice"
    assert set(sentences) < set(sentences_left_out(["studies"]))
    keys = set(map(match_key, sentences))
    training = load_styles("yelp").training
    assert sum(match_key(text) in keys for text in training.texts) == 255
    with pytest.raises(InputError, match="not published"):
        sentences_left_out(["tstbench2025"])
