"""The Joint of sentences: means against SciPy's, parts, module; fluency with a language model."""

import numpy as np
import pytest
from local_chat import make_chat_model
from prepared import DIRECTION
from scipy.special import expit, logit
from scipy.stats import gmean
from transformers import AutoModelForCausalLM, AutoTokenizer

import tstbench
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.registry import families
from tstbench.metrics.scorers.causal_lm import CausalLm, alone, as_written
from tstbench.pipelines.meta import known
from tstbench.pipelines.scoring import scoring

PARTS = ("target_style", "s_meaning", "fluency")
OUTPUTS = ["the soup was hot.", "", "soup the the was", "the staff was lovely and quick !"]


pytestmark = pytest.mark.usefixtures("prepared")


@pytest.fixture(scope="module")
def llm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llm")
    make_chat_model(folder, tstbench.load_test_set(DIRECTION).sources)
    return folder


def measured(how, metrics):
    test_set = tstbench.load_test_set(DIRECTION)
    inputs = check_inputs(OUTPUTS, test_set.sources[:4], None, test_set.direction)
    return measure(metrics, inputs, how.scorers(test_set.direction), how.choices)


def test_it_is_the_mean_of_its_parts_and_an_empty_output_is_0():
    found = measured(scoring([*PARTS, "joint_sentence"]), [*PARTS, "joint_sentence"])
    parts = [found[name].per_sentence() for name in PARTS]
    assert found["joint_sentence"].per_sentence() == pytest.approx(gmean(parts, axis=0), abs=1e-5)
    assert found["joint_sentence"].per_sentence()[1] == 0
    least = measured(scoring(["joint_sentence"], settings={"joint": {"mean": "minimum"}}),
                     ["joint_sentence"])["joint_sentence"]  # fmt: skip
    assert least.per_sentence() == pytest.approx(np.min(parts, axis=0), abs=1e-5)
    assert "|mean:minimum|" in str(least.signature)


def test_a_module_asked_for_a_mean_or_a_calibration_scores_that():
    asked = families()["joint"].module_metrics
    assert asked({"mean": "minimum", "calibration": None}) == ("joint_sentence", *PARTS)
    assert asked({"mean": None, "calibration": "mine.json"}) == ("joint_calibrated",)


def test_fluency_reads_a_language_model_and_the_classifier(llm):
    def fluency(combine):
        how = scoring(
            ["fluency"],
            scorers=[f"causal_lm={llm}"],
            settings={"fluency": {"combine": combine}},
        )
        return measured(how, ["fluency"])["fluency"]

    model = CausalLm(
        [AutoModelForCausalLM.from_pretrained(llm).eval()], AutoTokenizer.from_pretrained(llm)
    )
    texts = ["the soup was hot.", "", "soup the the was", "the staff was lovely and quick!"]
    told = model.log_probabilities([alone(as_written(text)) for text in texts])
    odds = 2 * (told[:, 0] / np.sqrt(told[:, 1]) + 18.5) / 4.5 + 2
    hand = expit(odds)
    hand[1] = 0  # empty
    likely, acceptable, mean = map(fluency, ("likely", "acceptable", "mean"))
    assert likely.per_sentence() == pytest.approx(hand, abs=1e-5)
    both = expit((odds[[0, 2, 3]] + logit(np.array(acceptable.per_sentence())[[0, 2, 3]])) / 2)
    assert np.array(mean.per_sentence())[[0, 2, 3]] == pytest.approx(both, abs=1e-4)
    assert mean.per_sentence()[1] == 0
    assert "|causal_lm:llm" not in str(acceptable.signature)
    assert "|combine:likely|likely:-18.5+-4.5|" in str(likely.signature)
    assert "classifier:lora:cola#" not in str(likely.signature)
    assert "classifier:lora:cola#" in str(mean.signature)
    assert "causal_lm:llm" in str(mean.signature)


def test_the_profile_with_a_language_model_has_the_joint_of_sentences_and_its_parts():
    assert [m for m in scoring(profile="lm").metrics if m not in scoring().metrics] == [
        "joint_sentence", *PARTS
    ]  # fmt: skip
    assert "joint_calibrated" not in scoring(profile="lm").metrics


def test_agreement_stands_beside_what_was_compared_only():
    """Not beside a Joint whose style an n-gram classifier read."""
    way = "joint_sentence|v:1|direction:yelp/negative-to-positive"
    assert known.measured("joint_sentence")
    assert known.measured("joint_sentence", f"{way}|target_style.classifier:lm:yelp#ab|n:500")
    assert not known.measured("joint_sentence", f"{way}|target_style.classifier:linear:yelp#a")
    order = ("joint", "joint_calibrated", "joint_sentence")
    signed = {
        "joint_sentence": f"{way}|target_style.classifier:lm:yelp#ab|n:500",
        "joint": "joint|v:2|direction:yelp/negative-to-positive|n:500",
    }
    places = {name: known.ranking_place(name, signed.get(name, "")) for name in order}
    assert min(places, key=places.__getitem__) == "joint_sentence"
