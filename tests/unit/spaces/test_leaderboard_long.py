"""A board of many reports: tables in windows, and what is kept of the reports between starts."""

import json
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from leaderboard_pages import Page as Shown
from leaderboard_pages import show
from leaderboard_results import THERE, report, write
from prepared import command_line

from tstbench.datasets_scripts import unchanged
from tstbench.spaces.leaderboard import data, index, overview_view, ranking_view, window
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.page import Page
from tstbench.spaces.leaderboard.query import Query
from tstbench.spaces.leaderboard.ranks import RankCache

YEARS = {"a": "2018", "b": "2018-03", "c": "2019", "d": None}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """60 systems, s-00 the best by accuracy and the worst by perplexity, and two bounds."""
    root = tmp_path_factory.mktemp("results")
    for i in range(60):
        family = ("rule", "prompted", "fpft")[i % 3]
        info = {"family": family, "date": YEARS["abcd"[i % 4]], "needs_parallel": i % 2 == 0}
        values = {"acc": 90.0 - i, "ppl": 100.0 - i} if i != 7 else {"ppl": 93.0}
        write(root, report(f"S-{i:02}", values, info=info))
    for name, value in (("copy", 5.0), ("reference-0", 80.0)):
        write(root, report(name, {"acc": value}))
    return root


@pytest.fixture
def windows(monkeypatch):
    for view in (ranking_view, overview_view, window):
        monkeypatch.setattr(view, "LONG", 10)


BOUNDS = ["reference-0", "copy"]  # by accuracy
ALL = [i for i in range(60) if i != 7]


@pytest.mark.parametrize(
    ("query", "wanted", "bounds", "told"),
    [
        ({}, ALL[:50], BOUNDS, "60 systems, 2 bounds"),
        ({"p": "2"}, [*ALL[50:], 7], BOUNDS, "60 systems, 2 bounds"),  # no value: last
        ({"p": "99"}, [*ALL[50:], 7], BOUNDS, "60 systems, 2 bounds"),
        ({"sort": "-acc"}, ALL[::-1][:50], BOUNDS[::-1], "60 systems, 2 bounds"),
        ({"sort": "-acc", "p": "2"}, [*ALL[::-1][50:], 7], BOUNDS[::-1], "60 systems, 2 bounds"),
        ({"sort": "ppl"}, [*range(59, 9, -1)], BOUNDS[::-1], "60 systems, 2 bounds"),
        (
            {"sort": "system", "q": "1 S-"},
            [1, *range(10, 20), 21, 31, 41, 51],
            [],
            "15 of 60 systems",
        ),
        ({"sort": "-system", "q": "s-0"}, [*range(9, -1, -1)], [], "10 of 60 systems"),
        ({"family": "rule,prompted", "q": "s-0"}, [0, 1, 3, 4, 6, 9, 7], [], "7 of 60 systems"),
        ({"parallel": "yes", "q": "s-0"}, [0, 2, 4, 6, 8], [], "5 of 60 systems"),
        ({"from": "2018-04", "q": "s-0"}, [0, 2, 4, 6, 8], [], "5 of 60 systems"),
        ({"to": "2018-02", "q": "s-0"}, [0, 4, 8], [], "3 of 60 systems"),
        ({"from": "soon", "q": "s-00"}, [0], [], "1 of 60 systems"),
        ({"sort": "date", "q": "s-0"}, [0, 4, 8, 1, 5, 9, 2, 6, 3, 7], [], "10 of 60 systems"),
        ({"q": "nobody"}, [], [], "0 of 60 systems"),
    ],
)
def test_a_window_is_what_was_asked_for(made, windows, query, wanted, bounds, told):
    page = Shown(show(made, **query).html)
    assert page.names == [*(f"s-{i:02}" for i in wanted), *bounds]
    (table,) = (a for a in page.all("table") if a.get("class") == "board")
    assert (table["data-window"], "data-left-out" in table) == (told, False)
    (nothing,) = (a for a in page.all("p") if a.get("class") == "nothing")
    assert ("hidden" in nothing) == bool(wanted)
    count = int(told.split()[0])
    assert f" of {1 + (count > 50)}, {count} system" in page.text


def test_a_window_has_the_ranks_of_the_whole_table(made, windows):
    ranks = [a["data-rank"] for a in Shown(show(made, p="2").html).all("td") if "data-rank" in a]
    by_accuracy, by_perplexity = ranks[:-1:2], ranks[1::2]  # S-07, the last, has no accuracy
    assert by_accuracy == [str(i) for i in range(51, 60)]
    assert by_perplexity == [str(i) for i in range(9, 0, -1)]
    assert ranks[-1] == "53"


def test_the_overview_comes_in_windows_too(made, windows):
    for query, first, count in (
        ({}, "s-00", 50),
        ({"p": "2"}, "s-51", 9),
        ({"sort": "-system"}, "s-59", 50),
        ({"sort": f"-{THERE}"}, "s-59", 50),
        ({"q": "s-3"}, "s-30", 10),
    ):
        found = Shown(show(made, view="overview", **query).html).names
        systems = [name for name in found if name.startswith("s-")]
        assert (systems[0], len(systems)) == (first, count), query


