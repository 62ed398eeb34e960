"""Baseline systems: floors, ceilings, and delete-retrieve on corpora small enough to do by hand."""

import itertools
from dataclasses import replace

import pytest
from prepared import BACK, DIRECTION

from tstbench.datasets_scripts.catalog import DATASETS, parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart, load_styles, load_test_set
from tstbench.errors import InputError, MissingSystemError, UnknownNameError
from tstbench.pipelines.transfer import baseline_info, predict
from tstbench.settings import as_json
from tstbench.trainers.baselines import Copy, RandomTarget
from tstbench.trainers.delete_retrieve import DeleteRetrieve, DeleteRetrieveConfig
from tstbench.trainers.load import load_system
from tstbench.trainers.system import Generation, SystemConfig, system_names
from tstbench.trainers.train import train_system


def learn_from(source, target, validation=None):
    """Training data of a direction, from sentences of ours."""
    part = TrainingPart("train", tuple(source), tuple(target))
    return TrainingData(parse_direction(DIRECTION), "paper-v1", part, validation)


def rewrites(system, sources, **options):
    return list(system.transfer(sources, DIRECTION, **options))


# -- floors and ceilings ---------------------------------------------------------------------------


def test_copy_is_the_source(test_set):
    assert predict("copy", test_set) == list(test_set.sources)
    assert rewrites(Copy(), []) == []
    assert rewrites(load_system("copy"), ["a", ""]) == ["a", ""]


@pytest.mark.parametrize("direction", [DIRECTION, BACK])
def test_random_target_draws_training_sentences_of_the_target_style(direction):
    test_set = load_test_set(direction)
    predictions = predict("random-target", test_set)
    training = load_styles("mini").training
    label = DATASETS["mini"].styles.index
    assert set(predictions) <= set(training.of(label(test_set.direction.target_style)))
    assert not set(predictions) & set(training.of(label(test_set.direction.source_style)))
    assert len(set(predictions)) > 30
    assert predict("random-target", test_set) == predictions


SENTENCES = tuple(f"sentence {i}" for i in range(1000))


@pytest.fixture(scope="module")
def random_target():
    return RandomTarget.train(learn_from(["x"], SENTENCES), SystemConfig())


def test_what_is_drawn_hangs_on_seed_and_id_alone(random_target):
    ids = [f"id-{i}" for i in range(50)]
    whole = rewrites(random_target, ["x"] * 50, ids=ids)
    assert len(set(whole)) > 40
    restarted = itertools.islice(random_target.transfer(["x"] * 50, DIRECTION, ids=ids), 20)
    rest = random_target.transfer(["x"] * 30, DIRECTION, ids=ids[20:], batch_size=7)
    assert [*restarted, *rest] == whole
    assert rewrites(random_target, ["y"] * 50, ids=ids[::-1], batch_size=1)[::-1] == whole
    other = rewrites(random_target, ["x"] * 50, ids=ids, generation=Generation(seed=1))
    assert sum(a == b for a, b in zip(whole, other, strict=True)) < 5


def test_without_ids_a_sentence_is_its_own(random_target):
    assert len(set(rewrites(random_target, ["x", "x", "x"]))) == 1
    assert rewrites(random_target, ["a", "b"]) == rewrites(random_target, ["b", "a"])[::-1]


@pytest.mark.parametrize("k", [1, 4])
def test_reference_k_is_the_kth_human(k, test_set):
    assert predict(f"reference-{k}", test_set) == [some[k - 1] for some in test_set.references]


@pytest.mark.parametrize("k", [0, 5])
def test_a_reference_that_is_not_there_is_told(k, test_set):
    with pytest.raises(InputError, match=f"has 4 references; there is no reference-{k}"):
        predict(f"reference-{k}", test_set)


@pytest.mark.parametrize(
    "name", ["Copy", "reference-", "reference-x", "delete_retrieve", "../copy"]
)
def test_an_unknown_baseline_is_told(name, test_set):
    for call in (lambda: predict(name, test_set), lambda: baseline_info(name)):
        with pytest.raises(UnknownNameError, match=f"unknown baseline '{name}'"):
            call()


