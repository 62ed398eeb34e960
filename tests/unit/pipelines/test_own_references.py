"""Rewrites that are a reference are compared with the other references, wherever they come from."""

from dataclasses import replace

import pytest
import sacrebleu

from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.system_outputs import SYSTEM_OUTPUTS, read_output
from tstbench.metrics.signature import column_of
from tstbench.pipelines.analysis.data import read_run, score_of
from tstbench.pipelines.evaluate import evaluate, inputs_of
from tstbench.pipelines.growth import keep, merged, read_results
from tstbench.pipelines.output_checks import find_suspicions, own_reference
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.ranked_table import direction_table
from tstbench.pipelines.report import SystemInfo, score_recipe
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.standings import read_standings
from tstbench.pipelines.transfer import baseline_info, predict
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.groups import settings
from tstbench.spaces.leaderboard.overview import build_overview

BLEU = ("s_bleu", "r_bleu", "multi_bleu")
ONLY = "these rewrites are the only reference"


def with_references(test_set, *numbers):
    """The test set with these of its four references, from 1."""
    return replace(
        test_set,
        references=tuple(tuple(some[n - 1] for n in numbers) for some in test_set.references),
    )


def column(test_set, number):
    return [some[number - 1] for some in test_set.references]


def as_outputs(name, test_set):
    return Outputs(name, tuple(predict(name, test_set)))


def scored(evaluation):
    """Of each system: metric to value, or why there is none."""
    return {
        one.info.name: {s.metric: s.value for s in one.report.scores}
        | {o.metric: o.why for o in one.report.left_out}
        for one in evaluation.systems
    }


def test_a_case_by_hand(test_set):
    """Of five words the last differs: 4/5 of the words, 3/4, 2/3 and 1/2 of the n-grams."""
    mine, other = "the food was very good", "the food was very nice"
    two = replace(test_set, references=((mine, other),) * len(test_set))
    found = evaluate([as_outputs("reference-1", two)], two, scoring(BLEU))
    assert scored(found)["reference-1"] == {
        "s_bleu": scored(found)["reference-1"]["s_bleu"],
        "r_bleu": pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25, abs=1e-6),
        "multi_bleu": "no sentence has several references besides these rewrites",
    }


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_reference_is_compared_with_the_others(test_set, number):
    name = f"reference-{number}"
    how = scoring(BLEU, settings={"bleu": {"protocol": "13a"}})
    found = evaluate([as_outputs(name, test_set)], test_set, how)
    others = [column(test_set, n) for n in (1, 2, 3, 4) if n != number]
    own = column(test_set, number)
    values = scored(found)[name]
    first, three = (sacrebleu.corpus_bleu(own, some).score for some in (others[:1], others))
    assert values["r_bleu"] == pytest.approx(first, abs=1e-6)
    assert values["multi_bleu"] == pytest.approx(three, abs=1e-6)
    assert values["s_bleu"] == pytest.approx(
        sacrebleu.corpus_bleu(own, [list(test_set.sources)]).score, abs=1e-6
    )
    signed = {s.metric: f"|without:{name}|" in s.signature for s in found.systems[0].report.scores}
    assert signed == {"s_bleu": False, "r_bleu": True, "multi_bleu": True}


def test_where_there_is_no_other_it_has_no_value(test_set, prepared):
    one = with_references(test_set, 1)
    outputs = [as_outputs(name, one) for name in ("reference-1", "copy")]
    found = scored(evaluate(outputs, one, scoring(("acc", "r_bleu", "r_bert", "ppl", "joint"))))
    reasons = dict.fromkeys(("r_bleu", "r_bert", "joint"), ONLY)
    assert {m: v for m, v in found["reference-1"].items() if isinstance(v, str)} == reasons
    assert all(isinstance(value, float) for value in found["copy"].values())


def test_few_own_words_leave_it_the_reference_and_many_do_not(test_set):
    """38 of 40 are 95 %; what reproduces fewer is a system, and keeps its credit."""
    people = column(test_set, 2)
    for changed, without in ((0, "reference-2"), (2, "reference-2"), (3, None)):
        texts = (*["something else"] * changed, *people[changed:])
        inputs = inputs_of(Outputs("human", texts), test_set)
        assert inputs.without == without
        assert inputs.compared.most_references == (3 if without else 4)
        said = [str(one) for one in find_suspicions(texts, test_set)]
        assert any("and are compared with the other references" in s for s in said) == bool(without)
    spaced = tuple(f" {text.upper()}" for text in people)
    assert inputs_of(Outputs("mine", spaced), test_set).without == "reference-2"


def test_a_few_sentences_are_a_reference_by_name_alone(test_set):
    few = replace(
        test_set,
        **{name: getattr(test_set, name)[:5] for name in ("ids", "sources", "references")},
    )
    right = tuple(column(few, 1))
    assert inputs_of(Outputs("mine", right), few).without is None
    assert inputs_of(Outputs("reference-1", right), few).without == "reference-1"
    assert inputs_of(Outputs("reference-1", few.sources), few).without is None


