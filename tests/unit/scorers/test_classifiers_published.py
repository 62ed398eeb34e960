"""Published models as classifiers: labels, hashes, and weights that are refused."""

import time

import pytest
import torch
from classifier_toys import COLA, LABELS, SENTENCES, STYLES, save_tiny_bert, word_tokenizer
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from tstbench.errors import MissingScorerError
from tstbench.metrics.scorers import transformer
from tstbench.metrics.scorers.classifiers import (
    ACCEPTABILITY_STYLES,
)
from tstbench.metrics.scorers.train import fit, labelled
from tstbench.metrics.scorers.transformer import TransformerConfig, load_hub_classifier


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("tiny-bert"))


def published(folder, config_class, model_class_, labels, favoured):
    """A tiny model with these labels, whose every sentence gets the favoured column."""
    tokenizer = word_tokenizer(SENTENCES)
    config = config_class(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
        pad_token_id=0,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    torch.manual_seed(0)
    model = model_class_(config)
    head = getattr(model.classifier, "out_proj", model.classifier)
    with torch.no_grad():
        head.bias[favoured] += 5.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_published_cola_model_says_acceptable_with_its_first_label(tmp_path, monkeypatch):
    """Found in the Hub's cache by its id, read by its own, inverted labels."""
    known = transformer.HUB_CLASSIFIERS[COLA]
    cache = tmp_path / "hub"
    snapshot = cache / f"models--{COLA.replace('/', '--')}" / "snapshots" / known.revision
    snapshot.mkdir(parents=True)
    published(
        snapshot,
        RobertaConfig,
        RobertaForSequenceClassification,
        ["LABEL_0", "LABEL_1"],
        favoured=0,
    )
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    classifier = load_hub_classifier(COLA, ACCEPTABILITY_STYLES)
    assert classifier.styles == ("unacceptable", "acceptable")
    assert classifier.distribution(["the soup was warm .", ""])[:, 1].min() > 0.9
    assert classifier.name == COLA
    assert len(classifier.hash) == 64
    # longer than its 40 positions: RoBERTa's start after the padding's
    assert classifier.distribution(["rude " * 100]).shape == (1, 2)


def test_labels_are_matched_by_name(tmp_path):
    folder = published(
        tmp_path, BertConfig, BertForSequenceClassification, ["POSITIVE", "NEGATIVE"], favoured=0
    )
    sentence = ["the soup was warm ."]
    named = load_hub_classifier(folder, STYLES)
    assert named.distribution(sentence)[0, 1] > 0.9
    turned = load_hub_classifier(
        folder, STYLES, labels={"negative": "POSITIVE", "positive": "NEGATIVE"}
    )
    assert turned.distribution(sentence)[0, 0] > 0.9
    assert named.hash == turned.hash


def test_weights_that_are_not_there_say_how_to_fetch_them(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    start = time.perf_counter()
    with pytest.raises(MissingScorerError, match=f"hf download {COLA} --revision [0-9a-f]{{40}}"):
        load_hub_classifier(COLA, ACCEPTABILITY_STYLES)
    with pytest.raises(MissingScorerError, match="hf download FacebookAI/roberta-base"):
        fit(
            "transformer",
            labelled(SENTENCES, LABELS, STYLES, what="toy"),
            STYLES,
            TransformerConfig(),
        )
    assert time.perf_counter() - start < 10  # it does not wait for a network


def test_pickled_weights_are_not_read(tiny_bert, tmp_path):
    model = AutoModelForSequenceClassification.from_pretrained(tiny_bert)
    model.config.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(MissingScorerError, match="safetensors"):
        load_hub_classifier(tmp_path, ("LABEL_0", "LABEL_1"))


def test_the_hash_of_a_published_model_is_that_of_its_model_files(tiny_bert, tmp_path):
    styles = ("LABEL_0", "LABEL_1")
    first = load_hub_classifier(tiny_bert, styles).hash
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in tiny_bert.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / "README.md").write_text("a card")
    assert load_hub_classifier(copy, styles).hash == first
    (copy / "config.json").write_text((copy / "config.json").read_text() + "\n")
    assert load_hub_classifier(copy, styles).hash != first
