"""The data of an analysis, against scipy, scikit-learn, transformers, and small cases by hand."""

from dataclasses import replace

import numpy as np
import pytest
from analysis_results import (
    SENTENCES,
    SYSTEMS,
    corpus_values,
    handmade,
    judgment,
    sentence_values,
)
from leaderboard_results import BACK, THERE, report, sample, signature, write
from scipy import stats
from tiny_models import make_bert, make_distilbert

import tstbench
from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.judgments.schema import Judgment
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, UnknownNameError
from tstbench.metrics.scorers.linear import LinearModel
from tstbench.metrics.scorers.prepare import prepare
from tstbench.metrics.scorers.profile import PROFILES
from tstbench.metrics.statistics import resample
from tstbench.pipelines.analysis import correlation
from tstbench.pipelines.analysis.data import human_aspects, human_means, read_run
from tstbench.pipelines.analysis.sentences import (
    by_setting,
    by_system,
    metric_cases,
    places_of,
    reference_cases,
    settings,
    system_cases,
    text_statistics,
)
from tstbench.pipelines.analysis.style_space import (
    fewer_dimensions,
    separation,
    style_maps,
    style_space,
)
from tstbench.pipelines.analysis.summary import WIDTH, summary
from tstbench.pipelines.analysis.trade_off import (
    axis_named,
    axis_of,
    named_axes,
    pareto_front,
    parse_joined,
    trade_off,
)
from tstbench.pipelines.ranked_table import direction_table
from tstbench.pipelines.standings import Column
from tstbench.pipelines.tables import DataTable, csv_text, to_latex, to_markdown

YELP = ("negative-to-positive", "positive-to-negative")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    (one,) = read_run(handmade(tmp_path_factory.mktemp("analysis") / "results"))
    return one


def cell(matrix, one, other):
    return matrix.cells[matrix.titles.index(one)][matrix.titles.index(other)]


# -- correlations ----------------------------------------------------------------------------------


def test_over_systems_as_scipy_has_it(results):
    usual = correlation.over_systems(results, ())
    raw = correlation.over_systems(results, (), raw_ppl=True)  # as the TSTBench paper's heat maps
    assert usual.titles == ("ACC", "s-BLEU", "multi-BLEU", "ln PPL", "Joint")
    values = [corpus_values(seed) for seed in range(len(SYSTEMS))]  # without the bound
    for matrix, one, other, a, b in (
        (usual, "ACC", "Joint", "acc", "joint"),
        (usual, "s-BLEU", "multi-BLEU", "s_bleu", "multi_bleu"),
        (usual, "ln PPL", "Joint", "ppl", "joint"),
        (raw, "PPL", "Joint", "ppl", "joint"),
    ):
        x, y = (np.array([v[name] for v in values]) for name in (a, b))
        expected = stats.pearsonr(np.log(x) if one == "ln PPL" else x, y)
        found = cell(matrix, one, other)
        assert found.value == pytest.approx(expected.statistic, abs=1e-12)
        assert (found.low, found.high) == pytest.approx(
            tuple(expected.confidence_interval(0.95)), abs=1e-9
        )
        assert found.points == len(SYSTEMS)
        assert cell(matrix, other, one) == found


def pooled_values(one, other):
    pairs = [(sentence_values(s)[one], sentence_values(s)[other]) for s in range(len(SYSTEMS))]
    x, y = (np.array(v) for v in zip(*pairs, strict=True))
    x, y = (np.log(v) if n == "ppl" else v for n, v in ((one, x), (other, y)))
    return x, y


@pytest.mark.parametrize(("one", "other"), [("multi_bleu", "s_bleu"), ("multi_bleu", "ppl")])
def test_over_sentences_as_scipy_has_it(results, one, other):
    titles = {"multi_bleu": "multi-BLEU", "s_bleu": "s-BLEU", "ppl": "ln PPL"}
    matrix = correlation.over_sentences(results, ())
    assert "Joint" not in matrix.titles, "which has no sentences"
    found = cell(matrix, titles[one], titles[other])
    x, y = pooled_values(one, other)
    there = np.isfinite(x) & np.isfinite(y)
    assert found.points == there.sum() == len(SYSTEMS) * (SENTENCES - 6)
    assert found.value == pytest.approx(stats.pearsonr(x[there], y[there]).statistic, abs=1e-12)
    # The bootstrap, done slowly: whole sentences are drawn, with the outputs of all systems.
    slow = []
    for counts in resample(SENTENCES)[:1000]:
        drawn = np.repeat(np.arange(SENTENCES), counts.astype(int))
        u, v = x[:, drawn].ravel(), y[:, drawn].ravel()
        some = np.isfinite(u) & np.isfinite(v)
        slow.append(np.corrcoef(u[some], v[some])[0, 1])
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(slow, [2.5, 97.5])))


