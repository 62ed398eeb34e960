"""Human judgments: the schema refuses what is wrong, agreement equals published values."""

import json

import krippendorff
import numpy as np
import pytest
from places import GOLDEN

from tstbench.commands.cli import main
from tstbench.datasets_scripts.judgments.schema import (
    ASPECTS,
    Judgment,
    parse_scale,
    read_judgments,
    write_judgments,
)
from tstbench.errors import InputError
from tstbench.pipelines.human import (
    agreement,
    derived_overall,
    derived_overalls,
    reliability_table,
    system_means,
)
from tstbench.spaces.annotate.create import pseudonyms

GOLDEN = json.loads((GOLDEN / "agreement.json").read_text())


def row(**changes):
    base = {
        "study": "spring",
        "dataset": "yelp",
        "direction": "yelp/negative-to-positive",
        "system": "a",
        "sample_id": "1",
        "source": "it was cold .",
        "output": "it was warm .",
        "aspect": "style",
        "scale": "ordinal 1-5",
        "rater": "rater-1",
        "score": 4.0,
    }
    return Judgment.model_validate(base | changes)


def table_rows(table, scale):
    """One judgment for each score of a raters x items table, None where there is none."""
    return [
        row(rater=f"rater-{r}", sample_id=str(i), score=score, scale=scale)
        for r, scores in enumerate(table, start=1)
        for i, score in enumerate(scores)
    ]


class TestSchema:
    def test_written_judgments_read_back_equal(self, tmp_path):
        rows = [row(), row(sample_id="2", score=None, note="skipped"), row(rater="mean-of-3")]
        write_judgments(tmp_path / "j.jsonl", rows)
        assert read_judgments(tmp_path / "j.jsonl") == rows

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"score": 6}, "score 6 is not on the scale"),
            ({"score": 4.5}, "score 4.5 is not on the scale"),
            ({"score": "4"}, "score"),
            ({"score": True}, "score"),
            ({"score": float("nan")}, "score"),
            ({"scale": "likert"}, "a scale is"),
            ({"scale": "ordinal 5-1"}, "empty"),
            ({"dataset": "amazon"}, "is not in dataset 'amazon'"),
            ({"direction": "yelp"}, "direction"),
            ({"rater": "Ann Smith"}, "rater"),
            ({"raters": 3}, "raters"),
        ],
    )
    def test_a_bad_line_is_named(self, tmp_path, changes, says):
        good = row().model_dump(mode="json")
        path = tmp_path / "j.jsonl"
        path.write_text(json.dumps(good) + "\n" + json.dumps(good | changes) + "\n")
        with pytest.raises(InputError, match="line 2") as error:
            read_judgments(path)
        assert says in str(error.value)

    def test_not_json_and_a_score_given_twice(self, tmp_path):
        path = tmp_path / "j.jsonl"
        path.write_text("{oops\n")
        with pytest.raises(InputError, match="line 1: not JSON"):
            read_judgments(path)
        write_judgments(path, [row(), row(system="b"), row(score=2.0)])
        with pytest.raises(
            InputError, match="line 3: rater-1 already scored style of a, sample 1 in line 1"
        ):
            read_judgments(path)

    def test_studies_without_sample_ids_may_repeat(self, tmp_path):
        rows = [row(sample_id=None, source=None, output=None, score=s) for s in (3.0, 3.0, None)]
        write_judgments(tmp_path / "j.jsonl", rows)
        assert read_judgments(tmp_path / "j.jsonl") == rows

    def test_an_impossible_score_is_kept_only_with_its_flag(self):
        flagged = row(score=5.8, scale="interval 1-5", flag="impossible")
        assert (flagged.score, flagged.usable) == (5.8, None)
        with pytest.raises(ValueError, match="nothing is wrong"):
            row(score=5, scale="interval 1-5", flag="impossible")

    def test_the_place_in_a_study_pairs_scores_where_there_is_no_id(self, tmp_path):
        unknown = dict.fromkeys(("sample_id", "source", "output"))
        rows = [row(**unknown, item=f"place-{n}") for n in (1, 2)]
        assert rows[0].key != rows[1].key
        file = tmp_path / "rows.jsonl"
        write_judgments(file, rows)
        assert read_judgments(file) == rows
        assert "model" not in json.loads(file.read_text().splitlines()[0])  # only what it has
        file.write_text(file.read_text().splitlines()[0] + "\n" + file.read_text())
        with pytest.raises(
            InputError, match="line 2: rater-1 already scored style of a, sample pl"
        ):
            read_judgments(file)

    def test_interval_scales_hold_means(self):
        assert row(scale="interval 1-5", score=3.67).score == 3.67
        assert parse_scale("interval 0.6-5").low == 0.6
        assert parse_scale("nominal -1-1").low == -1


