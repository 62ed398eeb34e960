"""Style classifiers of every kind: one behaviour, and each equal to somebody else's arithmetic."""

import json
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import WordLevelTrainer
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    Trainer,
    pipeline,
)

from tstbench.datasets_scripts.directions import parse_direction
from tstbench.datasets_scripts.load import TestSet, load_styles, load_test_set
from tstbench.errors import InputError, IntegrityError, MissingScorerError, UnknownNameError
from tstbench.metrics.scorers import transformer
from tstbench.metrics.scorers.batching import length_sorted_batches
from tstbench.metrics.scorers.classifiers import (
    ACCEPTABILITY_STYLES,
    find_classifier,
    load_classifier,
    model_class,
)
from tstbench.metrics.scorers.linear import ngrams
from tstbench.metrics.scorers.textcnn import TextCnn, TextCnnModel, TextCnnShape
from tstbench.metrics.scorers.transformer import load_hub_classifier
from tstbench.trainers.classifiers import train
from tstbench.trainers.classifiers.compare import compare_kinds, comparison_table
from tstbench.trainers.classifiers.data import labelled, split_held_out
from tstbench.trainers.classifiers.fasttext import FastTextConfig
from tstbench.trainers.classifiers.linear import LinearConfig
from tstbench.trainers.classifiers.textcnn import TextCnnConfig
from tstbench.trainers.classifiers.train import fit, train_classifier
from tstbench.trainers.classifiers.transformer import TransformerConfig

STYLES = ("negative", "positive")
KINDS = ("linear", "fasttext", "textcnn", "transformer")
THINGS = ("the soup", "our waiter", "this hotel", "my room", "the bill", "your shop", "the bread")
VERBS = ("was", "seemed", "looked", "is always", "really was")
WORDS = {
    0: ("awful", "cold", "rude", "dirty", "slow", "never again"),
    1: ("lovely", "warm", "kind", "clean", "quick", "a joy"),
}
SENTENCES, LABELS = zip(
    *(
        (f"{thing} {verb} {word} .", label)
        for label, words in WORDS.items()
        for thing, verb, word in product(THINGS, VERBS, words)
    ),
    strict=True,
)
ODD = [
    "",
    "   ",
    "zzz qqq",
    "\n",
    "__label__1",
    "rude" * 400,
    "Ünïcode 食べ物 😀",
    "a\tb\0c",
    "rude " * 900,
]