def test_over_directions_only_places_within_one_are_compared(tmp_path):
    handmade(tmp_path, metrics=("acc", "joint"))
    handmade(tmp_path, BACK, metrics=("acc", "joint"), shift=50)
    directions = read_run(tmp_path)
    matrix = correlation.over_directions(directions, ((), ()))
    columns = []
    for shift in (0, 50):
        values = [corpus_values(seed + shift) for seed in range(len(SYSTEMS))]
        columns.append([stats.zscore([v[m] for v in values], ddof=1) for m in ("acc", "joint")])
    x, y = (np.concatenate([c[n] for c in columns]) for n in (0, 1))
    r = stats.pearsonr(x, y).statistic
    found = cell(matrix, "ACC", "Joint")
    assert found.value == pytest.approx(r, abs=1e-12)
    # A partial correlation given one indicator: n - 3 - 1 in Fisher's variance.
    reach = stats.norm.ppf(0.975) / np.sqrt(2 * len(SYSTEMS) - 4)
    assert found.low == pytest.approx(np.tanh(np.arctanh(r) - reach))
    assert found.points == 2 * len(SYSTEMS)


def test_over_directions_systems_that_nobody_judged_do_not_move_those_that_are(tmp_path):
    """In one direction people judged the three best systems, in the other the three worst."""
    handmade(tmp_path, metrics=("acc", "joint"))
    handmade(tmp_path, BACK, metrics=("acc", "joint"), shift=50)
    directions = {one.name: one for one in read_run(tmp_path)}
    x, y, aspects = [], [], []
    for name, shift, chosen in ((THERE, 0, slice(-3, None)), (BACK, 50, slice(0, 3))):
        acc = {one: corpus_values(n + shift)["acc"] for n, one in enumerate(SYSTEMS)}
        three = sorted(acc, key=acc.get)[chosen]
        ratings = dict(zip(three, (4.0, 1.0, 2.0), strict=True))
        some = [
            judgment(one, 1, score).model_copy(update={"direction": name})
            for one, score in ratings.items()
        ]
        aspects.append(human_aspects(some, directions[name]))
        x.append(stats.zscore([acc[one] for one in three], ddof=1))
        y.append(stats.zscore([ratings[one] for one in three], ddof=1))
    matrix = correlation.over_directions([directions[THERE], directions[BACK]], aspects)
    found = cell(matrix, "human style", "ACC")
    r = stats.pearsonr(np.concatenate(x), np.concatenate(y)).statistic
    assert found.value == pytest.approx(r, abs=1e-12)
    assert found.points == 6


def test_an_arrow_shows_which_way_is_better_if_one_is():
    column = Column(
        metric="ppl", signature="", title="x", unit="number", higher_is_better=False, aspect="other"
    )
    assert column.arrow == "x ↓"
    assert replace(column, metric="length_ratio").arrow == "x"


