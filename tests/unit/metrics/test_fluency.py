"""Fluency: graded scores, and the scorer that comes with the package."""

import re
from pathlib import Path

import pytest
from acceptability.cola import cola_corpus, mcc

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.registry import caution
from tstbench.metrics.scorers import find
from tstbench.metrics.scorers.artefacts import open_artefact
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.find import acceptability
from tstbench.metrics.scorers.prepare import prepare
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.signature import Signature


def test_the_shipped_classifier_is_small_and_has_no_text_of_others():
    found = acceptability("v1", None, HERE)
    folder = Path(find.__file__).parent / "acceptability_v1"
    assert open_artefact(folder).hash == found.hash
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert set(files) == {"README.md", "model.json", "scorer.json", "weights.safetensors"}
    assert sum(files.values()) < 2_000_000
    assert files["README.md"] + files["scorer.json"] + files["model.json"] < 5_000  # no corpus


@pytest.mark.realdata
def test_the_shipped_classifier_is_as_good_as_its_card_says(sources):
    model = Scorers(PROFILES["embedded"], None).load("acceptability").model
    card = open_artefact(Path(find.__file__).parent / "acceptability_v1").card
    for name, part in cola_corpus().dev.items():
        assert mcc(model, part) == pytest.approx(card.scores[f"mcc_{name}"], abs=0.01)


def test_the_shipped_classifier_grades_without_training():
    direction = parse_direction("mini/negative-to-positive")
    scorers = Scorers(PROFILES["embedded"], direction)
    assert prepare(direction, PROFILES["embedded"], ["fluency", "cola"]) == []
    sources = load_test_set(direction).sources
    turned = [" ".join(text.split()[::-1]) for text in sources]
    whole, broken = (
        measure(["fluency"], check_inputs(texts, direction=direction), scorers)["fluency"]
        for texts in (sources, turned)
    )
    assert whole.statistics.value > broken.statistics.value + 0.3
    empty = check_inputs([*sources[:3], ""], direction=direction)
    assert measure(["fluency"], empty, scorers)["fluency"].statistics.per_sentence[-1] == 0


@pytest.mark.parametrize(
    ("metric", "classifier", "said"),
    [
        ("fluency", "lora:cola#0a1b", None),
        ("cola", "probe:cola#0a1b", None),
        ("cola", "lora:cola#0a1b", "MCC 0"),
        ("cola", "roberta-large-cola-krishna2020#0a1b", None),
    ],
)
def test_a_weak_classifier_is_said_beside_its_number(metric, classifier, said):
    found = caution(metric, str(Signature.of(metric, {}, v=1, classifier=classifier)))
    assert (found is None) if said is None else re.search(said, found)
