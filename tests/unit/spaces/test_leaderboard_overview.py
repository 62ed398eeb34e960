"""The leaderboard without a browser: overview, mean ranks, bold, bounds, addresses, downloads."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from leaderboard_pages import Page, ranking_of, show
from leaderboard_results import (
    BACK,
    HOSTILE,
    SEVERAL,
    THERE,
    real_results,
    report,
    sample,
    write,
    write_whole,
)
from markupsafe import Markup
from places import ROOT

from tstbench.citation import BIBTEX, PAPER
from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.ranking import Bootstrapped
from tstbench.pipelines.rankings import standings_text
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.standings import read_standings
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.download import FORMS, download
from tstbench.spaces.leaderboard.groups import settings
from tstbench.spaces.leaderboard.overview import build_overview
from tstbench.spaces.leaderboard.page import document
from tstbench.spaces.leaderboard.places import computed_places
from tstbench.spaces.leaderboard.query import VIEWS, Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.standings import mean_rank_intervals, standings


@pytest.fixture(scope="module")
def board(several):
    return Results(several).board()


class TestAllDirections:
    @pytest.mark.parametrize("metric", ["joint", "ppl", "acc", "multi_bleu"])
    def test_every_direction_has_a_column_whatever_its_language_model(self, board, metric):
        overview = build_overview(board, metric)
        assert [c.direction.name for c in overview.columns] == list(SEVERAL)
        assert len(overview.protocols) == 1, "the same way of scoring everywhere"
        assert all(column.edition is None for column in overview.columns)

    def test_no_mean_of_joint_over_language_models_but_one_of_accuracy(self, board):
        assert "language models" in build_overview(board, "joint").why_no_mean
        assert build_overview(board, "acc").why_no_mean is None

    def test_a_direction_scored_only_otherwise_is_there_and_in_no_mean(self, root):
        for direction in SEVERAL[:2]:
            write(root, report("a", {"acc": 10.0}, direction))
        write(root, report("a", {"acc": 20.0}, SEVERAL[2], classifier="roberta:x#1"))
        overview = build_overview(Results(root).board(), "acc")
        assert [c.direction.name for c in overview.columns] == list(SEVERAL[:3])
        assert overview.why_no_mean == "the directions were not all scored in the same way"

    @pytest.mark.parametrize("other", ["mini", "amazon"])
    def test_datasets_are_a_choice_where_there_are_two(self, root, other):
        for dataset in ("mini", other):
            write(root, report("one", {"acc": 50.0}, f"{dataset}/negative-to-positive"))
        html = show(root, view="overview", metric="acc").html
        assert ("Directions of" in html) == (other == "amazon")


class TestMeanRank:
    def test_its_value_its_coverage_and_its_order(self, several, board):
        overview = build_overview(board, "joint")
        assert [(row.system, row.mean_rank, row.covered) for row in overview.rows] == [
            ("half", 1.0, 2),
            ("delete-and-retrieve", 1.5, 4),
            ("delete-retrieve", 2.5, 4),
            ("reference-1", None, 4),
            ("copy", None, 4),
        ], "the best is first, and bounds are last"
        html = show(several, view="overview").html
        # By hand: half beats both others, delete-and-retrieve one of the two; 1.00, 1.50 and 2.50
        # stand beside it, of other directions.
        shown = re.findall(
            r'<td class="value mean"(?: data-value="([^"]*)")?><span>(\d+|–)</span>', html
        )
        assert shown == [("1.0", "100"), ("0.5", "50"), ("0.0", "0"), ("", "–"), ("", "–")]

    def test_the_interval_of_a_case_worked_by_hand(self, root):
        for direction in (THERE, BACK):
            write(root, report("a", {"acc": 60.0}, direction))
            write(root, report("b", {"acc": 50.0}, direction))
        overview = build_overview(Results(root).board(), "acc")
        # THERE: a always wins. BACK: a wins in 900 of 1000 replicates.
        one = np.full(1000, 60.0)
        other = np.where(np.arange(1000) < 100, 70.0, 50.0)
        columns = [
            {"a": Bootstrapped(60.0, one), "b": Bootstrapped(50.0, one - 10)},
            {"a": Bootstrapped(60.0, one), "b": Bootstrapped(50.0, other)},
        ]
        found = mean_rank_intervals(overview, columns)
        assert found == {"a": (1.0, 1.5), "b": (1.5, 2.0)}
        assert mean_rank_intervals(overview, [columns[0], {}]) == {}, "no replicates, no interval"
        # Equal systems of which chance put one first in both columns: it can only lose places.
        draws = np.arange(1000) % 2
        equal = {"a": Bootstrapped(60.0, 50.0 + draws), "b": Bootstrapped(50.0, 51.0 - draws)}
        moved = {"a": Bootstrapped(60.0, 51.0 - draws), "b": Bootstrapped(50.0, 50.0 + draws)}
        found = mean_rank_intervals(overview, [equal, moved])
        assert found == {"a": (1.0, 1.5), "b": (1.5, 2.0)}, "what was seen is in the interval"

    def ranked(self, root, metric, values, replicates):
        for name, value in values.items():
            for direction in (THERE, BACK):
                write(root, report(name, {metric: value}, direction))
        overview = build_overview(Results(root).board(), metric)
        drawn = {n: Bootstrapped(values[n], np.array(some)) for n, some in replicates.items()}
        return mean_rank_intervals(overview, [drawn] * len(overview.columns))

    def test_where_lower_is_better_the_lowest_is_first(self, root):
        found = self.ranked(
            root, "ppl", {"a": 90.0, "b": 300.0}, {"a": [80.0] * 40, "b": [290.0] * 40}
        )
        assert found == {"a": (1.0, 1.0), "b": (2.0, 2.0)}

    def test_an_undefined_draw_is_the_worst(self, tmp_path):
        draws = {"a": [60.0] * 40, "b": [float("nan")] * 40}
        found = self.ranked(tmp_path / "two", "acc", {"a": 60.0, "b": 70.0}, draws)
        # What was seen, b before a, is always in the interval.
        assert found == {"a": (1.0, 2.0), "b": (1.0, 2.0)}
        other = {"a": [60.0] * 40, "b": [float("nan")] * 40, "c": [50.0] * 40}
        found = self.ranked(tmp_path / "three", "acc", {"a": 60.0, "b": 40.0, "c": 50.0}, other)
        assert found == {"a": (1.0, 1.0), "b": (3.0, 3.0), "c": (2.0, 2.0)}

    def test_from_real_replicates(self, root):
        for direction in (THERE, BACK):
            test_set = load_test_set(direction)
            lines = {
                "near": [s.replace("not ", "") for s in test_set.sources],
                "far": ["nothing of this is kept"] * len(test_set),
                "copy": list(test_set.sources),
            }
            outputs = [Outputs(name, tuple(some)) for name, some in lines.items()]
            evaluate(outputs, test_set, scoring(["s_bleu"]), root=root)
        board = Results(root).board()
        found = standings(build_overview(board, "s_bleu"))
        assert found.mean_ranks == {"near": (1.0, 1.0), "far": (2.0, 2.0)}
        assert found.tested == [True, True]
        html = show(root, view="overview", metric="s_bleu").html
        assert html.count("<b>") == 2, "near is bold in both directions, and copy in none"


class TestBold:
    """Best or not significantly different from the best, in both tables."""

    @pytest.fixture
    def tested(self, root):
        for name, value in (("a", 50.0), ("b", 49.0), ("c", 48.5), ("copy", 99.0)):
            # c is worse than b, whose replicates have its order, but not than a.
            write(root, report(name, {"acc": value}), backwards=name in "bc")
        return root

    def test_is_the_comparison_with_the_best_and_not_the_rank(self, tested):
        entries = settings(Results(tested).board().of(THERE))[0].entries
        ranking = ranking_of(tested, computed=computed_places(entries))
        found = {r.entry.label: (r.cells[0].ranks, r.cells[0].best) for r in ranking.rows}
        assert found == {
            "a": ((1, 3), True), "b": ((1, 2), True), "c": ((2, 3), True), "copy": (None, False),
        }  # fmt: skip

    @pytest.mark.parametrize("view", ["ranking", "overview"])
    def test_is_not_for_a_lone_system(self, root, view):
        write(root, report("a", {"acc": 50.0}))
        write(root, report("copy", {"acc": 10.0}))
        html = show(root, view=view).html
        assert "<b>" not in html
        assert "single ranked system is not bold" in html
        assert "Bounds: not ranked" in html


class TestAddresses:
    @pytest.mark.parametrize("view", VIEWS)
    def test_the_preview_of_a_link_names_it(self, several, view):
        shown = show(several, view=view, direction="yelp/negative-to-positive")
        tags = document(view, shown, Markup()).partition("</head>")[0]
        assert f"<title>{shown.title} – TSTBench</title>" in tags
        assert shown.title != "Error"
        assert "og:description" in tags
        hostile = document(view, replace(shown, title=HOSTILE), Markup()).partition("</head>")[0]
        assert "<script>" not in hostile
        assert "<img" not in hostile


class TestDownloads:
    @pytest.mark.parametrize("form", FORMS)
    def test_the_files_are_those_of_the_command(self, tmp_path_factory, form):
        """On what was really measured, with replicates: ranks and bold are the same."""
        real = real_results(tmp_path_factory.mktemp("real"), directions=(THERE,), hostile=False)
        page = download(Results(real).board(), Query(direction=THERE), form, RankCache())["text"]
        lines = standings_text(read_standings(real), form).splitlines()
        assert sorted(page.splitlines()) == sorted(lines)
        assert len(lines) > 8

    def test_csv_is_safe_in_a_spreadsheet(self, root):
        write(root, report("=HYPERLINK(1)", {"acc": 1.0}))
        text = download(Results(root).board(), Query(), "csv", RankCache())["text"]
        assert ",'=HYPERLINK(1)," in text

    @pytest.mark.parametrize("form", ["latex", "markdown"])
    def test_for_papers_of_one_direction_and_of_all(self, board, form):
        one = download(board, Query(direction=SEVERAL[0]), form, RankCache())["text"]
        assert one.index("half") < one.index("delete-and-retrieve")
        every = download(board, Query(view="overview", metric="acc"), form, RankCache())["text"]
        assert all(dataset in every for dataset in ("yelp", "amazon", "shakespeare"))
        assert "bounds: not ranked" in every

    def test_the_file_of_one_dataset_has_no_other(self, board):
        def directions(**query):
            text = download(board, Query(view="overview", **query), "csv", RankCache())["text"]
            return {row["direction"].split("/")[0] for row in csv.DictReader(io.StringIO(text))}

        assert directions(metric="acc", dataset="yelp") == {"yelp"}
        assert directions(metric="acc") == {"yelp", "amazon", "shakespeare", "styptb_tfu"}

    def test_a_table_without_its_replicates_has_nothing_bold(self, root):
        """In the moment after the board was read."""
        for name, value in (("one", 60.0), ("other", 50.0)):
            write_whole(root / THERE, report(name, {"acc": value}), [sample(0, "a", name)])
        board = Results(root).board()
        for bold in (True, False):
            text = download(board, Query(direction=THERE), "markdown", RankCache())["text"]
            assert ("**60.0**" in text, "60.0" in text) == (bold, True)
            for file in root.glob("*/*/*/replicates.parquet"):
                file.write_bytes(b"damaged")


def test_about_has_version_repository_and_the_citation_of_the_file(several):
    text = Page(show(several, view="about").html).text
    assert BIBTEX.strip() in text
    entry = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    paper = entry["preferred-citation"]
    assert f"https://doi.org/{paper['doi']}" == PAPER
    for key in ("title", "journal", "volume", "year", "start", "doi"):
        assert f"{{{paper[key]}}}" in BIBTEX
    for author in paper["authors"]:
        name = f"{author['family-names']}, {author['given-names']}"
        assert name in " ".join(BIBTEX.split())
    assert f"TSTBench {entry['version']}" in text