def test_too_few_points_and_constants_say_nothing():
    three = correlation.of_systems(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    flat = correlation.of_systems(np.ones(9), np.arange(9.0))
    assert (three.value, flat.value, flat.points) == (None, None, 9)
    four = correlation.of_systems(np.arange(4.0), np.array([0.0, 3.0, 2.0, 4.0]))
    assert four.value == pytest.approx(stats.pearsonr(np.arange(4), [0, 3, 2, 4]).statistic)
    assert not four.shown, "with four points 0.83 says nothing"
    exact = correlation.of_systems(np.arange(9.0), np.arange(9.0))
    assert exact.value == 1.0
    assert exact.high <= 1.0


def test_few_sentences_have_a_correlation_but_no_interval():
    """However many systems there are, sentences are what is drawn."""
    rng = np.random.default_rng(0)
    for sentences, shown in ((3, False), (19, False), (20, True)):
        x = rng.normal(size=(9, sentences))
        found = correlation.of_sentences(x, x + rng.normal(size=x.shape))
        assert found.points == 9 * sentences
        assert found.value is not None
        assert (found.low is not None, found.high is not None) == (shown, shown)


def test_a_direction_without_any_score_stops_nothing(results):
    bare = replace(results, columns=())
    matrix = correlation.over_directions([results, bare], [(), ()])
    alone = correlation.over_directions([results], [()])
    assert (matrix.titles, matrix.cells) == (alone.titles, alone.cells)


# -- human scores ----------------------------------------------------------------------------------


def test_human_scores_are_joined_by_name_and_text(results):
    texts = {s.id: s.prediction for s in results.samples["alpha"]}
    some = [judgment("ALPHA", n, 1.0 + n % 5, output=texts[f"s-{n}"]) for n in range(8)]
    some += [judgment("alpha", 8, 5.0, output="another text"), judgment("nobody", 1, 1.0)]
    some += [judgment("beta", n, 2.0) for n in range(3)]
    (aspect,) = human_aspects(some, results)
    assert aspect.title == "human style"
    assert aspect.other_texts == 1
    assert ("alpha", "s-8") not in aspect.sentences
    assert aspect.sentences["alpha", "s-3"] == 4.0
    means = human_means(aspect, results.reports)
    by_name = dict(zip([r.system.name for r in results.reports], means, strict=True))
    assert by_name["alpha"] == pytest.approx(np.mean([1, 2, 3, 4, 5, 1, 2, 3, 5]))
    assert by_name["beta"] == 2.0
    assert np.isnan(by_name["gamma"])


def test_a_judgment_without_an_id_is_joined_only_to_a_source_that_is_there_once(results):
    twice = "source 4 is here"
    samples = tuple(
        s.model_copy(update={"source": twice}) if s.id == "s-5" else s
        for s in results.samples["alpha"]
    )
    given = [
        judgment("alpha", 0, score).model_copy(update={"sample_id": source, "source": source})
        for source, score in (("source 3 is here", 2.0), (twice, 5.0))
    ]
    some = replace(results, samples={**results.samples, "alpha": samples})
    (aspect,) = human_aspects(given, some)
    assert dict(aspect.sentences) == {("alpha", "s-3"): 2.0}
    assert aspect.means == {"alpha": 3.5}
    (usual,) = human_aspects(given, results)
    assert dict(usual.sentences) == {("alpha", "s-3"): 2.0, ("alpha", "s-4"): 5.0}


def changed(one, **fields):
    return Judgment.model_validate({**one.model_dump(), **fields})


FIRST = judgment("alpha", 1, 2.0)
SECOND = {("alpha", "s-1"): 2.0}


@pytest.mark.parametrize(
    ("given", "means", "sentences"),
    [
        # ``cae@1`` and ``cae@10`` are there: a version is not another
        ([judgment("CAE 1", 1, 2.0), judgment("cae@1.0", 1, 5.0)], {"cae1": 2.0},
         {("cae1", "s-1"): 2.0}),
        # of another direction: the same system and number, but other sentences
        ([FIRST, changed(judgment("alpha", 3, 5.0), direction=BACK)], {"alpha": 2.0}, SECOND),
        ([changed(FIRST, direction=BACK)], None, None),
        # impossible
        ([FIRST, changed(judgment("alpha", 2, 3.0), score=5.8, flag="impossible")],
         {"alpha": 2.0}, SECOND),
        ([changed(FIRST, score=5.8, flag="impossible")], None, None),
        # a sentence with more raters weighs no more
        ([changed(FIRST, rater=f"rater-{n}", score=n) for n in (1.0, 2.0, 3.0, 4.0)]
         + [judgment("alpha", 2, 5.0)], {"alpha": 3.75},
         {("alpha", "s-1"): 2.5, ("alpha", "s-2"): 5.0}),
    ],
)  # fmt: skip
def test_which_human_scores_are_in_a_mean(results, given, means, sentences):
    found = human_aspects(given, results)
    if means is None:
        assert found == ()
    else:
        (aspect,) = found
        assert (aspect.means, dict(aspect.sentences)) == (means, sentences)


def test_two_studies_or_scales_are_two_variables(results):
    theirs = judgment("alpha", 1, 3.0, study="theirs")
    assert [a.title for a in human_aspects([FIRST, theirs], results)] == [
        "human style (ours)", "human style (theirs)"]  # fmt: skip
    ten = changed(judgment("beta", 1, 4.0), scale="interval 0-10", score=9.0)
    assert [(a.scale, a.means) for a in human_aspects([FIRST, ten], results)] == [
        ("interval 1-5", {"alpha": 2.0}), ("interval 0-10", {"beta": 9.0})]  # fmt: skip


def test_correlation_with_people(results):
    scores = {n: sentence_values(0)["s_bleu"][n] for n in range(SENTENCES)}
    some = [judgment("alpha", n, 1 + 4 * scores[n] / 100) for n in range(SENTENCES)]
    matrix = correlation.over_sentences(results, human_aspects(some, results))
    found = cell(matrix, "human style", "s-BLEU")
    assert found.value == pytest.approx(1.0)
    assert matrix.human == (False, False, False, False, True)


# -- trade-offs ------------------------------------------------------------------------------------


def test_the_front_is_what_nothing_dominates():
    rng = np.random.default_rng(3)
    places = {str(n): (float(x), float(y)) for n, (x, y) in enumerate(rng.integers(0, 9, (60, 2)))}
    expected = {
        n
        for n, p in places.items()
        if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in places.values())
    }
    assert pareto_front(places) == expected


