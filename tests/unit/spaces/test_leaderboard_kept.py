"""What the leaderboard passes on: a form to a report, a change to a page, a filter to a file."""

import csv
import io
import json
import os
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest
from hub_double import TOKEN, running
from leaderboard_pages import Page, ranking_of, taken
from leaderboard_results import (
    BACK,
    THERE,
    real_results,
    report,
    sample,
    score_by_bleu,
    several_directions,
    write,
    write_whole,
)

from tstbench.datasets_scripts.judgments.schema import Judgment, write_judgments
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.files import process_folder
from tstbench.pipelines.comparison import Compared, Comparison
from tstbench.pipelines.ranking import Bootstrapped
from tstbench.pipelines.report import SystemInfo, write_report
from tstbench.spaces.leaderboard import submit
from tstbench.spaces.leaderboard.correlation import correlate
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.download import download
from tstbench.spaces.leaderboard.human import read_human
from tstbench.spaces.leaderboard.overview import build_overview
from tstbench.spaces.leaderboard.page import outputs_file
from tstbench.spaces.leaderboard.query import Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.standings import mean_rank_intervals
from tstbench.spaces.leaderboard.submission import ToFolder, ToPullRequest, check_outputs
from tstbench.spaces.leaderboard.submit import Desk, Form
from tstbench.spaces.leaderboard.versus_page import versus_table
from tstbench.spaces.leaderboard.views import render
from tstbench.spaces.web import NotThereError

SENTENCES = ("hey , what is your favorite song ?", "i think he is so cool !", "dunno , ask him")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "results"


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


def scratches():
    """The folders of submissions; other tests of this process may have some, too."""
    return set(process_folder().glob("tstbench-submission-*"))


