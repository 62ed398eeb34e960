"""tstbench meta-evaluate: what is compared with what, its files, its mistakes."""

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

from tstbench.commands.cli import main
from tstbench.datasets_scripts.judgments.schema import Judgment, write_judgments
from tstbench.datasets_scripts.judgments.studies import STUDIES
from tstbench.errors import InputError
from tstbench.pipelines.human import COPY_PENALTY, derived_overalls
from tstbench.pipelines.meta.coefficients import Settings
from tstbench.pipelines.meta.columns import Column, computed_columns, rated_outputs, read_scores
from tstbench.pipelines.meta.evaluate import meta_evaluate
from tstbench.pipelines.meta.result import JSON_FILE, MetaReport, terminal, write_folder
from tstbench.pipelines.scoring import scoring

WAYS = ("mini/negative-to-positive", "mini/positive-to-negative")
WORDS = "the soup was cold and nobody came to our table for an hour or so".split()


def rows(systems=4, sentences=24, aspects=("content",), ways=WAYS[:1], raters=2):
    """A study whose systems keep more and more of the source, and whose raters see it."""
    stream = np.random.RandomState(0)
    for way in ways:
        for number in range(sentences):
            source = " ".join(WORDS[number % 5 :])
            for system in range(systems):
                kept = " ".join(WORDS[number % 5 + systems - 1 - system :])
                for aspect in aspects:
                    for rater in range(raters):
                        score = np.clip(round(1 + system + stream.rand()), 1, 5)
                        yield Judgment(
                            study="ours",
                            dataset="mini",
                            direction=way,
                            system=f"system-{system}",
                            sample_id=f"{number}",
                            source=f"{source} {number}",
                            output=f"{kept} {number}",
                            aspect=aspect,
                            scale="interval 1-5",
                            rater=f"rater-{rater}",
                            score=float(score),
                        )


def with_scores(function):
    """A metric of that name from an output's number and mean human score."""

    def score(outputs):
        human = np.array([next(iter(o.scores.values())) for o in outputs])
        return [Column(name="m", aspect="other", sentence=function(human))], []

    return score


def one(report, **where):
    found = [s for s in report.scores if all(getattr(s, k) == v for k, v in where.items())]
    assert len(found) == 1, found
    return found[0]


def test_a_metric_that_is_the_human_score_agrees_wholly():
    report = meta_evaluate(rows(), with_scores(lambda human: human), Settings(resamples=100))
    for level, name in (("sentence", "pearson"), ("sentence", "accuracy"), ("system", "spearman")):
        score = one(report, level=level, coefficient=name)
        assert score.value == pytest.approx(1)
        assert score.high == pytest.approx(1)
    assert (score.outputs, score.items, score.systems) == (96, 24, 4)


def test_means_over_raters_are_tied_where_they_are_equal():
    """(4.1 + 4.3) / 2 is 4.2, and 4.199999999999999 in binary: kendall_b would have an order."""
    given = {"a": (4.1, 4.3), "b": (4.2, 4.2)}
    own = [
        row.model_copy(update={"score": given[row.system][int(row.rater[-1])]})
        for row in (
            r.model_copy(update={"system": "ab"[int(r.system[-1])]}) for r in rows(systems=2)
        )
    ]
    assert np.mean(given["a"]) != np.mean(given["b"])
    assert {one.scores["content"] for one in rated_outputs(own)} == {4.2}


def test_a_system_may_be_called_source():
    """Only Mir et al.'s file has ratings of the sources under that name."""
    named = [row.model_copy(update={"system": "source"}) for row in rows(systems=1)]
    assert len(rated_outputs(named)) == 24
    assert rated_outputs([row.model_copy(update={"study": "mir2019"}) for row in named]) == []


def test_too_few_source_sentences_have_no_test_over_sentences():
    def score(outputs):
        human = np.array([next(iter(o.scores.values())) for o in outputs])
        noise = human + np.random.RandomState(1).randn(len(human))
        return [
            Column(name=n, aspect="other", sentence=v)
            for n, v in zip("ab", (human, noise), strict=True)
        ], []

    for sentences, tested in ((19, False), (20, True)):
        report = meta_evaluate(rows(sentences=sentences), score, Settings(resamples=100))
        assert len(report.differences) == 2
        for one in (*report.scores, *report.differences):
            assert (one.low is not None, one.high is not None) == (tested, tested)
        assert {d.p_bootstrap is not None for d in report.differences} == {tested}