def test_of_perplexity_lower_is_better_and_bounds_do_not_compete(results):
    style, ppl = results.column(["acc"]), results.column(["ppl"])
    plane = trade_off(results, axis_of(results, style), axis_of(results, ppl))
    values = {name: corpus_values(n) for n, name in enumerate(SYSTEMS)}
    expected = pareto_front({n: (v["acc"], -v["ppl"]) for n, v in values.items()})
    assert set(plane.front) == expected
    for across, up in (("acc", "ppl"), ("ppl", "acc"), ("s_bleu", "multi_bleu"), ("joint", "acc")):
        axes = named_axes(results, ())
        front = trade_off(results, axes[across], axes[up]).front
        assert list(front) == sorted(front, key=lambda name: values[name][across]), "left to right"
    assert "copy" in {p.system for p in plane.points}
    assert "copy" not in plane.front
    assert plane.curves == {"cae": ("cae@1", "cae@5", "cae@10")}
    (point,) = [p for p in plane.points if p.system == "beta"]
    assert (point.x, point.y) == (values["beta"]["acc"], values["beta"]["ppl"])
    assert point.across == (point.x - 1, point.x + 1)


# Of CAAE by rho: EMD by the TextCNN, WMD (Mir et al., 2019, evaluations/automated, corpus_level).
CAAE = {"caae@0.01": (0.2385, 0.1235), "caae@0.1": (0.3855, 0.2514), "caae@0.5": (0.5804, 0.3639),
        "caae@1": (0.7418, 0.5343), "caae@5": (0.6666, 0.8114)}  # fmt: skip


def test_a_plane_of_emd_and_the_inverse_of_wmd_as_mir_et_al_draw_it(tmp_path):
    for name, (emd, wmd) in CAAE.items():
        write(tmp_path, report(name, {"sti": emd, "s_wmd": wmd}))
    (some,) = read_run(tmp_path)
    axes = named_axes(some, human_aspects([judgment("caae@1", 1, 4.0)], some))
    plane = trade_off(some, axes["sti"], axis_named("1/s_wmd", axes))
    by_name = {p.system: p for p in plane.points}
    for name, (emd, wmd) in CAAE.items():
        assert (by_name[name].x, by_name[name].y) == pytest.approx((emd, 1 / wmd))
    assert plane.curves == {"caae": tuple(CAAE)}, "in the order of rho"
    assert plane.front == ("caae@0.01", "caae@0.1", "caae@0.5", "caae@1")
    assert plane.up.higher_is_better
    assert axes["human_style"].values == {"caae@1": (4.0, None)}


def test_the_interval_of_an_inverse_is_turned_round(results):
    axes = named_axes(results, ())
    value, (low, high) = axes["ppl"].values["beta"]
    inverse, bounds = axis_named("1/ppl", axes).values["beta"]
    assert (inverse, *bounds) == pytest.approx((1 / value, 1 / high, 1 / low))


def test_curves_are_named():
    assert parse_joined(["cae=b,a"], ["a", "b"]) == {"cae": ("b", "a")}
    for wrong in ("cae", "cae=a", "=a,b"):
        with pytest.raises(InputError, match="give a name and two systems"):
            parse_joined([wrong], ["a", "b"])
    with pytest.raises(UnknownNameError, match="gamme"):
        parse_joined(["x=gamma,gamme"], ["gamma", "delta"])


# -- lengths and copies ----------------------------------------------------------------------------


