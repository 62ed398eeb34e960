"""Style lexicons and word vectors: trained, stored, and read from anybody's files."""

import json
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from prepared import command_line, refusal
from sklearn.linear_model import LogisticRegression

from tstbench.datasets_scripts.load import load_styles
from tstbench.errors import InputError, IntegrityError, MissingFileError, MissingScorerError
from tstbench.metrics.scorers.artefacts import find, open_artefact
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.find_words import lexicon as find_lexicon
from tstbench.metrics.scorers.find_words import word_vectors as find_vectors
from tstbench.metrics.scorers.lexicon import StyleLexicon, read_lexicon
from tstbench.metrics.scorers.tokens import tokenized, tokens_name
from tstbench.metrics.scorers.vector_files import read_vectors
from tstbench.metrics.scorers.word_vectors import WordVectors
from tstbench.pipelines.prepare_words import train_dataset_vectors, train_style_lexicon
from tstbench.trainers.lexicon import LexiconConfig, fit_lexicon
from tstbench.trainers.word_vectors import WordVectorsConfig, fit_word_vectors

QUICK = WordVectorsConfig(least_words=20_000, dimensions=16)
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


# -- tokens ---------------------------------------------------------------------------------------


def test_tokens_do_not_depend_on_how_a_system_writes():
    assert tokenized(["It 's GREAT , is n't it ?"]) == tokenized(["It's great, isn't it?"])
    assert tokenized([" As  IS, "], how="whitespace") == ["As IS,"]
    assert tokens_name("en", "words") == "paper-v1+words"
    assert tokens_name("de", "words") != tokens_name("en", "words")
    assert tokens_name("de", "whitespace") == "whitespace"


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
    best = {word: int(np.argmax(row)) for word, row in found.weights.items()}
    for words, style in ((("ahoy", "sailor"), 0), (("yo", "dude"), 1), (("good", "day"), 2)):
        assert [best[w] for w in words if w in best and max(found.weights[w]) > 0] == [style] * len(
            [w for w in words if w in best and max(found.weights[w]) > 0]
        )
    assert "boat" not in found.weights


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
    found.save(tmp_path / "one")
    again = fit_lexicon(sentences, labels, OPINIONS, LexiconConfig(deviations=0.5))
    again.save(tmp_path / "two")
    file = tmp_path / "one" / "lexicon.json"
    assert file.read_bytes() == (tmp_path / "two" / "lexicon.json").read_bytes()
    read = read_lexicon(file)
    assert (read.styles, read.weights) == (found.styles, found.weights)
    strengths = [max(map(abs, row)) for row in json.loads(file.read_text())["ngrams"].values()]
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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("{}", "is no style lexicon"),
        ('["good"]', "is no style lexicon"),
        ('{"styles": ["a", "b"], "ngrams": {}}', "has no style words"),
        ('{"styles": "ab", "ngrams": {}}', "styles must be a list"),
        ('{"styles": ["a", "b"], "ngrams": ["x"]}', "ngrams must be an object"),
        ('{"styles": ["a", "b"], "ngrams": {"x": [1]}}', "entry 'x': 2 numbers needed"),
        ('{"styles": ["a", "b"], "ngrams": {"x": [1, NaN]}}', "entry 'x': 2 numbers needed"),
        ('{"mine": [["x", true]]}', "a word and its weight are needed"),
        ('{"mine": [["x"]]}', "a word and its weight are needed"),
    ],
)
def test_what_is_no_lexicon(tmp_path, content, message):
    file = tmp_path / "lexicon.json"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        read_lexicon(file)


@pytest.mark.parametrize(
    ("sentences", "labels", "settings", "message"),
    [
        (["a", "b"], [0], {}, "2 sentences but 1 labels"),
        (["a", "b"], [0, 0], {}, "none for good"),
        (["a", "b"], [0, 1], {"min_count": 2}, "no n-gram occurs in 2 of 2 sentences"),
        (["a", "a"], [0, 1], {}, "tells bad and good apart"),
        ([], [], {"longest_ngram": 0}, "longest_ngram must be at least 1"),
        ([], [], {"inverse_penalty": 0.0}, "inverse_penalty must be above 0"),
        ([], [], {"deviations": float("nan")}, "deviations must be 0 or more"),
    ],
)
def test_lexicons_that_cannot_be_trained(sentences, labels, settings, message):
    with pytest.raises(InputError, match=message):
        fit_lexicon(sentences, labels, OPINIONS, LexiconConfig(**settings))


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"soup\n", "line 1: a word and its numbers are needed"),
        (b"soup 1 2\nsalt 1\n", "line 2: 1 numbers, but line 1 has 2"),
        (b"soup 1 2\nsalt 1 a\n", "line 2: not a word and 2 numbers"),
        (b"soup 1 2\nsalt 1 nan\n", "line 2: a number of 'salt' is not finite"),
        (b"soup 1 2\n\xff\xfe 1 2\n", "line 2: the word .* is not UTF-8"),
        (b"3 2\nsoup 1 2\nsalt 1 2\n", "states 3 words, but 2 follow"),
        (b"1 2\nsoup 1 2\nsalt 1 2\n", "states 1 words, but 2 follow"),
        (b"0 2\n", "has no word vectors"),
        (b"\x00\x01\x02", "neither word2vec's format"),
        (b"9 5\nsoup \x00\x00\x00\x00", "states 9 words of 5 numbers, and has 13 bytes"),
        (b"1 2\nsoup\x00\x00\x00\x00\x00\x00\x00\x00", "word 1 of 1 does not end"),
        (b"2 1\na \x00\x00\x00\x00\nb \x00", "cut off in the vector of word 2 of 2"),
    ],
)
def test_what_are_no_vectors(tmp_path, content, message):
    file = tmp_path / "vectors.txt"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_vectors(file)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MissingFileError, match="no such file of word vectors"):
        read_vectors(tmp_path / "none.txt")