def test_one_source_sentence_has_no_interval_over_sentences():
    score = with_scores(lambda h: h**2)
    report = meta_evaluate(rows(sentences=1), score, Settings(resamples=100))
    assert {s.level for s in report.scores} == {"sentence", "system"}
    assert {(s.low, s.high) for s in report.scores} == {(None, None)}
    assert one(report, level="system", coefficient="pearson").low_systems is not None
    assert "4 outputs of 1 sentence (intervals need 20)\n" in terminal(report)


def test_one_pair_of_outputs_has_no_share():
    several = [row for row in rows(sentences=6) if row.system == "system-0"]
    pair = [row for row in rows(sentences=1) if row.system == "system-3"]
    report = meta_evaluate([*several, *pair], with_scores(lambda h: h), Settings(resamples=100))
    assert {s.coefficient for s in report.scores} == {
        "pearson",
        "spearman",
        "kendall_b",
        "kendall_c",
    }


def test_a_metric_that_needs_references_is_left_out_without_them():
    how = scoring(["s_bleu", "r_bleu"])
    columns, left = computed_columns(rated_outputs(rows()), how)
    assert [column.name for column in columns] == ["s_bleu"]
    assert "references" in left[0].why
    report = meta_evaluate(rows(), lambda o: computed_columns(o, how), Settings(resamples=100))
    assert report.signatures["s_bleu"][f"ours {WAYS[0]}"].startswith("s_bleu|")
    # At system level a corpus metric is the corpus score, not the mean of sentences.
    statistics, places = columns[0].corpus[WAYS[0], "system-1"]
    assert len(places) == 24
    assert statistics.value != pytest.approx(columns[0].sentence[places].mean())


def test_directions_are_pooled_only_where_systems_are_the_same():
    settings = Settings(resamples=100, differences=False)
    same = meta_evaluate(rows(ways=WAYS), with_scores(lambda h: h), settings)
    assert {s.direction for s in same.scores} == {None, *WAYS}
    fewer = [r for r in rows(ways=WAYS) if (r.direction, r.system) != (WAYS[1], "system-3")]
    other = meta_evaluate(fewer, with_scores(lambda h: h), settings)
    assert {s.direction for s in other.scores} == set(WAYS)


def test_aspects_meet_the_metrics_that_measure_them():
    def score(outputs):
        human = np.array([o.scores["style"] for o in outputs])
        return [Column(name=n, aspect=n, sentence=human) for n in ("style", "content")], []

    few = meta_evaluate(rows(aspects=("style", "content")), score, Settings(resamples=100))
    assert {(s.aspect, s.metric) for s in few.scores} == {
        ("style", "style"),
        ("content", "content"),
    }
    settings = Settings(resamples=100, all_aspects=True)
    every = meta_evaluate(rows(aspects=("style", "content")), score, settings)
    assert len({(s.aspect, s.metric) for s in every.scores}) == 4


def test_a_study_without_overall_scores_gets_derived_ones_of_another_name():
    outputs = rated_outputs(rows(aspects=("style", "content", "fluency")))
    scores = outputs[0].scores
    mean = np.mean([scores[name] for name in ("style", "content", "fluency")])
    assert "overall" not in scores
    assert scores["derived_overall"] == pytest.approx(mean)


def test_a_derived_overall_is_of_the_protocols_scale_only(tmp_path, capsys):
    table = tmp_path / "percent.csv"
    lines = [f"is {n},was{' so' * n},a,{WAYS[0]},{90 - n},{10 + n},{n}\n" for n in range(5)]
    table.write_text("source,output,system,direction,style,content,fluency\n" + "".join(lines))
    call = ["meta-evaluate", str(table), "--scale", "0-100", "--metrics", "length_ratio"]
    assert main([*call, "--all-aspects", "--resamples", "100"]) == 0
    printed = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
    assert {row["aspect"] for row in printed} == {"style", "content", "fluency"}


def test_a_flagged_score_is_no_part_of_a_derived_overall():
    judgments = list(rows(systems=2, aspects=("style", "content", "fluency"), raters=1))
    first = judgments[0]
    wrong = Judgment.model_validate(first.model_dump() | {"score": 9.0, "flag": "impossible"})
    rated = rated_outputs([wrong, *judgments[1:]])
    lacking = [one for one in rated if "derived_overall" not in one.scores]
    assert [(one.system, one.sentence) for one in lacking] == [(first.system, first.sample_id)]
    assert set(lacking[0].scores) == {"content", "fluency"}


