"""Metrics that compare systems: another package's family, given all systems of a direction."""

import dataclasses
import hashlib

import numpy as np
import pytest
from prepared import DIRECTION

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.metrics import registry
from tstbench.metrics.base import Cohort, Family, Measurement, MetricFacts, Options
from tstbench.metrics.module import compute
from tstbench.metrics.registry import FAMILIES, FURTHER_FAMILIES
from tstbench.metrics.statistics import mean_statistics
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.scoring import scoring


class Rarity(Family[Options]):
    """How many of the other systems do not give the same answer: it needs them all."""

    name = "rarity"
    title = "rarity"
    metrics = (
        MetricFacts(
            name="rarity",
            title="Rarity",
            unit="percent",
            higher_is_better=True,
            aspect="other",
            meaning="share of other systems that answer otherwise",
            compares_systems=True,
        ),
    )

    def measure(self, metric, inputs, options, context):
        others = context.cohort.predictions.values()
        same = [
            sum(answers[i] == text for answers in others) - 1
            for i, text in enumerate(inputs.predictions)
        ]
        return mean_statistics(100 * (1 - np.array(same) / max(len(others) - 1, 1)))


@pytest.fixture
def rarity(monkeypatch):
    """The family as another package would bring it."""
    monkeypatch.setattr(registry, "outside", lambda _: {"rarity": Rarity()})
    for function in (registry.families, registry._table):
        function.cache_clear()
    yield
    monkeypatch.undo()
    for function in (registry.families, registry._table):
        function.cache_clear()


def test_a_metric_gets_its_cohort_and_signs_it(rarity, tmp_path, capsys):
    test_set = load_test_set(DIRECTION)
    copy = Outputs("copy", test_set.sources)
    same = Outputs("same", test_set.sources)
    other = Outputs("other", tuple(f"{text} indeed" for text in test_set.sources))
    how = scoring(["rarity"])
    two = evaluate([copy, same], test_set, how, root=tmp_path)
    three = evaluate([copy, same, other], test_set, how, root=tmp_path)
    values = [[s.report.score("rarity").value for s in one.systems] for one in (two, three)]
    assert values == [[0, 0], [50, 50, 100]]
    cohorts = [one.systems[0].report.score("rarity").signature for one in (two, three)]
    assert "|cohort:" in cohorts[0]
    assert cohorts[0] != cohorts[1]
    assert "copy: rarity " in capsys.readouterr().err  # replaced, not kept beside the new one
    again = evaluate([copy, same, other], test_set, how, root=tmp_path)
    assert [s.computed for s in again.systems] == [0, 0, 0]
    alone = evaluate([copy], test_set, how, root=tmp_path)  # the others lie in the folder
    assert alone.systems[0].computed == 0


@pytest.mark.parametrize(
    ("rows", "sentences", "message"),
    [(3, None, "3 rows"), (41, 40, "41 rows"), (40, 3, "3 sentence scores")],
)
def test_a_metric_that_gives_too_few_or_too_many_is_named(
    rarity, monkeypatch, rows, sentences, message
):
    """Whether or not it scores single sentences."""
    values = None if sentences is None else np.zeros(sentences)
    made = dataclasses.replace(mean_statistics(np.zeros(rows)), per_sentence=values)
    monkeypatch.setattr(Rarity, "measure", lambda *_: made)
    test_set = load_test_set(DIRECTION)
    with pytest.raises(InputError, match=f"rarity gives {message} for 40 predictions"):
        evaluate([Outputs("copy", test_set.sources)], test_set, scoring(["rarity"]))
    with pytest.raises(InputError, match=f"rarity gives {message} for 40 predictions"):
        compute("rarity", predictions=test_set.sources, direction=DIRECTION)


def test_a_module_and_the_command_line_sign_the_same_cohort(rarity):
    """They call the systems by other names, in another order: only the outputs matter."""
    test_set = load_test_set(DIRECTION)
    texts = {
        "zeta": tuple(f"{text} indeed" for text in test_set.sources),
        "alpha": test_set.sources,
        "predictions": tuple(f"well {text}" for text in test_set.sources),
    }
    evaluation = evaluate([Outputs(n, t) for n, t in texts.items()], test_set, scoring(["rarity"]))
    for system in evaluation.systems:
        score = system.report.score("rarity")
        name = system.info.name
        found = compute(
            ["rarity"],
            predictions=list(texts[name]),
            sources=list(test_set.sources),
            references=[list(some) for some in test_set.references],
            direction=DIRECTION,
            systems={f"x{len(n)}": list(texts[n]) for n in reversed(texts) if n != name},
        )
        assert found["details"]["rarity"]["signature"] == score.signature
        assert found["rarity"] == score.value == 100


def test_a_system_called_predictions_is_not_lost(rarity):
    texts = ["a", "b"]
    found = compute(
        ["rarity"], predictions=texts, systems={"predictions": texts, "other": ["a", "c"]}
    )
    assert found["rarity"] == 25  # of two others, one says "b" too and both say "a"
    with pytest.raises(InputError, match="prediction 1 is 5"):
        compute(["rarity"], predictions=texts, systems={"other": ["a", 5]})


def test_a_cohort_is_what_all_systems_say():
    """Its hash: for each thing that makes another cohort, and for what does not."""
    usual = {"one": ["a", "b"], "two": ["c", "d"]}
    said = Cohort.of(usual).hash
    assert Cohort.of({"b": ["c", "d"], "a": ["a", "b"]}).hash == said
    assert Cohort.of({"b": ["a", "b"], "a": ["c", "d"]}).hash == said
    others = (
        {"one": ["a", "b"]},
        {**usual, "three": ["a", "b"]},  # said twice weighs more
        {"one": ["a", "d"], "two": ["c", "b"]},
        {"one": ["b", "a"], "two": ["d", "c"]},
        {"one": ["a", "b", "c", "d"]},
        {"one": ["a", "b"], "two": ["c", "d "]},
    )
    assert len({said, *(Cohort.of(other).hash for other in others)}) == 7
    texts = [
        list(Cohort.of(some).predictions.values())
        for some in (usual, {"z": ["a", "b"], "y": ["c", "d"]})
    ]
    assert texts[0] == texts[1] == [("a", "b"), ("c", "d")]  # a classifier reads them in this order
    assert Cohort.of({"one": ["\u00e9"]}).hash == hashlib.sha256(b'[["\\u00e9"]]').hexdigest()


def test_scores_of_sentences_have_six_decimals_and_none_where_they_are_undefined():
    made = mean_statistics(np.array([1 / 3, np.nan]))
    whole = dataclasses.replace(made, per_sentence=None)
    for statistics, expected in ((made, [0.333333, None]), (whole, None)):
        assert Measurement(Rarity.metrics[0], statistics, None).per_sentence() == expected


def test_a_family_that_claims_a_name_of_ours_is_left_out(monkeypatch, capsys):
    class Impostor(Rarity):
        name = "impostor"
        metrics = (dataclasses.replace(Rarity.metrics[0], name="acc"),)

    offered = {"impostor": Impostor(), "bleu": Rarity(), "nothing": object()}
    monkeypatch.setattr(registry, "outside", lambda _: offered)
    registry.families.cache_clear()
    try:
        assert list(registry.families()) == [*FAMILIES, *FURTHER_FAMILIES]
    finally:
        registry.families.cache_clear()
    said = capsys.readouterr().err
    assert "metric family 'impostor' is left out: acc already exists" in said
    assert "metric family 'bleu' is left out: bleu already exists" in said
    assert "metric family 'nothing' is left out: it is not a" in said