def word_tokenizer(sentences) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(sentences, WordLevelTrainer(special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    """A random BERT and a tokenizer trained on the spot: nobody's download."""
    folder = tmp_path_factory.mktemp("tiny-bert")
    tokenizer = word_tokenizer(SENTENCES)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.1,
        pad_token_id=0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def configs(tiny_bert):
    return {
        "linear": LinearConfig(min_count=1),
        "fasttext": FastTextConfig(buckets=1000, epochs=10),
        "textcnn": TextCnnConfig(
            batch_size=16, min_steps=0, dimension=16, filters=16, learning_rate=1e-2
        ),
        "transformer": TransformerConfig(
            base=str(tiny_bert), epochs=4, batch_size=16, learning_rate=3e-3
        ),
    }


@pytest.fixture(scope="module")
def fitted(configs):
    """One trained model of each kind, and what was held out."""
    train_part, held = split_held_out(labelled(SENTENCES, LABELS, STYLES, what="toy"))
    return {kind: fit(kind, train_part, STYLES, configs[kind]) for kind in KINDS}, held


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_and_gives_distributions(fitted, kind):
    trained, held = fitted
    model = trained[kind]
    assert model.styles == STYLES
    assert train.accuracy(model, held) > 0.95
    rows = model.distribution([*SENTENCES, *ODD])
    assert rows.shape == (len(SENTENCES) + len(ODD), 2)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all()
    assert rows.min() >= 0
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_scores_the_same_in_every_company(fitted, kind):
    model = fitted[0][kind]
    sentences = [*SENTENCES[::17], *ODD, "the soup was rude and the hotel was kind . " * 5]
    together = model.distribution(sentences)
    alone = np.concatenate([model.distribution([sentence]) for sentence in sentences])
    backwards = model.distribution(sentences[::-1])[::-1]
    np.testing.assert_allclose(alone, together, atol=1e-6)
    np.testing.assert_allclose(backwards, together, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_loaded(fitted, kind, tmp_path):
    model = fitted[0][kind]
    model.save(tmp_path)
    loaded = model_class(kind).load(tmp_path)
    assert loaded.styles == STYLES
    sentences = [*SENTENCES[::11], *ODD]
    np.testing.assert_array_equal(loaded.distribution(sentences), model.distribution(sentences))
    assert not [f for f in tmp_path.rglob("*") if f.suffix in (".pkl", ".pt", ".pickle")]


@pytest.mark.parametrize("kind", KINDS)
def test_two_trainings_give_the_same_bytes(configs, kind, monkeypatch, tmp_path):
    hashes = set()
    for place in ("here", "there"):
        monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / place))
        artefact = train_classifier(
            kind, SENTENCES, LABELS, STYLES, configs[kind], dataset="toy", trained_on="toy/train"
        )
        hashes.add(artefact.hash)
        for file in artefact.folder.iterdir():  # nothing of this machine is in it
            assert str(tmp_path).encode() not in file.read_bytes()
    assert len(hashes) == 1


def test_training_keeps_finds_and_does_not_repeat_itself(configs, monkeypatch):
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


def test_test_sentences_are_never_trained_on():
    """A word that only test sentences hold cannot get into the vocabulary."""
    sentences = [*SENTENCES, "the xylophone was awful .", "the xylophone was a joy ."]
    labels = [*LABELS, 0, 1]
    options = {"dataset": "toy", "trained_on": "toy/train", "config": LinearConfig(min_count=1)}
    excluded = ["The  XYLOPHONE was awful.", " the xylophone was a joy .", "not in there"]
    with_them = train_classifier("linear", sentences, labels, STYLES, **options)
    without = train_classifier("linear", sentences, labels, STYLES, **options, exclude=excluded)
    words = [json.loads((a.folder / "vocabulary.json").read_text()) for a in (with_them, without)]
    assert ["xylophone" in w for w in words] == [True, False]
    assert (with_them.card.n_excluded, without.card.n_excluded) == (0, 2)
    assert with_them.card.recipe != without.card.recipe


def test_held_out_sentences_are_not_trained_on_either():
    held = (["the xylophone was awful .", "a joy ."], [0, 1])
    artefact = train_classifier(
        "linear",
        [*SENTENCES, *held[0]],
        [*LABELS, *held[1]],
        STYLES,
        LinearConfig(min_count=1),
        dataset="toy",
        trained_on="toy",
        held_out=held,
    )
    assert "xylophone" not in json.loads((artefact.folder / "vocabulary.json").read_text())
    assert artefact.card.n_sentences == len(SENTENCES)
    assert artefact.card.scores == {"held_out_accuracy": 1.0}


def test_the_split_depends_on_the_sentence_alone():
    data = labelled(SENTENCES, LABELS, STYLES, what="toy")
    train_part, held = split_held_out(data)
    assert 0.05 < len(held) / len(data) < 0.15
    mixed = labelled([*SENTENCES[::-1], *SENTENCES], [*LABELS[::-1], *LABELS], STYLES, what="toy")
    again = split_held_out(mixed)
    assert set(again[1].sentences) == set(held.sentences)
    assert set(again[0].sentences) == set(train_part.sentences)


@pytest.mark.parametrize(
    ("sentences", "labels", "styles", "message"),
    [
        (["a", "b"], [0], STYLES, "2 sentences and 1 labels"),
        (["a", "b"], [0, 2], STYLES, "sentence 1: label 2 is none of the 2 styles"),
        (["a", "b"], [0, -1], STYLES, "sentence 1: label -1"),
        (["a", "b"], [0, 0], STYLES, "no sentence is positive"),
        ([], [], STYLES, "no sentence is negative or positive"),
        (["a"], [0], ("negative",), "two styles or more"),
        (["a", "b"], [0, 1], STYLES, "no sentence is"),  # too few to hold any out
    ],
)
def test_wrong_data_is_refused(sentences, labels, styles, message):
    with pytest.raises(InputError, match=message):
        train_classifier("linear", sentences, labels, styles, dataset="toy", trained_on="toy")


def test_wrong_kinds_and_settings_are_refused():
    options = {"dataset": "toy", "trained_on": "toy"}
    with pytest.raises(UnknownNameError, match="Did you mean 'textcnn'"):
        train_classifier("textcn", SENTENCES, LABELS, STYLES, **options)
    with pytest.raises(UnknownNameError, match="Did you mean 'linear'"):
        model_class("linaer")
    with pytest.raises(InputError, match="linear is trained with LinearConfig"):
        train_classifier("linear", SENTENCES, LABELS, STYLES, TextCnnConfig(), **options)
    with pytest.raises(InputError, match="lower min_count"):
        train_classifier(
            "linear", SENTENCES, LABELS, STYLES, LinearConfig(min_count=999), **options
        )


def test_each_distinct_sentence_is_scored_once(fitted):
    asked = []

    class Counting:
        styles = STYLES

        def distribution(self, sentences):
            asked.extend(sentences)
            return fitted[0]["linear"].distribution(sentences)

    classifier = train_and_load()
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
    with pytest.raises(InputError, match="holds a language_model"):
        load_classifier(replace(artefact, card=replace(artefact.card, role="language_model")))
    with pytest.raises(IntegrityError, match="styles"):
        load_classifier(replace(artefact, card=replace(artefact.card, styles=STYLES[::-1])))


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


def test_textcnn_leaves_the_random_state_alone(configs):
    data = labelled(SENTENCES[::5], LABELS[::5], STYLES, what="toy")
    torch.manual_seed(1)
    want = torch.rand(3)
    torch.manual_seed(1)
    fit("textcnn", data, STYLES, replace(configs["textcnn"], epochs=1))
    assert torch.equal(torch.rand(3), want)


def test_transformer_equals_the_pipeline_of_transformers(fitted, tmp_path):
    model = fitted[0]["transformer"]
    model.save(tmp_path)
    theirs = pipeline("text-classification", model=str(tmp_path), top_k=None, device="cpu")
    sentences = ["the soup was awful .", "zzz", "", "our waiter seemed kind ."]
    want = [
        [next(row["score"] for row in rows if row["label"] == style) for style in STYLES]
        for rows in theirs(sentences)
    ]
    np.testing.assert_allclose(model.distribution(sentences), want, atol=1e-6)


def test_an_interrupted_fine_tuning_goes_on(tiny_bert, configs, tstbench_home, monkeypatch):
    data = labelled(SENTENCES[::4], LABELS[::4], STYLES, what="toy")
    config = replace(configs["transformer"], epochs=2)
    whole = fit("transformer", data, STYLES, config)
    steps = []

    def interrupted(*args):
        steps.append(None)
        if len(steps) == 10:
            raise KeyboardInterrupt
        return training_step(*args)

    training_step = Trainer.training_step
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "training_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit("transformer", data, STYLES, config)
    left = [folder.name for folder in tstbench_home.glob("training/*/*")]
    assert left == ["checkpoint-7"]  # of 7 steps an epoch
    resumed = fit("transformer", data, STYLES, config)
    assert not list(tstbench_home.glob("training/*"))
    sentences = SENTENCES[::29]
    np.testing.assert_allclose(
        resumed.distribution(sentences), whole.distribution(sentences), atol=1e-6
    )
    assert str(tiny_bert) not in json.dumps(config.settings())


# Published transformers


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


COLA = "cointegrated/roberta-large-cola-krishna2020"


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


@pytest.mark.parametrize(
    ("model_labels", "styles", "labels"),
    [
        (["LABEL_0", "LABEL_1"], STYLES, {}),
        (["negative", "positive", "neutral"], STYLES, {}),
        (["negative", "positive"], ("negative", "positive", "neutral"), {}),
        (["negative", "positive"], STYLES, {"positive": "negative"}),
    ],
)
def test_labels_that_do_not_match_are_refused(model_labels, styles, labels):
    with pytest.raises(InputError, match="the labels of m are") as error:
        transformer.style_columns(dict(enumerate(model_labels)), styles, labels, name="m")
    assert repr(model_labels[0]) in str(error.value)


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
    with pytest.raises(InputError, match="max_tokens is 0"):
        list(length_sorted_batches([1], 0))


def test_kinds_are_compared_side_by_side(configs):
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
    with pytest.raises(InputError, match="no kind"):
        compare_kinds([], SENTENCES, LABELS, STYLES, tests)


@pytest.mark.realdata
def test_yelp_is_learned_without_its_test_sentences(sources):
    data = load_styles("yelp")
    tests = [load_test_set(f"yelp/{a}-to-{b}") for a, b in (STYLES, STYLES[::-1])]
    exclude = [t for test in tests for texts in (test.sources, *test.references) for t in texts]
    sources_again = [
        (t.upper(), test.direction.source_index) for test in tests for t in test.sources
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
        assert (predicted == test.direction.source_index).mean() > 0.93
