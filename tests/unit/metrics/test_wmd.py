"""The family of word mover's distance: NLTK, gensim, released scores, and cases worked by hand."""

import re
import sys

import numpy as np
import ot
import pytest
from gensim.models import KeyedVectors
from prepared import DIRECTION, refusal, success

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import InputError, MissingExtraError, MissingFileError
from tstbench.files import read_lines
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure, plan
from tstbench.metrics.options import choices
from tstbench.metrics.registry import families
from tstbench.metrics.scorers.prepare import train_dataset_vectors
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.scorers.word_vectors import WordVectors, WordVectorsConfig, fit_word_vectors
from tstbench.metrics.text import MASK, tokenized
from tstbench.metrics.wmd import meteor as meteor_module
from tstbench.metrics.wmd import transport
from tstbench.metrics.wmd.transport import transport_distances
from tstbench.metrics.wmd.wmd import (
    compare,
    embedding_average,
    greedy_matching,
    vector_extrema,
)

METRICS = tuple(facts.name for facts in families()["wmd"].metrics)


def mini_pairs():
    """Rewrites, copies and unrelated sentences of mini, tokenised."""
    test = load_test_set(DIRECTION)
    sources = [s.split() for s in tokenized(test.sources)]
    rewrites = [s.split() for s in tokenized([some[0] for some in test.references])]
    return [*zip(rewrites, sources), *zip(sources[1:], sources), *zip(sources, sources)]  # noqa: B905


# -- arithmetic -----------------------------------------------------------------------------------


def test_extremes_that_are_equally_far_take_the_larger():
    one, two = np.array([[2.0, 0.0], [-2.0, 1.0]]), np.array([[2.0, 1.0]])
    assert vector_extrema(one, two) == pytest.approx(1.0)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("outputs", "sentences", "mean"),
    # Origin: "BLEU" of "unmasked" in the sentence-level scores that Mir et al. released, of items
    # whose texts have letters and the marks .,!? only: their tokeniser splits other signs.
    [
        ("CAAE/rho_0_01", 187, 56.6614672779),
        ("CAAE/rho_5", 163, 1.6986432855),
        ("ARAE/lambda_5", 162, 18.6887729582),
        ("DAR/gamma_15", 134, 26.8536439252),
    ],
)
def test_sentence_bleu_equals_released_scores(sources, outputs, sentences, mean):
    root = sources / "passeul/style-transfer-model-evaluation"
    pairs = []
    for side in "01":
        inputs = read_lines(root / f"data/sentiment.test.{side}")
        rewrites = read_lines(root / f"transfer_model_outputs/{outputs}/sentiment.test.{side}.tsf")
        pairs += zip(rewrites, inputs, strict=True)
    plain = re.compile(r"([a-z]+|[.,!?])( ([a-z]+|[.,!?]))*")
    kept = [(a, b) for a, b in pairs if plain.fullmatch(a) and plain.fullmatch(b)]
    assert len(kept) == sentences
    scores = compare("sentence_bleu", [(a.split(), b.split()) for a, b in kept])
    assert 100 * scores.mean() == pytest.approx(mean, abs=1e-9)


# -- many pairs -----------------------------------------------------------------------------------


def own_vectors(pairs, unknown=0):
    words = sorted({token for pair in pairs for side in pair for token in side})
    kept = words[unknown:]
    return WordVectors(kept, np.random.RandomState(2).randn(len(kept), 12) * 3)


def test_wmd_equals_gensim_on_sentences():
    """The same vectors, normalised, and the same words unknown."""
    pairs = mini_pairs()
    vectors = own_vectors(pairs, unknown=15)
    theirs = KeyedVectors(12)
    theirs.add_vectors(list(vectors.rows), vectors.vectors)
    found = compare("wmd", pairs, vectors)
    expected = np.array([theirs.wmdistance(a, b) for a, b in pairs])
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_what_no_word_is_known_of():
    vectors = WordVectors(["a", "b"], np.eye(2))
    pairs = [("x", "x"), ("x", "y"), ("x", "a"), ("a", "a"), ("a", "b"), ("", ""), ("", "a")]
    pairs = [(one.split(), two.split()) for one, two in pairs]
    np.testing.assert_allclose(compare("wmd", pairs, vectors), [0, 2, 2, 0, np.sqrt(2), 0, 2])
    for name in ("embedding_average", "greedy_matching", "vector_extrema"):
        np.testing.assert_allclose(compare(name, pairs, vectors), [1, 0, 0, 1, 0, 1, 0], atol=1e-9)
    np.testing.assert_allclose(compare("meteor", pairs)[[1, 5, 6]], [0, 1, 0])
    np.testing.assert_allclose(compare("sentence_bleu", pairs)[[1, 5, 6]], [0, 1, 0])