class TestPseudonyms:
    SALT = "0123456789abcdef"

    def test_stable_in_any_order_and_different_under_another_salt(self):
        names = [f"name {i}" for i in range(20)]
        given = pseudonyms(names, self.SALT)
        assert given == pseudonyms(names[::-1], self.SALT)
        assert sorted(given.values()) == sorted(f"rater-{i}" for i in range(1, 21))
        assert given != pseudonyms(names, self.SALT[::-1])
        assert [given[name] for name in names] != [f"rater-{i}" for i in range(1, 21)]


class TestProtocol:
    def test_overall_is_the_mean_times_the_copy_penalty(self):
        # TSTBench paper, section 3.3.2: arithmetic mean, times 0.6 for an unchanged source
        assert derived_overall(5, 4, 3, copied=False) == 4
        assert derived_overall(1, 5, 5, copied=True) == pytest.approx(11 / 3 * 0.6)

    def test_every_possible_overall_score_is_on_its_scale(self):
        scale = parse_scale(ASPECTS["derived_overall"].scale)
        scores = range(1, 6)
        assert all(
            scale.holds(derived_overall(s, c, f, copied=copied))
            for s in scores
            for c in scores
            for f in scores
            for copied in (False, True)
        )

    def test_derived_overalls_need_all_three_aspects(self):
        three = [row(aspect=a, score=s) for a, s in (("style", 1), ("content", 5), ("fluency", 5))]
        copied = [judgment.model_copy(update={"output": judgment.source}) for judgment in three]
        two = [judgment.model_copy(update={"sample_id": "2"}) for judgment in three[:2]]
        assert [j.score for j in derived_overalls(three + two)] == [pytest.approx(11 / 3)]
        (overall,) = derived_overalls(copied)
        assert (overall.score, overall.aspect) == (pytest.approx(2.2), "derived_overall")

    def test_a_note_about_one_aspect_is_none_about_the_whole(self):
        three = [row(aspect=a, score=3, note=f"{a}!") for a in ("style", "content", "fluency")]
        (overall,) = derived_overalls(three)
        assert (overall.score, overall.note) == (3, None)

    @pytest.mark.parametrize("field", ["source", "output", "sample_id"])
    def test_no_overall_score_where_nobody_knows_what_was_copied(self, field):
        three = [row(aspect=a, score=3) for a in ("style", "content", "fluency")]
        kept = [judgment.model_copy(update={"sample_id": "2"}) for judgment in three]
        hidden = [judgment.model_copy(update={field: None}) for judgment in three]
        assert [j.sample_id for j in derived_overalls([*hidden, *kept])] == ["2"]