def test_lengths_by_hand(tmp_path):
    """Words are those that are scored: a tokenised output is no longer than as people write it."""
    rows = [
        ("one two three", "ONE twothree", ("one two", "one two three four")),
        ("one two", "", ("three, four five.", "three")),
        ("a b c d", "three , four five .", ("three , FOUR five .",)),
        ("a b", "x y z w", ()),
    ]
    samples = [sample(n, s, p, r, acc=0.0) for n, (s, p, r) in enumerate(rows)]
    write(tmp_path, report("mine", {"acc": 1.0}), samples)
    source, people, mine = text_statistics(read_run(tmp_path)[0])
    assert (source.kind, people.kind, mine.kind) == ("source", "references", "system")
    assert source.words.value == pytest.approx(11 / 4)
    assert people.words.value == pytest.approx((3 + 2 + 3) / 3)
    assert mine.words.value == pytest.approx(9 / 4)
    assert mine.quartiles[2] == pytest.approx(np.median([2, 0, 3, 4]))
    assert mine.over_source == pytest.approx(100 * (9 / 11 - 1))
    # Against the references: over the three sentences that have some.
    assert mine.over_references == pytest.approx(100 * ((5 / 3) / (8 / 3) - 1))
    assert mine.copied.value == 25.0, "case and spaces do not count"
    assert mine.as_reference == pytest.approx(100 / 3), "one of the three that have some"
    assert people.as_reference is None
    assert (mine.empty, mine.distinct) == (25.0, 100.0)
    assert people.distinct == 80.0, "of five references two are equal but for case"
    assert (mine.copied.low, mine.copied.high) == (None, None), "four sentences have no interval"
    many = [sample(n, s, p, r, acc=0.0) for n, (s, p, r) in enumerate(rows * 5)]
    write(tmp_path / "many", report("mine", {"acc": 1.0}), many)
    mine = text_statistics(read_run(tmp_path / "many")[0])[-1]
    assert mine.copied.low < mine.copied.value == 25.0 < mine.copied.high


# -- disagreements ---------------------------------------------------------------------------------


def test_places_are_ranks():
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 6, (4, 9)).astype(float)
    scores[1, 3] = np.nan
    there = np.isfinite(scores)
    for sign, higher in ((1, True), (-1, False)):
        ranks = stats.rankdata(sign * scores[there])
        found = places_of(scores, higher_is_better=higher)
        assert found[there] == pytest.approx((ranks - 1) / (there.sum() - 1))
        assert np.isnan(found[~there]).all()


def test_the_furthest_apart_come_first(results):
    cases = system_cases(results, most=5)
    spreads = [np.std([one.place for one in case.rewrites]) for case in cases]
    assert [c.spread for c in cases] == pytest.approx(spreads)
    assert spreads == sorted(spreads, reverse=True)
    for case in cases:
        places = [one.place for one in case.rewrites]
        assert places == sorted(places, reverse=True)
        assert "copy" not in {one.system for one in case.rewrites}


def test_metrics_are_compared_within_an_aspect(results):
    cases = metric_cases(results, (), most=6)
    assert {c.aspect for c in cases} == {"content"}
    assert len({c.id for c in cases}) == len(cases) == 6
    metrics = {"s-BLEU": "s_bleu", "multi-BLEU": "multi_bleu"}
    for case in cases:
        (own,) = (one for one in results.samples[case.system] if one.id == case.id)
        assert (case.source, case.references) == (own.source, own.references)
        assert case.prediction == own.prediction
        assert case.high_score == own.scores[metrics[case.high]]
        assert case.low_score == own.scores[metrics[case.low]]
    x, y = pooled_values("s_bleu", "multi_bleu")
    gap = np.abs(places_of(x, higher_is_better=True) - places_of(y, higher_is_better=True))
    assert cases[0].high_place - cases[0].low_place == pytest.approx(np.nanmax(gap))
    assert cases[0].high_place > cases[0].low_place


def test_no_pair_of_measures_fills_the_list(results):
    """People's scores of content, random here, disagree with both BLEUs."""
    rng = np.random.default_rng(7)
    some = [
        judgment(s, n, float(rng.integers(1, 6)), aspect="content")
        for s in SYSTEMS
        for n in range(SENTENCES)
    ]
    aspects = human_aspects(some, results)
    cases = metric_cases(results, aspects, most=9)
    # Places are compared: people's scores end at 5, and would never be the higher ones.
    people = aspects[0].title
    assert {c.high for c in cases} >= {people} < {c.low for c in cases}
    for case in cases:
        assert case.high_place > case.low_place + 0.5
    pairs = [frozenset((c.high, c.low)) for c in cases]
    assert sorted(pairs.count(pair) for pair in set(pairs)) == [3, 3, 3]