def test_the_seed_moves_intervals_and_no_value():
    noise = np.random.RandomState(3).randn(96)

    def found(seed):
        settings = Settings(resamples=100, seed=seed, differences=False)
        report = meta_evaluate(rows(), with_scores(lambda h: h + noise), settings)
        assert (report.seed, report.resamples) == (seed, 100)
        score = one(report, level="sentence", coefficient="pearson")
        return score.value, (score.low, score.high)

    (value, bounds), (same, again), (third, other) = found(1), found(1), found(2)
    assert (value, bounds) == (same, again)
    assert value == third
    assert bounds != other


def test_metrics_are_compared_on_the_same_outputs():
    def score(outputs):
        human = np.array([o.scores["content"] for o in outputs])
        hole = np.where(np.arange(len(human)) < 8, np.nan, human)
        noise = human + np.random.RandomState(1).randn(len(human))
        columns = {"good": human, "hole": hole, "noise": noise}
        return [Column(name=n, aspect="other", sentence=v) for n, v in columns.items()], []

    report = meta_evaluate(rows(), score, Settings(resamples=200))
    assert {s.outputs for s in report.scores if s.level == "sentence"} == {88}
    gap = next(d for d in report.differences if d.level == "sentence" and d.second == "noise")
    assert gap.first in ("good", "hole")
    assert gap.difference > 0
    assert gap.low > 0
    assert max(gap.p_bootstrap, gap.p_permutation, gap.p_williams) < 0.05


def test_the_folder_says_everything_and_is_read_again(tmp_path):
    uneven = np.random.RandomState(0).rand(96)  # so that the two intervals differ
    report = meta_evaluate(rows(), with_scores(lambda h: h + uneven), Settings(resamples=100))
    write_folder(tmp_path / "out", report)
    written = (tmp_path / "out" / JSON_FILE).read_text()
    assert MetaReport.model_validate_json(written) == report
    with (tmp_path / "out" / "scores.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == len(report.scores)
    text = (tmp_path / "out" / "README.md").read_text()
    assert "100 resamples" in text
    r, rho, tau, share = (s.value for s in report.scores if s.level == "system")
    assert f"| m | {r:.3f} | {rho:.3f} | {tau:.3f} | {share:.3f} |" in text
    assert max(map(len, terminal(report).splitlines())) <= 80
    whole = one(report, level="system", coefficient="pearson")
    over_systems = f"{whole.low_systems:.3f} to {whole.high_systems:.3f}"
    assert f"| {whole.low:.3f} to {whole.high:.3f} | {over_systems} |" in text
    heading = terminal(report).split("system level")[1].splitlines()
    assert (heading[1].split("  ")[-1], heading[2].split("  ")[-1]) == (
        "r: over systems",
        over_systems,
    )
    write_folder(tmp_path / "out", report)  # ours is replaced
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="did not write"):
        write_folder(tmp_path / "theirs", report)


def test_a_summary_has_whole_studies_only():
    settings = Settings(resamples=100)
    report = meta_evaluate(rows(ways=WAYS), with_scores(lambda h: h), settings)
    short = report.summary()
    found = {(s.level, s.direction, s.coefficient) for s in short.scores}
    assert {(level, way) for level, way, _ in found} == {
        ("sentence", None),
        ("system", WAYS[0]),
        ("system", WAYS[1]),
    }
    assert {name for *_, name in found} == {"pearson", "spearman"}
    assert short.differences == ()


