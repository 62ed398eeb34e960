"""The leaderboard without a browser: what is compared, ranked, shown and refused."""

import json
import os
import random
import re
import shutil
import time
from dataclasses import replace
from threading import Event

import pytest
from analysis_results import judgment
from leaderboard_pages import Page, column, ranking_of, show
from leaderboard_results import (
    BACK,
    BLEU,
    THERE,
    report,
    sample,
    several_directions,
    signature,
    write,
    write_whole,
)

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.pipelines.report import further_key
from tstbench.spaces.leaderboard import data
from tstbench.spaces.leaderboard.correlation import correlate
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.facts import Facts
from tstbench.spaces.leaderboard.groups import settings, ways_of_scoring
from tstbench.spaces.leaderboard.human import read_human
from tstbench.spaces.leaderboard.overview import build_overview
from tstbench.spaces.leaderboard.picture_view import lengths_picture
from tstbench.spaces.leaderboard.places import computed_places
from tstbench.spaces.leaderboard.query import VIEWS, Query
from tstbench.spaces.leaderboard.ranking import build_ranking
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.views import render


class TestSettings:
    def test_equal_signatures_are_one_setting(self, root):
        for name in "abc":
            write(root, report(name, {"acc": 50, "joint": 0.5}))
        (only,) = settings(Results(root).board().of(THERE))
        assert [e.label for e in only.entries] == ["a", "b", "c"]
        assert only.signatures == {m: signature(m) for m in ("acc", "joint")}

    @pytest.mark.parametrize(
        "change",
        [{"classifier": "linear:mini#bbbbbbbbbbbb"}, {"version": "2"}, {"fingerprint": "f"}],
        ids=["scorer", "version", "data"],
    )
    def test_another_scorer_version_or_data_is_never_in_the_same_table(self, root, change):
        there = "gyafc_em/informal-to-formal"  # whose files are not here
        write(root, report("ours", {"acc": 50}, there))
        write(root, report("theirs", {"acc": 60}, there, **change))
        found = settings(Results(root).board().of(there))
        assert [[e.label for e in s.entries] for s in found] in (
            [["ours"], ["theirs"]],
            [["theirs"], ["ours"]],
        )
        assert len({s.label for s in found}) == 2, "the reader could not tell them apart"
        first = show(root, direction=there, setting=found[0].key).html
        assert (found[0].entries[0].label in first) != (found[1].entries[0].label in first)

    def test_a_partial_report_is_at_home_wherever_it_contradicts_nothing(self, root):
        write(root, report("one", {"acc": 50, "cola": 50}))
        two = report("two", {"acc": 50, "cola": 50})
        other = two.scores[1].model_copy(update={"signature": "cola|classifier:other#1"})
        write(root, two.model_copy(update={"scores": (two.scores[0], other)}))
        write(root, report("acc only", {"acc": 70}))
        found = settings(Results(root).board().of(THERE))
        assert sorted(sorted(e.label for e in s.entries) for s in found) == [
            ["acc only", "one"],
            ["acc only", "two"],
        ]

    def test_a_score_without_a_scorer_belongs_to_every_profile(self):
        one = report("a", {"acc": 50, "s_bleu": 40})
        acc, bleu = one.scores
        bleu = bleu.model_copy(update={"signature": "s_bleu|v:1"})
        other = acc.model_copy(update={"profile": "lm", "signature": "acc|classifier:llama#2"})
        both = Facts.of(one.model_copy(update={"scores": (acc, bleu, other)}))
        ways = [sorted(way) for way in ways_of_scoring(both.layout)]
        assert ways == [["acc", "s_bleu"]] * 2

    def test_a_report_of_two_ways_is_in_each_setting_with_the_scores_that_fit(self, root):
        """A score is at home with the most similar ones of the other metrics."""
        one = report("both", {"s_bleu": 40, "r_bleu": 30})
        ways = [{m: f"{m}|v:1|protocol:{p}" for m in ("s_bleu", "r_bleu")} for p in ("13a", "intl")]
        scores = []
        for n, way in enumerate(ways):
            for score in one.scores:
                key = further_key(score.metric, way[score.metric]) if n else score.metric
                new = {"signature": way[score.metric], "key": key}
                scores.append(score.model_copy(update=new))
        write(root, one.model_copy(update={"scores": tuple(scores)}))
        found = settings(Results(root).board().of(THERE))
        assert [setting.signatures for setting in found] == ways
        for setting in found:
            shown = setting.entries[0].report.scores
            assert {score.metric: score.signature for score in shown} == setting.signatures

    def test_inside_a_setting_each_metric_has_one_signature_whatever_the_order(self, root):
        random.seed(0)
        for i in range(40):
            metrics = random.sample(["acc", "s_bleu", "ppl", "cola"], random.randint(1, 4))
            fields = {"classifier": random.choice(["x#1", "y#2"]), "version": random.choice("12")}
            write(root, report(f"s{i}", dict.fromkeys(metrics, 5.0), **fields))
        entries = list(Results(root).board().of(THERE))
        seen = []
        for _ in range(3):
            found = settings(entries)
            for setting in found:
                for entry in setting.entries:
                    for one in entry.report.scores:
                        assert one.signature == setting.signatures[one.metric]
            assert {e.label for s in found for e in s.entries} == {f"s{i}" for i in range(40)}
            seen.append({s.key: {e.label for e in s.entries} for s in found})
            random.shuffle(entries)
        assert seen[0] == seen[1] == seen[2]

    def test_a_release_of_a_library_splits_nothing_and_is_told(self, root):
        write(root, report("ours", {"acc": 50}, made_with="tstbench:1|nltk:3.9"))
        write(root, report("theirs", {"acc": 60}, made_with="tstbench:2|nltk:3.10"))
        (only,) = settings(Results(root).board().of(THERE))
        assert [e.label for e in only.entries] == ["ours", "theirs"]
        (header,) = (
            h for h in Page(show(root, direction=THERE).html).all("th") if "data-signature" in h
        )
        assert header["data-made-with"].split("\n") == [
            "tstbench:1|nltk:3.9",
            "tstbench:2|nltk:3.10",
        ]
        assert "nltk" not in header["data-signature"]

    def test_two_reports_of_one_name_are_told_apart(self, root):
        write(root, report("same", {"acc": 50}))
        write(root, report("same", {"acc": 60}))
        (only,) = settings(Results(root).board().of(THERE))
        labels = [e.label for e in only.entries]
        assert len(set(labels)) == 2
        assert all(label.startswith("same #") for label in labels)


