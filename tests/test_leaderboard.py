"""The leaderboard without a browser: what is compared, ranked, shown and refused."""

import importlib.resources
import itertools
import json
import random
import re
import urllib.parse
import urllib.request
from html.parser import HTMLParser

import numpy as np
import pytest
from leaderboard_results import (
    BACK,
    BLEU,
    HOSTILE,
    THERE,
    real_results,
    report,
    sample,
    signature,
    write,
)

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, MissingFileError, TSTBenchError
from tstbench.files import write_json
from tstbench.pipelines.human import Judgment, write_judgments
from tstbench.spaces.leaderboard.correlation import correlate
from tstbench.spaces.leaderboard.data import Results, fetch_results
from tstbench.spaces.leaderboard.diff import word_diff
from tstbench.spaces.leaderboard.figures import bars, lengths, trade_off
from tstbench.spaces.leaderboard.groups import settings
from tstbench.spaces.leaderboard.markup import el
from tstbench.spaces.leaderboard.overview import build_overview
from tstbench.spaces.leaderboard.picture_view import map_view, pictures_view
from tstbench.spaces.leaderboard.query import VIEWS, Query
from tstbench.spaces.leaderboard.ranking import build_ranking
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.samples import arrange, sides
from tstbench.spaces.leaderboard.significance import computed_ranks
from tstbench.spaces.leaderboard.style_map import style_map
from tstbench.spaces.leaderboard.views import render


class Page(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(str(html))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "results"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("real"))


def ranking_of(root, direction=THERE, computed=None):
    board = Results(root).board()
    return build_ranking(board, settings(board.of(direction))[0], computed or {})


def column(ranking, key):
    return next(i for i, c in enumerate(ranking.columns) if c.key == key)


def show(root, **query):
    return render(Results(root).board(), Query.parse(query), RankCache())


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
        write(root, report("ours", {"acc": 50}))
        write(root, report("theirs", {"acc": 60}, **change))
        found = settings(Results(root).board().of(THERE))
        assert [[e.label for e in s.entries] for s in found] in (
            [["ours"], ["theirs"]],
            [["theirs"], ["ours"]],
        )
        assert len({s.label for s in found}) == 2, "the reader could not tell them apart"
        first = show(root, direction=THERE, setting=found[0].key).html
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

    def test_ranks_come_from_the_file_where_it_fits(self, root):
        for name, value in (("a", 50.0), ("b", 49.0), ("c", 10.0)):
            write(root, report(name, {"acc": value}))
        spans = {"a": [1, 2], "b": [1, 2], "c": [3, 3]}
        write_json(root / THERE / "significance.json", {"acc": {"ranks": spans}})
        ranking = ranking_of(root)
        assert [r.cells[0].ranks for r in ranking.rows] == [(1, 2), (1, 2), (3, 3)]
        assert [r.cells[0].best for r in ranking.rows] == [True, True, False]
        assert ranking.columns[0].tested == "tested"
        assert "untested" not in show(root, direction=THERE).html.split("<tbody>")[1]

    @pytest.mark.parametrize(
        "spans",
        [{"a": [1, 1]}, {"a": [1, 2], "b": [1, 9]}, {"a": [1, 2], "zz": [1, 2]}],
        ids=["a system is new", "a system is gone", "another name"],
    )
    def test_an_old_file_is_not_believed(self, root, spans):
        for name, value in (("a", 50.0), ("b", 49.0)):
            write(root, report(name, {"acc": value}))
        write_json(root / THERE / "significance.json", {"acc": {"ranks": spans}})
        ranking = ranking_of(root)
        assert ranking.columns[0].tested == "untested"
        assert [r.cells[0].ranks for r in ranking.rows] == [(1, 1), (2, 2)]
        assert "by value alone" in show(root, direction=THERE).html

    def test_computed_ranks_are_the_pipelines(self, real, tmp_path):
        """Without the file, replicates give what the pipeline wrote into it."""
        stored = json.loads((real / THERE / "significance.json").read_text())
        entries = settings(Results(real).board().of(THERE))[0].entries
        computed = computed_ranks(entries)
        assert set(computed) == set(BLEU)
        for metric in BLEU:
            wanted = {name: tuple(span) for name, span in stored[metric]["ranks"].items()}
            assert dict(computed[metric]) == wanted

    def test_the_cache_computes_when_the_file_is_gone(self, tmp_path):
        root = real_results(tmp_path, directions=(THERE,), hostile=False)
        before = ranking_of(root)
        (root / THERE / "significance.json").unlink()
        board, cache = Results(root).board(), RankCache()
        setting = settings(board.of(THERE))[0]
        while True:
            computed, pending = cache.get(board, setting)
            if not pending:
                break
        after = build_ranking(board, setting, computed)
        assert all(c.tested == "tested" for c in after.columns)
        assert [[c.ranks for c in r.cells] for r in after.rows] == [
            [c.ranks for c in r.cells] for r in before.rows
        ]