def test_outputs_are_compared_with_peoples_rewrite_of_the_same_source(tmp_path):
    """As figures 7 and 9 of the STI and CPS study: the same metric of both, by hand."""
    people = [0.9, 0.8, 0.1, 0.5]
    mine = [0.2, 0.8, 0.95, 0.4]
    values_of = {"sti": 0.5, "r_bleu": 5.0, "ppl": 9.0}  # the latter two say nothing of a reference
    for name, family, values in (("reference-1", "human", people), ("mine", "fpft", mine)):
        samples = [
            sample(n, f"source {n}", f"{name} {n}", ("r",), **dict.fromkeys(values_of, v))
            for n, v in enumerate(values)
        ]
        one = report(name, values_of, info={"family": family})
        write(tmp_path, one, samples)
    cases = reference_cases(read_run(tmp_path)[0], of_a_metric=2)
    assert [(c.id, c.high, c.low, c.high_score, c.low_score) for c in cases] == [
        ("s-2", "STI, output", "STI, reference-1", 0.95, 0.1),
        ("s-0", "STI, reference-1", "STI, output", 0.9, 0.2),
    ]
    # Places among all eight: 0.95 is above all seven others, 0.1 below all.
    assert (cases[0].high_place, cases[0].low_place) == (1.0, 0.0)


# -- distributions ---------------------------------------------------------------------------------


def test_distributions_are_those_of_the_sentences(results):
    panels = {p.column.metric: p for p in by_system(results)}
    assert list(panels) == ["s_bleu", "multi_bleu", "ppl"], "ACC says only yes or no"
    rows = panels["multi_bleu"].rows
    assert [r.name for r in rows if r.bound] == [rows[-1].name] == ["copy"]
    (beta,) = [r for r in rows if r.name == "beta"]
    expected = sentence_values(SYSTEMS.index("beta"))["multi_bleu"]
    expected = expected[np.isfinite(expected)]
    assert sorted(beta.values) == pytest.approx(sorted(expected))
    assert beta.quantiles == pytest.approx(np.percentile(expected, [5, 25, 50, 75, 95]))


def test_settings_are_named_by_what_differs():
    """A sweep of CPS, as figure 5 of the STI and CPS study."""
    tails = ("mask:none", "mask:masked|threshold:0.1|placeholder:[PAD]|steps:50",
             "mask:masked|threshold:0.3|placeholder:[PAD]|steps:50",
             "mask:removed|threshold:0.1|steps:50")  # fmt: skip
    columns = [
        Column(
            metric="cps", signature=f"cps|v:2|{tail}|n:500", title=f"CPS ({n})", unit="fraction",
            higher_is_better=True, aspect="content",
        )
        for n, tail in enumerate(tails, 1)
    ]  # fmt: skip
    assert settings(columns) == [
        "mask=none", "mask=masked threshold=0.1", "mask=masked threshold=0.3",
        "mask=removed threshold=0.1",
    ]  # fmt: skip
    assert settings([columns[0]] * 2) == ["(1)", "(1)"]


def test_a_sweep_is_drawn_of_the_outputs_that_have_every_setting(tmp_path):
    sources = load_test_set(THERE).sources
    rewrites = [text.replace("cold", "warm") for text in sources]
    for protocol in ("13a", "whitespace"):
        for system in ("mine", "other")[: 1 + (protocol == "13a")]:
            options = {"bleu": {"protocol": protocol}}
            mine = {system: rewrites}
            tstbench.evaluate(mine, THERE, metrics="s_bleu", options=options, out=tmp_path)
    (one,) = read_run(tmp_path)
    (panel,) = by_setting(one)
    assert len(panel.rows) == 2
    for protocol, row in zip(("13a", "whitespace"), panel.rows, strict=True):
        assert f"protocol={protocol}" in row.name
        assert len(row.values) == len(sources), "other, without the second setting, is left out"


# -- the space of styles ---------------------------------------------------------------------------


def linear_model():
    rng = np.random.default_rng(0)
    vocabulary = ["good", "bad", "very", "food", "very good", "!"]
    return LinearModel(
        ("negative", "positive"), vocabulary, 2, np.abs(rng.normal(size=6)) + 0.5,
        rng.normal(size=(2, 6)), np.zeros(2),
    )  # fmt: skip