def test_a_sentence_without_the_reference_counts_where_there_is_another(test_set):
    ragged = replace(
        test_set, references=tuple(r[: 1 + i % 2] for i, r in enumerate(test_set.references))
    )
    inputs = inputs_of(as_outputs("reference-2", ragged), ragged)
    assert inputs.without == "reference-2"
    assert inputs.compared.references == tuple(r[:1] for r in ragged.references)


def compared_with_itself(data, *metrics):
    """The results of reference-1 as they were when it was compared with itself."""
    outputs = as_outputs("reference-1", data)
    results = evaluate([outputs], data, scoring("s_bleu")).systems[0].results
    copied = evaluate([as_outputs("copy", data)], data, scoring(metrics)).systems[0].report
    (like,) = results.scored
    old = [like]
    for score in copied.scores:  # a number takes the place of 100, with its interval
        recipe = score_recipe(outputs.sha256, data.fingerprint, score.signature)
        named = {"key": score.key, "metric": score.metric, "signature": score.signature}
        old.append(replace(like, score=like.score.model_copy(update={**named, "recipe": recipe})))
    return outputs, replace(results, scored=tuple(old), without=None, on_disk=None)


def test_old_scores_by_itself_go_with_the_next_evaluation(test_set, tmp_path, capsys):
    outputs, old = compared_with_itself(test_set, "r_bleu", "multi_bleu")
    keep(tmp_path, old)
    capsys.readouterr()
    found = evaluate([outputs], test_set, scoring("multi_bleu"), root=tmp_path)
    assert found.systems[0].computed == 1
    assert "it was compared with itself: 2 old scores dropped" in capsys.readouterr().err
    kept = {
        s.score.metric: s.score
        for s in read_results(tmp_path, test_set.direction, "reference-1").scored
    }
    assert kept.keys() == {"s_bleu", "multi_bleu"}
    assert "|without:reference-1|" in kept["multi_bleu"].signature
    again = evaluate([outputs], test_set, scoring(BLEU), root=tmp_path)
    assert again.systems[0].computed == 1
    assert again.systems[0].kept == 2


def test_old_scores_by_itself_go_where_there_is_no_other(test_set):
    one = with_references(test_set, 1)
    outputs, old = compared_with_itself(one, "r_bleu")
    fresh = evaluate([outputs], one, scoring("r_bleu")).systems[0].results
    whole, _ = merged(old, fresh)
    assert [s.score.metric for s in whole.scored] == ["s_bleu"]
    assert [(o.metric, o.why) for o in whole.left_out] == [("r_bleu", ONLY)]


def test_bounds_stand_in_the_columns_of_the_systems(test_set, tmp_path):
    names = ("reference-1", "reference-3", "copy", "delete-retrieve")
    infos = {name: baseline_info(name) for name in names}
    outputs = [as_outputs(name, test_set) for name in names]
    evaluate(outputs, test_set, scoring(BLEU), infos, tmp_path)
    (standings,) = read_standings(tmp_path, metrics=["r_bleu", "multi_bleu"])
    table = direction_table(standings)
    assert len(table.titles) == 2
    assert all(cell.text != "–" for row in (*table.rows, *table.bounds) for cell in row.cells)
    (direction,) = read_run(tmp_path)
    assert len(direction.columns) == 3
    assert all(score_of(r, c) for r in direction.reports for c in direction.columns)
    board = Results(tmp_path).board()
    (setting,) = settings(board.entries)
    assert {e.report.system.name: len(e.report.scores) for e in setting.entries} == dict.fromkeys(
        names, 3
    )
    overview = build_overview(board, "multi_bleu")
    assert (len(overview.columns), len(overview.rows)) == (1, 4)


def test_a_file_that_is_a_reference_is_not_ranked_by_what_it_was_not_compared_with(test_set):
    mine = Outputs("mine", tuple(column(test_set, 1)))
    outputs = [mine, as_outputs("delete-retrieve", test_set)]
    infos = {"mine": SystemInfo(name="mine"), "delete-retrieve": baseline_info("delete-retrieve")}
    found = evaluate(outputs, test_set, scoring(BLEU), infos)
    ranked = {metric: {r.system for r in found.standings.ranking(metric)} for metric in BLEU}
    assert ranked["s_bleu"] == {"mine", "delete-retrieve"}
    assert ranked["r_bleu"] == ranked["multi_bleu"] == {"delete-retrieve"}
    signatures = {s.metric: s.signature for s in found.systems[0].report.scores}
    assert column_of(signatures["r_bleu"]) != signatures["r_bleu"]


@pytest.mark.realdata
def test_of_the_published_outputs_people_s_alone_are_a_reference(sources):
    found = {}
    for output in SYSTEM_OUTPUTS:
        test_set = load_test_set(output.direction)
        texts = tuple(read_output(output, test_set.sources))
        found.setdefault(output.system, set()).add(own_reference(texts, test_set))
    assert found.pop("human") == {1}
    assert all(numbers == {None} for numbers in found.values())