def test_every_baseline_answers_every_sentence_and_says_who_it_is(test_set):
    assert system_names()[:3] == ["copy", "random-target", "delete-retrieve"]
    for name in (*system_names()[:3], "reference-1"):
        predictions = predict(name, test_set)
        assert len(predictions) == len(test_set)
        assert all(text.strip() and "\n" not in text for text in predictions)
        info = baseline_info(name)
        assert (info.name, info.family) == (name, "human" if "reference" in name else "rule")


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
    return DeleteRetrieve.train(learn_from(NEGATIVE, POSITIVE), BY_HAND)


def made(config, *parts):
    """A system with these lexicons and this memory, as if it had learned them."""
    card = DeleteRetrieve.planned(learn_from(["x"], ["y"]), config)
    return DeleteRetrieve(replace(card, settings=as_json(config)), *parts)


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
    assert rewrites(by_hand, [source]) == [prediction]


def test_without_a_marker_the_most_salient_ngram_goes():
    """No n-gram reaches gamma; "cold" has salience 2, and "was cold" the same but is longer."""
    system = DeleteRetrieve.train(
        learn_from(
            ["the soup was cold .", "the dish was fine ."],
            ["the soup was hot .", "hot dish .", "hot plates .", "the soup is hot ."],
        ),
        DeleteRetrieveConfig(gamma=2.5, max_ngram=1, min_salience=2.0),
    )
    assert system.source_salience == {("cold",): 2.0, ("fine",): 2.0}
    assert rewrites(system, ["the soup was cold ."]) == ["the soup was hot."]
    strict = made(
        DeleteRetrieveConfig(gamma=2.5, max_ngram=1, min_salience=2.1),
        system.source_salience,
        system.target_salience,
        system.memory,
    )
    assert rewrites(strict, ["the soup was cold ."]) == ["the soup was cold ."]


def test_gamma_must_be_passed_not_met():
    rewrite = {}
    for gamma in (3.9, 4.0):
        config = DeleteRetrieveConfig(gamma=gamma, max_ngram=1, min_salience=9)
        system = made(config, {("awful",): 4.0}, {("great",): 9.0}, ("soup is great .",))
        rewrite[gamma] = rewrites(system, ["soup is awful ."])
    assert rewrite == {3.9: ["soup is great."], 4.0: ["soup is awful ."]}


def test_the_longest_marker_wins():
    salience = {("not",): 9.0, ("not", "good"): 9.0}
    config = DeleteRetrieveConfig(gamma=5, max_ngram=2)
    system = made(config, salience, {("great",): 9.0}, ("it is great .",))
    assert rewrites(system, ["it is not good ."]) == ["it is great."]


def test_the_trained_system_is_the_one_that_is_asked_by_name(test_set, tmp_path):
    styles = load_styles("mini").training
    data = learn_from(styles.of(0), styles.of(1))
    stored = train_system("delete-retrieve", data)
    assert (stored.card.settings["gamma"], stored.card.made) == (3.5, {})
    expected = predict("delete-retrieve", test_set)
    system = load_system(stored.folder)
    assert rewrites(system, test_set.sources) == expected
    assert 20 < sum(a != b for a, b in zip(expected, test_set.sources, strict=True)) <= 40


def test_its_score_is_what_it_finds_in_sentences_it_has_not_seen():
    unseen = TrainingPart("validation", ("awful bread .", "the cook sings ."), ())
    system = DeleteRetrieve.train(learn_from(NEGATIVE, POSITIVE, unseen), BY_HAND)
    assert system.card.scores == {"marked": 0.5}


def test_what_cannot_be_trained_or_read_is_told():
    strict = DeleteRetrieveConfig(gamma=100, min_salience=2)
    with pytest.raises(InputError, match="no training sentence has a word of salience 100"):
        rewrites(DeleteRetrieve.train(learn_from(NEGATIVE, POSITIVE), strict), NEGATIVE)
    with pytest.raises(MissingSystemError, match="neither the folder of a system nor a Hub id"):
        DeleteRetrieve.from_pretrained("nowhere")