def test_what_a_linear_classifier_sees_is_what_it_adds_up():
    """Distances are those of the contributions to both logits, their mean over styles taken out."""
    model, texts = linear_model(), ["very good food!", "bad food", "bad", "unknown words"]
    found = model.features(texts)
    assert found.shape[0] == 4
    vocabulary = list(model._columns)
    used = [n for n, w in enumerate(vocabulary) if any(w in t for t in ("very good food !", "bad"))]
    weights = np.zeros((4, 6))
    for row, text in zip(weights, texts, strict=True):
        columns, values = model._weights(text)
        row[columns] = values
    coefficients = model._coefficients - model._coefficients.mean(axis=0)
    contributions = (weights[:, None] * coefficients[None]).reshape(4, -1)
    apart = np.linalg.norm(contributions[:, None] - contributions[None], axis=-1)
    mine = np.linalg.norm(found[:, None] - found[None], axis=-1)
    assert mine == pytest.approx(apart, abs=1e-6)
    assert len(used) == found.shape[1]
    logits = weights @ model._coefficients.T
    assert model.distribution(texts) == pytest.approx(
        np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), abs=1e-6
    )


@pytest.mark.parametrize("make", [make_bert, make_distilbert])
def test_cls_is_the_first_token_of_the_last_layer(tmp_path, make):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from tstbench.metrics.scorers.transformer import TransformerModel

    folder = make(tmp_path / "model")
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = TransformerModel(("a", "b"), network, tokenizer, (0, 1))
    texts = ["the food", "the food is good and the place is good", "good"]
    found = model.features(texts)
    with torch.no_grad():
        for row, text in zip(found, texts, strict=True):
            states = network.base_model(**tokenizer(text, return_tensors="pt")).last_hidden_state
            assert row == pytest.approx(states[0, 0].numpy(), abs=1e-5)


def test_separation_as_scikit_learn_finds_neighbours():
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1], 40)
    points = rng.normal(size=(80, 3)) + groups[:, None] * 0.8
    nearest = NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)
    own = (groups[nearest] == groups[:, None]).mean(axis=1)
    assert separation(points, groups) == pytest.approx(np.mean((own > 0.5) + (own == 0.5) / 2))


def test_fewer_dimensions_keep_distances():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(200, 40)) @ rng.normal(size=(40, 120))  # of rank 40
    found = fewer_dimensions(vectors)
    assert found.shape == (200, 50)
    before = np.linalg.norm(vectors[:20, None] - vectors[None, :20], axis=-1)
    after = np.linalg.norm(found[:20, None] - found[None, :20], axis=-1)
    assert after == pytest.approx(before)


def test_too_few_sentences_are_no_map(tmp_path):
    write(tmp_path, report("mine", {"acc": 1.0}), [sample(0, "a", "b", ("c",), acc=1.0)])
    with pytest.raises(InputError, match="1 sources and 0 references"):
        style_space(read_run(tmp_path)[0])


def test_no_sentence_is_on_the_map_with_its_own_rewrite(results):
    found = style_space(results)
    ids = {
        g: [i for i, own in zip(found.ids, found.groups, strict=True) if own == g]
        for g in found.groups
    }
    assert {g: len(some) for g, some in ids.items()} == {"sources": 20, "references": 20}
    assert sorted(n for some in ids.values() for n in some) == sorted(f"s-{n}" for n in range(40))
    assert found.points.shape == (40, 2)


def written(root, direction, sources, references):
    rows = zip(sources, references, strict=True)
    samples = [sample(n, s, "x", (r,)) for n, (s, r) in enumerate(rows)]
    write(root, report("mine", {"acc": 1.0}, direction), samples)


def test_the_papers_maps_have_both_styles_by_sentences_and_by_references(tmp_path):
    """Figure 6: (a) test sentences of both styles, (b) references of both, by hand."""
    negative = [f"the soup was cold, sour and bad on day {n}" for n in range(20)]
    positive = [f"a lovely warm garden with great music, part {n}" for n in range(20)]
    same = [f"we went there {n} times" for n in range(40)]
    written(tmp_path, THERE, negative, same[::2])
    written(tmp_path, BACK, positive, same[1::2])
    by_name = {d.name: d for d in read_run(tmp_path)}
    test, references = style_maps(by_name[THERE], by_name[BACK])
    for space in (test, references):
        assert space.groups == ("negative",) * 20 + ("positive",) * 20
        assert space.points.shape == (40, 2)
    assert test.separation == 1.0
    assert references.separation < 0.7, "the same sentences in both"