def test_bounds_of_which_there_are_many_have_pages_and_menus_have_bounds(made, windows, tmp_path):
    root = copytree(made, tmp_path / "results")
    for i in range(60):
        write(root, report(f"human-{i:02}", {"acc": 99.0 - i}, info={"family": "human"}))
    first, second = (Shown(show(root, p=p, q="human").html).names for p in "12")
    assert [*first, *second] == [f"human-{i:02}" for i in range(60)]
    options = [a["value"] for a in Shown(show(root, view="versus").html).all("option")]
    assert {"S-00", "S-10", "human-00", "human-09"} <= {*options}
    assert not {"S-55", "human-30"} & {*options}
    chosen = Shown(show(root, view="versus", first="S-55").html).all("option")
    assert [a["value"] for a in chosen if "selected" in a][-2:] == ["S-55", "S-00"]


def test_a_report_that_is_gone_is_noticed_by_its_page(made, tmp_path, monkeypatch):
    """Nothing is looked at for a while, as after a look that took long."""
    root = copytree(made, tmp_path / "results")
    results = Results(root)
    page = Page(results)
    assert "S-00" in page.render(Query()).html
    results._slow, results._again = True, float("inf")
    data._kept.cache_clear()
    page._ranks = RankCache()  # nor kept
    (gone,) = (one.folder for one in results.board().entries if one.label == "S-00")
    results._slow, results._again = True, float("inf")
    rmtree(gone)
    html = page.render(Query()).html
    assert "S-01" in html
    assert "S-00" not in html
    assert str(tmp_path) not in html


def test_visitors_slow_reading_and_do_not_stop_it(made, monkeypatch):
    monkeypatch.setattr(data, "_PATIENCE", 0.5)
    results = Results(made)
    with results.serving():  # none is the last
        results.read_behind(patience=15)
        assert results.so_far().unread == 0


class TestIndex:
    @pytest.fixture
    def root(self, made, tmp_path):
        return copytree(made, tmp_path / "results")

    @pytest.fixture(autouse=True)
    def _many(self, monkeypatch, tmp_path):
        monkeypatch.setattr(index, "MANY", 10)
        monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))

    @pytest.fixture
    def read(self, monkeypatch):
        """The reports that are read, by the name of their folder."""
        found, real = [], data._read_one

        def noting(path, stamps):
            found.append(path)
            return real(path, stamps)

        monkeypatch.setattr(data, "_read_one", noting)
        return found

    def test_what_was_read_is_there_at_the_next_start(self, root, read):
        seeded = {"system": "t", "recipe": "1" * 64, "seed": 5}
        write(root, report("t-5", {"acc": 1.0, "ppl": None}, info={"seed_run": seeded}))
        damaged = next((root / THERE).iterdir()) / "report.json"
        damaged.write_text("{")
        first = Results(root).board()
        assert len(read) == 63
        read.clear()
        again = Results(root).board()
        assert read == [str(damaged)], "what is wrong may not last"
        assert again.problems == first.problems != ()
        for one, other in zip(first.entries, again.entries, strict=True):
            assert (one.label, one.report) == (other.label, other.report)
            mine, its = vars(one.facts).copy(), vars(other.facts).copy()
            assert mine.pop("numbers").tolist().__repr__() == its.pop("numbers").tolist().__repr__()
            assert mine.pop("layout").measures == its.pop("layout").measures
            assert mine == its

    def test_the_cache_lists_and_removes_it(self, root, capsys, monkeypatch, tmp_path):
        Results(root).board()
        (row,) = command_line(capsys, "cache")[1].splitlines()[1:]
        kind, name, _, _, state = row.split("\t")
        assert (kind, state) == ("board", "current")
        assert name.startswith("mini_negative-to-positive_")
        monkeypatch.setattr(unchanged, "code", lambda: "others")
        assert command_line(capsys, "cache", "prune", "--yes")[0] == 0
        monkeypatch.undo()
        assert [*(tmp_path / "home" / "boards").iterdir()] == []

    def test_what_changed_is_read_again(self, root, read):
        Results(root).board()
        read.clear()
        folder = write(root, report("S-99", {"acc": 99.5}))
        board = Results(root).board()
        assert read == [str(folder / "report.json")]
        (entry,) = (one for one in board.entries if one.label == "S-99")
        assert entry.facts.numbers[0, 0] == 99.5

    @pytest.mark.parametrize("damage", ["cut", "numbers", "layouts", "reports", "deep", "code"])
    def test_an_index_that_cannot_be_used_is_made_anew(
        self, root, read, damage, tmp_path, monkeypatch
    ):
        Results(root).board()
        (file,) = (tmp_path / "home" / "boards").iterdir()
        text = file.read_text()
        kept = json.loads(text)
        if damage == "numbers":
            next(iter(kept["reports"].values()))[-1] = ["x"]
        elif damage in kept:
            kept[damage] = []
        elif damage == "code":
            monkeypatch.setattr(index, "code", lambda: "others")
        made = {"cut": text[:-1], "deep": "[" * 100_000}.get(damage, json.dumps(kept))
        file.write_text(made)
        read.clear()
        assert len(Results(root).board().entries) == len(read) == 62
        read.clear()
        assert len(Results(root).board().entries) == 62
        assert read == []

    def test_a_later_commit_of_the_hub_is_read_where_it_differs(self, made, read, tmp_path):
        there = [tmp_path / "hub" / "snapshots" / (sign * 40) for sign in "ab"]
        blobs = copytree(made, tmp_path / "hub" / "blobs")
        for place in there:
            copytree(blobs, place, copy_function=lambda one, new: Path(new).symlink_to(one))
            Results(place).board()
        assert len(read) == 62

    def test_a_home_that_cannot_be_written_keeps_nothing(self, root, read, tmp_path):
        (tmp_path / "home").write_text("no folder")
        assert len(Results(root).board().entries) == 62
