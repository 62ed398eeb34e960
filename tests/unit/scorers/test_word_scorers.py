"""Style lexicons and word vectors: trained, stored, and read from anybody's files."""

import json
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from prepared import command_line, success
from sklearn.linear_model import LogisticRegression

from tstbench.datasets_scripts.load import load_styles
from tstbench.errors import InputError
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.find import lexicon as find_lexicon
from tstbench.metrics.scorers.find import word_vectors as find_vectors
from tstbench.metrics.scorers.lexicon import LexiconConfig, StyleLexicon, fit_lexicon, read_lexicon
from tstbench.metrics.scorers.prepare import train_style_lexicon
from tstbench.metrics.scorers.word_vectors import (
    WordVectors,
    WordVectorsConfig,
    fit_word_vectors,
    read_vectors,
)
from tstbench.metrics.text import tokenized

OPINIONS = ("bad", "good")


def opinions(n=120):
    """Sentences whose opinion is one word or one pair of words, with noise around it."""
    rng = np.random.RandomState(0)
    noise = [f"thing{i}" for i in range(20)]
    words = {0: ["awful", "not nice"], 1: ["great", "nice indeed"]}
    labels = [i % 2 for i in range(n)]
    sentences = [
        f"{rng.choice(noise)} {rng.choice(words[label])} {rng.choice(noise)}" for label in labels
    ]
    return sentences, labels


# -- lexicons -------------------------------------------------------------------------------------


def test_the_lexicon_is_what_the_regression_says():
    """Kept are the weights so many standard deviations from the mean of those that are not 0.

    C is 3, and a word counts once a sentence, as in Mir et al.'s ``style_lexicon.py``.
    """
    sentences, labels = opinions()
    sentences = [f"{s} thing1 thing1" if i % 3 else s for i, s in enumerate(sentences)]
    found = fit_lexicon(sentences, labels, OPINIONS, LexiconConfig(deviations=0.5))
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    counts = np.array([[word in s.split() for word in vocabulary] for s in sentences])
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=3, random_state=0, max_iter=1000)
    (weights,) = model.fit(counts, labels).coef_
    used = weights[weights != 0]
    far = np.abs(weights - used.mean()) > 0.5 * used.std()
    expected = {w: x for w, x, f in zip(vocabulary, weights, far, strict=True) if f and x}
    assert {w: row[1] for w, row in found.weights.items()} == pytest.approx(expected, abs=2e-2)
    assert all(bad == -good for bad, good in found.weights.values())
    assert not [word for word in found.weights if word.startswith("thing")]
    assert found.weights["great"][1] > 0 > found.weights["awful"][1]


def test_pairs_of_words():
    sentences, labels = opinions()
    config = LexiconConfig(longest_ngram=2, deviations=0.2)
    found = fit_lexicon(sentences, labels, OPINIONS, config)
    marked = found.style_words(["thing1 Not nice thing2", "thing1 thing2"])
    assert marked[0][1]
    assert marked[1] == (False, False)


def test_three_styles_are_told_from_each_other():
    sentences = ["ahoy sailor boat", "yo dude boat", "good day boat"] * 20
    found = fit_lexicon(
        sentences, [0, 1, 2] * 20, ("pirate", "surfer", "plain"), LexiconConfig(deviations=0.5)
    )
    assert {"ahoy", "sailor"} & {*found.weights}
    styles = {"ahoy": 0, "sailor": 0, "yo": 1, "dude": 1, "good": 2, "day": 2}  # and no boat
    for word, row in found.weights.items():
        assert max(row) <= 0 or np.argmax(row) == styles[word]


def test_masking_and_removal():
    lexicon = StyleLexicon(OPINIONS, {"great": (-1, 1), "not bad": (-1, 1), "bad": (1, -1)})
    sentences = ["Great , not bad at all", "not at all bad", "fine"]
    assert [" ".join(s) for s in lexicon.apply(sentences, "masked")] == [
        "<customstyle> , <customstyle> <customstyle> at all",
        "not at all <customstyle>",
        "fine",
    ]
    assert [" ".join(s) for s in lexicon.apply(sentences, "removed")] == [
        ", at all", "not at all", "fine",
    ]  # fmt: skip
    assert lexicon.apply(sentences, "none") == [s.split() for s in sentences]


def test_a_lexicon_is_stored_as_json_one_can_read(tmp_path):
    sentences, labels = opinions()
    found = fit_lexicon(sentences, labels, OPINIONS, LexiconConfig(deviations=0.5))
    found.save(tmp_path)
    kept = json.loads((tmp_path / "lexicon.json").read_text())
    strengths = [max(map(abs, row)) for row in kept["ngrams"].values()]
    assert strengths == sorted(strengths, reverse=True)


def test_the_released_format(tmp_path):
    file = tmp_path / "words.json"
    file.write_text('{"binary sentiment": [["top-notch", 5.5], ["n\'t", -5.4], ["lovely", 6]]}')
    found = read_lexicon(file)
    assert found.styles == ("negative", "positive")
    assert found.weights == {
        "top - notch": (-5.5, 5.5), "n't": (5.4, -5.4), "lovely": (-6.0, 6.0),
    }  # fmt: skip
    (marked,) = found.apply(tokenized(["Don't miss top-notch soup."]), "removed")
    assert marked == ["do", "miss", "soup", "."]


