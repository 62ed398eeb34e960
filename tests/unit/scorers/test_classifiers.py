"""Style classifiers: each equal to somebody else's arithmetic; training, keeping, comparing."""

import json
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from classifier_toys import (
    COLA,
    LABELS,
    SENTENCES,
    STYLES,
    THINGS,
)
from prepared import success
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tiny_models import WORDS, make_bert, make_distilbert, make_roberta
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    pipeline,
)

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TestSet
from tstbench.errors import InputError, MissingScorerError
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.base import SentenceMemo, forget_sentences, length_sorted_batches
from tstbench.metrics.scorers.classifiers import (
    ACCEPTABILITY_STYLES,
    Classifier,
    load_classifier,
)
from tstbench.metrics.scorers.compare import compare_kinds, comparison_table
from tstbench.metrics.scorers.fasttext import FastTextConfig
from tstbench.metrics.scorers.fitting import with_new_head
from tstbench.metrics.scorers.linear import LinearConfig, ngrams
from tstbench.metrics.scorers.textcnn import TextCnn, TextCnnModel, TextCnnShape
from tstbench.metrics.scorers.train import fit, labelled, split_held_out, train_classifier
from tstbench.metrics.scorers.transformer import (
    TransformerConfig,
    TransformerModel,
    load_hub_classifier,
)
from tstbench.metrics.scorers.weights import read_tokenizer

ABOUT = {"dataset": "mini", "trained_on": "toys"}
ODD = ["", "zzz qqq", "\n", "rude" * 400, "Ünïcode 食べ物 😀", "a\tb\0c"]


def trained(sentences=SENTENCES, labels=LABELS, styles=STYLES, config=None, **more):
    return train_classifier("linear", sentences, labels, styles, config, **{**ABOUT, **more})


def test_the_sti_studys_recipe_is_a_row_of_flags(tiny_bert, tstbench_home, capsys):
    """Its grid and Hugging Face's defaults (``train_classifier.py``, ``trial-*.sh``), tiny."""
    flags = (
        "--epochs 1 --batch-size 16 --learning-rate 3e-2 --weight-decay 0.1 --shuffle false "
        "--schedule linear --betas [0.9,0.999] --epsilon 1e-8 --max-gradient 1 --max-tokens 64"
    ).split()
    train = ("train", "classifier", "mini", "--kind", "transformer", "--base", tiny_bert)
    out, _ = success(capsys, *train, *flags, "--name", "sti-study")
    card = find("classifier", "mini", "sti-study").card
    wanted = {
        "epochs": 1, "batch_size": 16, "learning_rate": 0.03, "weight_decay": 0.1,
        "shuffle": False, "schedule": "linear", "betas": [0.9, 0.999], "epsilon": 1e-8,
        "max_gradient": 1.0, "max_tokens": 64,
    }  # fmt: skip
    assert {name: card.settings[name] for name in wanted} == wanted
    assert card.kind == "transformer"
    assert card.scores["held_out_accuracy"] > 0
    assert str(tstbench_home) in out


def test_order_schedule_and_clipping_reach_the_trainer(tiny_bert):
    data = labelled(SENTENCES[::3], LABELS[::3], STYLES, what="toy")

    def learned(**other):
        usual = {"base": str(tiny_bert), "epochs": 1, "batch_size": 16, "learning_rate": 3e-3}
        model = fit("transformer", data, STYLES, TransformerConfig(**usual, **other))
        return model.distribution(SENTENCES[:8])

    usual = learned()
    for other in ({"shuffle": False}, {"schedule": "linear"}, {"max_gradient": 0.01}):
        assert not np.allclose(usual, learned(**other), atol=1e-6), other


def test_each_distinct_sentence_is_scored_once():
    asked = []

    class Counting:
        styles = STYLES

        def distribution(self, sentences):
            asked.extend(sentences)
            return np.array([[len(one), 1.0] for one in sentences])

    classifier = Classifier(Counting(), name="n", hash="h")
    assert classifier.distribution(["aaa", "b", "aaa"])[:, 0].tolist() == [3, 1, 3]
    assert classifier.distribution(["b", "cc", ""])[:, 0].tolist() == [1, 2, 0]
    assert asked == ["aaa", "b", "cc", ""]
    assert classifier.distribution([]).shape == (0, 2)