def test_the_same_corpus_gives_the_same_bytes(tmp_path):
    sentences, _ = opinions()
    for name in ("one", "two"):
        fit_word_vectors(sentences, QUICK).save(tmp_path / name)
    for file in ("words.json", "vectors.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    again = WordVectors.load(tmp_path / "one", "name", "0")
    assert again.dimensions == 16
    other = fit_word_vectors(
        sentences, WordVectorsConfig(least_words=20_000, dimensions=16, seed=1)
    )
    assert not np.array_equal(other.vectors, again.vectors)


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


def test_vectors_that_cannot_be_trained():
    with pytest.raises(InputError, match="no word occurs 9 times in 1 sentences"):
        fit_word_vectors(["a b"], WordVectorsConfig(min_count=9))
    with pytest.raises(InputError, match="dimensions must be at least 1"):
        WordVectorsConfig(dimensions=0)
    with pytest.raises(InputError, match="seed must be"):
        WordVectorsConfig(seed=-1)


# -- in the cache ---------------------------------------------------------------------------------


def test_scorers_are_kept_and_found():
    data = load_styles("mini")
    for role, name, train in (
        ("lexicon", "logistic", lambda: train_style_lexicon(data)),
        ("word_vectors", "word2vec", lambda: train_dataset_vectors(data, QUICK)),
    ):
        made = train()
        assert train().hash == made.hash
        assert find(role, "mini", name).hash == made.hash
        assert made.card.n_sentences == len(data.training)
        assert "without test sentences" in made.card.trained_on
    tests = {*tokenized(data.splits["test"].texts)}
    assert not tests & {*tokenized(data.training.texts)}


def test_scorers_by_folder_and_file(tmp_path):
    made = train_style_lexicon(load_styles("mini"))
    by_folder = find_lexicon(str(made.folder), None, HERE)
    assert (by_folder.name, by_folder.hash) == ("logistic:mini", made.hash)
    by_file = find_lexicon(str(made.folder / "lexicon.json"), None, HERE)
    assert by_file.name == "file:lexicon"
    assert by_file.load().weights == by_folder.load().weights
    with pytest.raises(InputError, match="contains a lexicon, not a word_vectors"):
        find_vectors(str(made.folder), None, HERE)
    with pytest.raises(InputError, match="a direction is needed"):
        find_vectors("word2vec", None, HERE)
    (made.folder / "lexicon.json").write_text("{}")
    with pytest.raises(IntegrityError):
        open_artefact(made.folder)


def test_what_is_missing_is_named_with_its_command():
    from tstbench.datasets_scripts.known import parse_direction

    direction = parse_direction("mini/negative-to-positive")
    with pytest.raises(MissingScorerError, match="tstbench train lexicon mini"):
        find_lexicon("logistic", direction, HERE)
    with pytest.raises(MissingScorerError, match="tstbench train word-vectors mini"):
        find_vectors("word2vec", direction, HERE)


def test_train_from_the_command_line(capsys):
    code, out, _ = command_line(capsys, "train", "lexicon", "mini", "--longest-ngram", "2")
    assert code == 0
    assert "style n-grams" in out
    positive = next(line for line in out.split("\n") if line.startswith("positive"))
    assert "wonderful" in positive
    settings = find("lexicon", "mini", "logistic").card.settings
    assert settings["longest_ngram"] == 2
    code, out, _ = command_line(
        capsys, "train", "word-vectors", "mini", "--dimensions", "10", "--least-words", "9"
    )
    assert code == 0
    assert "dimensions\t10" in out
    folder = Path(out.strip().rpartition("\t")[2])
    assert WordVectors.load(folder, "", "").dimensions == 10


def test_mistakes_on_the_command_line(capsys):
    assert "unknown dataset 'minni'" in refusal(capsys, "train", "lexicon", "minni")
    message = refusal(capsys, "train", "word-vectors", "mini", "--dimensions", "0")
    assert "dimensions must be at least 1" in message
    assert "no n-gram occurs in 9000" in refusal(
        capsys, "train", "lexicon", "mini", "--min-count", "9000"
    )