def test_a_table_of_scores_on_the_command_line(tmp_path, capsys):
    study, table = tmp_path / "study.jsonl", tmp_path / "scores.csv"
    judgments = list(rows(raters=1, ways=WAYS))
    write_judgments(study, judgments)
    lines = [f"{j.direction},{j.system},{j.sample_id},{j.score},{-j.score}\n" for j in judgments]
    table.write_text("direction,system,id,mine,distance\n" + "".join(lines))
    call = ["meta-evaluate", str(study), "--scores", str(table), "--resamples", "100"]
    out = tmp_path / "out"
    assert main([*call, "--lower-is-better", "distance", "--out", str(out)]) == 0
    printed = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
    values = {r["metric"]: r["value"] for r in printed if r["coefficient"] == "pearson"}
    assert values == {"mine": "1.0", "distance": "1.0"}
    quoted = {(r["level"], r["direction"], r["coefficient"]) for r in printed}
    assert quoted == {("sentence", "", "pearson"), ("sentence", "", "spearman")}
    assert list(printed[0]) == (
        "study direction aspect level metric coefficient value low high".split()
    )
    assert main([*call, "--all"]) == 0
    output = capsys.readouterr()
    printed = list(csv.DictReader(output.out.splitlines(), delimiter="\t"))
    assert {(r["level"], r["direction"]) for r in printed} == {
        *(("sentence", way) for way in ("", *WAYS)),
        *(("system", way) for way in WAYS),
    }
    assert {r["coefficient"] for r in printed} > {"pearson", "spearman", "kendall_b", "accuracy"}
    assert len(printed) == len(json.loads((out / "meta.json").read_text())["scores"])
    assert "more numbers" not in output.err
    assert json.loads((out / "meta.json").read_text())["resamples"] == 100
    assert main([*call, "--lower-is-better", "far"]) == 2
    assert "no column 'far'" in capsys.readouterr().err


def test_a_score_of_a_system_is_none_of_its_outputs_and_some_systems_are_enough(tmp_path):
    table = tmp_path / "scores.csv"
    textless = [
        row.model_copy(update={"source": None, "output": None})
        for row in rows(systems=5, ways=WAYS[:2])
    ]
    lines = [f"{WAYS[0]},system-{n},{n},{n if n < 2 else ''}\n" for n in range(4)]
    lines += [f"{WAYS[1]},system-{n},{n},{n}\n" for n in range(2)]
    table.write_text("direction,system,joint,hardly\n" + "".join(lines))
    scores = read_scores(table)
    report = meta_evaluate(textless, lambda o: (scores.columns(o), []), Settings(resamples=100))
    assert {(s.level, s.metric, s.systems) for s in report.scores} == {("system", "joint", 4)}
    assert one(report, coefficient="spearman").value == pytest.approx(1)
    why = {(left.metric, left.direction): left.why for left in report.left_out}
    assert why["joint", WAYS[1]].startswith("2 of its systems are scored")
    assert why["hardly", WAYS[0]].startswith("2 of its systems are scored")


def test_the_scores_of_an_output_are_those_of_its_study_and_system(tmp_path):
    table = tmp_path / "scores.csv"
    outputs = rated_outputs(rows(systems=2, sentences=1))
    lines = [
        f"{study},{o.direction},{o.system},{o.source},{o.output},{place + more}\n"
        for study, more in (("ours", 0), ("theirs", 9))
        for place, o in enumerate(outputs)
    ]
    table.write_text("study,direction,system,source,output,m\n" + "".join(lines))
    (column,) = read_scores(table).columns(outputs)
    assert column.sentence.tolist() == [0, 1]
    table.write_text(table.read_text().replace("theirs", "ours"))
    with pytest.raises(InputError, match="line 4: line 2 has other scores of the same output"):
        read_scores(table).columns(outputs)
    row = f"{WAYS[0]},system-0"
    table.write_text(f"direction,system,m\n{row},1\n{row},2\n")
    with pytest.raises(InputError, match="line 3: line 2 has other scores of the same system"):
        read_scores(table).columns(outputs)


def test_nothing_to_compare_is_said(tmp_path, capsys):
    study, table = tmp_path / "study.jsonl", tmp_path / "scores.csv"
    write_judgments(study, rows(raters=1))
    table.write_text("id,m\nunknown,1\n")
    assert main(["meta-evaluate", str(study), "--scores", str(table)]) == 2
    err = capsys.readouterr().err
    assert "m is left out of ours: " in err
    assert "has none of the study's outputs" in err
    assert "nothing could be compared" in err
    table.write_text("id,m\nunknown,\n")
    assert main(["meta-evaluate", str(study), "--scores", str(table)]) == 2
    assert "no score in this column: all its cells are empty" in capsys.readouterr().err