class TestRanking:
    def test_best_first_missing_last_and_why(self, root):
        write(root, report("low", {"joint": 0.2, "ppl": 300.0}))
        write(root, report("none", {"acc": 99.0}, left_out=[("joint", "no sentence has any")]))
        write(root, report("undefined", {"joint": None, "ppl": 90.0, "acc": 1.0}))
        write(root, report("high", {"joint": 0.7, "ppl": 20.0, "acc": 50.0}))
        ranking = ranking_of(root)
        assert [c.key for c in ranking.columns] == ["joint", "acc", "ppl"]
        assert [r.entry.label for r in ranking.rows] == ["high", "low", "none", "undefined"]
        joint, ppl = ([r.cells[column(ranking, k)] for r in ranking.rows] for k in ("joint", "ppl"))
        assert [c.value for c in joint] == [0.7, 0.2, None, None]
        assert [c.note for c in joint[2:]] == [
            "Left out: no sentence has any.",
            "The value is infinite or undefined.",
        ]
        assert [c.ranks for c in ppl] == [(1, 1), (3, 3), None, (2, 2)], "a low perplexity is good"
        assert [c.best for c in ppl] == [True, False, False, False]

    def test_a_bold_value_of_a_test_without_power_is_explained(self, root):
        for folder, odd in ((root, ("wild",)), (root / "other", ("mid", "wild"))):
            for name, value in (("low", 105.0), ("mid", 106.0), ("wild", 106.5)):
                write(folder, report(name, {"ppl": value}), backwards=name in odd)
        assert "PPL: wild varies so much between" in show(root, direction=THERE).html
        assert "varies so much" not in show(root / "other", direction=THERE).html

    def test_computed_ranks_are_the_pipelines(self, real, tmp_path):
        """The replicates give what the pipeline wrote into its file."""
        stored = json.loads((real / THERE / "significance.json").read_text())
        entries = settings(Results(real).board().of(THERE))[0].entries
        computed = computed_places(entries)
        assert set(computed) == set(BLEU)
        for metric in BLEU:
            (own,) = (one for identity, one in stored.items() if identity.startswith(f"{metric}|"))
            wanted = {name: tuple(span) for name, span in own["ranks"].items()}
            assert {name: place.ranks for name, place in computed[metric].items()} == wanted
        # As a newer version, or another package, may have written them: unknown here.
        unknown = []
        for entry in entries:
            scores = entry.report.scores
            new = tuple(s.model_copy(update={"metric": f"new_{s.metric}"}) for s in scores)
            report = entry.report.model_copy(update={"scores": new})
            unknown.append(replace(entry, held=report, facts=Facts.of(report)))
        assert list(computed_places(unknown).values()) == list(computed.values())
        lone = next(entry for entry in entries if not entry.facts.is_bound)
        first, *scores = lone.report.scores
        for some in (scores, [first.model_copy(update={"value": None}), *scores]):
            report = lone.report.model_copy(update={"scores": tuple(some)})
            lacking = replace(lone, held=report, facts=Facts.of(report))
            found = computed_places([lacking if one is lone else one for one in entries])
            assert set(found[first.metric]) == set(computed[first.metric]) - {lone.label}
            assert set(found[scores[0].metric]) == set(computed[scores[0].metric])

    def test_an_interval_is_a_line_within_its_column(self, root):
        for name, value in (("low", 10.0), ("high", 12.0)):  # from 9 to 11, from 11 to 13
            write(root, report(name, {"acc": value}))
        lines = re.findall("--from:([.0-9]+);--part:([.0-9]+)", show(root, direction=THERE).html)
        assert lines == [("0.50", "0.50"), ("0.00", "0.50")]

    def test_where_neither_way_is_better_nothing_is_bold(self, tmp_path):
        for name, ratio in (("long", 1.5), ("short", 0.5)):
            write(tmp_path, report(name, {"length_ratio": ratio, "copy_rate": 10 * ratio}))
        ranking = ranking_of(tmp_path)
        best = {
            c.key: [r.cells[i].best for r in ranking.rows] for i, c in enumerate(ranking.columns)
        }
        assert sorted(best["copy_rate"]) == [False, True]
        assert best["length_ratio"] == [False, False]

    def test_the_cache_computes_the_same(self, real):
        board, cache, pending = Results(real).board(), RankCache(), True
        setting = settings(board.of(THERE))[0]
        assert {c.tested for c in build_ranking(board, setting, {}).columns} == {"untested"}
        while pending:
            computed, pending = cache.get(board, setting)
        assert computed == computed_places(setting.entries)
        assert {c.tested for c in build_ranking(board, setting, computed).columns} == {"tested"}


