"""Naturalness: by hand, against scikit-learn, and on texts whose answer is known."""

import numpy as np
import pytest
from prepared import DIRECTION
from scipy.special import expit

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError
from tstbench.metrics.base import Cohort
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure, plan
from tstbench.metrics.naturalness.naturalness import (
    FAMILY,
    Texts,
    cross_fit,
    unigram_features,
)
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.signature import Signature
from tstbench.metrics.text import preparation

LEARNED = ("naturalness_unigram", "naturalness_neural")


@pytest.fixture
def scorers(prepared):
    return Scorers(PROFILES["embedded"], parse_direction(DIRECTION))


def inputs_of(test_set, predictions, references=None):
    references = test_set.references if references is None else references
    return check_inputs(predictions, test_set.sources, references, test_set.direction)


def robot(test_set):
    """A system that anybody can tell from a person: every word twice, and a word of its own."""
    return [
        " ".join(f"{word} {word}" for word in text.split()) + " zorp" for text in test_set.sources
    ]


def systems_of(test_set):
    return {
        "robot": robot(test_set),
        "copy": list(test_set.sources),
        "human": [some[0] for some in test_set.references],
    }


@pytest.mark.parametrize(
    ("metric", "penalty", "standardize"),
    [("naturalness_unigram", 1.0, False), ("naturalness_neural", 0.01, True)],
)
def test_each_sort_of_features_is_learned_from_in_its_own_way(
    scorers, test_set, metric, penalty, standardize
):
    """The probabilities of the metric are those of its classifiers, trained here by hand."""
    prepare = preparation("en").for_classifier
    systems = systems_of(test_set)
    sources = prepare(test_set.sources)
    texts = Texts(
        sources,
        [tuple(prepare(some)) for some in test_set.references],
        {name: prepare(some) for name, some in systems.items()},
    )
    every = [*sources, *(t for some in texts.references for t in some)]
    every = [*dict.fromkeys([*every, *(t for some in texts.outputs.values() for t in some)])]
    row = {text: number for number, text in enumerate(every)}
    encoder = scorers.load("encoder")
    features = encoder.sentence_vectors(every) if standardize else unigram_features(every)
    fitted = cross_fit(
        texts, features, row, penalty=penalty, standardize=standardize, folds=10, seed=0
    )
    mine, theirs = (
        fitted.margins(features[[row[t] for t in some]])
        for some in (texts.outputs["human"], sources)
    )
    inputs = inputs_of(test_set, systems["human"])
    found = measure([metric], inputs, scorers, cohort=Cohort.of(systems))[metric]
    np.testing.assert_allclose(found.per_sentence(), 100 * expit(mine - theirs), atol=1e-4)


def test_the_language_model_knows_both_styles(scorers, test_set):
    """A source that is right in its own style must not lose because the other style is judged."""
    metric = "naturalness_lm"
    human = inputs_of(test_set, [some[0] for some in test_set.references])
    found = measure([metric], human, scorers)[metric]
    target = scorers.load("cleaned_language_model")
    source = scorers.load("source_language_model")
    assert target.hash != source.hash
    assert {"lm", "source_lm"} <= found.signature.as_dict().keys()
    ready = preparation().for_language_model
    i = 3
    odds = []
    for text in ready([human.predictions[i], human.sources[i]]):
        chances = [10 ** model.log10_probability([text])[0] for model in (target, source)]
        odds.append(np.log(np.mean(chances)) / (len(text.split()) + 1))
    assert found.statistics.per_sentence[i] == pytest.approx(100 * expit(odds[0] - odds[1]))


def test_without_references_only_sources_are_human_and_the_caution_says_so(scorers, test_set):
    systems = Cohort.of(systems_of(test_set))
    none = [[] for _ in test_set.sources]
    metric = LEARNED[0]
    with_them = plan([metric], inputs_of(test_set, robot(test_set)), scorers, cohort=systems)[
        metric
    ]
    without = plan([metric], inputs_of(test_set, robot(test_set), none), scorers, cohort=systems)
    assert with_them.as_dict()["human"] == "sources+references"
    assert without[metric].as_dict()["human"] == "sources"
    assert "also learned their style" in FAMILY.caution(without[metric])
    for signature in (with_them, without[metric], Signature.of("naturalness_lm", {}, v=1)):
        assert "'the source is more natural'" in FAMILY.caution(signature)


def test_what_was_learned_is_not_taken_for_another_lesson(scorers, test_set):
    """Of one cohort, but with other references or another layer, the classifiers learn anew."""
    cohort = Cohort.of(systems_of(test_set))
    given = inputs_of(test_set, cohort.predictions["human"])
    fewer = [[some[-1]] if n % 2 else list(some) for n, some in enumerate(test_set.references)]
    other = inputs_of(test_set, cohort.predictions["human"], fewer)
    values = [
        measure([LEARNED[0]], one, scorers, cohort=cohort)[LEARNED[0]].statistics.per_sentence
        for one in (given, other, given)
    ]
    assert not np.array_equal(values[0], values[1])
    assert np.array_equal(values[0], values[2])
    shallow = scorers.profile.with_scorers(["encoder=sentence-transformers/all-MiniLM-L6-v2@2"])
    layers = [
        measure(["naturalness_neural"], given, some, cohort=cohort)["naturalness_neural"]
        for some in (scorers, Scorers(shallow, test_set.direction))
    ]
    first, second = (one.statistics.per_sentence for one in layers)
    assert not np.array_equal(first, second)


def test_as_many_folds_as_there_are_sources_leave_one_out(scorers):
    """Sources that differ in case and spaces alone are one."""
    sources = ["the soup was cold .", "The soup was cold.", "nobody came", "we left"]
    given = check_inputs([text + " indeed" for text in sources], sources, [["so what"]] * 4)
    cohort = Cohort.of({"only": given.predictions})
    for folds, measured in ((3, True), (4, False)):
        chosen = choices({"naturalness": {"folds": folds}})
        found = plan([LEARNED[0]], given, scorers, chosen, cohort)[LEARNED[0]]
        assert isinstance(found, Signature) is measured
    assert found.why.startswith("3 different sources cannot be divided into 4")


def test_mistakes_are_said(scorers, test_set):
    given = inputs_of(test_set, robot(test_set))
    with pytest.raises(InputError, match="needs all systems of the direction"):
        measure(["naturalness_unigram"], given, scorers)
    with pytest.raises(InputError, match="short has 1 outputs for 40 sentences"):
        measure(["naturalness_unigram"], given, scorers, cohort=Cohort.of({"short": ["a"]}))
    other = Cohort.of({"copy": list(test_set.sources)})
    with pytest.raises(InputError, match="not among those of the cohort"):
        measure(["naturalness_unigram"], given, scorers, cohort=other)


def test_a_cohort_of_human_texts_only_teaches_nothing(scorers, test_set):
    copies = Cohort.of({"copy": list(test_set.sources)})
    given = inputs_of(test_set, test_set.sources)
    found = measure(list(LEARNED), given, scorers, cohort=copies)
    assert [one.value for one in found.values()] == [50.0, 50.0]
