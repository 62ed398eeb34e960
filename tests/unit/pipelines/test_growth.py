"""Results that grow: what is there is not computed again, and nothing is lost."""

import dataclasses
import json

import pytest
from prepared import DIRECTION, command_line, refusal, success

from tstbench.datasets_scripts.catalog import load_data
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.measure import measure
from tstbench.metrics.registry import METRICS, benchmark_metrics
from tstbench.metrics.scorers.profile import Scorers
from tstbench.metrics.scorers.roles import roles as all_roles
from tstbench.pipelines import evaluate as evaluate_module
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.growth import same_question
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.report import read_report
from tstbench.pipelines.results import Stored, read_stored
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.transfer import predict
from tstbench.spaces.leaderboard.data import Results

BLEU_13A = {"bleu": {"protocol": "13a"}}
CHEAP = ("s_bleu", "r_bleu")
NAMES = ("copy", "random-target", "delete-retrieve", *(f"reference-{i}" for i in range(1, 5)))


pytestmark = pytest.mark.usefixtures("prepared")


@pytest.fixture(scope="module")
def outputs(test_set):
    """Eight systems."""
    some = [Outputs(name, tuple(predict(name, test_set))) for name in NAMES]
    return [*some, Outputs("backwards", tuple(s[::-1] for s in test_set.sources))]


@pytest.fixture
def computed(monkeypatch):
    """What is really measured, as (first prediction, metric)."""
    seen = []

    def counting(metrics, inputs, *rest):
        seen.extend((inputs.predictions[0], metric) for metric in metrics)
        return measure(metrics, inputs, *rest)

    monkeypatch.setattr(evaluate_module, "measure", counting)
    return seen


@pytest.fixture
def no_loading(monkeypatch):
    """Names of the loaders that must not be called; each raises."""

    def forbid(*names):
        load = Scorers.load

        def guarded(scorers, role):
            assert role not in (names or all_roles()), "a scorer is loaded that nothing asked for"
            return load(scorers, role)

        monkeypatch.setattr(Scorers, "load", guarded)

    return forbid


def files(root):
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_ino)
        for path in root.rglob("*")
        if path.is_file() and path.name != "significance.json"
    }


def read(root, name="copy"):
    return read_report(root / DIRECTION / name)


@pytest.mark.slow
def test_one_more_metric_is_one_more_score_for_each_of_eight_systems(
    outputs, test_set, tmp_path, computed, no_loading
):
    most = [metric for metric in benchmark_metrics() if metric != "acc"]
    evaluate(outputs, test_set, scoring(most), root=tmp_path)
    assert len(computed) == 8 * len(most)
    computed.clear()
    no_loading("language_model", "encoder", "acceptability")
    evaluation = evaluate(outputs, test_set, scoring(benchmark_metrics()), root=tmp_path)
    assert computed == [(one.predictions[0], "acc") for one in outputs]
    assert evaluation.summary() == "kept 72 scores, computed 8"
    for one in outputs:
        assert [s.metric for s in read(tmp_path, one.system).scores] == list(benchmark_metrics())


def test_the_order_in_which_results_grew_leaves_no_trace(outputs, test_set, tmp_path):
    for name, steps in (("slowly", [["r_bleu"], ["acc"], ["s_bleu"]]), ("once", [[*CHEAP, "acc"]])):
        for metrics in steps:
            evaluate(outputs[:1], test_set, scoring(metrics), root=tmp_path / name)
    slowly, once = (files(tmp_path / name) for name in ("slowly", "once"))
    assert {n: c for n, (c, _) in slowly.items()} == {n: c for n, (c, _) in once.items()}


def test_with_nothing_to_score_no_scorer_is_loaded_and_nothing_written(
    outputs, test_set, tmp_path, no_loading, capsys
):
    evaluate(outputs[:2], test_set, scoring(benchmark_metrics()), root=tmp_path)
    before = files(tmp_path)
    no_loading()
    evaluation = evaluate(outputs[:2], test_set, scoring(benchmark_metrics()), root=tmp_path)
    assert evaluation.summary() == "kept 20 scores, computed 0"
    out, err = success(
        capsys,
        *("evaluate", "--baseline", "copy", "--direction", DIRECTION, "--out", tmp_path),
        *("--metrics", "acc", "multi_bert"),
    )
    assert "kept 10 scores, computed 0" in err
    assert ("ACC" in out, "multi-BERT" in out, "PPL" in out) == (True, True, False)
    assert set(files(tmp_path)) == set(before)
    kept, now = (one[f"{DIRECTION}/random-target/report.json"] for one in (before, files(tmp_path)))
    assert kept == now