class TestOverview:
    def test_a_mean_only_over_all_directions(self, root):
        for name, there, back in (("all", 0.2, 0.6), ("half", 0.9, None), ("also", 0.5, 0.5)):
            write(root, report(name, {"joint": there}))
            if back is not None:
                write(root, report(name, {"joint": back}, BACK))
        overview = build_overview(Results(root).board())
        assert [c.direction.name for c in overview.columns] == [THERE, BACK]
        assert {r.system: r.mean for r in overview.rows} == {"all": 0.4, "half": None, "also": 0.5}
        assert [r.system for r in overview.rows] == ["half", "all", "also"], "half beats both there"
        html = show(root, view="overview").html
        assert "1 of 2" in html
        assert "0.400" in html

    def test_protocols_do_not_mix(self, root):
        """Scorers of one kind, trained per dataset, do; another kind does not."""
        write(root, report("a", {"acc": 10.0}, classifier="linear:mini#1"))
        write(root, report("a", {"acc": 20.0}, BACK, classifier="linear:other#2"))
        write(root, report("b", {"acc": 90.0}, classifier="roberta:mini#3"))
        board = Results(root).board()
        first = build_overview(board, "acc")
        assert [r.system for r in first.rows] == ["a"]
        assert first.rows[0].mean == 15.0
        assert len(first.protocols) == 2
        page = Page(show(root, view="overview", metric="acc").html)
        assert "classifier linear" in page.text
        assert "classifier roberta" in page.text

    def test_a_direction_scored_in_two_ways_has_two_columns_and_no_mean(self, root):
        write(root, report("a", {"acc": 10.0}, classifier="linear:mini#1"))
        write(root, report("b", {"acc": 20.0}, classifier="linear:mini#2"))
        overview = build_overview(Results(root).board(), "acc")
        assert [r.values for r in overview.rows] in (
            [(10.0, None), (None, 20.0)],
            [(None, 10.0), (20.0, None)],
        )
        assert all(r.mean is None for r in overview.rows)
        assert len({c.edition for c in overview.columns}) == 2