def test_a_vector_of_zeros_is_near_nothing(recwarn):
    zero, one = np.zeros((1, 2)), np.array([[0.3, -0.4], [0.0, 0.0]])
    for similarity in (embedding_average, greedy_matching, vector_extrema):
        assert similarity(zero, one) == similarity(one, zero) == 0
    assert embedding_average(one, np.array([[0.06, -0.08]])) == pytest.approx(1)
    assert not recwarn.list


def test_lengths_of_vectors_do_not_count_in_wmd_but_in_the_mean_of_a_sentence():
    """Lengths 0.1 and 20; a word whose vector is 0 lies at the centre, 1 from every other."""
    vectors = WordVectors(["a", "b", "z"], np.array([[0.1, 0], [12.0, 16.0], [0, 0]]))
    pairs = [(["a"], ["b"]), (["z"], ["b"]), (["a", "b"], ["b"])]
    apart = np.sqrt(2 - 2 * 0.6)
    np.testing.assert_allclose(compare("wmd", pairs, vectors), [apart, 1, apart / 2], atol=1e-7)
    mean = np.array([12.1, 16.0])
    want = mean @ [0.6, 0.8] / np.linalg.norm(mean)
    assert compare("embedding_average", pairs, vectors)[2] == pytest.approx(want, abs=1e-7)
    assert compare("embedding_average", pairs, vectors)[1] == 0


def test_measures_are_computed_in_double_precision():
    """Of the single precision of the vectors; scipy's cosine of the same numbers."""
    from scipy.spatial.distance import cosine

    vectors = WordVectors(["a", "b", "c"], np.random.RandomState(3).randn(3, 9))
    a, b, c = vectors.vectors.astype(np.float64)
    (found,) = compare("embedding_average", [(["a", "c", "a"], ["b"])], vectors)
    assert found == pytest.approx(1 - cosine(a + c + a, b), abs=1e-14)
    (found,) = compare("wmd", [(["c"], ["b"])], vectors)
    assert found == pytest.approx(np.sqrt(2 * cosine(c, b)), abs=1e-14)


def test_each_pair_has_its_own_value_where_pairs_are_said_again():
    vectors = WordVectors(["a", "b", "c"], np.array([[1.0, 0], [0, 1], [-1, 0]]))
    texts = {"ab": ("a", "b"), "ac": ("a", "c"), "bb": ("b", "b"), "xa": ("x", "a")}
    order = ["ac", "ab", "xa", "ac", "bb", "ab", "ac"]
    apart = {"ab": np.sqrt(2), "ac": 2.0, "bb": 0.0, "xa": 2.0}
    # Tuples and lists of the same words are the same text.
    pairs = [
        ([texts[o][0]], (texts[o][1],) if n % 2 else [texts[o][1]]) for n, o in enumerate(order)
    ]
    np.testing.assert_allclose(compare("wmd", pairs, vectors), [apart[o] for o in order])
    likeness = {"ab": 0.0, "ac": -1.0, "bb": 1.0, "xa": 0.0}
    found = compare("vector_extrema", pairs, vectors)
    np.testing.assert_allclose(found, [likeness[o] for o in order])
    words = {"ab": 0.0, "ac": 0.0, "bb": 0.5, "xa": 0.0}  # one match in one chunk: 1 - 0.5
    np.testing.assert_allclose(compare("meteor", pairs), [words[o] for o in order])


