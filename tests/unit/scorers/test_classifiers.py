"""Style classifiers of every kind: one behaviour, and each equal to somebody else's arithmetic."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

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
from places import SUPPORT
from prepared import command_line
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch.optim.optimizer import register_optimizer_step_post_hook
from transformers import pipeline

from tstbench.datasets_scripts.known import parse_direction
from tstbench.datasets_scripts.load import TestSet, load_styles, load_test_set
from tstbench.errors import InputError, IntegrityError
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.batching import length_sorted_batches
from tstbench.metrics.scorers.classifiers import (
    find_classifier,
    load_classifier,
    model_class,
)
from tstbench.metrics.scorers.linear import ngrams
from tstbench.metrics.scorers.textcnn import TextCnn, TextCnnModel, TextCnnShape
from tstbench.trainers.classifiers import ensemble, train
from tstbench.trainers.classifiers.compare import compare_kinds, comparison_table
from tstbench.trainers.classifiers.data import labelled, split_held_out
from tstbench.trainers.classifiers.ensemble import EnsembleConfig
from tstbench.trainers.classifiers.fasttext import FastTextConfig
from tstbench.trainers.classifiers.finetuned import FinetunedConfig
from tstbench.trainers.classifiers.linear import LinearConfig
from tstbench.trainers.classifiers.lora import LoraConfig
from tstbench.trainers.classifiers.textcnn import TextCnnConfig
from tstbench.trainers.classifiers.train import fit, train_classifier
from tstbench.trainers.classifiers.transformer import TransformerConfig

KINDS = ("linear", "fasttext", "textcnn", "transformer", "finetuned", "lora")
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


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("tiny-bert"))


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
        "finetuned": FinetunedConfig(
            base=str(tiny_bert), epochs=4, batch_size=16, learning_rate=3e-3
        ),
        "lora": LoraConfig(base=str(tiny_bert), epochs=12, batch_size=16, learning_rate=3e-3),
    }


@pytest.fixture(scope="module")
def fitted(configs):
    """One trained model of each kind, and what was held out."""
    train_part, held = split_held_out(labelled(SENTENCES, LABELS, STYLES, what="toy"))
    return {kind: fit(kind, train_part, STYLES, configs[kind]) for kind in KINDS}, held


@pytest.mark.slow
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


@pytest.mark.slow
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
def test_order_schedule_and_clipping_reach_the_trainer(configs, other):
    data = labelled(SENTENCES[::3], LABELS[::3], STYLES, what="toy")
    usual = replace(configs["transformer"], epochs=1)
    one, two = (
        fit("transformer", data, STYLES, config).distribution(SENTENCES[:8])
        for config in (usual, replace(usual, **other))
    )
    assert not np.allclose(one, two, atol=1e-6)


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
    with pytest.raises(InputError, match="contains a language_model"):
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


@contextmanager
def signal_after(steps, number):
    """This process gets a signal after so many steps of any optimiser."""
    left = [steps]

    def count(*_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), number)

    hook = register_optimizer_step_post_hook(count)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["textcnn", "transformer", "finetuned", "ensemble"])
def test_after_ctrl_c_training_goes_on_to_the_same_bytes(configs, kind, tmp_path, monkeypatch):
    """At its second step; again at the fifth that is left; then to the end."""
    monkeypatch.setattr(ensemble, "_SHORTER", {"textcnn": {"min_steps": 0}})
    config = configs.get(kind) or EnsembleConfig(members=("linear", "textcnn"))
    hashes = set()
    for interrupts in ((), (2, 5)):
        monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / str(len(interrupts))))
        asked = (kind, SENTENCES, LABELS, STYLES, config)
        for steps in interrupts:
            with signal_after(steps, signal.SIGINT), pytest.raises(KeyboardInterrupt) as stopped:
                train_classifier(*asked, dataset="toy", trained_on="toy/train")
            assert "continues from there" in str(stopped.value)
        if kind == "transformer" and interrupts:  # killed while the last one was written
            newest = max(tmp_path.glob("2/runs/*/checkpoint-*"), key=lambda p: int(p.name[11:]))
            (newest / "complete.json").unlink()
        hashes.add(train_classifier(*asked, dataset="toy", trained_on="toy/train").hash)
        assert not list(tmp_path.glob("*/runs/*")), "nothing is left behind"
    assert len(hashes) == 1


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path):
    script = """
import os, signal, sys
sys.path[:0] = sys.argv[1].split(os.pathsep)
from test_classifiers import *
from tstbench.trainers.learning import pace
pace.SAVE_EVERY = 0.0
with signal_after(int(sys.argv[2]), signal.SIGKILL):
    print(train_classifier("textcnn", SENTENCES, LABELS, STYLES,
          TextCnnConfig(batch_size=16, min_steps=0), dataset="toy", trained_on="toy").hash)
"""
    hashes = []
    for home, steps in (("whole", 999), ("killed", 20), ("killed", 999)):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                script,
                os.pathsep.join([str(Path(__file__).parent), str(SUPPORT)]),
                str(steps),
            ],
            env={**os.environ, "TSTBENCH_HOME": str(tmp_path / home)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (-signal.SIGKILL if steps == 20 else 0), done.stderr
        hashes.append(done.stdout)
    assert "continuing at step 19" in done.stderr or "continuing at step 20" in done.stderr
    assert hashes[0] == hashes[2] != ""


# Published transformers


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