def judged(system, ratings, aspect="fluency", study="study 1"):
    """What several raters gave to each of several sentences."""
    return [
        judgment(system, item, value, aspect=aspect, study=study, rater=f"rater-{rater}")
        for item, values in enumerate(ratings)
        for rater, value in enumerate(values)
    ]


def by_one(system, scores, study="study 1"):
    """One rating of fluency of each of several sentences."""
    return judged(system, [(score,) for score in scores], study=study)


class TestHuman:
    def test_means_beside_the_metrics_study_by_study(self, root):
        for name in ("GPT-4", "other"):
            write(root, report(name, {"joint": 0.5}))
        rows = judged("gpt4", [(1, 3), (5, 5), (4,), (2, 2), (3, 3)] * 4, "style")
        rows += judged("GPT-4", [(1,)], "style", study="study 2")
        write_judgments(root / "human.jsonl", rows)
        ranking = ranking_of(root)
        assert [(c.title, c.study) for c in ranking.columns] == [
            ("Joint", None),
            ("Style", "study 1"),
            ("Style", "study 2"),
        ]
        cells = next(r for r in ranking.rows if r.entry.label == "GPT-4").cells
        assert cells[1].value == pytest.approx((2 + 5 + 4 + 2 + 3) / 5), "each item counts once"
        assert cells[1].low < cells[1].value < cells[1].high
        assert (cells[2].value, cells[2].low) == (1.0, None), "one item has no interval"
        assert next(r for r in ranking.rows if r.entry.label == "other").cells[1].value is None
        assert "means of human scores without a significance test" in show(root).html

    def test_a_point_between_digits_makes_another_system(self, root):
        for name in ("llama-1.5", "llama-15"):
            write(root, report(name, {"joint": 0.5}))
        write_judgments(root / "human.jsonl", judged("LLaMA 1.5", [(4,)], "style"))
        found = {row.entry.label: row.cells[1].value for row in ranking_of(root).rows}
        assert found == {"llama-1.5": 4.0, "llama-15": None}

    def test_a_derived_overall_says_that_nobody_gave_it(self, root):
        write(root, report("a", {"joint": 0.5}))
        rows = [r for n in ("overall", "derived_overall") for r in judged("a", [(3, 4)], n)]
        write_judgments(root / "human.jsonl", rows)
        asked, derived = ranking_of(root).columns[1:3]
        assert (asked.title, derived.title) == ("Overall", "Derived overall")
        assert "people gave" in asked.meaning
        assert "people gave" not in derived.meaning

    def test_why_the_first_column_ranks(self, root):
        said = {}
        for metric in ("joint", "joint_sentence"):
            write(root / metric, report("a", {metric: 0.5, "acc": 1.0}))
            html = show(root / metric).html
            sentences = ("agreement with people", "agrees better", "not measured on this task")
            said[metric] = [sentence in html for sentence in sentences]
        assert said == {"joint": [True, True, False], "joint_sentence": [False, False, True]}

    def test_a_skipped_item_ends_nothing(self, tmp_path):
        rows = by_one("a", [4, None, 2]) + by_one("b", [None, 5])
        write_judgments(tmp_path / "human.jsonl", rows)
        found, problems = read_human(tmp_path / "human.jsonl")
        assert problems == []
        assert [(s.system, s.mean, s.ratings) for s in found[THERE]] == [("a", 3.0, 2), ("b", 5, 1)]

    def test_an_interval_needs_to_know_which_sentence_was_rated(self, tmp_path):
        scores = [1, 2, 3, 4, 5] * 4
        rows = by_one("named", scores) + by_one("few", scores[1:])
        for number, one in enumerate(by_one("unnamed", scores)):
            other = {"sample_id": None, "item": f"i-{number}", "source": "so", "output": "no"}
            rows.append(one.model_copy(update=other))
        write_judgments(tmp_path / "human.jsonl", rows)
        named, few, unnamed = read_human(tmp_path / "human.jsonl")[0][THERE]
        assert few.interval is None, "19 items are too few"
        assert named.interval.low < named.mean < named.interval.high
        assert (unnamed.mean, unnamed.interval) == (named.mean, None)

    def test_aspects_of_two_studies_are_told_apart_in_the_picture(self, root):
        for i in range(4):
            write(root, report(f"s{i}", {"acc": 10.0 * i}))
        rows = [row for i in range(4) for row in by_one(f"s{i}", [i + 1], "first study")]
        write_judgments(root / "human.jsonl", rows)
        assert correlate(ranking_of(root)).aspects == ("Fluency",)
        rows += [row for i in range(4) for row in by_one(f"s{i}", [5 - i], "second study")]
        write_judgments(root / "human.jsonl", rows)
        found = correlate(ranking_of(root))
        assert found.aspects == ("Fluency (first study)", "Fluency (second study)")
        assert [cell.value for cell in found.cells[0]] == pytest.approx([1, -1])