class TestOverview:
    def test_a_mean_only_over_all_directions(self, root):
        for name, there, back in (("all", 0.2, 0.6), ("half", 0.9, None), ("also", 0.5, 0.5)):
            write(root, report(name, {"joint": there}))
            if back is not None:
                write(root, report(name, {"joint": back}, BACK))
        overview = build_overview(Results(root).board())
        assert [c.direction.name for c in overview.columns] == [THERE, BACK]
        assert {r.system: r.mean for r in overview.rows} == {"all": 0.4, "half": None, "also": 0.5}
        assert [r.system for r in overview.rows] == ["also", "all", "half"]
        html = show(root, view="overview").html
        assert "1 of 2" in html
        assert "0.400" in html

    def test_an_undefined_value_is_a_missing_one(self, root):
        write(root, report("a", {"joint": 0.2}))
        write(root, report("a", {"joint": None}, BACK))
        (row,) = build_overview(Results(root).board()).rows
        assert (row.values, row.mean) == ((0.2, None), None)

    def test_no_mean_of_perplexities(self, root):
        for direction in (THERE, BACK):
            write(root, report("a", {"ppl": 50.0}, direction))
        overview = build_overview(Results(root).board(), "ppl")
        assert overview.rows[0].mean is None
        assert "no common scale" in show(root, view="overview", metric="ppl").html

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


class TestHuman:
    def rows(self, system, aspect, ratings, study="study 1"):
        return [
            Judgment(
                study=study,
                dataset="mini",
                direction=THERE,
                system=system,
                sample_id=f"s-{item}",
                source=None,
                output=None,
                aspect=aspect,
                scale="ordinal 1-5",
                rater=f"rater-{rater}",
                score=float(value),
            )
            for item, values in enumerate(ratings)
            for rater, value in enumerate(values)
        ]

    def test_means_beside_the_metrics_study_by_study(self, root):
        for name in ("GPT-4", "other"):
            write(root, report(name, {"joint": 0.5}))
        rows = self.rows("gpt4", "style", [(1, 3), (5, 5), (4,), (2, 2), (3, 3)])
        rows += self.rows("GPT-4", "style", [(1,)], study="study 2")
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

    def test_a_wrong_row_is_said(self, root):
        write(root, report("a", {"acc": 1.0}))
        (root / "human.jsonl").write_text('{"study": "x"}\n')
        html = show(root, direction=THERE).html
        assert "human.jsonl, line 1" in html

    def test_correlation_is_signed_by_what_is_better(self, root):
        ratings = {"a": 1, "b": 2, "c": 4, "d": 5}
        for i, name in enumerate(ratings):
            values = {"acc": 10.0 * i, "ppl": 100.0 - i, "cola": 7.0}
            write(root, report(name, values))
        rows = [r for n, v in ratings.items() for r in self.rows(n, "overall", [(v,)])]
        write_judgments(root / "human.jsonl", rows)
        found = correlate(ranking_of(root))
        cells = dict(zip(found.metrics, found.cells, strict=True))
        assert cells["ACC"][0].value == cells["PPL"][0].value == pytest.approx(1.0)
        assert cells["ACC"][0].systems == 4
        assert cells["CoLA"] == (None,), "a constant orders nothing"


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
        (root / THERE / "significance.json").write_text('{"acc": {"ranks": {"good": [2, 1]}}}')
        board = Results(root).board()
        assert [e.label for e in board.entries] == ["good"]
        problems = "\n".join(board.problems)
        assert "broken/report.json is no report: tstbench: Field required" in problems
        assert f"is a report of {THERE}, but lies under {BACK}" in problems
        assert "significance.json is not of the form" in problems
        page = Page(show(root).html)
        assert "3 files of the results could not be used" in page.text
        assert str(root) not in page.text, "where things lie on the server is nobody's business"

    def test_neither_a_folder_nor_a_dataset(self, tmp_path):
        with pytest.raises(MissingFileError, match="is no folder"):
            fetch_results(tmp_path / "nowhere")
        with pytest.raises(MissingFileError, match="neither a folder here nor a dataset"):
            fetch_results("tstbench/no-such-results")

    @pytest.mark.parametrize("view", VIEWS)
    def test_an_empty_folder_says_how_to_fill_it(self, tmp_path, view):
        html = show(tmp_path, view=view).html
        if view not in ("about", "submit"):
            assert "No results yet" in html
            assert "tstbench evaluate" in html

    def test_a_link_to_what_is_not_there_says_so(self, root):
        write(root, report("a", {"acc": 1.0}))
        assert (
            "yelp/negative-to-positive has no results yet"
            in show(root, direction="yelp/negative-to-positive").html
        )
        html = show(root, direction="<b>x</b>").html
        assert "&lt;b&gt;x&lt;/b&gt; is no direction we know" in html

    def test_a_query_is_data(self):
        assert Query.parse(None) == Query.parse([1]) == Query.parse({"view": "../x"}) == Query()
        assert Query.parse({"page": "9" * 400}).page_number == 1
        assert Query.parse({"page": "-3"}).page_number == 1
        assert len(Query.parse({"text": "x" * 10_000}).text) == 300


