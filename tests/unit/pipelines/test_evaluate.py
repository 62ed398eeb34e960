"""The evaluation: its files, its numbers by another way, its ranking."""

import dataclasses
import json
import math
import re
import sys
from pathlib import Path

import kenlm
import numpy as np
import pyarrow.parquet as pq
import pytest
from leaderboard_pages import ranking_of, show
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import corpus_bleu
from places import ROOT
from prepared import DIRECTION, prepared_home

from tstbench.metrics.registry import METRICS, benchmark_metrics
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.ranked_table import direction_table
from tstbench.pipelines.report import Report, read_report
from tstbench.pipelines.results import read_stored, read_whole
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.standings import Standings
from tstbench.pipelines.transfer import predict
from tstbench.spaces.leaderboard.places import computed_places

EMBEDDED = PROFILES["embedded"]
SYSTEMS = ("copy", "random-target", "reference-1", "delete-retrieve")
CHEAP = ("s_bleu", "r_bleu", "multi_bleu")


@pytest.fixture(scope="module")
def outputs(test_set):
    return [Outputs(name, tuple(predict(name, test_set))) for name in SYSTEMS]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def evaluation(outputs, test_set, root, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
        return evaluate(outputs, test_set, scoring(), root=root)


@pytest.fixture(scope="module")
def written(evaluation, root):
    return root / DIRECTION


def of(evaluation, name):
    return next(system for system in evaluation.systems if system.info.name == name)


def value(evaluation, system, metric):
    return of(evaluation, system).results.report.score(metric).value


# -- files -----------------------------------------------------------------------------------------


def test_every_report_says_all_of_it(written, test_set, evaluation):
    for name in SYSTEMS:
        report = read_report(written / name)
        assert report == of(evaluation, name).results.report
        assert [score.metric for score in report.scores] == [
            *benchmark_metrics(),
            "joint_calibrated",
        ]
        assert report.left_out == ()
        assert (report.direction, report.profile, report.system.name) == (
            DIRECTION,
            "embedded",
            name,
        )
        assert report.data.fingerprint == test_set.fingerprint
        assert (report.data.sentences, report.data.references_min) == (40, 4)
        for score in report.scores:
            facts = METRICS[score.metric]
            assert (score.unit, score.higher_is_better) == (facts.unit, facts.higher_is_better)
            assert score.signature.startswith(f"{score.metric}|")
            assert score.signature.endswith(f"|data:{test_set.fingerprint[:12]}")


def test_a_scorer_in_a_signature_is_the_one_in_the_cache(written, prepared):
    report = read_report(written / "copy")
    artefact = find("classifier", "mini", "linear")
    assert f"|classifier:linear:mini#{artefact.hash[:12]}|" in report.score("acc").signature
    assert f"|classifier:linear:mini#{artefact.hash[:12]}|" in report.score("joint").signature


def test_the_board_ranks_by_what_agrees_with_people_and_by_joint_at_one_click(written):
    root = written.parents[1]
    ranking = ranking_of(root, DIRECTION)
    assert [column.key for column in ranking.columns[:2]] == ["joint_calibrated", "joint"]
    assert "joint_calibrated" in computed_places([row.entry for row in ranking.rows])
    html = str(show(root, direction=DIRECTION).html)
    assert re.findall(r'data-action="rank" value="(\w+)"', html) == ["joint_calibrated", "joint"]


def test_the_first_table_ranks_as_the_board_does(evaluation):
    table = direction_table(evaluation.standings)
    assert table.titles[0].startswith("Calibrated Joint"), "beside the rank"
    assert table.titles[1].startswith("ACC"), "the others as asked for"


def test_samples_are_aligned_with_the_test_set(written, test_set, outputs, evaluation):
    for name, asked in zip(SYSTEMS, outputs, strict=True):
        samples = read_stored(written / name).samples()
        assert [s.id for s in samples] == list(test_set.ids)
        assert [s.source for s in samples] == list(test_set.sources)
        assert [s.references for s in samples] == list(test_set.references)
        assert [s.prediction for s in samples] == list(asked.predictions)
        scored = {metric for s in samples for metric in s.scores}
        assert scored == {*benchmark_metrics(), "joint_calibrated"} - {"joint"}
        for metric in ("acc", "cola", "s_bert", "r_bert", "multi_bert"):  # means of sentences
            mean = np.mean([s.scores[metric] for s in samples])
            assert mean == pytest.approx(value(evaluation, name, metric), abs=2e-6)


def test_files_hold_no_time_no_path_and_no_nan(written, tmp_path_factory):
    text = "".join(p.read_text() for p in written.rglob("*.json*"))
    here = ROOT
    places = (tmp_path_factory.getbasetemp(), Path.home(), sys.prefix, here)
    for forbidden in ("NaN", "Infinity", *map(str, places)):
        assert forbidden not in text


# -- numbers, by another way -----------------------------------------------------------------------


def tokens(text):
    return NLTKWordTokenizer().tokenize(" ".join(text.lower().split()))


@pytest.mark.filterwarnings("ignore:\\s*The hypothesis contains 0 counts:UserWarning")
@pytest.mark.parametrize("name", SYSTEMS)
def test_bleu_is_that_of_nltk(name, evaluation, test_set, outputs):
    predictions = [tokens(t) for t in outputs[SYSTEMS.index(name)].predictions]
    own = 1 if name == "reference-1" else 0  # which is not compared with itself
    references = [[tokens(r) for r in some[own:]] for some in test_set.references]
    against = {
        "s_bleu": [[tokens(s)] for s in test_set.sources],
        "r_bleu": [some[:1] for some in references],
        "multi_bleu": references,
    }
    for metric, wanted in against.items():
        expected = 100 * corpus_bleu(wanted, predictions)
        assert value(evaluation, name, metric) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", SYSTEMS)
def test_perplexity_is_that_of_the_model_file_and_joint_the_cube_root(
    name, evaluation, outputs, prepared
):
    path = find("language_model", "mini", "kn5-positive").folder / "model.arpa"
    model = kenlm.Model(str(path))
    log10, count = 0.0, 0
    for text in outputs[SYSTEMS.index(name)].predictions:
        prepared_text = " ".join(NLTKWordTokenizer().tokenize(text.lower()))
        log10 += sum(score for score, _, _ in model.full_scores(prepared_text))
        count += len(prepared_text.split())
    acc, bleu, ppl = (value(evaluation, name, m) for m in ("acc", "multi_bleu", "ppl"))
    assert ppl == pytest.approx(10 ** (-log10 / count), rel=1e-6)
    expected = (acc / 100 * bleu / 100 / math.log(ppl)) ** (1 / 3)
    assert value(evaluation, name, "joint") == pytest.approx(expected, abs=1e-6)


def test_acceptability_is_the_share_of_distributions_that_lean_to_it(
    evaluation, outputs, prepared, test_set
):
    classifier = Scorers(EMBEDDED, test_set.direction).load("acceptability")
    wanted, shares = classifier.styles.index("acceptable"), set()
    for one in outputs:
        likely = [classifier.distribution([text])[0, wanted] > 0.5 for text in one.predictions]
        shares.add(100 * sum(likely) / len(likely))
        assert value(evaluation, one.system, "cola") == pytest.approx(100 * np.mean(likely))
    assert len(shares) > 1, "no system differs: any column would do"
    assert 50 not in shares, "the other column would give the same"


# -- intervals, p-values, ranks --------------------------------------------------------------------


def test_intervals_are_percentiles_of_the_replicates_and_hold_the_value(written, evaluation):
    for name in SYSTEMS:
        table = pq.read_table(written / name / "replicates.parquet")
        for score in read_report(written / name).scores:
            stored, *replicates = table[score.metric].to_pylist()
            low, high = np.percentile(replicates, [2.5, 97.5])
            assert score.interval.low == pytest.approx(low, abs=1e-6)
            assert score.interval.high == pytest.approx(high, abs=1e-6)
            assert len(replicates) == score.interval.resamples == 1000
            assert score.value == pytest.approx(stored, abs=1e-6)
            assert score.interval.low <= score.value <= score.interval.high


def test_replicates_draw_the_same_sentences_for_every_system(written, evaluation, test_set):
    """ACC of a replicate, from the sentences that NumPy's documented generator draws."""
    draws = np.random.RandomState(12345).randint(0, 40, size=(1000, 40))
    for name in SYSTEMS:
        hits = np.array([s.scores["acc"] for s in read_stored(written / name).samples()])
        expected = hits[draws].mean(axis=1)
        stored = pq.read_table(written / name / "replicates.parquet")["acc"].to_numpy()[1:]
        assert stored == pytest.approx(expected)


def test_stored_replicates_give_the_p_values_of_the_table(written, evaluation):
    significance = json.loads((written / "significance.json").read_text())
    tables = {name: pq.read_table(written / name / "replicates.parquet") for name in SYSTEMS}
    reports = {name: read_report(written / name) for name in SYSTEMS}
    signatures = {score.metric: score.signature for score in reports["copy"].scores}
    assert set(significance) == set(signatures.values())
    for metric in signatures:
        ranks = evaluation.standings.ranking(metric)
        record = significance[signatures[metric]]
        best = ranks[0].system
        one = tables[best][metric].to_numpy()
        for place in ranks:
            other = tables[place.system][metric].to_numpy()
            exact = of(evaluation, place.system).bootstrapped()[metric]
            assert other.tolist() == [exact.value, *exact.replicates]  # to the last digit
            observed, differences = one[0] - other[0], one[1:] - other[1:]
            extreme = np.abs(differences - observed) >= abs(observed) - 1e-12
            expected = (1 + extreme.sum()) / (1 + len(differences))
            assert place.p_best == expected
            assert record["p_best"][place.system] == expected
            assert record["ranks"][place.system] == [place.low, place.high]


# -- what may be missing, and what changes a recipe ------------------------------------------------


def test_without_references_metrics_that_need_them_are_left_out(test_set, outputs, prepared):
    bare = dataclasses.replace(test_set, references=((),) * 40)
    evaluation = evaluate(outputs[:1], bare, scoring(("acc", *CHEAP, "r_bert", "joint")))
    report = evaluation.systems[0].results.report
    assert [score.metric for score in report.scores] == ["acc", "s_bleu"]
    assert {o.metric: o.why for o in report.left_out} == dict.fromkeys(
        ("r_bleu", "multi_bleu", "r_bert", "joint"), "no sentence has a reference"
    )
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_a_table_without_a_value_is_still_a_table(test_set, outputs, tmp_path):
    bare = dataclasses.replace(test_set, references=((),) * 40)
    evaluation = evaluate(outputs[:1], bare, scoring(("r_bleu", "multi_bleu")), root=tmp_path)
    reports = [system.results.report for system in evaluation.systems]
    table = direction_table(Standings(tuple(reports), {}))
    assert table.order == "No metric has a value here."
    assert [row.system for row in table.bounds] == ["copy"]
    whole = read_whole(tmp_path / DIRECTION / "copy")
    assert (whole.report.scores, whole.bootstrapped()) == ((), {})
    assert json.loads((tmp_path / DIRECTION / "significance.json").read_text()) == {}


def test_ragged_references_count_where_they_are(test_set, outputs):
    ragged = tuple(some[: i % 5] for i, some in enumerate(test_set.references))
    evaluation = evaluate(
        outputs[:1], dataclasses.replace(test_set, references=ragged), scoring(CHEAP)
    )
    report = evaluation.systems[0].results.report
    assert (report.data.references_min, report.data.references_max) == (0, 4)
    assert "|refs:0-4|" in report.score("multi_bleu").signature
    kept = [i for i, some in enumerate(ragged) if some]
    expected = corpus_bleu(
        [[tokens(r) for r in ragged[i]] for i in kept], [tokens(test_set.sources[i]) for i in kept]
    )
    assert report.score("multi_bleu").value == pytest.approx(100 * expected, abs=1e-6)
    scores = [sample.scores["multi_bleu"] for sample in evaluation.systems[0].results.samples()]
    assert [i for i, score in enumerate(scores) if score is None] == list(range(0, 40, 5))


def test_whatever_moves_a_score_moves_its_recipe_and_nothing_else_does(test_set, outputs, prepared):
    def recipes(one=outputs[0], data=test_set, metrics=("r_bleu", "ppl"), settings=None):
        evaluation = evaluate([one], data, scoring(metrics, settings=settings))
        return {s.metric: s.recipe for s in evaluation.systems[0].results.report.scores}

    usual = recipes()
    assert recipes(Outputs("renamed", outputs[0].predictions)) == usual
    assert recipes(metrics=("ppl", "s_bleu"))["ppl"] == usual["ppl"]
    changed = recipes(Outputs("copy", ("another", *outputs[0].predictions[1:])))
    other_data = recipes(data=dataclasses.replace(test_set, fingerprint="0" * 64))
    for other in (changed, other_data):
        assert all(other[metric] != usual[metric] for metric in usual)
    norm = recipes(settings={"ppl": {"norm": "words+1"}})
    bleu = recipes(settings={"bleu": {"protocol": "13a"}})
    assert (norm["ppl"] != usual["ppl"], norm["r_bleu"] == usual["r_bleu"]) == (True, True)
    assert (bleu["ppl"] == usual["ppl"], bleu["r_bleu"] != usual["r_bleu"]) == (True, True)