def test_a_view_is_made_once_for_each_state_of_the_results(root):
    def settled(results, ranks):
        while (view := render(results.board(), asked, ranks)).pending:
            time.sleep(0.01)
        return view

    several_directions(root)
    results, ranks = Results(root), RankCache()
    asked = Query.parse({"view": "overview", "metric": "acc"})
    overview = ranks.overview(results.board(), asked)
    first = settled(results, ranks)
    assert render(results.board(), asked, ranks) is first
    assert ranks.overview(results.board(), replace(asked, rows="all")) is overview
    for other in (replace(asked, metric="ppl"), replace(asked, view="ranking")):
        assert render(results.board(), other, ranks) != first
    write(root, report("Brandnew", {"acc": 99.0}))
    after = settled(results, ranks)
    assert ("Brandnew" in after.html, "Brandnew" in first.html) == (True, False)
    assert after.html == settled(Results(root), RankCache()).html


class TestResults:
    def test_changes_are_seen_and_the_rest_not_read_again(self, root):
        folder = write(root, report("a", {"acc": 1.0}))
        results = Results(root)
        first = results.board()
        assert results.board() is first
        write(root, report("b", {"acc": 2.0}))
        second = results.board()
        assert [e.label for e in second.entries] == ["a", "b"]
        assert second.entries[0].report is first.entries[0].report
        (folder / "report.json").unlink()
        assert [e.label for e in results.board().entries] == ["b"]

    def test_files_that_cannot_be_used_are_named(self, root):
        write(root, report("good", {"acc": 1.0}))
        broken = root / THERE / "broken"
        broken.mkdir()
        (broken / "report.json").write_text("{}")
        moved = root / BACK / "moved"
        moved.mkdir(parents=True)
        (moved / "report.json").write_text(report("x", {"acc": 1.0}).model_dump_json())
        (root / "human.jsonl").write_text('{"study": "x"}\n')
        board = Results(root).board()
        assert [e.label for e in board.entries] == ["good"]
        problems = "\n".join(board.problems)
        assert "broken/report.json is not a valid report: tstbench: Field required" in problems
        assert f"is a report of {THERE}, but is under {BACK}" in problems
        page = Page(show(root).html)
        assert "3 files of the results could not be used" in page.text
        assert "human.jsonl, line 1" in page.text
        assert str(root) not in page.text, "where things lie on the server is nobody's business"

    @pytest.mark.parametrize("view", VIEWS)
    def test_an_empty_folder_says_how_to_fill_it(self, tmp_path, view):
        html = show(tmp_path, view=view).html
        if view not in ("about", "submit"):
            assert "No results yet" in html
            assert "tstbench evaluate" in html

    def test_a_long_table_comes_with_its_first_rows_and_is_had_whole(self, root):
        for i in range(60):  # s-00 is best
            write(root, report(f"s-{i:02}", {"acc": 90.0 - i}))
        best = [f"s-{i:02}" for i in range(60)]
        for view in ("ranking", "overview"):
            for rows, count in (("", 50), ("all", 60)):
                page = Page(show(root, view=view, rows=rows).html)
                assert page.names == best[:count], (view, rows)
                (table,) = (a for a in page.all("table") if a["class"] == "board")
                assert ("data-left-out" in table) == (count == 50)
                assert "Show all 60 systems" in page.text

    def test_a_first_page_does_not_grow_with_the_systems(self, root):
        def sizes():
            return [len(show(root, view=view).html) for view in ("ranking", "overview")]

        for some in (range(60), range(60, 300)):
            for i in some:
                one = report(f"s-{i:03}", {"acc": 90.0 - i / 10}, info={"date": f"20{i % 20:02}"})
                write(root, one.model_copy(update={"warnings": ("it looks wrong",)}))
            if some.start == 0:
                few = sizes()
        assert sizes() == pytest.approx(few, rel=0.02)

    def test_a_direction_is_shown_once_all_of_it_is_read(self, root, monkeypatch):
        for name in ("a", "b"):
            write(root, report(name, {"acc": 50.0}, BACK))
            write(root, report(name, {"acc": 60.0}, THERE))  # alphabetically before BACK
        go = Event()
        read = data._read_one
        late = f"{BACK}/b"

        def slowly(path, stamps):
            assert late not in path or go.wait(60)
            return read(path, stamps)

        monkeypatch.setattr(data, "_read_one", slowly)
        results = Results(root)
        results.read_behind(patience=0)
        while (board := results.so_far()).unread != 2:
            pass
        assert [entry.direction.name for entry in board.entries] == [THERE, THERE]
        asked, ranks = Query.parse({"direction": BACK}), RankCache()
        shown = render(board, asked, ranks)
        assert shown.pending
        waiting = render(board, asked, ranks)  # the places of what is there have been computed
        assert render(board, asked, ranks) is waiting
        (there,) = settings(board.of(THERE))
        ranking, _ = ranks.ranking(board, there)
        assert "reports left: 2." in shown.html
        assert f"{BACK} has not been read yet" in shown.html
        go.set()
        assert results.board().unread == results.so_far().unread == 0
        assert ranks.ranking(results.board(), there)[0] is ranking, "whatever else was read"
        shutil.rmtree(root / THERE / "a")
        write(root, report("a", {"acc": 61.0}, THERE))
        (there,) = settings((changed := results.board()).of(THERE))
        assert ranks.ranking(changed, there)[0] is not ranking
        assert [e.direction.name for e in results.so_far().entries] == [THERE, THERE, BACK, BACK]
        shown = render(results.so_far(), Query.parse({"direction": BACK}), RankCache())
        assert (shown.pending, "read" in Page(shown.html).text.split("Rank")[0]) == (False, False)

    def test_the_first_page_needs_only_the_reports_of_its_direction(self, root, monkeypatch):
        for direction, names in (
            (THERE, "ab"),
            (BACK, "abc"),
            ("gyafc_em/formal-to-informal", "a"),
        ):
            for name in names:
                write(root, report(name, {"acc": 50.0}, direction))
        go, read, reads = Event(), data._read_one, []

        def three_and_then_more(path, stamps):
            reads.append(path)
            assert len(reads) < 4 or go.wait(60)
            return read(path, stamps)

        monkeypatch.setattr(data, "_read_one", three_and_then_more)
        results = Results(root)
        results.read_behind(patience=0)
        while not (board := results.so_far()).entries:
            pass
        first, count = render(board, Query(), RankCache()), len(reads)
        go.set()
        assert count <= 4, "those three, and the next one is waiting"
        assert first.title == render(results.board(), Query(), RankCache()).title

    def test_what_a_dead_process_left_is_not_shown(self, root):
        folder = write(root, report("a", {"acc": 1.0}))
        for hidden in (folder.parent / ".a-x", root / "mini/.new", root / ".trash"):
            shutil.copytree(folder if hidden.parent == folder.parent else folder.parent, hidden)
        assert [entry.label for entry in Results(root).board().entries] == ["a"]
        assert Results(root).board().problems == ()

    def test_what_no_page_can_show_is_named_and_the_rest_is_shown(self, root):
        write(root, report("good", {"acc": 1.0}))
        write(root, report("silent", {}, left_out=[("acc", "no scorer")]))
        write(root, report("odd", {"acc": 1.0}, "mine/rude-to-kind-to-rude"))
        board = Results(root).board()
        assert [entry.label for entry in board.entries] == ["good"]
        said = ("has no scores: there", "'mine/rude-to-kind-to-rude' is not a")
        for words in said:
            assert sum(words in problem for problem in board.problems) == 1
        assert len(board.problems) == len(said)

    def test_a_file_of_the_same_size_and_time_is_read_again(self, root):
        """As a copy that keeps times, over a file that was there."""
        file = write(root, report("a", {"acc": 1.0})) / "report.json"
        results, state = Results(root), file.stat()
        assert results.board().entries[0].report.tstbench == "1"
        text = file.read_text()
        (root / "new").write_text(text.replace('"tstbench": "1"', '"tstbench": "2"'))
        os.utime(root / "new", ns=(state.st_atime_ns, state.st_mtime_ns))
        assert ((root / "new").stat().st_size, (root / "new").read_text() != text) == (
            state.st_size,
            True,
        )
        (root / "new").replace(file)
        assert results.board().entries[0].report.tstbench == "2"

    def test_places_follow_the_files(self, root):
        cache = RankCache()

        def first():
            board = Results(root).board()
            overview = build_overview(board, "acc")
            pending = True
            while pending:
                found, pending = cache.standings(board, overview)
            return [name for name, one in found.places[0].items() if one.first == 1]

        def scored(**values):
            shutil.rmtree(root, ignore_errors=True)
            for name, value in values.items():
                write_whole(root / THERE, report(name, {"acc": value}), [sample(0, "a", name)])

        scored(one=60.0, other=50.0)
        assert first() == ["one"]
        scored(one=60.0, other=70.0)
        assert first() == ["other"]

    def test_a_query_is_data(self):
        assert Query.parse(None) == Query.parse([1]) == Query()
        assert Query.parse({"view": "../x"}) == Query(unknown_view="../x")
        assert Query.parse({"unknown_view": "x"}) == Query()
        assert Query.parse({"p": "9" * 400}).page_number == 1
        assert Query.parse({"p": "-3"}).page_number == 1
        assert len(Query.parse({"text": "x" * 10_000}).text) == 1000


