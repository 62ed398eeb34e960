"""Style classifiers: each equal to somebody else's arithmetic; training, keeping, comparing."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from classifier_toys import (
    LABELS,
    SENTENCES,
    STYLES,
    THINGS,
    save_tiny_bert,
)
from prepared import command_line
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from transformers import pipeline

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TestSet, load_styles, load_test_set
from tstbench.errors import InputError
from tstbench.metrics.scorers import train
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.base import length_sorted_batches
from tstbench.metrics.scorers.classifiers import (
    find_classifier,
    load_classifier,
)
from tstbench.metrics.scorers.compare import compare_kinds, comparison_table
from tstbench.metrics.scorers.fasttext import FastTextConfig
from tstbench.metrics.scorers.fitting import with_new_head
from tstbench.metrics.scorers.linear import LinearConfig, ngrams
from tstbench.metrics.scorers.textcnn import TextCnn, TextCnnModel, TextCnnShape
from tstbench.metrics.scorers.train import fit, labelled, train_classifier
from tstbench.metrics.scorers.transformer import TransformerConfig, TransformerModel
from tstbench.metrics.scorers.weights import read_tokenizer

ODD = ["", "zzz qqq", "\n", "rude" * 400, "Ünïcode 食べ物 😀", "a\tb\0c"]


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("tiny-bert"))


def test_the_sti_studys_recipe_is_a_row_of_flags(tiny_bert, tstbench_home, capsys):
    """Its grid and Hugging Face's defaults (``train_classifier.py``, ``trial-*.sh``), tiny."""
    flags = (
        "--epochs 2 --batch-size 16 --learning-rate 3e-2 --weight-decay 0.1 --shuffle false "
        "--schedule linear --betas [0.9,0.999] --epsilon 1e-8 --max-gradient 1 --max-tokens 64"
    ).split()
    train = ("train", "classifier", "mini", "--kind", "transformer", "--base", tiny_bert)
    code, out, err = command_line(capsys, *train, *flags, "--name", "sti-study")
    assert code == 0, err
    card = find("classifier", "mini", "sti-study").card
    wanted = {
        "epochs": 2, "batch_size": 16, "learning_rate": 0.03, "weight_decay": 0.1,
        "shuffle": False, "schedule": "linear", "betas": [0.9, 0.999], "epsilon": 1e-8,
        "max_gradient": 1.0, "max_tokens": 64,
    }  # fmt: skip
    assert {name: card.settings[name] for name in wanted} == wanted
    assert card.kind == "transformer"
    assert card.scores["held_out_accuracy"] > 0
    assert str(tstbench_home) in out


@pytest.mark.parametrize(
    "other", [{"shuffle": False}, {"schedule": "linear"}, {"max_gradient": 0.01}]
)
def test_order_schedule_and_clipping_reach_the_trainer(tiny_bert, other):
    data = labelled(SENTENCES[::3], LABELS[::3], STYLES, what="toy")
    usual = TransformerConfig(base=str(tiny_bert), epochs=1, batch_size=16, learning_rate=3e-3)
    one, two = (
        fit("transformer", data, STYLES, config).distribution(SENTENCES[:8])
        for config in (usual, replace(usual, **other))
    )
    assert not np.allclose(one, two, atol=1e-6)


def test_training_keeps_finds_and_does_not_repeat_itself(monkeypatch):
    def run(**options):
        return train_classifier(
            "linear", SENTENCES, LABELS, STYLES, dataset="toy", trained_on="toy/train", **options
        )

    artefact = run()
    assert artefact.card.scores["held_out_accuracy"] > 0.95
    assert artefact.card.n_sentences < len(SENTENCES)
    classifier = find_classifier("toy", "linear")
    assert (classifier.name, classifier.hash) == ("linear:toy", artefact.hash)
    assert classifier.distribution(["the soup was awful ."])[0, 0] > 0.9

    monkeypatch.setattr(train, "fit", lambda *_: pytest.fail("trained again"))
    assert run() == artefact
    with pytest.raises(pytest.fail.Exception, match="trained again"):
        run(config=LinearConfig(inverse_penalty=2.0))


def test_each_distinct_sentence_is_scored_once():
    asked, classifier = [], train_and_load()

    class Counting:
        styles = STYLES

        def distribution(self, sentences):
            asked.extend(sentences)
            return model.distribution(sentences)

    model = classifier.model
    classifier = type(classifier)(Counting(), name="n", hash="h")
    first = classifier.distribution(["a", "b", "a"])
    second = classifier.distribution(["b", "c", ""])
    assert asked == ["a", "b", "c", ""]
    np.testing.assert_array_equal(first[1], second[0])
    assert classifier.distribution([]).shape == (0, 2)


def train_and_load():
    artefact = train_classifier(
        "linear", SENTENCES, LABELS, STYLES, dataset="toy", trained_on="toy"
    )
    return load_classifier(artefact.folder)


def test_a_folder_of_another_scorer_is_refused(tmp_path):
    artefact = train_classifier(
        "linear", SENTENCES, LABELS, STYLES, dataset="toy", trained_on="toy"
    )
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
    tests = [
        TestSet(
            parse_direction("mini/negative-to-positive"),
            "test",
            ids=("0", "1"),
            sources=("the soup was cold .", "my room was dirty ."),
            references=(("the soup was warm .", "the soup was a joy ."), ()),
            fingerprint="",
            cleaning="raw",
        ),
        TestSet(
            parse_direction("mini/positive-to-negative"),
            "test",
            ids=("0",),
            sources=("a joy .",),
            references=((),),
            fingerprint="",
            cleaning="raw",
        ),
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


@pytest.mark.realdata
def test_yelp_is_learned_without_its_test_sentences(sources):
    data = load_styles("yelp")
    tests = [load_test_set(f"yelp/{a}-to-{b}") for a, b in (STYLES, STYLES[::-1])]
    exclude = [t for test in tests for texts in (test.sources, *test.references) for t in texts]
    sources_again = [
        (t.upper(), data.styles.index(test.direction.source_style))
        for test in tests
        for t in test.sources
    ]
    artefact = train_classifier(
        "linear",
        [*data.training.texts, *(text for text, _ in sources_again)],
        [*data.training.labels, *(label for _, label in sources_again)],
        STYLES,
        dataset="yelp",
        trained_on="yelp/validation without test",
        exclude=exclude,
    )
    assert artefact.card.n_excluded == 1000
    assert artefact.card.scores["held_out_accuracy"] > 0.955
    classifier = load_classifier(artefact)
    for test in tests:
        predicted = classifier.distribution(test.sources).argmax(axis=1)
        assert (predicted == data.styles.index(test.direction.source_style)).mean() > 0.93


def test_too_few_sentences_to_spare_a_tenth_are_all_trained_on():
    sentences = ["give me that", "hand it over", "please pass it", "thank you so much"]
    config = LinearConfig(min_count=1)
    artefact = train_classifier(
        "linear", sentences, [0, 0, 1, 1], ("rude", "polite"), config, dataset="toy", trained_on="x"
    )
    assert artefact.card.n_sentences == 4
    assert artefact.card.scores == {}
