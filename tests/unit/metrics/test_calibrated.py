"""Joint as people rate: by hand, from a file, with intervals, without references."""

import json
import math

import numpy as np
import pytest
from leaderboard_pages import ranking_of, show
from places import ROOT
from prepared import DIRECTION, success

import tstbench
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.joint.calibration import load_calibration
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.registry import caution
from tstbench.pipelines.scoring import scoring

PARTS = [
    {"metric": "acc", "aspect": "style", "weight": 3.0, "slope": 0.04, "offset": -2.0},
    {"metric": "s_bleu", "aspect": "content", "weight": 1.0, "slope": 0.05, "offset": -1.0},
]


def written(folder, name="mine", **changes):
    file = folder / f"{name}.json"
    record = {"name": name, "profile": "embedded", "fitted_on": ["by hand"], "parts": PARTS}
    file.write_text(json.dumps({**record, **changes}))
    return file


def by_hand(acc, bleu):
    def curve(x):
        return 1 / (1 + math.exp(-x))

    return (3 * curve(-2 + 0.04 * acc) + curve(-1 + 0.05 * bleu)) / 4


@pytest.fixture(scope="module")
def outputs():
    sources = tstbench.load_test_set(DIRECTION).sources
    return [s.replace("cold", "warm") if n % 2 else "it was lovely." for n, s in enumerate(sources)]


@pytest.mark.usefixtures("prepared")
class TestMetric:
    def measured(self, outputs, file, metrics=("joint_calibrated",), references=True):
        test_set = tstbench.load_test_set(DIRECTION)
        inputs = check_inputs(
            outputs,
            test_set.sources,
            test_set.references if references else None,
            test_set.direction,
        )
        how = scoring(list(metrics), settings={"joint": {"calibration": str(file)}})
        return measure(metrics, inputs, how.scorers(test_set.direction), how.choices)

    @pytest.mark.parametrize("references", [True, False])
    def test_it_is_the_mean_of_its_sentences_and_needs_no_reference(
        self, tmp_path, outputs, references
    ):
        """An empty output scores 0, whatever the curves of its parts say."""
        left_empty = [outputs[0], " ", *outputs[2:]]
        metrics = ("joint_calibrated", "acc", "s_bleu")
        found = self.measured(left_empty, written(tmp_path), metrics, references=references)
        acc, bleu = (found[name].per_sentence() for name in ("acc", "s_bleu"))
        hand = [by_hand(a, b) for a, b in zip(acc, bleu, strict=True)]
        assert hand[1] > 0
        hand[1] = 0
        assert found["joint_calibrated"].per_sentence() == pytest.approx(hand, abs=2e-6)
        assert found["joint_calibrated"].value == pytest.approx(np.mean(hand))
        assert (
            found["joint_calibrated"].interval().low
            < np.mean(hand)
            < found["joint_calibrated"].interval().high
        )
        assert len(set(hand)) > 2

    def test_the_signature_names_content_not_place(self, tmp_path, outputs):
        def signature(file):
            return str(self.measured(outputs, file)["joint_calibrated"].signature)

        one = signature(written(tmp_path))
        (tmp_path / "elsewhere").mkdir()
        assert signature(written(tmp_path / "elsewhere", limits=["other words"])) == one
        changed = [{**PARTS[0], "slope": 0.041}, PARTS[1]]
        assert signature(written(tmp_path, "other", parts=changed)) != one
        assert "weights:mine#" in one
        assert "r_bleu" not in one

    def test_the_signature_names_every_parts_scorer(self, tmp_path, outputs):
        fluency = {**PARTS[1], "metric": "fluency", "aspect": "fluency"}
        content = {**PARTS[1], "metric": "r_bleu"}
        file = written(tmp_path, parts=[*PARTS, content, fluency])
        said = self.measured(outputs, file)["joint_calibrated"].signature.as_dict()
        assert said["acc.classifier"].startswith("linear:")
        assert said["fluency.classifier"].startswith("lora:")
        assert (said["s_bleu.refs"], said["r_bleu.refs"]) == ("source", "first")
        assert said["tok"] == "nltk", "what all parts agree on is said once"
        assert not {"classifier", "refs"} & said.keys()