def test_each_measure_is_the_one_of_its_name():
    """Two words against one, in two dimensions, where all differ."""
    vectors = WordVectors(["a", "b", "c"], np.array([[3.0, 1], [-1, -4], [0, 2]]))
    pairs = [(["a", "b"], ["c"]), (["c"], ["a", "b"])]
    a, b = 1 / np.sqrt(10), -4 / np.sqrt(17)  # cosines of (3, 1) and (-1, -4) with (0, 2)
    hand = {
        "embedding_average": -3 / np.sqrt(13),  # sums (2, -3) and (0, 2)
        "vector_extrema": -0.8,  # extremes (3, -4) and (0, 2)
        "greedy_matching": (a + (a + b) / 2) / 2,  # the best of the one word, the mean of the two
        "wmd": (np.sqrt(2 - 2 * a) + np.sqrt(2 - 2 * b)) / 2,
    }
    for name, want in hand.items():
        assert compare(name, pairs, vectors) == pytest.approx([want] * 2), name


def test_what_a_mask_stands_for_by_hand():
    """A mask without a vector stands for "good" at (1, 0); "soup" is at (0, 1), and "x" is unknown.

    One pair of three differs in a word only: 1/2 from the mask to "soup", the rest stays.
    """
    vectors = WordVectors(["soup", "good"], np.array([[0.0, 3], [2, 0]]))
    mask = "<customstyle>"
    pairs = [
        (["x", "soup", mask], ["soup", "x"]),
        ([mask, mask, "soup"], ["good"]),
        ([mask], ["x"]),
        ([mask, "x"], [mask]),
        (["soup", "soup", "good"], ["soup", "good"]),
    ]
    found = compare("wmd", pairs, vectors, ["good"])
    root = np.sqrt(2)
    np.testing.assert_allclose(found, [root / 2, root / 3, 2, 0, root / 6], atol=1e-7)
    unmasked = compare("wmd", pairs, vectors)
    np.testing.assert_allclose(unmasked, [0, root, 2, 2, root / 6], atol=1e-7)
    own = WordVectors(["good", mask], np.eye(2))
    assert compare("wmd", [([mask], ["good"])], own, ["good"]) == pytest.approx(root)
    # Of two words, the mean of their unit vectors, as long as they are on average.
    two = WordVectors(["good", "bad"], np.array([[2.0, 0], [0, 4.0]]))
    assert two.centroid(["good", "bad", "x"]) == pytest.approx([3 / root, 3 / root])


# -- the family -----------------------------------------------------------------------------------


@pytest.fixture
def scorers(prepared):
    return Scorers(PROFILES["embedded"], parse_direction(DIRECTION))


@pytest.fixture
def inputs():
    test = load_test_set(DIRECTION)
    first = [some[0] for some in test.references]
    predictions = [*first[:20], *test.sources[20:39], ""]
    return check_inputs(predictions, test.sources, test.references, test.direction)


def test_rewrites_copies_and_a_failure(scorers, inputs):
    found = measure(METRICS, inputs, scorers)
    for name, one in found.items():
        values = one.statistics.per_sentence
        worst, best = (2.0, 0.0) if name.endswith("wmd") else (0.0, 1.0)
        assert values[39] == worst
        same = slice(0, 20) if name.startswith("r_") else slice(20, 39)
        close = 0.01 if name.endswith("meteor") else 1e-9  # a copy is not quite 1
        np.testing.assert_allclose(values[same], best, atol=close)
        others = values[20:39] if name.startswith("r_") else values[:20]
        assert ((others != best) & (others != worst)).sum() >= 15
        assert one.value == pytest.approx(values.mean())


def test_masking_looks_away_from_style(scorers, inputs):
    """A rewrite that changes the style words alone comes nearer to its source."""
    values = {
        mask: measure(["s_wmd", "s_meteor"], inputs, scorers, choices({"wmd": {"mask": mask}}))
        for mask in ("none", "masked", "removed")
    }
    for mask in ("masked", "removed"):
        assert values[mask]["s_wmd"].value < values["none"]["s_wmd"].value
        assert values[mask]["s_meteor"].value > values["none"]["s_meteor"].value
    assert values["masked"]["s_wmd"].value != values["removed"]["s_wmd"].value


