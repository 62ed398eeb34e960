"""Several seeds of one system: trained together, and one system in every table."""

import hashlib
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from leaderboard_pages import Page, show
from prepared import BACK, DIRECTION, command_line, success

from tstbench.pipelines.analysis.data import read_run
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.predictions import read_card
from tstbench.pipelines.ranking import Bootstrapped
from tstbench.pipelines.report import (
    Report,
    SeedRun,
    SystemInfo,
    further_key,
    read_report,
    score_recipe,
)
from tstbench.pipelines.results import read_direction
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.seeds import MeanOfRuns, pooled
from tstbench.pipelines.standings import read_standings
from tstbench.trainers.card import SystemCard
from tstbench.trainers.system import SYSTEM_STORE

METRICS = ("s_bleu", "r_bleu")
RECIPE, OTHER = "a" * 64, "b" * 64


def run_of(system, seed, recipe=RECIPE):
    return SystemInfo(
        name=f"{system}-seed{seed}", seed_run=SeedRun(system=system, recipe=recipe, seed=seed)
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("seeds") / "results"


@pytest.fixture(scope="module", autouse=True)
def evaluation(test_set, results):
    """Three runs that drop another share of words each, and a lone system that drops more."""

    def dropping(every):
        return tuple(
            " ".join(w for i, w in enumerate(s.split()) if i % every) for s in test_set.sources
        )

    outputs = [Outputs(f"ours-seed{n}", dropping(n + 4)) for n in range(3)]
    outputs += [Outputs("lone", dropping(3)), Outputs("copy", test_set.sources)]
    infos = {f"ours-seed{n}": run_of("ours", n) for n in range(3)}
    return evaluate(outputs, test_set, scoring(METRICS), infos, results)


def test_a_mean_its_deviation_and_its_interval_are_those_computed_by_hand(results):
    stored = read_direction(results / DIRECTION)
    runs = {s.report.system.name: s for s in stored if s.report.system.seed_run}
    [mean] = [one for one in pooled(stored) if isinstance(one, MeanOfRuns)]
    assert (mean.name, mean.seeds) == ("ours", (0, 1, 2))
    for metric in METRICS:
        score = mean.report.score(metric)
        values = [runs[f"ours-seed{n}"].report.score(metric).value for n in range(3)]
        assert score.value == pytest.approx(sum(values) / 3)
        squares = sum((v - sum(values) / 3) ** 2 for v in values)
        assert score.spread.deviation == pytest.approx((squares / 2) ** 0.5)
        draws = sum(one.bootstrapped()[metric].replicates for one in runs.values()) / 3
        bounds = (score.interval.low, score.interval.high)
        assert bounds == pytest.approx(tuple(np.percentile(draws, [2.5, 97.5])))
        assert mean.bootstrapped()[metric].value == pytest.approx(score.value)


def test_the_mean_of_runs_that_do_not_all_have_the_same_scores(results):
    """One lacks a value, one has a score under another signature, and no replicates of it."""
    stored = [s for s in read_direction(results / DIRECTION) if s.report.system.seed_run]
    other = "r_bleu|made|otherwise"
    changes = [
        {"made_with": "x 1|y 1"}, {"made_with": "y 1|z 1"}, {"signature": other},
    ]  # fmt: skip
    warnings = [("one", "two"), ("two", "three"), ()]
    runs = []
    for n, (one, change, said) in enumerate(zip(stored, changes, warnings, strict=True)):
        own, reference = one.report.scores
        own = own.model_copy(update={"value": None} if n == 1 else {})
        update = {
            "system": one.report.system.model_copy(update={"system_hash": f"{n}" * 64}),
            "scores": (own, reference.model_copy(update=change)), "warnings": said,
            "left_out": (n,),
        }  # fmt: skip
        draws = dict(one.bootstrapped())
        if n == 2:
            del draws["r_bleu"]
        report = one.report.model_copy(update=update)
        runs.append(SimpleNamespace(report=report, bootstrapped=lambda draws=draws: draws))
    report = MeanOfRuns(tuple(runs), "ours").report
    assert report.system == SystemInfo(name="ours")
    assert (report.warnings, report.left_out) == (("one", "two", "three"), (0,))
    outputs = "".join(one.report.outputs_sha256 for one in stored)
    assert report.outputs_sha256 == hashlib.sha256(outputs.encode()).hexdigest()
    by_key = {score.key: score for score in report.scores}
    lacking, two, lone = by_key.values()
    assert list(by_key) == ["s_bleu", "r_bleu", further_key("r_bleu", other)]
    assert (lacking.value, lacking.interval, lacking.spread.seeds) == (None, None, (0, 2))
    values = [one.report.score("r_bleu").value for one in stored]
    assert (two.spread.seeds, two.spread.values) == ((0, 1), tuple(values[:2]))
    assert two.value == pytest.approx(sum(values[:2]) / 2)
    assert two.spread.deviation == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert two.interval.low < two.value < two.interval.high
    assert (lone.value, lone.interval, lone.spread.deviation) == (values[2], None, None)
    assert two.made_with == "x 1|y 1|z 1"
    data = report.data.fingerprint
    assert two.recipe == score_recipe(report.outputs_sha256, data, two.signature)
    bare = SimpleNamespace(report=runs[0].report, bootstrapped=dict)
    assert MeanOfRuns((bare, *runs[1:]), "ours").bootstrapped() == {}, "not of some runs alone"
    undefined = {"r_bleu": Bootstrapped(1.0, np.full(9, np.nan))}
    odd = [SimpleNamespace(report=r.report, bootstrapped=lambda: undefined) for r in runs]
    assert [s.interval for s in MeanOfRuns(tuple(odd), "ours").report.scores] == [None] * 3


def test_ranks_count_the_system_once(evaluation, results, capsys):
    assert {r.system.name for r in evaluation.standings.reports} == {"ours", "lone", "copy"}
    for metric in METRICS:
        assert [(r.system, r.low, r.high) for r in evaluation.standings.ranking(metric)] == [
            ("ours", 1, 1),
            ("lone", 2, 2),
        ]
    content = json.loads((results / DIRECTION / "significance.json").read_text())
    assert [set(one["ranks"]) for one in content.values()] == [{"ours", "lone"}] * len(METRICS)
    [standings] = read_standings(results, each_seed=True)
    ranks = next(iter(standings.ranks.values()))
    assert len(ranks) == 4, "each seed: one by one, if asked for"
    for asked in (["ours-seed1", "lone"], ["lone", "ours"]):
        [some] = read_standings(results, systems=asked)
        assert {r.system.name for r in some.reports} == {*asked}
    shown, _ = success(capsys, "report", results, "--each-seed", "--format", "markdown")
    assert ("±" in shown, shown.count("ours-seed")) == (False, 3)


def test_an_analysis_ranks_the_mean_and_finds_runs_by_their_systems_name(results):
    (whole,) = read_run(results)
    assert [r.system for r in whole.standings.ranks[whole.columns[0].signature]] == ["ours", "lone"]
    assert {r.system.name for r in whole.runs} > {"ours-seed0", "lone", "copy"}
    (some,) = read_run(results, systems=["ours"])
    assert [r.system.name for r in some.runs] == [f"ours-seed{n}" for n in range(3)]
    assert [r.system.name for r in some.reports] == ["ours"]
    (one,) = read_run(results, systems=["ours-seed2"])
    assert [r.system.name for r in one.reports] == ["ours-seed2"]


def test_two_systems_are_compared_by_their_means(results, capsys):
    shown, _ = success(capsys, "compare", "ours", "lone", results, "--json")
    found = json.loads(shown)
    assert found["seeds"] == [[0, 1, 2], []]
    assert found["metrics"][0]["winner"] == 0
    shown, _ = success(capsys, "compare", "ours", "ours-seed2", results)
    assert "A is the mean of 3 runs, with the seeds 0, 1, 2" in " ".join(shown.split())


def test_what_is_no_run_of_the_same_system_stays_apart(results, test_set):
    stored = read_direction(results / DIRECTION)

    def named(one, info, outputs=None):
        update = {"system": info, "outputs_sha256": outputs or one.report.outputs_sha256}
        return replace(one, report=one.report.model_copy(update=update))

    one, other = stored[0], stored[1]
    names = [r.report.system.name for r in pooled([named(one, run_of("x", 0)), other])]
    assert "x-seed0" in names, "a lone run keeps its name"
    apart = [named(one, run_of("x", 0)), named(other, run_of("x", 1, OTHER))]
    assert len(pooled(apart)) == 2, "another recipe is another system"
    same = run_of("x", 0).model_copy(update={"name": "x"})
    twice = [named(one, run_of("x", 0)), named(one, same), named(other, run_of("x", 1))]
    [mean] = pooled(twice)
    assert mean.seeds == (0, 1), "the same seed and outputs under two names count once"
    assert mean.name == "x"
    both = [
        named(s, run_of("x", n, r)) for r in (RECIPE, OTHER) for n, s in enumerate((one, other))
    ]
    assert [r.name for r in pooled(both)] == ["x", "x #bbbbbb"]
    [mean] = pooled([named(one, run_of("x", 0)), named(other, run_of("x", 1))])
    assert (mean.report.samples_sha256, mean.report.replicates_sha256) == (None, None)
    assert mean.report.outputs_sha256 not in {s.report.outputs_sha256 for s in stored}
    data = other.report.data.model_copy(update={"fingerprint": "d" * 64})
    elsewhere = replace(other, report=other.report.model_copy(update={"data": data}))
    there = [named(one, run_of("x", 0)), named(elsewhere, run_of("x", 1))]
    assert len(pooled(there)) == 2, "runs on another test set are no runs to take the mean with"
    taken = [*apart, named(one, SystemInfo(name="x")), named(other, run_of("x", 2), "c" * 64)]
    assert [r.report.system.name for r in pooled(taken)] == ["x #aaaaaa", "x-seed1", "x"]


def test_a_report_without_seeds_has_the_bytes_it_always_had(results):
    text = (results / DIRECTION / "copy" / "report.json").read_text()
    assert "seed_run" not in text
    assert "post_processing" not in text
    report = read_report(results / DIRECTION / "ours-seed1")
    assert report.system.seed_run == SeedRun(system="ours", recipe=RECIPE, seed=1)
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_the_seed_and_the_name_alone_may_differ():
    card = SystemCard(name="a-seed3", kind="k", family="fpft", settings={"seed": 3, "layers": 2})
    other = replace(card, name="b", settings={"seed": 4, "layers": 2})
    assert (card.seed, card.seedless_name) == (3, "a")
    assert card.seedless_recipe == other.seedless_recipe
    assert card.recipe != other.recipe
    deeper = replace(card, settings={"seed": 3, "layers": 3})
    assert card.seedless_recipe != deeper.seedless_recipe
    assert SystemCard(name="k", kind="k", family="rule").seed is None


def test_a_run_has_a_page_where_it_is_ranked_among_runs(results):
    page = Page(show(results, view="system", system="ours-seed1").html)
    assert "ours, seed 1" in page.text
    assert "of 4" in page.text


@pytest.mark.slow
def test_from_training_to_the_table(tmp_path, capsys):
    train = ("train", "stytrans", "--dataset", "mini", "--preset", "tiny", "--device", "cpu")
    short = ("--warm-up", "60", "--rounds", "1", "--seeds", "2", "--seed", "5")
    shown, _ = success(capsys, *train, *short, "--out", tmp_path / "m")
    assert sorted(f.name for f in (tmp_path / "m").glob("[!.]*")) == [
        "stytrans-seed5",
        "stytrans-seed6",
    ]
    files = []
    for seed in (5, 6):
        files.append(tmp_path / f"stytrans-seed{seed}.jsonl")
        model = tmp_path / "m" / f"stytrans-seed{seed}"
        asked = ("transfer", model, "--direction", BACK, "--device", "cpu", "--out", files[-1])
        success(capsys, *asked)
    runs = [read_card(file).about.seed_run for file in files]
    assert [run.seed for run in runs] == [5, 6]
    assert {run.system for run in runs} == {"stytrans"}
    assert len({run.recipe for run in runs}) == 1
    score = ("--direction", BACK, "--metrics", "s_bleu")
    shown, _ = success(capsys, "evaluate", *files, *score)
    assert re.search(r"stytrans§? +\d+\.\d ±\d+\.\d", shown)
    assert "stytrans n = 2 (5, 6)" in " ".join(shown.split())
    # The same model asked in another way is no run of the same system.
    other = tmp_path / "other.jsonl"
    asked = ("transfer", tmp_path / "m" / "stytrans-seed6", "--direction", BACK, "--device", "cpu")
    assert command_line(capsys, *asked, "--out", other, "--postprocess", "truncate")[0] == 0
    assert read_card(other).about.seed_run.recipe != runs[1].recipe


SUITE = """
out = "results"
metrics = ["s_bleu"]
[[system]]
system = "stytrans"
info = {{ name = "ours" }}
preset = "tiny"
settings = {{ warm_up = 60, rounds = 1 }}
seeds = {seeds}
directions = ["mini/negative-to-positive", "mini/positive-to-negative"]
"""


@pytest.mark.slow
def test_a_suite_trains_each_seed_once_for_both_directions(tmp_path, capsys):
    suite = tmp_path / "suite.toml"
    suite.write_text(SUITE.format(seeds=2))
    shown, err = success(capsys, "run", suite)
    assert err.count("training stytrans-seed") == 2
    settings = [model.card.settings for model in SYSTEM_STORE.models()]
    assert {(some["rounds"], some["layers"]) for some in settings} == {(1, 1)}
    assert shown.count("ours n = 2 (0, 1)") == 2
    _, err = success(capsys, "run", suite, "--system", "ours")
    assert "computed 0" in err
    assert "training" not in err
    names = {p.name for p in (tmp_path / "results" / BACK).iterdir() if p.is_dir()}
    assert names == {"ours-seed0", "ours-seed1"}
