"""The measured agreement that comes with the package: its file, its words, where it is shown."""

import numpy as np
import pytest
from leaderboard_pages import Page, show
from leaderboard_results import THERE, report, write

from tstbench.commands.cli import main
from tstbench.datasets_scripts.judgments.studies import STUDIES
from tstbench.errors import InputError
from tstbench.metrics.registry import METRICS
from tstbench.pipelines.meta import known
from tstbench.pipelines.meta.known import (
    FILE,
    Agreement,
    add_run,
    doubtful,
    headline,
    known_agreement,
    read_agreement,
    write_agreement,
)
from tstbench.pipelines.meta.levels import OfModel, means_of_models
from tstbench.pipelines.meta.result import MEAN_OF_MODELS, MetaReport, MetaScore


def number(metric="s_bleu", study="li2018", value=0.5, **changed):
    fields = {
        "study": study,
        "direction": None,
        "model": None,
        "aspect": "content",
        "level": "sentence",
        "metric": metric,
        "coefficient": "spearman",
        "value": value,
        "low": value - 0.1,
        "high": value + 0.1,
        "outputs": 3200,
        "items": 400,
        "systems": 8,
    }
    return MetaScore.model_validate({**fields, **changed})


def measured(*scores, resamples=1000):
    names = {score.metric for score in scores}
    return MetaReport(
        made_with="tstbench 1",
        date="2026-01-02",
        resamples=resamples,
        seed=1,
        terms={score.study: f"terms of {score.study}" for score in scores},
        signatures={
            name: {f"{s.study} {THERE}": f"{name}|{s.study}" for s in scores if s.metric == name}
            for name in names
        },
        scores=scores,
        differences=(),
        left_out=(),
    )


KEPT = Agreement().with_run(measured(number()), "c").model_dump_json()


@pytest.fixture
def shipped(monkeypatch):
    """These scores instead of the package's."""

    def ship(*scores):
        own = Agreement().with_run(measured(*scores), "tstbench meta-evaluate")
        monkeypatch.setattr(known, "known_agreement", lambda: own)
        return own

    return ship