class TestSubmissions:
    @pytest.fixture
    def results(self, root):
        return real_results(root, directions=(THERE,), hostile=False)

    def test_what_the_form_says_is_in_the_report_and_scratch_goes_when_it_is_published(
        self, results, tmp_path
    ):
        lines = [source.replace("never", "always") for source in load_test_set(THERE).sources]
        text = ("\n".join(lines) + "\n").encode()
        desk = Desk(Results(results), score_by_bleu, ToFolder(results), (THERE,))
        link = "https://example.org/outputs"
        before = scratches()
        form = Form(text, "new.txt", THERE, "New", "fpft", "yes", "2026-05", link, confirmed=True)
        ticket, told = taken(desk, form)
        assert (told["scored"], len(scratches() - before)) == (True, 1)
        told = desk.add(ticket)
        assert "New is on the leaderboard" in told["html"]
        assert (told["scored"], scratches()) == (False, before)
        (there,) = (one for one in Results(results).board().entries if one.label == "New")
        assert there.report.system == SystemInfo(
            name="New", family="fpft", needs_parallel=True, date="2026-05", outputs_url=link
        )
        assert "Score a file first" in desk.add(ticket)["html"]

    def test_who_forgot_something_is_told_and_nothing_is_kept(self, results):
        double = ("\n".join(sorted(load_test_set(THERE).sources)) + "\n").encode()
        desk = Desk(Results(results), score_by_bleu, ToFolder(results), (THERE,))
        before = scratches()
        for file, name, direction, said in (
            (b"", "", THERE, "Choose a file first"),
            (b"one\n", "short.txt", "", "Choose a direction"),
            (b"one\n", "short.txt", BACK, "Choose a direction"),
            (b"one\n", "short.txt", THERE, "short.txt has 1 "),
            (b"one\n", "../../short.jsonl", THERE, "../../short.jsonl"),
            (b"\xff\n", "short.txt", THERE, "UTF-8"),
            (double, "sorted.txt", THERE, "sorted by the alphabet"),
        ):
            ticket, told = taken(desk, Form(file, name, direction, "New"))
            assert said in told["html"]
            assert str(process_folder()) not in told["html"]
            assert not told["scored"]
            told = desk.add(ticket)
            assert "Score a file first" in told["html"]
            assert not told["scored"]
        assert scratches() == before
        for ticket in ("x", None, 3, []):
            with pytest.raises(NotThereError, match="no longer here"):
                desk.add(ticket)

    def test_what_was_scored_goes_when_many_others_were(self, results, monkeypatch):
        monkeypatch.setattr(submit, "_KEPT", 2)
        lines = [source.replace("never", "always") for source in load_test_set(THERE).sources]
        text = ("\n".join(lines) + "\n").encode()
        desk = Desk(Results(results), score_by_bleu, ToFolder(results), (THERE,))
        before = scratches()
        form = Form(text, "new.txt", THERE, "New", confirmed=True)
        oldest, *_ = (taken(desk, form)[0] for _ in range(3))
        assert len(scratches() - before) == 2
        with pytest.raises(NotThereError):
            desk.look(oldest)

    def test_peoples_own_rewrites_are_no_suspicion_where_they_are_called_so(
        self, results, tmp_path
    ):
        """Of a bound only the form of the lines is looked at."""
        path = tmp_path / "second.txt"
        lines = sorted(some[1] for some in load_test_set(THERE).references)
        path.write_text("\n".join(lines) + "\n")
        board = Results(results).board()
        assert check_outputs(board, path, THERE, SystemInfo(name="ours"))
        assert check_outputs(board, path, THERE, SystemInfo(name="ours", family="human")) == []

    def test_sentences_of_the_users_own_corpus_are_not_given_to_visitors(
        self, results, tmp_path, monkeypatch
    ):
        for part in ("train", "tune", "test"):
            folder = tmp_path / "GYAFC_Corpus/Entertainment_Music" / part
            folder.mkdir(parents=True)
            for name in ("informal", "formal"):
                for file in (name, *(f"{name}.ref{k}" for k in range(4))):
                    (folder / file).write_text("".join(f"{line}\n" for line in SENTENCES))
        monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "GYAFC_Corpus"))
        assert len(load_test_set("gyafc_em/formal-to-informal")) == len(SENTENCES)
        own = "gyafc_em/formal-to-informal"
        desk = Desk(Results(results), score_by_bleu, ToFolder(results), (own,))
        with pytest.raises(InputError, match="are not offered"):
            desk.sources(own)

    def test_sentences_of_data_that_nobody_here_knows_are_not_proposed(self, tmp_path, monkeypatch):
        unheard = report("ours", {"acc": 1.0}, "unheard/rude-to-polite")
        write_report(tmp_path / "scored", unheard, [sample(0, "give me that", "please")])
        with running() as hub:
            monkeypatch.setenv("HF_TOKEN", TOKEN)
            monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
            from huggingface_hub import HfApi

            api = HfApi(endpoint=hub.url, token=TOKEN)
            api.create_repo("tstbench/results", repo_type="dataset")
            ToPullRequest("tstbench/results", endpoint=hub.url)(tmp_path / "scored")
            (proposed,) = hub.repos["dataset", "tstbench/results"].proposed
        sent = [path for path in proposed if path.startswith("unheard/")]
        assert [path.rsplit("/")[-1] for path in sent] == ["report.json"]


class TestTheBoard:
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


class TestIntervalsOfMeanRanks:
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


def judged(system, scores, study="study", named=True):
    """One rating of fluency of each of several sentences."""
    return [
        Judgment(
            study=study,
            rater="r1",
            dataset="mini",
            direction=THERE,
            system=system,
            sample_id=f"s-{i}" if named else None,
            item=None if named else f"i-{i}",
            source="it was cold",
            output="it was hot",
            aspect="fluency",
            scale="ordinal 1-5",
            score=score,
        )
        for i, score in enumerate(scores)
    ]