def test_what_masking_needs_is_in_the_signature(scorers, inputs):
    usual = plan(["s_wmd"], inputs, scorers)["s_wmd"].as_dict()
    assert usual["vectors"].startswith("word2vec:mini#")
    assert "lexicon" not in usual
    for mask in ("removed", "masked"):
        masked = plan(METRICS, inputs, scorers, choices({"wmd": {"mask": mask}}))
        assert masked["r_meteor"].as_dict()["lexicon"].startswith("logistic:mini#")
    assert masked["s_wmd"].as_dict()["mask_vector"] == "learned"
    assert masked["s_wmd"].as_dict()["vectors"].startswith("word2vec-masked:mini#")


def test_the_stages_of_meteor_are_signed(scorers, inputs, monkeypatch):
    monkeypatch.setattr(meteor_module, "has_wordnet", lambda: False)
    stages = [plan(["s_meteor"], inputs, scorers)["s_meteor"].as_dict()["stages"]]
    with pytest.raises(MissingFileError, match=r"nltk\.downloader wordnet"):
        plan(["s_meteor"], inputs, scorers, choices({"wmd": {"synonyms": "wordnet"}}))
    monkeypatch.setattr(meteor_module, "has_wordnet", lambda: True)
    stages.append(plan(["s_meteor"], inputs, scorers)["s_meteor"].as_dict()["stages"])
    off = choices({"wmd": {"synonyms": "no"}})
    stages.append(plan(["s_meteor"], inputs, scorers, off)["s_meteor"].as_dict()["stages"])
    assert stages == ["exact+stem", "exact+stem+wordnet", "exact+stem"]


def test_the_placeholder_has_a_vector_of_its_own_or_the_centroid(scorers, inputs):
    """Learned from sentences that are masked with the dataset's own lexicon, as word2vec has it."""
    data, lexicon = load_styles("mini"), scorers.load("lexicon")
    sentences = lexicon.apply(tokenized(data.training.texts), "masked")
    quick = WordVectorsConfig(least_words=20_000, dimensions=16)
    want = fit_word_vectors([" ".join(tokens) for tokens in sentences], quick)
    made = train_dataset_vectors(data, quick, name="quick", masked=True)
    found = WordVectors.load(made.folder, "quick", made.hash)
    assert list(found.rows) == list(want.rows)
    np.testing.assert_array_equal(found.vectors, want.vectors)
    assert MASK not in scorers.load("word_vectors").rows
    # One word against the placeholder: the distance of two unit vectors.
    pair = [((MASK,), ("soup",))]
    learned = scorers.load("masked_vectors")
    for vectors, words in ((learned, ()), (scorers.load("word_vectors"), tuple(lexicon.weights))):
        soup = vectors.vectors[vectors.rows["soup"]]
        own = vectors.rows.get(MASK)
        mask = vectors.centroid(words) if own is None else vectors.vectors[own]
        far = np.linalg.norm(soup / np.linalg.norm(soup) - mask / np.linalg.norm(mask))
        assert compare("wmd", pair, vectors, words)[0] == pytest.approx(far, abs=1e-5)
    values = {
        how: measure(["s_wmd"], inputs, scorers, choices({"wmd": {"mask": "masked", **how_}}))
        for how, how_ in {"learned": {}, "centroid": {"placeholder": "centroid"}}.items()
    }
    assert values["learned"]["s_wmd"].value != values["centroid"]["s_wmd"].value


def test_a_sentence_without_a_reference_is_left_out_of_the_mean(scorers):
    some = check_inputs(["good soup", "cold soup"], ["a", "b"], [[], ["cold soup"]])
    (one,) = measure(["r_meteor"], some, scorers).values()
    np.testing.assert_array_equal(np.isnan(one.statistics.per_sentence), [True, False])
    assert one.value == pytest.approx(1 - 0.5 / 8)


# -- the command line -----------------------------------------------------------------------------


def test_vectors_of_other_words_are_doubted_or_refused(capsys, tmp_path):
    (tmp_path / "few.vec").write_text("2 2\nand 1 0\nqqq 0 1\n")
    (tmp_path / "none.vec").write_text("2 2\nAND 1 0\nqqq 0 1\n")
    asked = ("evaluate", "--baseline", "copy", "--direction", DIRECTION)
    asked += ("--metrics", "s_wmd", "r_wmd", "s_meteor", "--scorer")
    _, err = success(capsys, *asked, f"word_vectors={tmp_path / 'few.vec'}")
    (said,) = re.findall(r"careful: the word vectors file:few know (\d+)% of the words", err)
    assert 0 < int(said) < 50
    message = refusal(capsys, *asked, f"word_vectors={tmp_path / 'none.vec'}")
    assert "file:none know no word of the texts ('the', " in message
    vectors = WordVectors(["soup"], np.ones((1, 2)))
    vectors.check_knows([["a", "single", "sentence"]])  # says nothing about the vectors
    with pytest.raises(InputError, match="know no word"):
        vectors.check_knows([["a", "single", "sentence"]] * 7)


