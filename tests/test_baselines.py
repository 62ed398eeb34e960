"""Baseline systems: floors, ceilings, and delete-retrieve on corpora small enough to do by hand."""

import json
import random

import pytest
from prepared import BACK, DIRECTION

from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import InputError, MissingFileError, UnknownNameError
from tstbench.pipelines.transfer import BASELINES, baseline_info, predict, write_predictions
from tstbench.trainers.baselines import Copy, RandomTarget
from tstbench.trainers.delete_retrieve import GAMMA, DeleteRetrieve, DeleteRetrieveConfig


@pytest.fixture(scope="module")
def test_set():
    return load_test_set(DIRECTION)


# -- floors and ceilings ---------------------------------------------------------------------------


def test_copy_is_the_source(test_set):
    assert predict("copy", test_set) == list(test_set.sources)
    assert Copy().transfer([]) == []


@pytest.mark.parametrize("direction", [DIRECTION, BACK])
def test_random_target_draws_training_sentences_of_the_target_style(direction):
    test_set = load_test_set(direction)
    predictions = predict("random-target", test_set)
    training = load_styles("mini").training
    assert set(predictions) <= set(training.of(test_set.direction.target_index))
    assert not set(predictions) & set(training.of(test_set.direction.source_index))
    assert len(set(predictions)) > 30
    assert predict("random-target", test_set) == predictions


def test_random_target_is_the_seed_s_and_nobody_else_s():
    sentences = tuple(f"sentence {i}" for i in range(1000))
    random.seed(1)
    first = RandomTarget(sentences).transfer(["x"] * 20)
    random.seed(2)
    assert RandomTarget(sentences).transfer(["y"] * 20) == first
    assert RandomTarget(sentences, seed=1).transfer(["x"] * 20) != first
    assert RandomTarget(sentences).transfer(["x"] * 10) == first[:10]
    with pytest.raises(InputError, match="needs sentences of the target style"):
        RandomTarget(()).transfer(["x"])


@pytest.mark.parametrize("k", [1, 4])
def test_reference_k_is_the_kth_human(k, test_set):
    assert predict(f"reference-{k}", test_set) == [some[k - 1] for some in test_set.references]


@pytest.mark.parametrize("k", [0, 5])
def test_a_reference_that_is_not_there_is_told(k, test_set):
    with pytest.raises(InputError, match=f"has 4 references, there is no reference-{k}"):
        predict(f"reference-{k}", test_set)


@pytest.mark.parametrize(
    "name", ["Copy", "reference-", "reference-x", "delete_retrieve", "../copy"]
)
def test_an_unknown_baseline_is_told(name, test_set):
    with pytest.raises(UnknownNameError, match=f"unknown baseline '{name}'"):
        predict(name, test_set)


def test_every_baseline_answers_every_sentence_and_says_who_it_is(test_set, tmp_path):
    for name in BASELINES:
        predictions = predict(name, test_set)
        assert len(predictions) == len(test_set)
        assert all(text.strip() and "\n" not in text for text in predictions)
        info = baseline_info(name)
        assert (info.name, info.family) == (name, "human" if "reference" in name else "rule")
        write_predictions(tmp_path / f"{name}.jsonl", test_set, predictions)
    with pytest.raises(ValueError, match="shorter"):
        write_predictions(tmp_path / "short.jsonl", test_set, ["x"])
    assert not (tmp_path / "short.jsonl").exists()


# -- delete-retrieve, by hand ----------------------------------------------------------------------

# "awful" occurs three times in one style and never in the other: salience (3 + 1) / (0 + 1) = 4.
NEGATIVE = ["the soup was awful .", "the tea was awful .", "awful service ."]
POSITIVE = [
    "the soup was great .",
    "the tea was great .",
    "very kind staff .",
    "very kind cook .",
    "a very kind waiter .",
    "great service .",
]
BY_HAND = DeleteRetrieveConfig(gamma=3.5, max_ngram=2, min_salience=2.5)


@pytest.fixture(scope="module")
def by_hand():
    return DeleteRetrieve.train(NEGATIVE, POSITIVE, BY_HAND)


def test_salience_is_the_smoothed_ratio_of_counts(by_hand):
    """Li et al. 2018, equation 1, with lambda 1; what cannot reach a threshold is not kept."""
    assert by_hand.source_salience == {
        ("awful",): 4.0,  # (3 + 1) / (0 + 1)
        ("was", "awful"): 3.0,  # (2 + 1) / (0 + 1)
        ("awful", "."): 3.0,
    }
    assert by_hand.target_salience[("great",)] == 4.0
    assert by_hand.target_salience[("very", "kind")] == 4.0
    assert by_hand.target_salience[("was", "great")] == 3.0
    assert ("the",) not in by_hand.target_salience  # (2 + 1) / (2 + 1) = 1