class TestAgreement:
    @pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
    def test_alpha_equals_krippendorffs_own_example(self, level):
        case = GOLDEN["krippendorff-2011"]
        (got,) = agreement(table_rows(case["observers"], f"{level} 1-5"), resamples=0)
        assert got.alpha.value == pytest.approx(case["alpha"][level], abs=5e-4)
        assert got.alpha.items == 11  # the twelfth has one score only

    def test_kappa_equals_the_published_example(self):
        case = GOLDEN["fleiss-example"]
        items = [
            [category for category, n in enumerate(counts, start=1) for _ in range(n)]
            for counts in case["counts"]
        ]
        (got,) = agreement(table_rows(zip(*items, strict=True), "ordinal 1-5"), resamples=0)
        assert got.kappa.value == pytest.approx(case["kappa"], abs=5e-4)
        assert len(got.raters) == 14

    def test_skipped_scores_are_missing_not_zero(self):
        (got,) = agreement(table_rows([[1, 2, 3, None], [1, 2, 3, 5], [1, 2, 4, 5]], "ordinal 1-5"))
        assert (got.kappa.items, got.alpha.items) == (3, 4)

    def test_a_flagged_score_is_missing_too(self):
        """With the impossible 9 as a score the raters would hardly agree."""
        given = [[1, 2, 3, 4], [1, 2, 3, None], [1, 2, 4, None]]
        rows = table_rows(given, "ordinal 1-5")
        more = row(sample_id=rows[3].sample_id, rater="rater-9", score=9.0, flag="impossible")
        usual, flagged = (agreement(some, resamples=0)[0] for some in (rows, [*rows, more]))
        assert flagged == usual
        table, raters = reliability_table([*rows, more])
        assert np.nanmax(table) == 4
        assert "rater-9" not in raters

    def test_scores_that_are_no_categories_have_alpha_alone(self):
        table = [[1, 2, 2, 4], [1, 2, 3, 4]]
        whole, any_number = (
            agreement(table_rows(table, f"{level} 1-5"), resamples=0)[0]
            for level in ("ordinal", "interval")
        )
        assert whole.kappa.value is not None
        assert (any_number.kappa.value, any_number.kappa.items) == (None, 4)
        assert any_number.alpha.value is not None

    def test_undefined_is_none_not_a_number(self):
        for table in ([[3, 3, 3], [3, 3, 3]], [[1, None], [None, 2]], [[1, 2, 3]]):
            (got,) = agreement(table_rows(table, "ordinal 1-5"))
            assert got.kappa.value is None
            assert got.alpha.value is None
            assert got.alpha.interval is None

    def test_the_interval_is_that_of_the_packages_alpha_on_resampled_items(self):
        random = np.random.RandomState(1)
        true = random.randint(1, 6, size=30)
        raters = [np.clip(true + random.randint(-1, 2, size=30), 1, 5) for _ in range(3)]
        (got,) = agreement(
            table_rows([some.tolist() for some in raters], "ordinal 1-5"), resamples=200
        )
        table = np.array(raters)
        drawn = np.random.RandomState(12345).randint(0, 30, size=(200, 30))
        alphas = [
            krippendorff.alpha(
                table[:, items], value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal"
            )
            for items in drawn
        ]
        low, high = np.percentile(alphas, [2.5, 97.5])
        assert (got.alpha.interval.low, got.alpha.interval.high) == pytest.approx((low, high))
        assert got.kappa.interval.low < got.kappa.value < got.kappa.interval.high

    def test_directions_apart_or_pooled(self):
        here = table_rows([[1, 2, 5], [1, 2, 5]], "ordinal 1-5")
        there = [
            j.model_copy(update={"direction": "yelp/positive-to-negative", "score": s})
            for j, s in zip(here, [1, 3, 5, 5, 3, 1], strict=True)
        ]
        apart = agreement(here + there, resamples=0)
        (pooled,) = agreement(here + there, pooled=True, resamples=0)
        assert apart[0].alpha.value == 1
        assert apart[1].alpha.value < pooled.alpha.value < 1
        assert (pooled.direction, pooled.alpha.items) == (None, 6)

    def test_what_cannot_be_matched_is_refused(self):
        with pytest.raises(InputError, match="no sample ids"):
            agreement([row(sample_id=None)])
        with pytest.raises(InputError, match="several scales"):
            agreement([row(), row(sample_id="2", scale="ordinal 1-7")])
        with pytest.raises(InputError, match="twice"):
            reliability_table([row(), row()])
        many = [row(sample_id=str(i), scale="interval 1-5", score=1 + i / 50) for i in range(150)]
        with pytest.raises(InputError, match="few steps"):
            agreement(many)