def test_asking_for_less_takes_nothing_away(outputs, test_set, tmp_path, computed):
    evaluate(outputs[-1:], test_set, scoring(CHEAP), root=tmp_path)
    before = files(tmp_path)
    computed.clear()
    evaluation = evaluate(outputs[-1:], test_set, scoring(["s_bleu"]), root=tmp_path)
    assert (computed, files(tmp_path)) == ([], before)
    assert [s.metric for s in evaluation.systems[0].report.scores] == ["s_bleu"]
    assert [s.partition("|")[0] for s in evaluation.standings.ranks] == ["s_bleu"]


def test_each_system_is_written_before_the_next_is_scored(outputs, test_set, tmp_path, monkeypatch):
    def failing(metrics, inputs, *rest):
        if inputs.predictions == outputs[2].predictions:
            raise RuntimeError("out of credit")
        return measure(metrics, inputs, *rest)

    monkeypatch.setattr(evaluate_module, "measure", failing)
    with pytest.raises(RuntimeError, match="out of credit"):
        evaluate(outputs, test_set, scoring(CHEAP), root=tmp_path)
    written = {path.parent.name for path in (tmp_path / DIRECTION).glob("*/report.json")}
    assert written == {o.system for o in outputs[:2]}


def test_changed_predictions_or_sentences_drop_the_old_scores_and_say_so(
    outputs, test_set, tmp_path, capsys
):
    changed = Outputs("copy", ("another one", *outputs[0].predictions[1:]))
    references = tuple(some[:3] for some in test_set.references)
    fewer = dataclasses.replace(test_set, references=references, fingerprint="1" * 64)
    for what, given, there in (
        ("predictions", changed, test_set),
        ("test set", outputs[0], fewer),
    ):
        evaluate(outputs[:1], test_set, scoring((*CHEAP, "acc")), root=tmp_path / what)
        evaluate([given], there, scoring(["s_bleu"]), root=tmp_path / what)
        assert f"copy: the {what} changed: 3 old scores dropped" in capsys.readouterr().err
        assert [s.metric for s in read(tmp_path / what).scores] == ["s_bleu"]
        stored = read_stored(tmp_path / what / DIRECTION / "copy").samples()[0]
        assert stored.prediction == given.predictions[0]


def test_a_newer_version_of_a_metric_replaces_its_stale_score(
    outputs, test_set, tmp_path, monkeypatch, computed, capsys
):
    evaluate(outputs[:1], test_set, scoring(CHEAP), root=tmp_path)
    newer = {**METRICS, "r_bleu": dataclasses.replace(METRICS["r_bleu"], version=2)}
    monkeypatch.setattr("tstbench.metrics.measure.metric_facts", newer.__getitem__)
    computed.clear()
    evaluate(outputs[:1], test_set, scoring(CHEAP), root=tmp_path)
    assert [metric for _, metric in computed] == ["r_bleu"]
    assert "copy: r_bleu r_bleu|v:2|" in (said := capsys.readouterr().err)
    assert "replaces r_bleu|v:1|" in said
    scores = read(tmp_path).scores
    assert [(s.key, s.signature.split("|")[1]) for s in scores] == [
        ("s_bleu", "v:1"),
        ("r_bleu", "v:2"),
    ]


def test_other_options_are_another_question_and_both_scores_stay(outputs, test_set, tmp_path):
    some = [Outputs("ours", outputs[0].predictions), outputs[1]]
    evaluate(some, test_set, scoring(CHEAP), root=tmp_path)
    usual = read(tmp_path, "ours")
    other = evaluate(some, test_set, scoring(CHEAP, settings=BLEU_13A), root=tmp_path)
    report = read(tmp_path, "ours")
    assert [s.metric for s in report.scores] == ["s_bleu", "s_bleu", "r_bleu", "r_bleu"]
    assert report.score("r_bleu") == usual.score("r_bleu")
    first, second = report.scores_of("r_bleu")
    assert (first.key, second.key.partition("@")[0]) == ("r_bleu", "r_bleu")
    assert second.key != "r_bleu"
    # The table and the ranking are of what was asked for.
    assert [s.key for s in other.systems[0].report.scores if s.metric == "r_bleu"] == [second.key]
    assert other.standings.ranking("r_bleu")[0].value == pytest.approx(second.value, abs=1e-6)
    stored = Stored(tmp_path / DIRECTION / "ours", report)
    stored.check_whole()
    assert set(stored.bootstrapped()) == {s.key for s in report.scores}
    assert set(read_stored(stored.folder).samples()[0].scores) == {s.key for s in report.scores}


