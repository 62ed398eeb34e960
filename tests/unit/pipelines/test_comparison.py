"""Two systems head to head, on what the pipeline itself wrote."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from leaderboard_pages import show
from leaderboard_results import BACK, THERE, real_results, report, sample, write, write_whole
from own_data import write_manners
from prepared import command_line, refusal, success
from statsmodels.stats.multitest import multipletests

import tstbench
from tstbench.errors import InputError
from tstbench.metrics.statistics import p_value
from tstbench.pipelines.comparison import (
    compare,
    holm,
    notes_on,
    print_comparison,
    print_pairs,
    sentence_pairs,
)
from tstbench.pipelines.results import read_stored
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.overview import build_overview
from tstbench.spaces.leaderboard.standings import standings
from tstbench.spaces.leaderboard.versus_page import verdict


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("compare") / "results", hostile=False)


@pytest.fixture(scope="module")
def pair(results):
    return tuple(read_stored(results / THERE / name) for name in ("delete-retrieve", "copy"))


@pytest.mark.slow
def test_holm_agrees_with_statsmodels():
    values = [0.01, 0.04, 0.03, 0.005, 1.0, 0.01]
    theirs = multipletests(values, method="holm")[1]
    assert holm(values) == pytest.approx(list(theirs), abs=1e-12)
    assert holm([]) == []


def test_numbers_are_those_of_the_replicates(pair):
    found = compare(*pair)
    assert [one.metric for one in found.metrics] == ["s_bleu", "r_bleu", "multi_bleu"]
    a, b = (stored.bootstrapped()["r_bleu"] for stored in pair)
    one, differences = found.metric("r_bleu"), a.replicates - b.replicates
    assert one.difference == pytest.approx(a.value - b.value, abs=1e-6)
    assert [one.low, one.high] == list(np.percentile(differences, [2.5, 97.5]))
    assert one.p == p_value(a.value - b.value, differences)
    assert one.effect == pytest.approx((a.value - b.value) / differences.std(ddof=1) / 40**0.5)
    assert found.tests == 3
    assert [m.p_holm for m in found.metrics] == holm([m.p for m in found.metrics])
    assert found.metric("s_bleu").winner == 1
    assert replace(found.metric("s_bleu"), metric="length_ratio").winner is None  # no way is better
    (alone,) = compare(*pair, ["r_bleu"]).metrics
    assert alone.p_holm == alone.p == one.p, "only the chosen metrics are tested"


def test_the_other_way_round_is_the_mirror(pair):
    one, other = compare(*pair).metric("r_bleu"), compare(*pair[::-1]).metric("r_bleu")
    assert other.difference == -one.difference
    assert [other.low, other.high] == pytest.approx([-one.high, -one.low])
    assert (other.p, other.effect) == (one.p, pytest.approx(-one.effect))
    assert (other.sentences.won, other.sentences.lost) == (one.sentences.lost, one.sentences.won)


def test_a_system_does_not_differ_from_itself(pair):
    found = compare(pair[0], pair[0])
    assert found.same_outputs
    for one in found.metrics:
        assert (one.difference, one.low, one.high, one.p, one.effect) == (0, 0, 0, 1, 0)
        assert one.winner is None


def test_what_differs_is_that_of_the_nearest_two(pair):
    """Of several ways of computing a metric, those are named that have most in common."""
    first = pair[1].report.scores[0]
    ways = {
        "s_bleu": first.signature.replace("protocol:tstbench", "protocol:13a").replace(
            "case:", "case:un"
        ),
        "r_bleu": first.signature.replace("protocol:tstbench", "protocol:intl"),
    }
    scores = [first.model_copy(update={"key": key, "signature": way}) for key, way in ways.items()]
    scores.append(pair[1].report.scores[2])
    report = pair[1].report.model_copy(update={"scores": tuple(scores)})
    other = replace(pair[1], report=report)
    (found,) = compare(pair[0], other, ["s_bleu"]).not_compared
    assert (found.metric, found.why) == ("s_bleu", "protocol: tstbench, intl")
    assert [one.metric for one in compare(pair[0], other).metrics] == ["multi_bleu"]


def test_a_difference_that_no_draw_changes_has_no_size(tmp_path):
    """Its replicates have no spread to divide it by; that of no difference is 0."""
    one, other = (
        read_stored(
            write_whole(
                tmp_path, report(name, {"acc": value}), [sample(0, "a", name, ("b",), acc=value)]
            )
        )
        for name, value in (("alpha", 60.0), ("beta", 50.0))
    )
    found = compare(one, other).metric("acc")
    assert found.difference != 0
    assert found.low == pytest.approx(found.high)
    assert found.effect is None
    assert compare(one, one).metric("acc").effect == 0
    bare = read_stored(write(tmp_path, report("bare", {"acc": 40.0})))
    assert compare(one, bare).metric("acc").sentences is None  # without its sentences


def test_other_test_sets_are_refused(pair):
    report = pair[1].report
    data = report.data.model_copy(update={"fingerprint": "f" * 64})
    other = replace(pair[1], report=report.model_copy(update={"data": data}))
    with pytest.raises(InputError, match=r"the test sets differ, .*copy on ffffffffffff"):
        compare(pair[0], other)
    back = report.model_copy(update={"direction": "mini/positive-to-negative"})
    with pytest.raises(InputError, match="only systems of one direction"):
        compare(pair[0], replace(pair[1], report=back))


def test_the_command(results, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    asked = ("compare", "delete-retrieve", "copy", results, "--direction", THERE)
    out, _ = success(capsys, *asked, "--worst", "2", "--by", "s_bleu")
    assert command_line(capsys, *asked, "--worst", "2", "--by", "s-BLEU")[1] == out
    assert out.count("source ") == 2
    last = (*asked[:3], "--direction", THERE, results)
    assert command_line(capsys, *last)[1] == command_line(capsys, *asked)[1] != ""
    _, out, _ = command_line(capsys, *asked, "--json", "--worst", "1")
    record = json.loads(out)
    assert record["metrics"][0]["winner"] == 1
    assert len(record["worst"]) == 1


def test_a_direction_is_needed_only_if_several_have_both(results, tmp_path, capsys):
    root = shutil.copytree(results, tmp_path / "results")
    asked = ("compare", "copy", "delete-retrieve", root)
    shutil.rmtree(root / BACK / "copy")
    assert json.loads(success(capsys, *asked, "--json")[0])["direction"] == THERE
    shutil.rmtree(root / THERE / "delete-retrieve")
    said = refusal(capsys, *asked)
    assert said == f"no direction in {root} has both 'copy' and 'delete-retrieve'"


def test_the_worst_sentences_are_those_that_are_lost_by_the_last_metric_of_content(results, capsys):
    asked = ("compare", "copy", "delete-retrieve", results, "--direction", THERE, "--json")
    usual, multi, other = (
        success(capsys, *asked, "--worst", "1000", *by)[0]
        for by in ((), ("--by", "multi_bleu"), ("--by", "s_bleu"))
    )
    assert usual == multi != other
    record = json.loads(usual)
    (metric,) = (one for one in record["metrics"] if one["metric"] == "multi_bleu")
    assert len(record["worst"]) == metric["sentences"]["lost"] > 0
    assert metric["sentences"]["tied"] > 0


def test_all_that_is_printed(tmp_path, capsys, monkeypatch, snapshot):
    """In two blocks: won, lost and tied, neither way better, had by one alone; on record."""
    monkeypatch.setenv("COLUMNS", "80")
    values = {
        "alpha": {
            "acc": 60.0,
            "ppl": 40.0,
            "length_ratio": 0.9,
            "joint_calibrated": 0.4,
            "joint": 0.4,
        },
        "beta": {
            "acc": 50.0,
            "ppl": 35.0,
            "length_ratio": 1.1,
            "joint_calibrated": 0.4,
            "s_bleu": 3.0,
        },
    }
    single = {"alpha": ((100, 7), (100, 8), (0, 9)), "beta": ((0, 7), (100, 6), (50, 9.5))}
    stored = []
    for name, whole in values.items():
        samples = [
            sample(n, f"source {n}", f"{name} {n}", ("r", "s"), acc=acc, ppl=ppl, length_ratio=1.0)
            for n, (acc, ppl) in enumerate(single[name])
        ]
        made = report(name, whole).model_copy(update={"warnings": (f"{name} is odd",)})
        backwards = name == "beta"  # so that the replicates of a difference have some spread
        stored.append(read_stored(write_whole(tmp_path, made, samples, backwards=backwards)))
    found = compare(*stored)
    print_comparison(found)
    for metric in ("acc", "ppl"):
        print_pairs(found.metric(metric), sentence_pairs(*stored, found.metric(metric))[:1])
    print_pairs(found.metric("acc"), ())
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out == snapshot


def test_of_two_sentences_nothing_is_better_and_it_is_said_why(tmp_path):
    """They had p = 0.001, intervals of a point, and ranks 1 and 2."""
    tstbench.load_data(write_manners(tmp_path))
    root, why = tmp_path / "results", "too few sentences for intervals and tests: 2; 20 are needed"
    texts = {"kept": ["Bring me the bill.", "Move ."], "other": ["The bill.", "Please move now."]}
    found = tstbench.evaluate(
        texts, "manners/rude-to-polite", metrics=["s_bleu", "length_ratio"], out=root
    )
    assert [(r.system, r.low, r.high) for r in found.rank("s_bleu")] == [
        ("kept", 1, 2), ("other", 1, 2),
    ]  # fmt: skip
    assert not any(cell.bold or cell.interval for row in found.table.rows for cell in row.cells)
    assert why in str(found)
    assert "*" not in str(found)
    first, second = (read_stored(root / "manners/rude-to-polite" / name) for name in texts)
    assert first.report.score("s_bleu").interval is None
    compared = compare(first, second)
    for one in compared.metrics:
        assert (one.low, one.high, one.p, one.p_holm, one.effect, one.winner) == (None,) * 6
    assert compared.metric("s_bleu").sentences.won == 2
    assert notes_on(compared)[0] == f"{why}."
    assert verdict(compared, ("kept", "other")) == f"No metric could be tested: {why}."
    assert why in show(root).html
    board = Results(root).board()
    overview = standings(build_overview(board, "s_bleu"))
    assert {name: (p.ranks, p.best) for name, p in overview.places[0].items()} == {
        "kept": ((1, 2), False), "other": ((1, 2), False),
    }  # fmt: skip
    assert overview.mean_ranks == {}