class TestFile:
    def test_a_run_replaces_what_it_measured_again_and_nothing_else(self, tmp_path):
        path = tmp_path / "agreement.json"
        old = [number("s_bleu"), number("s_bleu", "mir2019"), number("acc", aspect="style")]
        add_run(path, measured(*old), "first")
        add_run(path, measured(number("s_bleu", value=0.7)), "second")
        found = read_agreement(path)
        assert [run.command for run in found.runs] == ["first", "second"]
        assert {s.study: s.value for s in found.of("s_bleu")} == {"mir2019": 0.5, "li2018": 0.7}
        assert found.of("acc")[0].value == 0.5
        assert found.runs[0].signatures == {
            "acc": {f"li2018 {THERE}": "acc|li2018"},
            "s_bleu": {f"mir2019 {THERE}": "s_bleu|mir2019"},
        }
        add_run(path, measured(number("s_bleu", value=0.6)), "third")
        assert [run.command for run in read_agreement(path).runs] == ["first", "third"]

    def test_written_one_number_a_line_and_read_again(self, tmp_path):
        path = tmp_path / "agreement.json"
        agreement = Agreement().with_run(measured(number(), number("acc")), "c")
        write_agreement(path, agreement)
        assert read_agreement(path) == agreement
        assert sum('"coefficient"' in line for line in path.read_text().splitlines()) == 2
        write_agreement(path, Agreement())
        assert read_agreement(path) == Agreement()

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{", "not JSON"),
            ('{"schema_version": 2}', "schema_version"),
            ('{"schema_version": 1, "more": 1}', "more"),
            ('{"schema_version": 1, "runs": [{"command": "c"}]}', "made_with"),
            ('{"schema_version": 1, "runs": 3}', "runs"),
            (KEPT.replace('"value":0.5', '"value":"high"'), "value"),
        ],
    )
    def test_another_file_is_refused_and_stays(self, tmp_path, text, said):
        path = tmp_path / "agreement.json"
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            add_run(path, measured(number()), "c")
        assert path.read_text() == text

    def test_every_option_that_moves_a_number_is_in_the_command(
        self, tmp_path, monkeypatch, tstbench_home
    ):
        study, summary = tstbench_home / "my study.csv", tmp_path / "agreement.json"
        study.parent.mkdir()
        rows = [
            f"a b c d {i},a b c d {i if j else ''},s{j},{1 + j}" for i in range(4) for j in (0, 1)
        ]
        other = tmp_path / "other.csv"
        for file in (study, other):
            file.write_text("source,output,system,Meaning\n" + "\n".join(rows) + "\n")
        options = ["--column", "content=Meaning", "--direction", THERE, "--scale", "1-7"]
        options += ["--metrics", "s_bleu", "--profile", "paper", "--scorer", "classifier=textcnn"]
        options += ["--set", "bleu.protocol=13a", "--dtype", "bfloat16", "--all-aspects"]
        options += ["--resamples", "100"]
        call = ["meta-evaluate", str(other), "--study", str(study), *options]
        assert main([*call, "--summary", str(summary)]) == 0
        (run,) = read_agreement(summary).runs
        assert run.command == " ".join(
            [f"tstbench meta-evaluate {other} --study '$TSTBENCH_HOME/my study.csv'", *options]
        )
        assert (run.resamples, {score.metric for score in run.scores}) == (100, {"s_bleu"})

    def test_another_file_is_told_of_before_anything_is_scored(self, tmp_path, capsys):
        summary = tmp_path / "meta.json"
        summary.write_text('{"scores": []}')
        call = ["meta-evaluate", "no-such-study.csv", "--metrics", "s_chrf"]
        assert main([*call, "--summary", str(summary)]) == 2
        assert f"{summary}: not measured agreement: scores" in capsys.readouterr().err


class TestShipped:
    def test_it_is_whole_and_of_this_version(self):
        agreement = read_agreement(FILE)
        assert known_agreement() == agreement
        scores = [score for run in agreement.runs for score in run.scores]
        names = [(s.metric, s.study, s.aspect, s.direction, s.level, s.coefficient) for s in scores]
        assert len(names) == len(set(names))
        assert {score.study for score in scores} == set(agreement.terms)
        assert all(agreement.terms[name] == str(STUDIES[name]) for name in agreement.terms)
        for run in agreement.runs:
            assert run.command.startswith("tstbench meta-evaluate ")
            assert "/" not in run.command.replace("$TSTBENCH_HOME/scorers/objects/", "")
            assert {score.metric for score in run.scores} <= set(run.signatures)
            for metric, signatures in run.signatures.items():
                for signature in signatures.values():
                    assert f"|v:{METRICS[metric].version}|" in signature, "measure it again"
        assert any(score.value for score in scores)
        for score in scores:
            assert score.value is None or -1 <= score.low <= score.value <= score.high <= 1
            assert score.outputs >= score.items >= 3

    def test_metrics_without_a_number_are_those_that_cannot_be_measured_here(self):
        qualities = {name for name, facts in METRICS.items() if facts.aspect != "other"}
        without = {name for name in qualities if not known.measured(name)}
        assert without <= {
            "judge_style", "judge_content", "judge_fluency", "logprop", "logprop_plain",
            "s_bleurt", "r_bleurt", "multi_bleurt",
        }  # fmt: skip