class TestHumanScores:
    def test_a_skipped_item_ends_nothing(self, tmp_path):
        rows = judged("a", [4, None, 2]) + judged("b", [None, 5])
        write_judgments(tmp_path / "human.jsonl", rows)
        found, problems = read_human(tmp_path / "human.jsonl")
        assert problems == []
        assert [(s.system, s.mean, s.ratings) for s in found[THERE]] == [("a", 3.0, 2), ("b", 5, 1)]

    def test_an_interval_needs_to_know_which_sentence_was_rated(self, tmp_path):
        scores = [1, 2, 3, 4, 5] * 4
        rows = judged("named", scores) + judged("unnamed", scores, named=False)
        rows += judged("few", scores[1:])
        write_judgments(tmp_path / "human.jsonl", rows)
        named, unnamed, few = read_human(tmp_path / "human.jsonl")[0][THERE]
        assert few.interval is None, "19 items are too few"
        assert named.interval.low < named.mean < named.interval.high
        assert (unnamed.mean, unnamed.interval) == (named.mean, None)

    def test_who_does_not_compete_is_rated_and_has_no_rank(self, root):
        """People like a reference best, and that takes no place from a system."""
        ratings = {"a": 2, "b": 4, "c": 3, "reference-1": 5, "copy": 1}
        for number, name in enumerate(ratings):
            family = "human" if name == "reference-1" else "rule"
            write(root, report(name, {"acc": 10.0 + number}, info={"family": family}))
        rows = [row for name, value in ratings.items() for row in judged(name, [value])]
        write_judgments(root / "human.jsonl", rows)
        ranking = ranking_of(root)
        (i,) = (i for i, c in enumerate(ranking.columns) if c.human)
        cells = {row.entry.label: row.cells[i] for row in ranking.rows}
        assert {name: cell.value for name, cell in cells.items()} == ratings
        assert {name: cell.ranks for name, cell in cells.items()} == {
            "a": (3, 3), "b": (1, 1), "c": (2, 2), "reference-1": None, "copy": None,
        }  # fmt: skip
        assert [name for name, cell in cells.items() if cell.best] == ["b"]
        assert correlate(ranking) is None, "three systems are too few, and bounds are none"

    def test_aspects_of_two_studies_are_told_apart_in_the_picture(self, root):
        for i in range(4):
            write(root, report(f"s{i}", {"acc": 10.0 * i}))
        rows = [row for i in range(4) for row in judged(f"s{i}", [i + 1], "first study")]
        write_judgments(root / "human.jsonl", rows)
        assert correlate(ranking_of(root)).aspects == ("Fluency",)
        rows += [row for i in range(4) for row in judged(f"s{i}", [5 - i], "second study")]
        write_judgments(root / "human.jsonl", rows)
        found = correlate(ranking_of(root))
        assert found.aspects == ("Fluency (first study)", "Fluency (second study)")
        assert [cell.value for cell in found.cells[0]] == pytest.approx([1, -1])


class TestTables:
    def test_the_corrected_p_value_is_the_large_one(self):
        one = Compared(
            "acc", "acc|v:1", "percent", True, 60.0, 50.0, low=1.0, high=19.0, p=0.012, p_holm=0.036
        )
        systems = (SystemInfo(name="a"), SystemInfo(name="b"))
        found = Comparison(THERE, systems, 40, False, (one,), ())
        html = versus_table(found, ("a", "b"))
        assert ">0.036<small>0.012</small>" in html
        cells = Page(html).text
        assert "+10.0" in cells
        assert "+1.0 to +19.0" in cells

    def test_the_file_of_one_dataset_has_no_other(self, root):
        board = Results(several_directions(root)).board()

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

    def test_outputs_have_a_name_that_no_folder_can_break(self, root):
        pytest.importorskip("starlette")
        folder = write(root, report("o \u65e5 y", {"acc": 1.0}), [sample(0, "a", "b")])
        odd, none = folder.name, write(root, report("none", {"acc": 1.0})).name
        board = Results(root).board()
        file = outputs_file(board, THERE, odd)
        assert json.loads(file.body) == {"id": "s-0", "prediction": "b"}
        name = 'attachment; filename="mini_negative-to-positive_o___y.jsonl"'
        assert (file.status_code, file.headers["content-disposition"]) == (200, name)
        file = outputs_file(board, THERE, none)
        assert file.body == b"There are no outputs of this system to download.\n"
        assert file.status_code == 404
        (folder / "samples.jsonl").write_text("{}")
        assert outputs_file(board, THERE, odd).status_code == 404