# -- exact optimal transport -----------------------------------------------------------------------


def points(words=60, dimensions=8, seed=0):
    vectors = np.random.RandomState(seed).randn(words, dimensions)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def whole_problems(first, second, vectors):
    """POT's checked solver on all words, common ones included."""
    for one, two in zip(first, second, strict=True):
        words = sorted({*one, *two})
        a, b = (np.array([bag.count(w) / len(bag) for w in words]) for bag in (one, two))
        places = vectors[words].astype(np.float64)
        yield ot.emd2(a, b, np.linalg.norm(places[:, None] - places[None], axis=2))


def bags(n, most, words, seed):
    rng = np.random.RandomState(seed)
    return [rng.randint(0, words, size=rng.randint(1, most + 1)).tolist() for _ in range(n)]


@pytest.mark.parametrize(("most", "words"), [(2, 60), (4, 5), (12, 60), (12, 9)])
def test_every_shape_equals_the_whole_problem(most, words):
    """Few words make many repeated and common ones; the sides have one, two and more words left.

    Vectors are of lengths 1 to 9 in single precision, distances are not.
    """
    vectors = (points() * (1 + np.arange(60) % 9)[:, None]).astype(np.float32)
    first, second = bags(300, most, words, 1), bags(300, most, words, 2)
    found = transport_distances(first, second, vectors)
    np.testing.assert_allclose(found, [*whole_problems(first, second, vectors)], atol=1e-9)


LINE = np.array([[0.0], [1.0], [3.0], [7.0], [20.0]])


def without_pot(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)  # as if it were not installed


def test_one_or_two_words_left_on_either_side_need_no_solver(monkeypatch):
    """On a line, the area between both distributions (Vallender, 1974), by hand.

    One against three: (1 + 3 + 7) / 3. Two against three: of the halves at 0 and 20, the first
    gives a third to 1 and a sixth to 3, the second a sixth to 3 and a third to 7:
    1/3 + 3/6 + 17/6 + 13/3. Three against four that have two in common: 0 at a third of the first
    and 1 and 3 at a quarter of the second each: what is left is 1/3 at 0 and 1/12 at 1 and at 3
    on one side, 1/4 at 7 and at 20 on the other: the area is 1/3 + 2 5/12 + 4/2 + 13/4. Where
    three of six are common, one at 16 is left against three at 1, 4 and 9: (15 + 12 + 7) / 6.
    """
    without_pot(monkeypatch)
    one, three, two = [0], [1, 2, 3], [0, 4]
    found = transport_distances([one, three, two, three], [three, one, three, two], LINE)
    np.testing.assert_allclose(found, [11 / 3, 11 / 3, 8, 8], rtol=1e-14)
    found = transport_distances([[0, 1, 2], [3, 1, 4, 2]], [[3, 1, 4, 2], [0, 1, 2]], LINE)
    area = 1 / 3 + 2 * (1 / 3 + 1 / 12) + 4 * 0.5 + 13 * 0.25
    np.testing.assert_allclose(found, [area, area], rtol=1e-14)
    one, three = [0, 5, 6, 4, 4, 4], [0, 5, 6, 1, 2, 3]
    found = transport_distances([one, three], [three, one], np.arange(7.0)[:, None] ** 2)
    np.testing.assert_allclose(found, [34 / 6] * 2, rtol=1e-14)


def test_three_words_left_on_both_sides_need_pot(monkeypatch):
    """0, 1, 3 against 7, 20 and 20: moved as they stand, on a line."""
    first, second, vectors = [0, 1, 2], [3, 4, 5], np.array([*LINE, [26.0]])
    assert transport_distances([first], [second], vectors).tolist() == [(7 + 19 + 23) / 3]
    without_pot(monkeypatch)
    said = "POT is not installed: pip install 'tstbench[vectors]'"
    with pytest.raises(MissingExtraError, match=f"^{re.escape(said)}$"):
        transport_distances([first], [second], vectors)