class TestWords:
    def test_the_study_with_most_outputs_whatever_it_says(self):
        best, largest = number(value=0.9, study="a", outputs=200), number(value=0.1, outputs=900)
        assert headline([best, largest]) is largest
        assert headline([number(value=0.2, low=None, high=None), best]).outputs == 3200
        assert headline([]) is None

    def test_doubt_is_an_interval_that_is_not_above_zero(self):
        scores = [number(low=low) for low in (-0.1, 0.0, 0.01)]
        assert [score.low for score in doubtful(scores)] == [-0.1, 0.0]

    def test_one_coefficient_and_level_at_a_time(self, shipped):
        """A file holds several of each; the one that is asked for is shown."""
        own = shipped(
            number(value=0.5),
            number(value=0.7, coefficient="pearson"),
            number(value=0.9, level="system", direction=THERE),
            number(value=0.8, level="system", direction=THERE, coefficient="pearson"),
        )
        assert [s.value for s in own.of("s_bleu")] == [0.5]
        assert [s.value for s in own.of("s_bleu", coefficient="pearson")] == [0.7]
        assert [s.value for s in own.of("s_bleu", level="system")] == [0.9]
        assert [s.value for s in known.agreement_of("s_bleu", "pearson")] == [0.7]
        assert known.beside("s_bleu") == "ρ 0.50\npeople"

    def test_only_the_aspect_that_a_metric_is_for(self, shipped):
        shipped(
            number("copy_rate"),
            number("ppl", aspect="naturalness", value=0.2),
            number("ppl", aspect="content", outputs=9999),
        )
        assert known.short("copy_rate") == ""
        assert known.beside("ppl") == "ρ 0.20\npeople"
        assert known.measured("nothing") == ()
        assert known.in_full("nothing") == known.one_line("nothing") == ""

    def test_systems_where_single_outputs_have_no_score(self, shipped):
        bounds = {"low_systems": -0.5, "high_systems": 1.0, "low": 0.3}
        shipped(
            number("joint", aspect="overall", level="system", direction=THERE, value=0.4, **bounds)
        )
        assert known.beside("joint") == "ρ 0.40‡\nsystems"
        assert known.in_full("joint").endswith(
            f"means of systems, Spearman's ρ with 95% interval. Li 2018, overall {THERE}: "
            "0.40 [−0.50, 1.00], 8 systems"
        )
        assert known.one_line("joint").endswith("system n=8")

    def test_an_asked_overall_goes_before_a_derived_one_of_more_outputs(self, shipped):
        shipped(
            number("joint", aspect="derived_overall", study="li2018", outputs=9999, value=0.9),
            number("joint", aspect="overall", study="asked", outputs=100, value=0.2),
        )
        assert known.short("joint") == "0.20"
        assert "li2018 derived overall yelp/" in known.one_line("joint_calibrated")

    def test_what_was_measured_on_sentiment_is_not_said_over_other_data(self, shipped):
        shipped(number("acc", aspect="style", value=0.42))
        ours, other = (f"acc|v:1|direction:my/{way}" for way in ("positive-to-negative", "a-to-b"))
        assert known.beside("acc", ours) == "ρ 0.42\npeople"
        assert known.beside("acc", other) == known.in_full("acc", other) == ""

    def test_all_studies_in_full_the_largest_first(self, shipped):
        shipped(
            number(study="pauli2025", value=-0.4, outputs=200, systems=1),
            number(study="li2018", value=0.5),
        )
        assert known.short("s_bleu") == "0.50‡"
        assert known.one_line("s_bleu") == "0.50 [0.40, 0.60] li2018 content sentence n=3200"
        assert known.in_full("s_bleu").endswith(
            "Li 2018, content: 0.50 [0.40, 0.60], 3,200 outputs of 8 systems; "
            "Pauli 2025, content: −0.40 [−0.50, −0.30], 200 outputs of 1 system"
        )
        assert list(known.by_study("s_bleu")) == ["li2018", "pauli2025"]