def test_what_is_forgotten_meanwhile_is_still_given():
    """Another thread may forget all while this one scores what it has not seen."""

    def score(some):
        forget_sentences()
        return np.array([[float(len(one))] for one in some])

    memo = SentenceMemo(score)
    assert memo(["a"]).tolist() == [[1.0]]
    assert memo(["a", "bb"]).tolist() == [[1.0], [2.0]]
    assert len(memo) == 0


def test_a_folder_of_another_scorer_is_refused():
    artefact = trained()
    with pytest.raises(InputError, match="contains a language_model"):
        load_classifier(replace(artefact, card=replace(artefact.card, role="language_model")))


# Each kind against arithmetic that is not ours


@pytest.mark.parametrize("n_styles", [2, 3])
def test_linear_equals_scikit_learn(n_styles):
    styles = ("negative", "positive", "neutral")[:n_styles]
    sentences = [*SENTENCES, *(f"{thing} exists ." for thing in THINGS)][: 420 + 7 * (n_styles > 2)]
    labels = [*LABELS, *([2] * len(THINGS))][: len(sentences)]
    config = LinearConfig(min_count=2, inverse_penalty=3.0)
    ours = fit("linear", labelled(sentences, labels, styles, what="toy"), styles, config)
    theirs = make_pipeline(
        TfidfVectorizer(analyzer=lambda text: ngrams(text, 2), min_df=2, sublinear_tf=True),
        LogisticRegression(C=3.0, tol=1e-10, max_iter=5000),
    ).fit(sentences, labels)
    texts = [*sentences[::7], *ODD, "rude rude kind soup"]
    np.testing.assert_allclose(ours.distribution(texts), theirs.predict_proba(texts), atol=1e-6)


def test_fasttext_equals_floret_for_three_styles():
    """Its list interface repeats the first probability for all labels; single lines do not."""
    styles = ("negative", "positive", "neutral")
    sentences = [*SENTENCES, *(f"{thing} exists ." for thing in THINGS * 10)]
    labels = [*LABELS, *([2] * 70)]
    model = fit(
        "fasttext",
        labelled(sentences, labels, styles, what="toy"),
        styles,
        FastTextConfig(buckets=1000, epochs=2, learning_rate=0.1),
    )
    texts = ["the soup exists .", "rude", "kind shop", "zzz"]
    names, top = model._model.predict(texts, k=1)
    rows = model.distribution(texts)
    assert [f"__label__{i}" for i in rows.argmax(axis=1)] == [n[0] for n in names]
    np.testing.assert_allclose(rows.max(axis=1), [p[0] for p in top], atol=5e-5)
    assert rows.min() > 0
    assert len(np.unique(rows.round(6))) == rows.size  # no probability was copied


def test_textcnn_equals_the_definition():
    """Kim 2014, equations 2 to 4, written out with loops over windows."""
    torch.manual_seed(3)
    network = TextCnn(TextCnnShape(n_styles=3, n_words=9, dimension=5, widths=(2, 3), filters=4))
    words = list("abcdefg")
    model = TextCnnModel(("x", "y", "z"), words, network)
    state = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    for sentence in ("a", "b a c", "g g g f e d c", "q"):
        ids = [words.index(w) + 2 if w in words else 1 for w in sentence.split()]
        features = []
        for k, width in enumerate((2, 3)):
            zeros = [np.zeros(5)] * (width - 1)
            rows = np.array([*zeros, *(state["embedding.weight"][i] for i in ids), *zeros])
            kernel = state[f"convolutions.{k}.weight"]  # (F, D, width)
            windows = [
                np.einsum("fdw,wd->f", kernel, rows[i : i + width])
                for i in range(len(rows) - width + 1)
            ]
            c = np.maximum(np.array(windows) + state[f"convolutions.{k}.bias"], 0)
            features.append(c.max(axis=0))
        logits = state["output.weight"] @ np.concatenate(features) + state["output.bias"]
        want = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(
            model.distribution([sentence, "a b c d e f g"])[0], want, atol=1e-6
        )