@pytest.mark.realdata
def test_yelp_agrees_with_the_released_lexicon(sources):
    """Ours is of the 62,426 sentences that are public here, theirs of the whole training set."""
    data = load_styles("yelp")
    found = fit_lexicon(tokenized(data.training.texts), data.training.labels, data.styles)
    file = "passeul/style-transfer-model-evaluation/style_lexicon/style_words_and_weights.json"
    theirs = read_lexicon(sources / file)
    assert len(theirs) == 433
    both = found.weights.keys() & theirs.weights.keys()
    assert (len(both), len(found)) == (133, 181)  # 107 of 118 with one count for every occurrence
    positive = data.styles.index("positive")
    assert all((found.weights[w][positive] > 0) == (theirs.weights[w][1] > 0) for w in both)


# -- vectors --------------------------------------------------------------------------------------


@pytest.fixture
def kv():
    vectors = KeyedVectors(5)
    names = ["soup", "sch\u00f6n", "n't", "na\u00efve", "x"]
    vectors.add_vectors(names, np.random.RandomState(0).randn(5, 5).astype(np.float32))
    return vectors


@pytest.mark.parametrize("form", ["glove", "text", "binary"])
def test_files_as_others_write_them(kv, tmp_path, form):
    file = tmp_path / "vectors"
    kv.save_word2vec_format(file, binary=form == "binary", write_header=form != "glove")
    read = read_vectors(file)
    assert list(read.rows) == kv.index_to_key
    np.testing.assert_allclose(read.vectors, kv.vectors, rtol=1e-6)


def test_a_fasttext_model(tmp_path):
    model = FastText(vector_size=6, min_count=1, workers=1, seed=0, bucket=50)
    corpus = [["good", "soup"], ["cold", "soup"]] * 5
    model.build_vocab(corpus)
    model.train(corpus, total_examples=10, epochs=1)
    file = tmp_path / "model.bin"
    save_facebook_model(model, str(file))
    read = read_vectors(file)
    assert {*read.rows} == {"good", "soup", "cold"}
    np.testing.assert_allclose(read.vectors[read.rows["soup"]], model.wv["soup"], rtol=1e-6)
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(InputError, match="no complete fastText model"):
        read_vectors(file)


def test_words_with_spaces_and_words_twice(tmp_path):
    """As in published GloVe files: '. . .' is a word, and some words come twice."""
    file = tmp_path / "glove.txt"
    file.write_text("the 1 2\n. . . 3 4\nthe 5 6\n")
    read = read_vectors(file)
    assert list(read.rows) == ["the", ". . ."]
    assert read.vectors.tolist() == [[1, 2], [3, 4]]
    assert read.known(["the soup , the"]) == [[0, 0]]


def test_words_of_one_opinion_are_near():
    """Something was learned: words that take each other's place have similar vectors."""
    sentences = [f"the {w} {v} here" for w in ("soup", "salad") for v in ("tastes", "smells")] * 20
    sentences += [f"my {w} {v} away" for w in ("car", "bus") for v in ("drove", "broke")] * 20
    found = fit_word_vectors(
        sentences, WordVectorsConfig(least_words=100_000, dimensions=16, window=1)
    )
    unit = found.vectors / found.lengths[:, None]
    soup, salad, bus = (unit[found.rows[w]] for w in ("soup", "salad", "bus"))
    assert soup @ salad > soup @ bus


# -- in the cache ---------------------------------------------------------------------------------


def test_scorers_by_folder_and_file(tmp_path):
    made = train_style_lexicon(load_styles("mini"))
    by_folder = find_lexicon(str(made.folder), None, HERE)
    assert (by_folder.name, by_folder.hash) == ("logistic:mini", made.hash)
    by_file = find_lexicon(str(made.folder / "lexicon.json"), None, HERE)
    assert by_file.name == "file:lexicon"
    assert by_file.load().weights == by_folder.load().weights
    with pytest.raises(InputError, match="contains a lexicon, not a word_vectors"):
        find_vectors(str(made.folder), None, HERE)


def test_train_from_the_command_line(capsys):
    out, _ = success(capsys, "train", "lexicon", "mini", "--longest-ngram", "2")
    assert "style n-grams" in out
    positive = next(line for line in out.split("\n") if line.startswith("positive"))
    assert "wonderful" in positive
    settings = find("lexicon", "mini", "logistic").card.settings
    assert settings["longest_ngram"] == 2
    train = ("train", "word-vectors", "mini", "--dimensions", "10", "--least-words", "9")
    for more in ((), ("--masked",)):
        code, out, _ = command_line(capsys, *train, *more)
        assert (code, "dimensions\t10" in out) == (0, True)
        vectors = WordVectors.load(Path(out.strip().rpartition("\t")[2]), "", "")
        assert vectors.dimensions == 10
        assert ("<customstyle>" in vectors.rows) == (more != ())