class TestPages:
    @pytest.fixture
    def root(self, tmp_path):
        values = {"acc": 50.0, "s_bleu": 60.0, "copy_rate": 1.0}
        results = tmp_path / "results"
        write(results, report("a system", values))
        return results

    def test_beside_a_title_and_in_full_behind_it(self, root, shipped):
        shipped(number("acc", aspect="style", value=0.42), number("s_bleu", value=-0.2))
        page = Page(show(root, direction=THERE).html)
        assert "ρ 0.42\npeople" in page.text
        assert "ρ −0.20‡\npeople" in page.text
        assert "copies" in page.text  # no quality: nothing stands beside it
        assert page.text.count("\npeople") == 2
        assert known.DOUBT in page.text
        assert known.WHAT in page.text
        titles = [a.get("title", "") for a in page.all("button")]
        assert any("Li 2018, style: 0.42 [0.32, 0.52], 3,200 outputs" in text for text in titles)
        told = [a["data-meaning"] for a in page.all("th") if a.get("data-key") == "s_bleu"]
        assert "Li 2018, content: −0.20" in told[0]

    def test_nothing_is_said_of_what_was_not_measured_nor_of_marks_that_are_not_there(
        self, root, shipped
    ):
        shipped()
        page = Page(show(root, direction=THERE).html)
        assert "\npeople" not in page.text
        assert known.WHAT not in page.text
        assert "ρ" not in Page(show(root, view="about").html).text
        shipped(number("acc", aspect="style", value=0.42))
        page = Page(show(root, direction=THERE).html)
        assert known.DOUBT not in page.text
        assert known.WHAT in page.text

    def test_all_directions_say_it_of_their_metric(self, root, shipped):
        shipped(number("acc", aspect="style", value=0.42))
        page = Page(show(root, view="overview", metric="acc").html)
        assert "Li 2018, style: 0.42 [0.32, 0.52]" in page.text

    def test_about_has_a_column_for_each_study(self, root, shipped):
        shipped(number("s_bleu"), number("s_bleu", "pauli2025", -0.4, outputs=200, systems=1))
        page = Page(show(root, view="about").html)
        assert "ρ Li 2018" in page.text
        assert "ρ Pauli 2025" in page.text
        assert "−0.50 to −0.30" in page.text
        assert "terms of pauli2025" in page.text


def test_a_metrics_own_page_says_it_below_the_score(shipped):
    pytest.importorskip("gradio")
    from tstbench.spaces.metric_page import _scores_html

    shipped(number(study="<b>", value=0.5))
    details = {"unit": "percent", "interval": (1, 2), "higher_is_better": True, "signature": "s"}
    details["interval_method"] = "bootstrap"
    html = _scores_html({"s_bleu": 1.5, "details": {"s_bleu": details}})
    assert "Spearman's ρ with 95% interval. &lt;b&gt;, content: 0.50" in html.replace("&#x27;", "'")


def test_the_list_of_metrics_has_the_number_with_its_study(capsys):
    assert main(["metrics"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert {row["metric"]: row["people"] for row in rows} == {
        name: known.one_line(name) for name in METRICS
    }


class TestMeanOfModels:
    def one(self, model, value, items=10, aspect="style"):
        stream = np.random.RandomState(len(model))
        score = number(value=value, model=model, items=items, outputs=20, systems=2, aspect=aspect)
        return OfModel(score, value + stream.randn(500) * 0.1, value)

    def test_a_mean_of_values_and_of_replicates(self):
        some = [self.one("A", 0.5), self.one("BB", 0.3)]
        (mean,) = means_of_models(some)
        assert (mean.model, mean.value) == (MEAN_OF_MODELS, 0.4)
        assert (mean.outputs, mean.systems) == (40, 4)
        drawn = (some[0].replicates + some[1].replicates) / 2
        assert [mean.low, mean.high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=1e-6)

    def test_no_mean_of_one_model_or_of_other_sentences(self):
        assert means_of_models([self.one("A", 0.5), self.one("BB", 0.3, aspect="content")]) == []
        assert means_of_models([self.one("A", 0.5), self.one("BB", 0.3, items=9)]) == []

    def test_an_undefined_value_has_no_interval(self):
        undefined = OfModel(self.one("BB", 0.3).score, np.full(500, np.nan), float("nan"))
        (mean,) = means_of_models([self.one("A", 0.5), undefined])
        assert (mean.value, mean.low, mean.high) == (None, None, None)