def test_transformer_equals_the_pipeline_of_transformers(tiny_bert, tmp_path):
    tokenizer = read_tokenizer(tiny_bert)
    model = TransformerModel(STYLES, with_new_head(tiny_bert, STYLES), tokenizer, range(2))
    model.save(tmp_path)
    theirs = pipeline("text-classification", model=str(tmp_path), top_k=None, device="cpu")
    sentences = ["the soup was awful .", "zzz", "", "our waiter seemed kind ."]
    want = [
        [next(row["score"] for row in rows if row["label"] == style) for style in STYLES]
        for rows in theirs(sentences)
    ]
    np.testing.assert_allclose(model.distribution(sentences), want, atol=1e-6)


# Batches, and the comparison of kinds


def test_batches_hold_every_index_once_within_the_budget():
    lengths = np.random.default_rng(0).integers(0, 60, size=500)
    batches = list(length_sorted_batches(lengths, max_tokens=256))
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    widest = [max(lengths[batch].max(), 1) for batch in batches]
    assert all(width * len(batch) <= 256 for width, batch in zip(widest, batches, strict=True))
    assert widest == sorted(widest, reverse=True)
    assert [b.tolist() for b in length_sorted_batches([999], 10)] == [[0]]
    assert list(length_sorted_batches([], 10)) == []
    with pytest.raises(InputError, match="max_tokens must be at least 1, got 0"):
        list(length_sorted_batches([1], 0))


def test_kinds_are_compared_side_by_side():
    configs = {"fasttext": FastTextConfig(buckets=1000, epochs=10)}
    some = {
        "mini/negative-to-positive": {
            "the soup was cold .": ("the soup was warm .", "the soup was a joy ."),
            "my room was dirty .": (),
        },
        "mini/positive-to-negative": {"a joy .": ()},
    }
    tests = [
        TestSet(
            parse_direction(way),
            "test",
            ids=tuple(texts),
            sources=tuple(texts),
            references=tuple(texts.values()),
            fingerprint="",
            cleaning="raw",
        )
        for way, texts in some.items()
    ]
    results = compare_kinds(["linear", "fasttext"], SENTENCES, LABELS, STYLES, tests, configs)
    assert [r.kind for r in results] == ["linear", "fasttext"]
    for result in results:
        assert result.held_out > 0.95
        assert result.seconds > 0
        there, back = result.directions
        assert (there.sources, there.references) == (1.0, 1.0)
        assert (back.sources, back.references) == (1.0, None)
    table = comparison_table(results)
    cells = [list(column.cells) for column in table.columns]
    assert cells[0] == ["linear", "fasttext"]
    assert cells[2] == ["100.0", "100.0"]
    assert cells[5] == ["-", "-"]
    assert "1.0" in cells[6]


def test_too_few_sentences_to_spare_a_tenth_are_all_trained_on():
    sentences = ["give me that", "hand it over", "please pass it", "thank you so much"]
    card = trained(sentences, [0, 0, 1, 1], ("rude", "polite"), LinearConfig(min_count=1)).card
    assert (card.n_sentences, card.scores) == (4, {})


# What they learn from: never test sentences, never held-out ones


def test_test_sentences_and_those_held_out_are_never_trained_on():
    """A word that only they hold cannot get into the vocabulary."""
    test = ["the xylophone was awful .", "the xylophone was a joy ."]
    held = ["my zither was awful .", "my zither was a joy ."]
    excluded = ["The  XYLOPHONE was awful.", f" {test[1]} ", "not in there"]
    for exclude, held_out in (((), None), (excluded, None), (excluded, (held, [0, 1]))):
        artefact = trained(
            [*SENTENCES, *test, *held],
            [*LABELS, 0, 1, 0, 1],
            config=LinearConfig(min_count=1),
            exclude=exclude,
            held_out=held_out,
        )
        words = json.loads((artefact.folder / "vocabulary.json").read_text())
        assert ("xylophone" in words, "zither" in words) == (not exclude, not held_out)
        assert artefact.card.n_excluded == (2 if exclude else 0)