@pytest.mark.slow
@pytest.mark.realdata
def test_of_yelp_the_references_are_more_intermixed_than_the_test_sentences(tmp_path):
    """What the TSTBench paper concludes from figure 6, on its own files."""
    there, back = (parse_direction(f"yelp/{one}") for one in YELP)
    for direction in (there, back):
        found = load_test_set(direction)
        written(tmp_path, direction.name, found.sources, [r[0] for r in found.references])
    prepare(there, PROFILES["embedded"], ("acc",))
    by_name = {d.name: d for d in read_run(tmp_path)}
    test, references = style_maps(by_name[there.name], by_name[back.name], "linear")
    assert test.separation == pytest.approx(0.80, abs=0.01)
    assert references.separation == pytest.approx(0.72, abs=0.01)


def test_of_two_signatures_the_table_and_the_analysis_rank_by_the_same(tmp_path):
    """One system has the first, three have the second; by (1), ``lone`` would be the best."""
    others = {"x": 30.0, "y": 50.0, "z": 40.0}
    write(tmp_path, report("lone", {"s_bleu": 90.0}, version="1"), [sample(0, "x", "y")])
    for name, value in others.items():
        one = report(name, {"s_bleu": value}, version="2")
        write(tmp_path, one, [sample(0, "x", f"{name} y")])
    (results,) = read_run(tmp_path)
    table = direction_table(results.standings)
    assert (
        results.ranking.signature
        == results.standings.ranking_column().signature
        == signature("s_bleu", version="2")
    )
    assert [c.title for c in results.columns] == ["s-BLEU (1)", "s-BLEU (2)"]
    assert results.column(["s_bleu"]).title == "s-BLEU (2)", "most systems have it"
    assert any("cannot be compared" in text for text in results.cautions)
    assert table.order == f"Ranked by {results.ranking.title}."
    assert [row.system for row in table.rows] == ["y", "z", "x", "lone"]


# -- the summary -----------------------------------------------------------------------------------


def test_the_summary_fits_a_terminal(results, tmp_path, snapshot):
    long = "a-name-that-is-very-long-" * 4
    write(tmp_path, report(long[:100], {"acc": 50.0, "s_bleu": 10.0, "joint": 0.2}))
    for some in ([results], read_run(tmp_path)):
        text = summary(some, [()] * len(some))
        assert all(len(line) <= WIDTH for line in text.split("\n")), text
    some = [judgment(s, n, 1.0 + (n * m) % 5) for m, s in enumerate(SYSTEMS, 1) for n in range(9)]
    assert summary([results], [human_aspects(some, results)]) == snapshot


def test_the_summary_counts_the_systems_that_are_as_good_as_the_best(results):
    every = results.standings.ranks
    for ties in range(3):
        ranks = {
            key: [replace(one, p_best=float(n <= ties)) for n, one in enumerate(some)]
            for key, some in every.items()
        }
        tied = replace(results, standings=replace(results.standings, ranks=ranks))
        text = " ".join(summary([tied], [()]).split())
        assert (f", {ties} not significantly worse by Joint" in text) == (ties > 0), text


# -- tables ----------------------------------------------------------------------------------------


def test_tables_escape_what_a_format_would_obey(snapshot):
    table = DataTable(
        name="a/b", title="50% & more", header=("x_y", "|z|", "n", "t"),
        rows=(("=1+1", "<b>$\\input{x}", "3", "a\nb"),), texts=frozenset({1, 3}),
    )  # fmt: skip
    assert to_latex(table, picture="x.png") == snapshot
    assert to_markdown(table).splitlines() == [
        r"50% \& more", "", r"| x\_y | \|z\| | n | t |", "| --- | --- | ---: | --- |",
        r"| =1+1 | \<b>\$\\input{x} | 3 | a b |",
    ]  # fmt: skip
    told = [("=1+1",), ("+x",), ("-x",), ("@x",), ('a, "b"',), (0.1 + 0.2,), (None,), (True,)]
    assert csv_text(("a",), told) == ('a\n\'=1+1\n\'+x\n\'-x\n\'@x\n"a, ""b"""\n0.3\n""\nyes\n')