class TestCaution:
    """Other scorers put a text elsewhere on a curve: that stands beside the number."""

    ONE = "joint_calibrated|v:1|direction:yelp/negative-to-positive|weights:{}|{}"
    FITTED = "classifier:linear:yelp#0b556b457f18"

    def of_package(self, scorers):
        signed = load_calibration("calibrated-v1").signed
        return caution("joint_calibrated", self.ONE.format(signed, scorers))

    def test_the_scorers_it_was_fitted_with_need_none(self):
        assert self.of_package(self.FITTED) is None
        again = "sti.classifier:linear:yelp#000000000000|encoder:all-MiniLM-L6-v2#c954d16b8dcc"
        assert self.of_package(again) is None, "trained again on another machine"

    @pytest.mark.parametrize("name", ["transformer:yelp", "linear:shakespeare"])
    def test_others_are_named(self, name):
        said = self.of_package(f"{self.FITTED}|sti.classifier:{name}#0b556b457f18")
        assert said.startswith("Joint calibrated-v1 was fitted on scores of all-MiniLM-L6-v2")
        assert f"not of {name}: " in said

    @pytest.mark.parametrize("weights", ["1,1,1", "calibrated-v9#0123456789ab", "calibrated-v1#0"])
    def test_of_what_nothing_is_known_nothing_is_said(self, weights):
        other = "classifier:transformer:yelp#0b556b457f18"
        assert caution("joint_calibrated", self.ONE.format(weights, other)) is None

    @pytest.fixture
    def evaluated(self, tmp_path, prepared, capsys):
        """What ``evaluate`` shows with a calibration that was fitted with this classifier."""
        out = tmp_path / "results"

        def run(classifier, evidence=None):
            signed = {"acc": {DIRECTION: f"acc|v:1|classifier:{classifier}#0b556b457f18"}}
            evidence = {"signatures": signed} if evidence is None else evidence
            file = written(tmp_path, evidence=evidence)
            text, _ = success(
                capsys, "evaluate", "--baseline", "copy", "--direction", DIRECTION, "--metrics",
                "joint_calibrated", "--set", f"joint.calibration={file}", "--out", out,
            )  # fmt: skip
            return text

        return run

    def test_the_terminal_and_the_leaderboard_of_a_file(self, evaluated, tmp_path):
        said = " ".join(evaluated("transformer:mini").split())
        assert "† Joint mine was fitted on scores of transformer:mini, not of linear:mini" in said
        column = ranking_of(tmp_path / "results", DIRECTION).columns[0]
        assert "fitted on scores of transformer:mini" in column.caution
        overview = str(show(tmp_path / "results", view="overview", metric="joint_calibrated"))
        assert "fitted on scores of transformer:mini" in overview

    def test_a_file_fitted_with_these_scorers_and_one_that_does_not_say(self, evaluated):
        assert "fitted on" not in evaluated("linear:mini")
        assert "fitted on" not in evaluated("linear:mini", evidence={})


class TestFiles:
    def test_an_edited_file_is_read_again(self, tmp_path):
        file = written(tmp_path)
        before = load_calibration(str(file))
        written(tmp_path, parts=[PARTS[1]])
        after = load_calibration(str(file))
        assert (len(before.parts), len(after.parts)) == (2, 1)
        assert before.hash != after.hash

    def test_a_released_one_is_what_it_was(self):
        """By this hash its scores are compared, in every signature."""
        found = load_calibration("calibrated-v1")
        assert found.signed == "calibrated-v1#cc4d6477d3af"
        file = ROOT / "metrics/joint/calibrated-v1.json"
        assert json.loads(json.dumps(found.record())) == json.loads(file.read_text())

    def test_its_scorers_are_what_its_signatures_hash(self, tmp_path):
        signed = "acc|v:1|classifier:a#b#0b556b457f18|text:c#1|other:#0b556b457f18"
        evidence = {"signatures": {"acc": {DIRECTION: signed}, "odd": "text"}}
        assert load_calibration(str(written(tmp_path, evidence=evidence))).scorers == ("a#b",)

    def test_weights_by_number_still_work_everywhere(self):
        assert choices({"joint": {"weights": "3,1,2"}}).of("joint").weights == (3.0, 1.0, 2.0)
        assert choices({"joint": {"weights": [3, 1, 2]}}).of("joint").weights == (3.0, 1.0, 2.0)