WALKED = {
    "of one direction": {},
    "of the way back": {"direction": BACK},
    "of all directions": {"view": "overview", "metric": "acc"},
    "of the best perplexity": {"view": "overview", "metric": "ppl"},
    "of a system": {"view": "system", "system": "alpha"},
    "of a system with runs": {"view": "system", "system": "tuned"},
    "of a bound": {"view": "system", "system": "copy"},
    "where one is worse": {"view": "versus", "first": "alpha", "second": "beta"},
    "where one is better": {
        "view": "versus", "first": "copy", "second": "alpha", "order": "won",
        "metric": "ppl", "p": "2",
    },
    "where systems differ": {"view": "samples", "order": "disagreement", "metric": "ppl"},
    "where systems are bad": {"view": "samples", "order": "worst", "systems": "beta", "p": "2"},
    "in pictures": {"view": "pictures", "metric": "ppl"},
    "of a system in doubt": {"view": "system", "system": "beta"},
}  # fmt: skip
LOST = {  # what stands above the table, where a link leads astray
    "of a view that is not there": {"view": "rankng", "direction": "mini/negative-to-positiv"},
    "of an unknown direction": {"direction": "<b>x</b>", "setting": "<b>y</b>"},
    "of a direction without results": {"direction": "yelp/negative-to-positive"},
    "of an unknown metric": {"view": "overview", "metric": "<b>x</b>", "protocol": "<b>y</b>"},
    "of an unknown dataset": {"view": "overview", "dataset": "<b>z</b>"},
    "of an unknown system": {"view": "system", "system": "alpa"},
    "of all systems": {"view": "system"},
    "where one is nobody": {"view": "versus", "first": "nobody"},
    "where both are one": {"view": "versus", "first": "copy", "second": "copy"},
    "where nobody has texts": {"view": "samples", "systems": "nobody|<b>"},
}  # fmt: skip


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """Five systems, one with two runs, and two bounds; people's scores; two ways of scoring."""
    root = tmp_path_factory.mktemp("walked")
    about = {
        "alpha": {
            "family": "peft", "date": "2024-05", "origin": "a paper", "needs_parallel": True,
            "system_hash": "c" * 64, "outputs_url": "https://example.org/a",
        },
        "beta": {"family": "rule", "origin": "ours", "post_processing": ("detokenized",)},
        "gamma": {"family": "prompted", "date": "2023"},
        "delta": {"family": "prompted", "date": "2023-02"},
        "copy": {"family": "rule", "needs_parallel": False},
        "reference-1": {"family": "human", "date": "2018"},
    }  # fmt: skip
    for seed in (0, 1):
        run = {"system": "tuned", "recipe": "a" * 64, "seed": seed}
        about[f"tuned-{seed}"] = {"family": "fpft", "seed_run": run, "needs_parallel": False}
    for number, (name, info) in enumerate(about.items()):
        values = {"acc": 70.0 - number, "joint": 0.6 - number / 20, "multi_bleu": 20.0 + number}
        values |= {"s_bleu": 40.0 - number, "ppl": 60.0 + 30 * (number % 3)}
        samples = [
            sample(
                n, f"the soup {n} was cold",
                f"the soup {n} was {name if n % (number + 2) else 'cold'}",
                (f"soup {n} was hot", f"a hot soup {n}")[: 1 + n % 2],
                acc=100.0 * (n % (number + 2) > 0), multi_bleu=5.0 * ((n * number) % 7),
                ppl=None if n == 3 else 20.0 + (n * (number + 1)) % 11,
            )
            for n in range(40)
        ]  # fmt: skip
        left_out = [("joint", "no language model is here")] if name == "gamma" else ()
        if left_out:
            del values["joint"]
            values["ppl"] = None
        one = report(name, values, info=info, left_out=left_out)
        doubts = ("40 outputs are <i>as long</i> as their sources",) if name == "beta" else ()
        write(root, one.model_copy(update={"warnings": doubts}), samples, backwards=name == "beta")
        way = {"classifier": "roberta:mini#bb"} if name in ("beta", "gamma") else {}
        back = {metric: value for metric, value in values.items() if metric != "multi_bleu"}
        write(root, report(name, back, BACK, info=info, **way))
    rows = [
        row
        for n, s in enumerate((*about,)[:6])
        for row in judged(s, [(1 + n % 5, 5), (2, 4 - n % 3)] * 10)
    ]
    write_judgments(root / "human.jsonl", rows)
    return root


@pytest.mark.parametrize("page", [*WALKED, *LOST])
def test_what_a_page_says(walked, page, snapshot):
    """All of it, to read; after a change that is meant: ``--snapshot-update``."""
    query = Query.parse(WALKED.get(page) or LOST.get(page))
    board, ranks = Results(walked).board(), RankCache()
    while (view := render(board, query, ranks)).pending:
        time.sleep(0.01)
    said = [f"title: {view.title}, status {view.status}", Page(view.html).said]
    if page in LOST:
        said[1] = said[1].partition("\n|")[0]
    if query.view == "pictures":
        said.append(Page(lengths_picture(board, query, ranks)).said)
    assert "\n".join(said) == snapshot
