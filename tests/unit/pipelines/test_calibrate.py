"""Fitting a calibrated Joint: known curves come back, and what is left out is left out."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from own_data import write_lines
from prepared import success
from scipy.optimize import curve_fit, minimize
from scipy.special import expit
from scipy.stats import spearmanr

import tstbench
from tstbench.commands.calibrate import read_parts
from tstbench.datasets_scripts.judgments.schema import Judgment
from tstbench.datasets_scripts.judgments.studies import parse_study
from tstbench.errors import InputError
from tstbench.metrics.joint.calibration import calibrations, load_calibration
from tstbench.pipelines.calibration.calibrate import (
    ELSEWHERE,
    OTHERS,
    Measured,
    Plan,
    _data,
    calibrated,
    elsewhere,
    summary,
    weights_held_out,
)
from tstbench.pipelines.calibration.fit import (
    Curve,
    Data,
    choose,
    curve_intervals,
    explained,
    fit_curve,
    fit_weights,
    held_out,
    weight_intervals,
)
from tstbench.pipelines.calibration.samples import (
    ASPECTS,
    Sample,
    SystemMeans,
    as_protocol,
    percentiles,
    rated_as_they_are,
    system_means,
)
from tstbench.pipelines.meta.columns import Column, rated_outputs

THERE, BACK = "toy/a-to-b", "toy/b-to-a"
PARTS = {"style": ("sti",), "content": ("s_sim",), "fluency": ("fluency",)}
PLAN = Plan(name="toy", candidates=PARTS, resamples=100)


def names(text, n):
    return np.array([text] * n, dtype=str)


def sample_of(values, ratings, study="one", direction=THERE, systems=None):
    n = len(values)
    system = np.array(systems or ["s"] * n, dtype=str)
    items = np.array([str(i) for i in range(n)], dtype=str)
    level = np.ones(n, dtype=bool)
    return Sample(names(study, n), names(direction, n), system, items, level, values, ratings)


def simulated(slope, offset, n=4000, seed=0, **more):
    """Ratings of five steps, whose mean follows the curve."""
    stream = np.random.RandomState(seed)
    values = stream.uniform(0, 1, n)
    ratings = stream.binomial(4, expit(offset + slope * values)) / 4
    return sample_of(values, ratings, **more)


class TestCurves:
    def test_it_is_the_weighted_least_squares_of_scipy_within_its_interval(self):
        """Studies weigh the same, however large."""
        large, small = simulated(0.4, 1.0, n=900), simulated(2, -1, n=90, seed=1, study="two")
        some = Sample.joined([large, small])
        (offset, slope), _ = curve_fit(
            lambda x, a, b: expit(a + b * x), some.values, some.ratings, p0=[0, 1],
            sigma=1 / np.sqrt(some.weights),
        )  # fmt: skip
        found = fit_curve(some)
        assert (found.offset, found.slope) == pytest.approx((offset, slope), rel=1e-4)
        sure = curve_intervals(some, 1, found, 100, seed=1)
        assert sure["slope"][0] < slope < sure["slope"][1] < sure["slope"][0] + 1.5
        assert sure["offset"][0] < offset < sure["offset"][1]

    def test_a_slope_never_has_the_wrong_sign(self):
        against = simulated(-4.0, 2.0)
        assert fit_curve(against).slope == pytest.approx(0, abs=1e-3)
        assert fit_curve(against, sign=-1).slope == pytest.approx(-4, abs=0.2)
        assert fit_curve(simulated(4.0, -2.0), sign=-1).slope == pytest.approx(0, abs=1e-3)

    def test_a_study_of_more_systems_or_directions_weighs_no_more(self):
        values = np.linspace(0, 1, 90)
        three = [name for name in "abc" for _ in range(30)]
        uneven = ["much"] * 80 + ["little"] * 10
        within = sample_of(values, values, systems=uneven).weights
        assert (within[:80].sum(), within[80:].sum()) == pytest.approx((0.5, 0.5))
        one = sample_of(values, values, study="one")
        more = sample_of(values, values, study="two", systems=three)
        back = sample_of(values, values, study="two", systems=three, direction=BACK)
        some = Sample.joined([one, more, back])
        of = {name: some.weights[some.study == name] for name in ("one", "two")}
        assert of["one"] == pytest.approx(0.5 / 90)
        assert of["two"] == pytest.approx(0.5 / 180)

    def test_outputs_of_a_sentence_are_drawn_together(self):
        """Twenty copies of each output are no more evidence than one."""
        few = simulated(3.0, -1.0, n=60)
        many = Sample.joined([few] * 20)
        width = {}
        for name, some in (("few", few), ("many", many)):
            low, high = curve_intervals(some, 1, fit_curve(some), 200, seed=2)["slope"]
            width[name] = high - low
        assert width["many"] == pytest.approx(width["few"], rel=0.05)

    def test_sentences_are_drawn_within_the_directions_of_their_study(self):
        """The same sentence in two directions or studies is two; its outputs are one."""
        values = np.array([0.1, 0.2, 0.3])
        parts = [
            sample_of(values, values),
            sample_of(values, values, direction=BACK),
            sample_of(values, values, study="two"),
            sample_of(values, values, systems=["t"] * 3),
        ]
        codes, strata = Sample.joined(parts).clusters
        assert codes.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2]
        assert strata.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]

    def test_explained(self):
        some = sample_of(np.array([0.0, 1.0] * 20), np.array([0.0, 1.0] * 20))
        assert explained(fit_curve(some), some) == pytest.approx(1, abs=1e-6)
        assert explained(Curve(0.0, 0.0), some) == pytest.approx(0)
        assert explained(Curve(-9.0, 4.5), some) < -2

    @pytest.mark.parametrize(
        ("values", "why"), [(np.ones(50), "all of one value"), (np.arange(19.0), "fewer than 20")]
    )
    def test_nothing_to_fit(self, values, why):
        with pytest.raises(InputError, match=why):
            fit_curve(sample_of(values, np.zeros(len(values))))


def test_an_interval_leaves_out_a_fortieth_at_each_end():
    drawn = np.stack([np.arange(1001.0), -np.arange(1001.0)], axis=1)
    found = percentiles(("up", "down"), drawn)
    assert found["up"] == pytest.approx((25, 975))
    assert found["down"] == pytest.approx((-975, -25))


def systems_of(weights, n=10, seed=0, noise=0.01, directions=(THERE, BACK), study="one"):
    stream = np.random.RandomState(seed)
    aspects = stream.uniform(0, 1, (n * len(directions), 3))
    overall = aspects @ np.array(weights) + stream.normal(0, noise, len(aspects))
    where = np.repeat(np.array(directions, dtype=str), n)
    which = np.array([f"s{i}" for i in range(len(aspects))])
    return SystemMeans(names(study, len(aspects)), where, which, aspects, overall)


def joined(*parts):
    names = ("study", "direction", "system", "aspects", "overall")
    return SystemMeans(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))


class TestWeights:
    def test_known_weights_are_recovered(self):
        some = systems_of((0.5, 0.3, 0.2))
        assert fit_weights(some) == pytest.approx([0.5, 0.3, 0.2], abs=0.02)
        sure = weight_intervals(some, 200, seed=0)
        assert all(low <= high for low, high in sure.values())
        assert sure["style"][0] < 0.5 < sure["style"][1]

    @pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (0.8, 0.4, -0.9)])
    def test_they_are_least_squares_above_0_in_which_directions_weigh_the_same(self, weights):
        """By another optimiser; one direction has five times as many systems."""
        many = systems_of(weights, n=50, directions=(THERE,))
        some = joined(many, systems_of((0, 1, 0), directions=(BACK,), seed=1))
        each = np.repeat([1 / 50, 1 / 10], [50, 10])
        least = minimize(
            lambda shares: each @ (some.aspects @ shares - some.overall) ** 2,
            np.ones(3), bounds=[(0, None)] * 3, tol=1e-12,
        ).x  # fmt: skip
        assert fit_weights(some) == pytest.approx(least / least.sum(), abs=1e-4)
        assert (least[2] > 0) == (weights[2] > 0)

    def test_a_score_that_its_scale_does_not_have_moves_no_weight(self):
        rows = overall_rows()
        extra = rows[0].model_copy(update={"score": 50.0, "flag": "impossible", "rater": "other"})
        usual, flagged = system_means(rows), system_means([*rows, extra])
        assert flagged.aspects.tolist() == usual.aspects.tolist()
        assert flagged.overall.tolist() == usual.overall.tolist()

    def test_too_few_or_nothing(self):
        some = systems_of((0.5, 0.3, 0.2), n=5, directions=(THERE,))
        with pytest.raises(InputError, match="5 systems"):
            fit_weights(some)
        with pytest.raises(InputError, match="no weights follow"):
            fit_weights(systems_of((-0.5, -0.3, -0.2)))

    def test_a_dataset_is_ranked_by_weights_of_the_others(self):
        """There style counts, elsewhere content: weights that had seen it would rank it better."""
        odd = systems_of((1, 0, 0), directions=("odd/a-to-b",), n=30)
        rest = systems_of((0, 1, 0), directions=("x/a-to-b", "y/a-to-b"), n=30, seed=1)
        both = weights_held_out(joined(odd, rest))
        (found,) = (row for row in both if row["dataset"] == "odd")
        assert found["shares"] == pytest.approx(fit_weights(rest).tolist())
        assert found["shares"][0] < 0.05
        assert found["spearman"] < 0.5 < found["spearman_equal"]


def judgments(study, direction, scores, *, aspects=ASPECTS, scale="interval 1-5"):
    """One row per output and aspect; ``scores``: system -> aspect -> N ratings from 0 to 1."""
    return [
        Judgment(
            study=study, dataset=direction.split("/")[0], direction=direction, system=system,
            sample_id=f"i{n}", source=f"source {n}", output=f"{system} {n}", aspect=aspect,
            scale=scale, rater="rater-1", score=1 + 4 * float(of[aspect][n]),
        )
        for system, of in scores.items()
        for aspect in aspects
        for n in range(len(of[aspect]))
    ]  # fmt: skip


def toy_study(study, seed, n=30, directions=(THERE, BACK), aspects=ASPECTS):
    """Judgments, and the columns of its outputs: a metric is its rating with some noise."""
    stream = np.random.RandomState(seed)
    rows = []
    for direction in directions:
        scores = {
            f"s{k}": {a: stream.binomial(4, 0.1 + 0.15 * k, n) / 4 for a in ASPECTS}
            for k in range(5)
        }
        rows += judgments(study, direction, scores, aspects=aspects)
    outputs = rated_outputs(as_protocol(rows))
    columns = {}
    for aspect, (metric,) in PARTS.items():
        ratings = np.array([(one.scores.get(aspect, 3) - 1) / 4 for one in outputs])
        noisy = ratings + stream.normal(0, 0.2, len(ratings))
        columns[metric] = Column(name=metric, aspect=aspect, sentence=noisy)
    return rows, outputs, columns


def overall_rows(seed=5):
    """A study of systems without texts, with an overall score of its own."""
    stream = np.random.RandomState(seed)
    rows = []
    for dataset in ("x", "y"):
        scores = {}
        for k in range(6):
            of = {a: stream.uniform(0, 1, 2) for a in ASPECTS}
            of["overall"] = 0.5 * of["style"] + 0.3 * of["content"] + 0.2 * of["fluency"]
            scores[f"s{k}"] = of
        every = judgments("means", f"{dataset}/a-to-b", scores, aspects=(*ASPECTS, "overall"))
        rows += [row.model_copy(update={"source": None, "output": None}) for row in every]
    return rows


@pytest.fixture(scope="module")
def toy():
    studies = {name: toy_study(name, seed) for seed, name in enumerate(("one", "two"))}
    rows = [row for some, _, _ in studies.values() for row in some] + overall_rows()
    outputs = {name: some for name, (_, some, _) in studies.items()}
    columns = {name: some for name, (_, _, some) in studies.items()}
    return rows, Measured(outputs, columns)


def asked(study, *aspects):
    return [
        Judgment(
            study=study, dataset="toy", direction=THERE, system="s", sample_id="1", source="a",
            output="b", aspect=aspect, scale="interval 1-5", rater="r", score=3.0,
        )
        for aspect in aspects
    ]  # fmt: skip


class TestQuestions:
    """A question of another name stands for an aspect that its own study did not ask for."""

    ROWS = (
        *asked("difference", "style_difference", "content_masked", "naturalness", "overall"),
        *asked("both", "style", "style_difference", "content", "content_masked", "fluency"),
        *asked("pairs", "style_difference", "content"),
    )

    def test_each_study_is_read_by_what_it_asked_itself(self):
        found = [(row.study, row.aspect) for row in as_protocol(self.ROWS)]
        assert found == [
            *(("difference", a) for a in ("style", "content", "fluency", "overall")),
            *(("both", a) for a in ("style", "content", "fluency")),
            *(("pairs", a) for a in ("style", "content")),
        ]

    def test_masked_texts_are_not_those_that_a_metric_reads(self):
        assert rated_as_they_are(asked("masked", "content_masked", "naturalness")) == {
            ("masked", "fluency")
        }
        assert ("both", "content") in rated_as_they_are(self.ROWS)
        assert ("difference", "style") in rated_as_they_are(self.ROWS)
        assert ("difference", "content") not in rated_as_they_are(self.ROWS)


class TestLeavingOut:
    def data(self, toy):
        rows, measured = toy
        return _data(rows, as_protocol(rows), measured, PLAN)

    def test_what_is_left_out_is_gone(self, toy):
        whole = self.data(toy)
        left = whole.without(study="two", direction=THERE)
        for of in left.samples.values():
            for some in of.values():
                assert set(some.study) == {"one"}
                assert set(some.direction) == {BACK}
        assert set(whole.without(direction="x/a-to-b").systems.dataset) == {"y"}

    @pytest.mark.parametrize(
        ("left_out", "name"), [(THERE, ELSEWHERE), (THERE, OTHERS), ("one", OTHERS)]
    )
    def test_what_is_left_out_moves_no_score_of_its_own(self, toy, left_out, name):
        """A leak would: all ratings of a direction, or of a study, are turned upside down."""
        rows, measured = toy
        turned = [
            row.model_copy(update={"score": 6 - row.score})
            if left_out in (row.direction, row.study)
            else row
            for row in rows
        ]
        outputs = {
            study: rated_outputs(row for row in turned if row.study == study)
            for study in measured.outputs
        }
        found = []
        for some_rows, some in ((rows, measured), (turned, Measured(outputs, measured.columns))):
            data = self.data((some_rows, some))
            columns = elsewhere("one", some.outputs["one"], some.columns["one"], data, PARTS)
            found.append({column.name: column.sentence for column in columns})
        here = np.array([left_out in (o.direction, o.study) for o in measured.outputs["one"]])
        assert np.isfinite(found[0][name]).all()
        np.testing.assert_array_equal(found[0][name][here], found[1][name][here])
        moved = ELSEWHERE if here.all() else name
        assert not np.allclose(found[0][moved], found[1][moved])

    def test_an_empty_output_scores_0_elsewhere_too(self, toy):
        _, measured = toy
        outputs = measured.outputs["one"]
        emptied = [replace(outputs[0], output=" "), *outputs[1:]]
        usual, found = (
            elsewhere("one", some, measured.columns["one"], self.data(toy), PARTS)
            for some in (outputs, emptied)
        )
        for one, other in zip(usual, found, strict=True):
            assert one.sentence[0] > 0 == other.sentence[0]
            np.testing.assert_array_equal(one.sentence[1:], other.sentence[1:])

    def test_a_curve_is_tried_on_what_it_was_not_fitted_on(self):
        """Study one rises, study two falls: what is learned from one is wrong of the other."""
        one = simulated(4.0, -2.0, n=200)
        two = simulated(-1.0, 1.0, n=100, seed=1, study="two", direction=BACK)
        whole = Sample.joined([one, two])
        records = {(r["kind"], r["name"]): r for r in held_out("style", "sti", whole)}
        assert set(records) == {("study", "one"), ("study", "two"), ("direction", THERE),
                                ("direction", BACK)}  # fmt: skip
        for names_of, there, other in (
            ((("study", "one"), ("direction", THERE)), one, two),
            ((("study", "two"), ("direction", BACK)), two, one),
        ):
            for name in names_of:
                expected = explained(fit_curve(other), there)
                assert records[name]["explained"] == pytest.approx(expected, abs=1e-6)
                assert records[name]["outputs"] == len(there.values)
                rho = spearmanr(there.values, there.ratings).statistic
                assert records[name]["spearman"] == pytest.approx(rho)
        assert expected < explained(fit_curve(whole), two) - 0.1

    def test_with_a_direction_its_dataset_leaves_the_weights(self):
        directions = ("x/a-to-b", "x/b-to-a", "y/a-to-b")
        data = Data(samples={}, systems=systems_of((0.5, 0.3, 0.2), directions=directions),
                    kept=np.ones(3) / 3)  # fmt: skip
        assert set(data.without(direction="x/a-to-b").systems.direction) == {"y/a-to-b"}

    def test_every_direction_that_is_named_is_left_out(self, toy):
        rows, measured = toy
        for without in ((THERE, "x/a-to-b"), ("x/a-to-b", THERE)):
            plan = Plan(name="toy", candidates=PARTS, resamples=100, without=without)
            data = _data(rows, as_protocol(rows), measured, plan)
            assert set(data.systems.dataset) == {"y"}
            assert {
                d for of in data.samples.values() for s in of.values() for d in s.direction
            } == {BACK}

    def test_the_choice_is_by_the_mean_over_studies_and_knows_what_is_better(self):
        ratings, noise = np.random.RandomState(0).uniform(0, 1, (2, 60))

        def samples(**by_study):
            parts = [sample_of(v, ratings, study=name) for name, v in by_study.items()]
            return Sample.joined(parts)

        middling = ratings + 0.8 * noise
        metrics = {
            "fluency": samples(one=ratings, two=-ratings),  # the best in one study, and the worst
            "cola": samples(one=middling, two=middling),
            "ppl": samples(one=-ratings, two=-ratings - 0.2 * noise),  # lower is better
        }
        assert choose(metrics, ("fluency", "cola")) == "cola"
        assert choose(metrics, ("fluency", "cola", "ppl")) == "ppl"

    def test_a_study_that_orders_nothing_has_no_say_in_the_choice(self):
        """Ranks of 1 to 9: rho is -1 and 1. A single output, or equal ratings, made both 0."""
        ratings = np.arange(9) / 8
        silent = {
            "single": ([0.5], [0.5]),
            "equal": (np.arange(3.0), np.full(3, 0.5)),
        }
        for study, (values, equal) in silent.items():
            other = sample_of(values, equal, study=study)
            metrics = {
                name: Sample.joined([sample_of(sign * ratings, ratings), other])
                for name, sign in (("fluency", -1), ("cola", 1))
            }
            assert choose(metrics, ("fluency", "cola")) == "cola"
        # A metric of one value orders nothing in a study that has an order: 0, less than 0.5.
        flat = Sample.joined([sample_of(ratings, ratings), sample_of(0 * ratings, ratings, "two")])
        swapped = sample_of(ratings[[1, 0, 2, 3, 4, 5, 6, 7, 8]], ratings, "two")
        some = Sample.joined([sample_of(ratings, ratings), swapped])
        assert choose({"fluency": flat, "cola": some}, ("fluency", "cola")) == "cola"

    def test_masked_content_is_fitted_on_only_if_there_is_nothing_else(self):
        some = simulated(3.0, -1.0, n=100)
        masked = Sample(
            names("two", 100), some.direction, some.system, some.item,
            np.zeros(100, dtype=bool), some.values, some.ratings * 0,
        )  # fmt: skip
        assert set(Sample.joined([some, masked]).best.study) == {"one"}
        assert set(masked.best.study) == {"two"}

    def test_a_curve_of_few_sentences_has_no_interval(self):
        """40 outputs of 19 sentences: those are what is drawn."""
        some = simulated(3.0, -1.0, n=40)
        for sentences, names_of in ((19, set()), (20, {"slope", "offset"})):
            few = replace(some, item=np.array([str(i % sentences) for i in range(40)]))
            assert set(curve_intervals(few, 1, fit_curve(few), 20, seed=1)) == names_of


class TestWhole:
    def test_it_is_what_was_put_in_and_the_same_again(self, toy):
        rows, measured = toy
        found = calibrated(rows, measured, "embedded", PLAN)
        assert [part.metric for part in found.parts] == ["sti", "s_sim", "fluency"]
        assert [part.weight for part in found.parts] == pytest.approx([0.5, 0.3, 0.2], abs=0.01)
        for part in found.parts:
            assert set(part.intervals) == {"weight", "slope", "offset"}
            assert part.intervals["slope"][0] < part.slope < part.intervals["slope"][1]
        again = calibrated(list(rows), measured, "embedded", PLAN)
        assert again.record() == found.record()
        counts = ", ".join(
            f"{study} {way} 150" for study in ("one", "two") for way in (THERE, BACK)
        )
        assert found.fitted_on == (
            *(f"curve of {aspect}: outputs of {counts}" for aspect in ASPECTS),
            "weights: means of 12 systems in 2 directions of means",
        )
        overall = [s for s in found.evidence["overall"] if s["coefficient"] == "spearman"]
        assert {s["metric"] for s in overall} == {ELSEWHERE, OTHERS}
        assert min(s["value"] for s in overall if s["level"] == "sentence") > 0.5
        # Its summary fits a terminal, also with a small slope and a whole direction.
        way = "shakespeare/shakespearean-to-modern"
        one = overall[0] | {"direction": way}
        parts = (replace(found.parts[0], slope=3.4e-05), *found.parts[1:])
        evidence = {**found.evidence, "overall": [one, *found.evidence["overall"]]}
        text = summary(replace(found, parts=parts, evidence=evidence))
        assert max(map(len, text.splitlines())) <= 80
        for shown in ("sti", "3.4e-05", way, "Weights, fitted on other datasets"):
            assert shown in text

    def test_the_seed_moves_every_interval_and_nothing_else(self, toy):
        given, measured = toy
        stream = np.random.RandomState(9)  # weights that fit exactly have no interval
        rows = [
            row.model_copy(update={"score": float(np.clip(row.score + stream.randn(), 1, 5))})
            if row.aspect == "overall"
            else row
            for row in given
        ]
        one, other = (
            calibrated(rows, measured, "embedded", replace(PLAN, seed=seed)) for seed in (1, 2)
        )
        assert (one.evidence["seed"], other.evidence["seed"]) == (1, 2)
        for a, b in zip(one.parts, other.parts, strict=True):
            assert (a.weight, a.slope, a.offset) == (b.weight, b.slope, b.offset)
        for name in ("weight", "slope", "offset"):
            pairs = zip(one.parts, other.parts, strict=True)
            assert any(a.intervals[name] != b.intervals[name] for a, b in pairs), name

    def test_without_an_overall_score_the_weights_of_the_package_are_kept(self, toy, capsys):
        rows, measured = toy
        some = [row for row in rows if row.study != "means"]
        found = calibrated(some, measured, "embedded", PLAN)
        shipped = load_calibration(calibrations()[-1])
        assert [p.weight for p in found.parts] == pytest.approx([p.weight for p in shipped.parts])
        assert "weight" not in found.parts[0].intervals
        assert f"those of {shipped.name}" in capsys.readouterr().err

    def test_an_aspect_is_missing(self):
        rows, outputs, columns = toy_study("one", 0, aspects=("style", "content"))
        with pytest.raises(InputError, match="ratings of fluency"):
            calibrated(rows, Measured({"one": outputs}, {"one": columns}), "embedded", PLAN)

    def test_two_scales_of_one_aspect(self, toy):
        rows, measured = toy
        mixed = [*rows[:1], rows[1].model_copy(update={"scale": "interval 0-10"}), *rows[2:]]
        with pytest.raises(InputError, match="two scales"):
            calibrated(mixed, measured, "embedded", PLAN)


@pytest.mark.slow
class TestCommand:
    @pytest.fixture
    def ratings(self, tmp_path, prepared):
        stream = np.random.RandomState(0)
        file = tmp_path / "mine.csv"
        with file.open("w", newline="") as opened:
            table = csv.writer(opened)
            table.writerow(("source", "output", "system", "direction", *ASPECTS))
            for direction in ("mini/negative-to-positive", "mini/positive-to-negative"):
                for source in tstbench.load_test_set(direction).sources:
                    for system, output in (("copy", source), ("short", source[:9] + " .")):
                        scores = stream.randint(1, 6, 3)
                        table.writerow((source, output, system, direction, *scores))
        return file

    PARTS = ("--parts", "style=target_style", "content=s_chrf,s_bleu", "fluency=ppl")

    def test_from_a_table_to_a_score(self, ratings, tmp_path, capsys):
        out = tmp_path / "mine-v1.json"
        command = ("calibrate", ratings, *self.PARTS, "--resamples", "100", "--out", out)
        shown, said = success(capsys, *command)
        assert shown.startswith("mine-v1#")
        assert "the weights are those of calibrated-v1" in said
        assert load_calibration(str(out)).profile == "embedded"
        outputs, direction = tmp_path / "outputs.txt", "mini/negative-to-positive"
        write_lines(outputs, tstbench.load_test_set(direction).sources)
        asked = ("evaluate", outputs, "--direction", direction, "--metrics", "joint_calibrated")
        shown, _ = success(capsys, *asked, "--set", f"joint.calibration={out}", "--json")
        assert "mine-v1#" in shown
        success(capsys, *command)  # its own file is replaced

    def test_parts(self):
        assert read_parts(["content=a,b,a"]) == {"content": ("a", "b")}


def test_the_calibration_of_the_package_is_whole():
    found = load_calibration("calibrated-v1")
    assert {part.aspect for part in found.parts} == set(ASPECTS)
    assert all(part.slope > 0 and part.weight > 0 for part in found.parts)
    assert all(set(part.intervals) == {"weight", "slope", "offset"} for part in found.parts)
    assert sum(part.weight for part in found.parts) == pytest.approx(1, abs=1e-3)
    assert found.limits
    assert found.evidence["overall"]


@pytest.mark.realdata
def test_the_weights_of_the_package_are_those_of_the_published_ratings():
    rows = parse_study("tstbench2025").judgments()
    shares = fit_weights(system_means(rows))
    found = load_calibration("calibrated-v1")
    assert [part.weight for part in found.parts] == pytest.approx(shares.tolist(), abs=1e-4)
    means = system_means(rows)
    records = found.evidence["weights"]
    assert [r["spearman"] for r in records] == pytest.approx(
        [round(one["spearman"], 4) for one in weights_held_out(means)]
    )
    assert len(means.overall) == 75