class TestTable6:
    """Kappas of absolute naturalness cut at tau and of relative naturalness (Mir et al. 2019)."""

    ABSOLUTE = ([1, 3, 5, 2], [2, 3, 4, 1], [3, 2, 1, 1])  # raters x outputs
    RELATIVE = ([0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 1, 1])

    def rows(self):
        absolute = [
            judgment.model_copy(update={"aspect": "naturalness"})
            for judgment in table_rows(self.ABSOLUTE, "ordinal 1-5")
        ]
        relative = [
            judgment.model_copy(update={"aspect": "naturalness_relative"})
            for judgment in table_rows(self.RELATIVE, "nominal 0-1")
        ]
        agreed = [
            judgment.model_copy(
                update={"system": "b", "score": 1.0 + 4 * (judgment.sample_id > "1")}
            )
            for judgment in absolute
        ]
        shared = [judgment.model_copy(update={"system": "b"}) for judgment in relative]
        copied = [judgment.model_copy(update={"system": "copy"}) for judgment in agreed]
        return [*absolute, *relative, *agreed, *shared, *copied]

    def printed(self, tmp_path, capsys, *options):
        write_judgments(tmp_path / "j.jsonl", self.rows())
        code = main(["agreement", str(tmp_path / "j.jsonl"), *options])
        told = capsys.readouterr()
        # By system there are no intervals, and nobody asked for any.
        assert ("no interval of fewer than 20 outputs" in told.err) == (not options)
        return code, [line.split("\t") for line in told.out.splitlines()]

    def test_by_hand(self, tmp_path, capsys):
        # Natural at 3: 1, 2, 2, 0 of 3. P = 1/2, Pe = (5/12)^2 + (7/12)^2 = 74/144, kappa = -1/35.
        # At 2: 2, 3, 2, 1 of 3. P = 1/2, Pe = 5/9, kappa = -1/8.
        # Relative: 0, 3, 3, 1 of 3. P = 5/6, Pe = 74/144, kappa = 46/70.
        code, rows = self.printed(tmp_path, capsys, "--by-system", "--tau", "3", "2")
        kappas = {(line[2], line[3]): line[6] for line in rows[1:]}
        assert code == 0
        assert kappas["a", "naturalness_tau_3"] == f"{-1 / 35:.3f}"
        assert kappas["a", "naturalness_tau_2"] == f"{-1 / 8:.3f}"
        assert kappas["a", "naturalness_relative"] == f"{46 / 70:.3f}"
        assert kappas["b", "naturalness_tau_3"] == "1.000"
        assert kappas["copy", "naturalness_tau_3"] == "1.000"  # a bound, in no average
        assert kappas["average", "naturalness_tau_3"] == f"{(1 - 1 / 35) / 2:.3f}"

    def test_systems_together_count_an_output_once_that_was_judged_once(self, tmp_path, capsys):
        _, rows = self.printed(tmp_path, capsys)  # a and b wrote the same texts
        outputs = {line[3]: line[5] for line in rows[1:]}
        assert outputs == {"naturalness": "8", "naturalness_relative": "4"}
        assert not any("[" in line[7] for line in rows[1:])  # too few outputs for an interval

    def test_what_was_not_asked_is_refused(self, tmp_path, capsys):
        write_judgments(tmp_path / "j.jsonl", table_rows(self.RELATIVE, "nominal 0-1"))
        assert main(["agreement", str(tmp_path / "j.jsonl"), "--tau", "2"]) == 2
        assert "--tau" in capsys.readouterr().err
        write_judgments(tmp_path / "none.jsonl", [])
        assert main(["agreement", str(tmp_path / "none.jsonl")]) == 2


def test_system_means_average_raters_first():
    rows = [
        row(sample_id="1", rater="rater-1", score=1),
        row(sample_id="1", rater="rater-2", score=3),
        row(sample_id="2", rater="rater-1", score=5),
        row(sample_id="2", rater="rater-2", score=None),
        row(system="b", score=4),
    ]
    a, b = system_means(rows)
    assert (a.system, a.mean, a.items, a.raters) == ("a", 3.5, 2, 2)  # (1+3)/2 and 5
    assert (a.interval, b.mean, b.interval) == (None, 4, None)
    (many,) = system_means([row(sample_id=f"{n}", score=1 + n % 5) for n in range(20)])
    assert many.interval.low < many.mean == 3 < many.interval.high
    other = row(study="autumn", sample_id="1", score=5)  # its sentence 1 is another one
    assert (system_means([*rows, other])[0].mean, system_means([*rows, other])[0].items) == (4, 3)
    skipped = row(sample_id="2", rater="rater-3", score=None)
    flagged = row(sample_id="2", rater="rater-4", score=9.0, flag="impossible")
    assert system_means([*rows, skipped, flagged]) == [a, b]  # they rated nothing