class TestHostileText:
    """Names, origins, links and sentences that would like to be HTML."""

    @pytest.fixture
    def hostile(self, real, tmp_path):
        return real

    @pytest.mark.parametrize("view", VIEWS)
    def test_nothing_becomes_an_element_or_an_attribute(self, hostile, view):
        query = {"view": view, "direction": THERE, "text": "", "systems": HOSTILE}
        page = Page(show(hostile, **query).html)
        assert not page.all("script")
        assert not page.all("img")
        for _, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on")]
            assert all(
                str(attributes.get(name, "")).startswith(("https://", "?")) or not attributes[name]
                for name in ("href", "src")
                if name in attributes
            )
        if view in ("ranking", "overview", "samples"):
            assert HOSTILE in page.text, "shown as it is, as text"

    def test_nothing_becomes_an_element_in_a_picture(self, hostile):
        board = Results(hostile).board()
        query = Query.parse({"view": "pictures", "direction": THERE, "system": HOSTILE})
        for view in (pictures_view, map_view):
            text = json.dumps(view(board, query, RankCache()).figures)
            assert "hurt" in text
            assert "<script" not in text
            assert "<img" not in text

    def test_only_https_leaves_the_page(self, root):
        one = report("a", {"acc": 1.0}, info={"outputs_url": "https://example.org/\"onload='x'"})
        write(root, one)
        (link,) = [a for a in Page(show(root).html).all("a") if a["href"].startswith("http")]
        assert link["href"] == "https://example.org/\"onload='x'"
        assert "noopener" in link["rel"]

    def test_a_metric_may_be_called_anything(self, root):
        one = report("a", {"acc": 1.0})
        odd = one.scores[0].model_copy(update={"metric": HOSTILE, "signature": f"{HOSTILE}|a:b"})
        write(root, one.model_copy(update={"scores": (odd,)}))
        for view in ("ranking", "overview"):
            page = Page(show(root, view=view).html)
            assert not page.all("script")
            assert HOSTILE in page.text

    def test_text_cannot_become_markup(self):
        html = el("p", "<b>", ["&", None, 3], el("i", "<"), title='"><script>')
        assert html == ('<p title="&#34;&gt;&lt;script&gt;">&lt;b&gt;&amp;3<i>&lt;</i></p>')