@pytest.mark.parametrize(
    ("source", "prediction"),
    [
        ("the soup was awful .", "the soup was great."),  # the same content is retrieved
        ("The tea was awful.", "the tea was great."),  # tokens are the language model's
        ("awful service .", "great service."),  # at the marker's place, also the first
        ("awful waiter .", "very kind waiter."),  # a marker may be two words
        ("the cook sings .", "the cook sings ."),  # no style word: copied, as it came
        ("awful", "awful"),  # nothing would be left
        ("", ""),
    ],
)
def test_expected_rewrites(by_hand, source, prediction):
    assert by_hand.transfer([source]) == [prediction]


def test_without_a_marker_the_most_salient_ngram_goes():
    """No n-gram reaches gamma; "cold" has salience 2, and "was cold" the same but is longer."""
    system = DeleteRetrieve.train(
        ["the soup was cold .", "the dish was fine ."],
        ["the soup was hot .", "hot dish .", "hot plates .", "the soup is hot ."],
        DeleteRetrieveConfig(gamma=2.5, max_ngram=1, min_salience=2.0),
    )
    assert system.source_salience == {("cold",): 2.0, ("fine",): 2.0}
    assert system.transfer(["the soup was cold ."]) == ["the soup was hot."]
    strict = DeleteRetrieve(
        DeleteRetrieveConfig(gamma=2.5, max_ngram=1, min_salience=2.1),
        system.source_salience,
        system.target_salience,
        system.memory,
    )
    assert strict.transfer(["the soup was cold ."]) == ["the soup was cold ."]


def test_gamma_must_be_passed_not_met():
    rewrite = {}
    for gamma in (3.9, 4.0):
        config = DeleteRetrieveConfig(gamma=gamma, max_ngram=1, min_salience=9)
        system = DeleteRetrieve(config, {("awful",): 4.0}, {("great",): 9.0}, ("soup is great .",))
        rewrite[gamma] = system.transfer(["soup is awful ."])
    assert rewrite == {3.9: ["soup is great."], 4.0: ["soup is awful ."]}


def test_the_longest_marker_wins():
    salience = {("not",): 9.0, ("not", "good"): 9.0}
    config = DeleteRetrieveConfig(gamma=5, max_ngram=2)
    system = DeleteRetrieve(config, salience, {("great",): 9.0}, ("it is great .",))
    assert system.transfer(["it is not good ."]) == ["it is great."]


def test_order_and_company_change_nothing(by_hand):
    sources = [*NEGATIVE, "the cook sings ."]
    together = by_hand.transfer(sources)
    assert [by_hand.transfer([source])[0] for source in sources] == together
    assert by_hand.transfer(sources[::-1])[::-1] == together
    assert by_hand.transfer([]) == []


def test_what_was_saved_is_what_is_read(by_hand, tmp_path, test_set):
    folder = tmp_path / "deep" / "system"
    by_hand.save_pretrained(folder)
    again = DeleteRetrieve.from_pretrained(folder)
    assert again == by_hand
    sources = [*NEGATIVE, "awful waiter .", "the cook sings ."]
    assert again.transfer(sources) == by_hand.transfer(sources)
    assert {p.suffix for p in folder.iterdir()} == {".json"}


def test_the_trained_system_survives_the_round_trip(test_set, tmp_path):
    training = load_styles("mini").training
    config = DeleteRetrieveConfig(gamma=GAMMA["mini"])
    system = DeleteRetrieve.train(training.of(0), training.of(1), config)
    system.save_pretrained(tmp_path)
    expected = predict("delete-retrieve", test_set)
    assert DeleteRetrieve.from_pretrained(tmp_path).transfer(test_set.sources) == expected
    assert 20 < sum(a != b for a, b in zip(expected, test_set.sources, strict=True)) <= 40


def test_what_cannot_be_trained_or_read_is_told(by_hand, tmp_path):
    for source, target in (([], POSITIVE), (NEGATIVE, [])):
        with pytest.raises(InputError, match="training sentences of both styles"):
            DeleteRetrieve.train(source, target)
    with pytest.raises(InputError, match="no training sentence has a word of salience 100"):
        DeleteRetrieve.train(
            NEGATIVE, POSITIVE, DeleteRetrieveConfig(gamma=100, min_salience=2)
        ).transfer(NEGATIVE)
    with pytest.raises(MissingFileError, match="holds no delete-retrieve system"):
        DeleteRetrieve.from_pretrained(tmp_path / "nowhere")
    by_hand.save_pretrained(tmp_path)
    for name, content in (
        ("lexicon.json", "{"),
        ("lexicon.json", json.dumps({"source": {}, "target": {}})),
        ("lexicon.json", json.dumps({"source": {"a": "x"}, "target": {}, "memory": []})),
        ("lexicon.json", "[]"),
        ("config.json", '{"gama": 3}'),
    ):
        by_hand.save_pretrained(tmp_path)
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match="holds no delete-retrieve system"):
            DeleteRetrieve.from_pretrained(tmp_path)
    (tmp_path / "lexicon.json").unlink()
    with pytest.raises(MissingFileError, match=r"no lexicon\.json"):
        DeleteRetrieve.from_pretrained(tmp_path)