def test_same_questions():
    assert same_question("acc|v:1|classifier:linear:x#1a|n:4", "acc|v:3|classifier:linear:x#2b|n:4")
    assert not same_question("acc|v:1|classifier:linear:x#1a", "acc|v:1|classifier:probe:x#1a")
    assert not same_question("ppl|v:1|norm:words", "ppl|v:1|norm:words+1")
    assert not same_question("r_bleu|v:1|tok:13a", "s_bleu|v:1|tok:13a")


def test_a_metric_without_meaning_is_not_tried_again(tmp_path, manners, computed):
    manners.write_text(manners.read_text().replace(', references = ["anna.txt", "ben.txt"]', ""))
    load_data(manners)
    bare = load_test_set("manners/rude-to-polite")
    mine = [Outputs("copy", bare.sources)]
    evaluate(mine, bare, scoring(CHEAP), root=tmp_path)
    computed.clear()
    evaluation = evaluate(mine, bare, scoring(CHEAP), root=tmp_path)
    assert computed == []
    assert [o.metric for o in evaluation.systems[0].report.left_out] == ["r_bleu"]
    report = read_report(tmp_path / "manners/rude-to-polite/copy")
    assert [o.metric for o in report.left_out] == ["r_bleu"]


def test_a_folder_is_never_taken_from_another_system_nor_from_a_later_version(tmp_path, capsys):
    arguments = ("--direction", DIRECTION, "--metrics", "s_bleu", "--out", tmp_path / "out")
    assert command_line(capsys, "evaluate", "--baseline", "copy", *arguments)[0] == 0
    sources = tmp_path / "o.txt"
    sources.write_text("\n".join(load_test_set(DIRECTION).sources) + "\n")
    message = refusal(capsys, "evaluate", f"_copy={sources}", *arguments)
    assert "holds the results of 'copy', and '_copy' would be written there" in message
    report = tmp_path / "out" / DIRECTION / "copy" / "report.json"
    later = json.dumps({**json.loads(report.read_text()), "schema_version": 3})
    report.write_text(later)
    message = refusal(capsys, "evaluate", "--baseline", "copy", *arguments)
    assert "its schema_version is 3, the newest known here is 2" in message
    assert report.read_text() == later


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("report.json", b'_version": 2', b'_version": 1', "schema_version: Input should be 2"),
        ("report.json", None, b"{", "report.json"),
        ("report.json", None, None, None),  # as if it had never been scored
        ("samples.jsonl", None, None, "samples.jsonl"),
        ("replicates.parquet", None, None, "replicates.parquet"),
        ("samples.jsonl", b'"id"', b'"Id"', "samples.jsonl is damaged"),
        ("replicates.parquet", b"PAR1", b"PAR2", "replicates.parquet is damaged"),
    ],
)
def test_damaged_results_are_named_and_scored_again(
    outputs, test_set, tmp_path, capsys, name, old, new, expected
):
    evaluate(outputs[:1], test_set, scoring(CHEAP), root=tmp_path)
    before = files(tmp_path)
    file = tmp_path / DIRECTION / "copy" / name
    whole = file.read_bytes()
    file.unlink()
    if new is not None:
        file.write_bytes(whole.replace(old or whole, new))
        assert file.read_bytes() != whole
    (again,) = evaluate(outputs[:1], test_set, scoring(CHEAP), root=tmp_path).systems
    assert again.computed == 2
    said = capsys.readouterr().err
    assert said.count("copy is scored again: ") == (expected is not None)
    assert (expected or "") in said
    if name != "report.json":  # nothing of them is lost
        aside = tmp_path / "damaged" / DIRECTION / "copy-1"
        assert f"damaged results are now in {aside}" in said
        assert [s.metric for s in read_report(aside).scores] == list(CHEAP)
    assert [e.label for e in Results(tmp_path).board().entries] == ["copy"]
    after = {n: c for n, (c, _) in files(tmp_path).items() if not n.startswith("damaged/")}
    assert after == {n: c for n, (c, _) in before.items()}