class TestSamples:
    def test_a_diff_holds_both_texts(self):
        words = "a b c d e".split()
        random.seed(1)
        for _ in range(200):
            old, new = (" ".join(random.choices(words, k=random.randint(0, 7))) for _ in range(2))
            pieces = word_diff(old, new)
            assert " ".join(p.text for p in pieces if p.kind != "new") == old
            assert " ".join(p.text for p in pieces if p.kind != "gone") == new
            assert all(a.kind != b.kind for a, b in itertools.pairwise(pieces))

    @pytest.fixture
    def systems(self):
        scores = {"one": (10.0, 50.0, 90.0), "two": (12.0, 90.0, 90.0)}
        return {
            name: {f"s-{i}": sample(i, f"source {i}", f"{name} {i}", acc=v, ppl=1000.0 - v)}
            | {
                f"s-{j}": sample(j, f"source {j}", f"{name} {j}", acc=w, ppl=1000.0 - w)
                for j, w in enumerate(values)
            }
            for name, values in scores.items()
            for i, v in [(0, values[0])]
        }

    def test_orders(self, systems):
        found = sides(systems, "acc")
        ids = lambda order, **k: [s.id for s in arrange(found, order, **k)]  # noqa: E731
        assert ids("source", higher_is_better=True) == ["s-0", "s-1", "s-2"]
        assert ids("disagreement", higher_is_better=True) == ["s-1", "s-0", "s-2"]
        assert ids("worst", higher_is_better=True) == ["s-0", "s-1", "s-2"]
        assert ids("best", higher_is_better=True) == ["s-2", "s-1", "s-0"]
        assert ids("worst", higher_is_better=False) == ["s-2", "s-1", "s-0"]
        assert ids("source", higher_is_better=True, text="TWO 1") == ["s-1"]
        assert found[1].mean == 70.0
        assert found[1].spread == 20.0, "standard deviation of 50 and 90"

    def test_a_sentence_that_a_system_lacks_is_said_to_be_missing(self, root):
        both = [sample(i, f"source {i}", f"mine {i}", acc=1.0) for i in range(2)]
        write(root, report("all", {"acc": 1.0}), both)
        write(root, report("part", {"acc": 1.0}), both[:1])
        page = Page(show(root, view="samples", direction=THERE).html)
        assert page.text.count("no rewrite of this sentence") == 1
        assert "source 1" in page.text

    def test_real_sentences_with_references_and_scores(self, real):
        page = Page(show(real, view="samples", direction=BACK, order="source").html)
        test_set = load_test_set(BACK)
        for text in (test_set.sources[0], *test_set.references[0]):
            assert text in page.text
        assert "Page 1 of 8, 40 sentences" in page.text
        second = Page(show(real, view="samples", direction=BACK, order="source", page="2").html)
        assert test_set.sources[5] in second.text
        assert test_set.sources[0] not in second.text

    def test_a_damaged_file_is_named(self, root):
        folder = write(root, report("a", {"acc": 1.0}), [sample(0, "s", "p", acc=1.0)])
        (folder / "samples.jsonl").write_text('{"id": 3}\n')
        assert "samples.jsonl, line 1: not a sample" in show(root, view="samples").html

    def test_licensed_texts_are_not_missed_without_a_word(self, root):
        name = "gyafc_fr/informal-to-formal"
        write(root, report("a", {"acc": 1.0}, name))
        assert "is licensed" in show(root, view="samples", direction=name).html