def test_the_split_depends_on_the_sentence_alone():
    data = labelled(SENTENCES, LABELS, STYLES, what="toy")
    train_part, held = split_held_out(data)
    assert 0.05 < len(held) / len(data) < 0.15
    mixed = labelled([*SENTENCES[::-1], *SENTENCES], [*LABELS[::-1], *LABELS], STYLES, what="toy")
    again = split_held_out(mixed)
    assert set(again[1].sentences) == set(held.sentences)
    assert set(again[0].sentences) == set(train_part.sentences)


# When one is trained again, and what its card says


def test_it_is_trained_again_if_anything_that_counts_is_new(capsys):
    first = trained()
    assert "training the linear style classifier of mini" in capsys.readouterr().err
    flipped = [1 - LABELS[0], *LABELS[1:]]
    others = {
        "labels": trained(labels=flipped),
        "order": trained(SENTENCES[::-1], LABELS[::-1]),
        "styles": trained(styles=STYLES[::-1]),
        "setting": trained(config=LinearConfig(min_count=3)),
        "name": trained(name="other"),
        "role": trained(role="acceptability"),
        "dataset": trained(dataset="yelp"),
        "left out": trained(exclude=SENTENCES[:1]),
        "held out": trained(held_out=(SENTENCES[1::70], LABELS[1::70])),
    }
    assert capsys.readouterr().err.count("training the linear") == len(others)
    assert len({first.hash, *(one.hash for one in others.values())}) == 1 + len(others)
    # The name in the cache is the newest one's: the others are trained again, to the same bytes.
    assert trained().hash == first.hash
    capsys.readouterr()
    assert trained().hash == first.hash
    assert "training" not in capsys.readouterr().err


def test_its_card_counts_what_was_left_out():
    held = (SENTENCES[::50], LABELS[::50])
    some = [SENTENCES[1].upper(), f" {SENTENCES[2]} ", "nothing of the kind", SENTENCES[0]]
    card = trained(exclude=some, n_excluded=5, held_out=held, measure=lambda _: {"twice": 2.0}).card
    kept = len(SENTENCES) - 3 - len(held[0]) + 1  # one sentence is in both
    assert (card.n_sentences, card.n_excluded) == (kept, 8)
    assert card.scores.keys() == {"held_out_accuracy", "twice"}
    assert (card.dataset, card.trained_on, card.styles) == ("mini", "toys", STYLES)
    assert card.settings["recipe_version"] == 1


def test_the_held_out_accuracy_is_that_of_sentences_it_has_not_seen():
    wrong = [1 - label for label in LABELS[::40]]
    assert trained(held_out=(SENTENCES[::40], wrong)).card.scores == {"held_out_accuracy": 0}
    right = trained(held_out=(SENTENCES[1::40], LABELS[1::40]))
    assert right.card.scores == {"held_out_accuracy": 1}


# Published models: labels, hashes, and weights that are refused


def test_labels_are_matched_by_name(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "named")
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    model.config.id2label = {0: "POSITIVE", 1: "NEGATIVE"}
    with torch.no_grad():
        model.classifier.bias[0] += 5.0
    model.save_pretrained(folder)
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


# Without padding, what transformers says of each sentence alone


UNEVEN = [
    "the food was very good.",
    "",
    "cold",
    "the staff is kind, but slow",
    "they came back and we came back",
    "[PAD] the <pad> food",
    " ".join(WORDS * 5),  # longer than the models take
]


@pytest.mark.parametrize("make", [make_bert, make_roberta, make_distilbert])
def test_every_probability_equals_transformers_on_one_sentence(tmp_path, make):
    folder = make(tmp_path / "model")
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "classifier" in name:
                parameter.normal_()
    model = TransformerModel(("a", "b", "c"), network, tokenizer, [2, 0, 1])
    want = []
    for sentence in UNEVEN:
        inputs = tokenizer(
            sentence, truncation=True, max_length=model._longest, return_tensors="pt"
        )
        with torch.inference_mode():
            logits = network(**inputs).logits[0, [2, 0, 1]].double()
        want.append(logits.log_softmax(0).numpy())
    got = np.log(model.distribution(UNEVEN))
    assert np.ptp(want, axis=0).max() > 0.1  # the sentences differ, or nothing is shown
    np.testing.assert_allclose(got, want, atol=1e-4)