def test_what_is_left_out_is_said_with_its_study(tmp_path, capsys):
    """Two studies of one direction: the direction alone does not say whose."""
    for name in ("ours", "theirs"):
        (tmp_path / f"{name}.csv").write_text(
            "source,output,system,direction,content\n"
            + "".join(f"is {n},is{' so' * n},one,{WAYS[0]},{1 + n % 5}\n" for n in range(9))
        )
    files = [str(tmp_path / f"{name}.csv") for name in ("ours", "theirs")]
    command = ["meta-evaluate", *files, "--metrics", "s_bleu", "r_bleu", "--resamples", "100"]
    assert main([*command, "--no-tests"]) == 0
    said = f"r_bleu is left out of ours ({WAYS[0]}), theirs ({WAYS[0]}): "
    assert said in capsys.readouterr().err


def test_ratings_or_scores_that_are_all_the_same_are_said_instead_of_blank_rows(tmp_path, capsys):
    study = tmp_path / "ours.csv"
    study.write_text(
        "source,output,system,direction,style,content\n"
        + "".join(f"was {n},is {n},one,{WAYS[0]},4,{1 + n % 5}\n" for n in range(9))
    )
    table = tmp_path / "scores.csv"
    table.write_text(
        "source,output,good,flat\n" + "".join(f"was {n},is {n},{n},0.5\n" for n in range(9))
    )
    command = ["meta-evaluate", str(study), "--scores", str(table), "--resamples", "100"]
    assert main([*command, "--all"]) == 0
    printed = capsys.readouterr()
    assert "all 9 outputs have the same human style, 4: no correlation" in printed.err
    assert "all 9 outputs have the same score, 0.5: no correlation" in printed.err
    rows = csv.DictReader(printed.out.splitlines(), delimiter="\t")
    assert {(row["aspect"], row["metric"]) for row in rows} == {("content", "good")}


def test_a_metric_with_hardly_any_score_does_not_silence_the_others():
    def score(outputs):
        human = np.array([o.scores["content"] for o in outputs])
        sparse = np.where(np.arange(len(human)) == 3, human, np.nan)
        columns = {"good": human, "sparse": sparse}
        return [Column(name=n, aspect="other", sentence=v) for n, v in columns.items()], []

    report = meta_evaluate(rows(), score, Settings(resamples=100))
    assert one(report, level="sentence", coefficient="pearson").metric == "good"
    (left,) = report.left_out
    assert (left.metric, left.direction) == ("sparse", WAYS[0])
    assert "human content, 1 have its score" in left.why


def test_why_nothing_could_be_compared_is_always_said(tmp_path, capsys):
    study = tmp_path / "study.jsonl"
    write_judgments(study, rows(aspects=("style",)))
    assert main(["meta-evaluate", str(study), "--metrics", "s_bleu"]) == 2
    assert "--all-aspects" in capsys.readouterr().err
    write_judgments(study, rows(systems=2, sentences=1))
    assert main(["meta-evaluate", str(study), "--metrics", "s_bleu"]) == 2
    assert "of the outputs with human content, 2 have its score" in capsys.readouterr().err


@pytest.mark.realdata
def test_published_overalls_are_what_raters_said_and_not_what_the_rule_gives():
    rows = STUDIES["tstbench2025"].judgments()
    given = {}
    for row in rows:
        # Exact: as binary floats, 195 of the 350 that lie 0.1 away would lie further.
        score = Fraction(str(row.score))
        given.setdefault((row.direction, row.system, row.item), {})[row.aspect] = score
    near = {"mean": 0, "copy": 0, None: 0}
    for scores in given.values():
        overall, mean = scores.pop("overall"), sum(scores.values()) / 3
        rule = {"mean": mean, "copy": mean * Fraction(str(COPY_PENALTY))}
        fits = (name for name, one in rule.items() if abs(overall - one) <= Fraction("0.1"))
        near[next(fits, None)] += 1
    assert near == {"mean": 2523, "copy": 305, None: 922}
    assert derived_overalls(rows) == []  # a study that asked has no derived ones beside them


@pytest.mark.realdata
def test_overlap_disagrees_with_people_where_a_change_of_meaning_is_hidden(capsys):
    call = ["meta-evaluate", "pauli2025", "--metrics", "s_bleu", "--resamples", "100", "--no-tests"]
    assert main(call) == 0
    printed = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
    whole = [r for r in printed if not r["direction"] and r["coefficient"] == "pearson"]
    assert [round(float(r["value"]), 2) for r in whole] == [-0.43]