class TestPictures:
    def test_better_is_right_and_up(self, root):
        for i, name in enumerate("abc"):
            write(root, report(name, {"acc": 10.0 * i, "ppl": 100.0 + i}))
        ranking = ranking_of(root)
        acc, ppl = ranking.columns[0], ranking.columns[1]
        figure = trade_off(ranking, ppl, acc)
        assert figure.layout.xaxis.autorange == "reversed"
        assert figure.layout.xaxis.type == "log"
        assert figure.layout.yaxis.autorange is True
        (points,) = figure.data
        assert sorted(points.x) == [100.0, 101.0, 102.0]
        assert list(points.error_y.array) == list(points.error_y.arrayminus) == [1, 1, 1]

    def test_of_many_systems_the_undominated_are_named(self, root):
        for i in range(12):
            write(root, report(f"s{i}", {"acc": float(i % 6), "s_bleu": float(11 - i)}))
        ranking = ranking_of(root)
        (points,) = trade_off(ranking, ranking.columns[1], ranking.columns[0]).data
        named = {text for text in points.text if text}
        assert named == {"s0", "s1", "s2", "s3", "s4", "s5"}

    def test_bars_are_best_first(self, root):
        for name, value in (("a", 30.0), ("b", 10.0), ("c", 20.0)):
            write(root, report(name, {"ppl": value, "acc": 1.0}))
        ranking = ranking_of(root)
        figure = bars(ranking, ranking.columns[1])
        assert list(figure.data[0].x) == [10.0, 20.0, 30.0]
        assert list(figure.layout.yaxis.ticktext) == ["b", "c", "a"]

    def test_length_quantiles(self):
        (box,) = lengths({"x": [1, 2, 3, 4, 5]}).data
        assert (box.q1[0], box.median[0], box.q3[0]) == (2, 3, 4)

    def test_the_map_separates_what_differs(self):
        random.seed(2)
        cold, warm = (
            "rain wind snow ice grey fog hail".split(),
            "sun sky beach sand palm sea".split(),
        )
        left, right = (
            [" ".join(random.sample(words, 4)) for _ in range(40)] for words in (cold, warm)
        )
        found = style_map([("left", left), ("right", right)])
        assert found.points.shape == (80, 2)
        assert found.groups == ("left",) * 40 + ("right",) * 40
        again = style_map([("left", left), ("right", right)])
        assert np.array_equal(found.points, again.points)
        apart = np.linalg.norm(found.points[:, None] - found.points[None], axis=-1)
        np.fill_diagonal(apart, np.inf)
        nearest = apart.argmin(axis=1)
        assert np.mean((nearest < 40) == (np.arange(80) < 40)) > 0.9

    def test_too_few_sentences_for_a_map(self):
        with pytest.raises(InputError, match="10 different sentences"):
            style_map([("a", ["same"] * 30)])

    def test_all_pictures_of_real_results(self, real):
        view = show(real, view="pictures", direction=THERE)
        assert {"bars", "lengths"} <= view.figures.keys()
        assert "No human scores of this direction" in view.html


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A page that is being served; one of its metrics has a hostile name."""
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import launch

    root = tmp_path_factory.mktemp("served")
    one = report("a", {"acc": 1.0})
    odd = one.scores[0].model_copy(update={"metric": HOSTILE})
    write(root, one.model_copy(update={"scores": (*one.scores, odd)}))
    running = launch(root, port=0, block=False)
    yield running.url
    running.close()


class TestServed:
    """The page over HTTP, before any script has run."""

    def get(self, url, **query):
        with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}") as answer:
            assert int(answer.headers["content-length"]) > 0
            return answer.read().decode()

    def test_the_table_is_there_without_a_script(self, url):
        page = Page(self.get(url, direction=THERE))
        assert "Who rewrites style best?" in page.text
        assert [a["data-name"] for a in page.all("tr") if "data-name" in a] == ["a"]
        assert {"lang"} <= dict(page.elements)["html"].keys()

    @pytest.mark.parametrize("view", [*VIEWS, HOSTILE])
    def test_a_link_cannot_write_into_the_page(self, url, view):
        plain = Page(self.get(url, view="ranking"))
        page = Page(self.get(url, view=view, direction=HOSTILE, text=HOSTILE, metric=HOSTILE))
        assert len(page.all("script")) == len(plain.all("script"))
        assert not [a for a in page.all("img") if a.get("src") == "x"]

    def test_views_are_an_api(self, url):
        body = json.dumps({"data": [{"view": "overview", "metric": "acc"}]}).encode()
        request = urllib.request.Request(
            f"{url}gradio_api/run/view", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            (view,) = json.load(answer)["data"]
        assert view["title"] == "ACC on all directions"
        assert "1.0" in view["html"]

    def test_a_port_in_use_is_said(self, url, root):
        from tstbench.spaces.leaderboard import launch

        port = urllib.parse.urlsplit(url).port
        root.mkdir()
        with pytest.raises(TSTBenchError, match=f"port {port}.*--port {port + 1}"):
            launch(root, port=port, block=False)

    def test_text_stands_out_in_light_and_dark(self):
        """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for the borders of what can be used."""
        folder = importlib.resources.files("tstbench.spaces.leaderboard")
        css = folder.joinpath("static/style.css").read_text("utf-8")
        rules = re.findall(r"^(?::root|\.dark) \{(.*?)^\}", css, re.DOTALL | re.MULTILINE)
        assert len(rules) == 2
        for rule in rules:
            colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", rule))
            text = ("ink", "muted", "accent", "fpft", "peft", "prompted", "rule", "human")
            pairs = [(t, b) for t in (*text, "unknown") for b in ("paper", "surface", "sunken")]
            pairs += [("good", "good-soft"), ("bad", "bad-soft"), ("on-accent", "accent")]
            pairs += [("ink", "warn-soft"), ("ink", "accent-soft"), ("muted", "accent-soft")]
            low = [p for p in pairs if contrast(*(colours[name] for name in p)) < 4.5]
            assert low == []
            for behind in ("paper", "surface"):
                assert contrast(colours["line-strong"], colours[behind]) >= 3


def contrast(first, second):
    """Ratio of relative luminances, as WCAG defines it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