def test_the_solver_is_never_given_what_does_not_balance():
    ground = np.ones((2, 3, 3))
    mass = np.array([[1.0, 2, 3], [2, 2, 2]])
    assert transport._simplex(mass, mass[:, ::-1].copy(), ground).tolist() == [6, 6]
    more = np.array([[1.0, 2, 3], [2, 2, 3]])
    said = "both sides must have the same mass: the solver would not survive it"
    with pytest.raises(RuntimeError, match=f"^{said}$"):
        transport._simplex(mass, more, ground)


def test_a_solver_that_gives_up_is_not_believed(monkeypatch):
    monkeypatch.setattr(transport, "_MOST_STEPS", 1)
    first, second = bags(1, 40, 60, 13), bags(1, 40, 60, 14)
    with pytest.raises(RuntimeError, match=r"^the transport solver ended with status \{3\}$"):
        transport_distances([first[0] * 2 + [*range(30)]], [second[0] + [*range(30, 60)]], points())


def test_a_batch_holds_as_many_problems_as_it_may(monkeypatch):
    """For each shape: (m + n) D numbers of the words' vectors and m n distances a problem."""
    shapes = []
    ground = transport._ground

    def noted(one, two, points, squares):
        shapes.append((len(one), one.shape[1], two.shape[1]))
        return ground(one, two, points, squares)

    monkeypatch.setattr(transport, "_ground", noted)
    monkeypatch.setattr(transport, "_FLOATS_AT_ONCE", 500)
    # 20 problems of 1 against 2 words, of (1 + 2) 8 + 2 = 26 numbers; 9 of 3 against 4, of 68;
    # two that are larger than a batch, with 20 against 30, one at a time.
    first = [[0]] * 20 + [[0, 1, 2]] * 9 + [[*range(20)]] * 2
    second = [[1, 2]] * 20 + [[3, 4, 5, 6]] * 9 + [[*range(20, 50)]] * 2
    found = transport_distances(first, second, points())
    np.testing.assert_allclose(found, [*whole_problems(first, second, points())], atol=1e-9)
    assert sorted(shapes) == [(1, 1, 2), (1, 20, 30), (1, 20, 30), (2, 3, 4), (7, 3, 4), (19, 1, 2)]


def test_a_pair_in_which_nothing_is_left_may_be_anywhere(recwarn):
    """Equal texts and empty ones, at the ends and between; the first word of all is not 0."""
    first = [[1], [2, 0], [], [3], [0, 1, 1], [2], []]
    second = [[2], [0, 2], [1], [3, 3], [3, 0, 1], [], []]
    found = transport_distances(first, second, LINE)
    np.testing.assert_array_equal(found, [2, 0, np.nan, 0, 2, np.nan, np.nan])
    assert transport_distances([[2, 2]], [[2]], LINE).tolist() == [0]
    assert np.isnan(transport_distances([[]], [[]], LINE)).tolist() == [True]
    assert not recwarn.list
    assert transport_distances([], [], np.ones((2, 1))).shape == (0,)  # nor is there any pair


def test_words_with_the_same_vector_are_0_apart(recwarn):
    """Rounding would make a squared distance negative, and its root no number."""
    vectors = np.random.RandomState(15).randn(200, 6) * 9
    vectors = np.concatenate([vectors, vectors])
    found = transport_distances([[i] for i in range(200)], [[i + 200] for i in range(200)], vectors)
    np.testing.assert_allclose(found, 0, atol=1e-5)
    assert not recwarn.list


def test_texts_of_many_words_are_solved_to_the_end():
    """Scipy's assignment: every word has one of the other text. Ten thousand steps are too few."""
    from scipy.optimize import linear_sum_assignment

    vectors = np.random.RandomState(18).randn(2000, 5)
    ground = np.linalg.norm(vectors[:1000, None] - vectors[None, 1000:], axis=2)
    (found,) = transport_distances([range(1000)], [range(1000, 2000)], vectors)
    assert found == pytest.approx(ground[linear_sum_assignment(ground)].mean(), abs=1e-12)
