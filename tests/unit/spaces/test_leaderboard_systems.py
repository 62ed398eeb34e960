"""The page of a system, two systems head to head, and the outputs as a file."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from threading import Event, Thread

import pytest
from answering import asked
from leaderboard_pages import Page, called, ranking_of, served, show
from leaderboard_results import (
    BACK,
    HOSTILE,
    SEVERAL,
    THERE,
    report,
    sample,
    several_directions,
    write,
)

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.growth import HISTORY_FILE, read_history
from tstbench.pipelines.outputs import Outputs, read_outputs
from tstbench.pipelines.report import read_report
from tstbench.pipelines.results import Stored
from tstbench.pipelines.scoring import scoring
from tstbench.spaces.leaderboard import ranks as ranks_module
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.page import outputs_file
from tstbench.spaces.leaderboard.query import VIEWS, Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.system_page import standings
from tstbench.spaces.leaderboard.versus_page import choose_pair, comparison, decisive
from tstbench.spaces.leaderboard.views import render


@pytest.fixture(scope="module")
def url(real):
    with served(real) as url:
        yield url


def links(page):
    """The queries of a page's links to other views."""
    found = [a["href"][1:] for a in page.all("a") if a.get("href", "").startswith("?")]
    return [dict(urllib.parse.parse_qsl(query)) for query in found]


class TestSystemPage:
    def test_seeds_that_were_scored_differently_have_pages_of_their_own(self, root):
        for seed in (0, 1):
            run = {"seed_run": {"system": "x", "recipe": "a" * 64, "seed": seed}}
            classifier = f"linear:mini#{str(seed) * 12}"
            write(root, report(f"x-seed{seed}", {"acc": 50.0}, info=run, classifier=classifier))
        view = show(root, view="system", system="x")
        assert view.status == 404
        listed = [one["system"] for one in links(Page(view.html)) if "system" in one]
        assert listed == ["x-seed0", "x-seed1"]
        assert "Run of" in Page(show(root, view="system", system="x-seed1").html).text

    def test_the_ranks_of_all_directions_are_asked_for_before_the_first_is_awaited(
        self, root, monkeypatch
    ):
        monkeypatch.setattr(ranks_module, "_PATIENCE", 3600)  # seconds, or until all are there
        board, cache = Results(several_directions(root)).board(), RankCache()

        def release_when_all_are_asked():
            for _ in range(1000):
                if len(cache._found) == 2:  # those where ``half`` was scored
                    all_asked.set()
                    break
                time.sleep(0.01)
            cache._turn.release()

        all_asked = Event()
        cache._turn.acquire()
        Thread(target=release_when_all_are_asked).start()
        found = list(standings(board, "half", cache))
        assert all_asked.is_set()
        assert [one.entry.direction.name for one in found] == list(SEVERAL[:2])
        assert not any(one.pending for one in found)

    def test_what_changed_over_time_is_there(self, root):
        """Two reports on one direction, of other software and another edition of the data."""
        there = "gyafc_em/informal-to-formal"  # whose files are not here
        write(root, report("a", {"acc": 10.0}, there, made_with="tstbench:1|numpy:1.0"))
        other = {"fingerprint": "f", "made_with": "tstbench:2|numpy:2.0"}
        write(root, report("a", {"acc": 20.0}, there, **other))
        text = Page(show(root, view="system", system="a").html).text
        for part in ("10.0", "20.0", "numpy 1.0", "numpy 2.0", "0" * 12, "f" * 12):
            assert part in text

    def test_earlier_results_are_there_when_the_outputs_changed(self, tmp_path):
        test_set = load_test_set(THERE)
        for texts in (test_set.sources, [f"{s} !" for s in test_set.sources]):
            outputs = Outputs("<b>a</b>", tuple(texts))
            evaluate([outputs], test_set, scoring(["s_bleu"]), root=tmp_path)
        (folder,) = (p.parent for p in tmp_path.rglob("report.json"))
        (before,) = read_history(folder)
        assert (before.why, before.scores[0].value) == ("the predictions changed", 100.0)
        text = Page(show(tmp_path, view="system", system="<b>a</b>").html).text
        assert "the predictions changed" in text.partition("Earlier results")[2]
        assert before.outputs_sha256[:12] in text
        evaluate([outputs], test_set, scoring(["s_bleu", "r_bleu"]), root=tmp_path)
        assert read_history(folder) == (before,), "more metrics are no other results"
        (folder / HISTORY_FILE).write_text("{}\n")
        html = show(tmp_path, view="system", system="<b>a</b>").html
        assert "line 1: not an earlier result" in html
        again = Outputs("<b>a</b>", tuple(test_set.sources))
        evaluate([again], test_set, scoring(["s_bleu"]), root=tmp_path)
        assert (folder / HISTORY_FILE).read_text().startswith("{}\n{"), "nothing is lost"

    @pytest.mark.parametrize("view", ["ranking", "overview", "samples", "versus", "system"])
    def test_every_name_leads_there(self, real, view):
        page = Page(show(real, view=view, direction=THERE).html)
        named = {
            link["system"]
            for link in links(page)
            if link.get("view") == "system" and "system" in link
        }
        everyone = {"copy", "random-target", "delete-retrieve", "reference-1", HOSTILE}
        assert named == everyone if view != "versus" else len(named) == 2


class TestHeadToHead:
    def test_numbers_and_the_sentences_that_differ_the_most_telling_first(self, real):
        names = ("copy", "delete-retrieve")
        reports = [read_report(real / THERE / name) for name in names]
        first, second = (
            {s.id: s.scores["r_bleu"] for s in Stored(real / THERE / name, one).samples()}
            for name, one in zip(names, reports, strict=True)
        )
        gains = sorted(first[i] - second[i] for i in first)
        worse, same = sum(gain < 0 for gain in gains), gains.count(0)
        query = Query(first=names[0], second=names[1])
        pair = choose_pair(ranking_of(real).entries, query)
        (metric,) = (one for one in comparison(pair).metrics if one.metric == "r_bleu")
        lost, won = (
            [one.gain for one in decisive(pair, metric, order)] for order in ("lost", "won")
        )
        assert lost == pytest.approx(gains[:worse])
        assert won == pytest.approx(gains[: worse + same - 1 : -1])
        assert lost != [] != won
        query = {"direction": THERE, "first": names[0], "second": names[1], "metric": "r_bleu"}
        text, better = (
            Page(show(real, view="versus", order=order, **query).html).text for order in ("", "won")
        )
        assert " \N{MIDDLE DOT} ".join(map(str, (len(won), same, len(lost)))) in text
        values = [one.score("r_bleu").value for one in reports]
        assert f"{abs(values[0] - values[1]):.1f}" in text
        assert "copy: a bound, which does not compete" in text
        assert (f"{len(lost)} sentence" in text, f"{len(won)} sentence" in better) == (True, True)

    def test_one_system_needs_another(self, root):
        write(root, report("a", {"acc": 1.0}))
        assert "A comparison needs two systems" in show(root, view="versus").html

    def test_scores_alone_are_compared_without_a_test(self, root):
        for name, value, digit in (("a", 10.0, "1"), ("b", 20.0, "2")):
            one = report(name, {"acc": value})
            folder = write(root, one.model_copy(update={"outputs_sha256": digit * 64}))
        board = Results(root).board()
        (folder / "replicates.parquet").unlink()  # in the moment after the board was read
        query = Query.parse({"view": "versus", "first": "a", "second": "b"})
        page = Page(render(board, query, RankCache()).html)
        assert "No metric could be tested" in page.text
        assert "corrected for" not in page.text, "nothing was tested, so nothing was corrected"
        assert "\N{MINUS SIGN}10.0" in page.text
        assert "No sentences to show" in page.text

    def test_damaged_sentences_are_named(self, real, root):
        for name in ("a", "b"):
            one = [sample(0, "s", "p", acc=1.0)]
            folder = write(root, report(name, {"acc": 1.0}), one)
        board = Results(root).board()
        (folder / "samples.jsonl").write_text("{}")
        query = Query.parse({"view": "versus"})
        # In the moment after the board was read; then the whole system is left out, and named.
        assert "samples.jsonl is damaged" in render(board, query, RankCache()).html
        assert "samples.jsonl is damaged" in show(root, view="ranking").html


class TestServed:
    def test_outputs_are_a_file_that_can_be_scored(self, url, real, tmp_path):
        page = Page(show(real, view="system", system="delete-retrieve").html)
        (query,) = [q for q in links(page) if q.get("download") and q["direction"] == THERE]
        path = tmp_path / "outputs.jsonl"
        with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}") as answer:
            assert "attachment" in answer.headers["content-disposition"]
            path.write_bytes(answer.read())
        outputs = read_outputs(path, load_test_set(THERE), "again")
        assert outputs.sha256 == read_report(real / THERE / "delete-retrieve").outputs_sha256

    @pytest.mark.parametrize("system", ["nobody", "../copy", "", HOSTILE])
    def test_no_other_file_is_given_away(self, url, system):
        query = {"download": "outputs", "direction": THERE, "system": system}
        status, said, _ = asked(f"{url}?{urllib.parse.urlencode(query)}")
        assert (status, "no outputs of this system" in said) == (404, True)

    def test_a_system_that_is_not_there_is_not_found(self, url):
        assert asked(f"{url}?view=system&system=delete-retrieve")[0] == 200
        status, said, _ = asked(f"{url}?view=system&system=nobody")
        assert (status, "There is no page for this system" in said) == (404, True)

    def test_old_tabs_ask_with_old_names(self, url):
        """What a page opened before an update sends: names that are gone."""
        query = {"view": "samples", "direction": BACK, "p": "2", "order": "source", "gone": "x"}
        view = called(url, "view", query={**query, "systems": "copy|gone", "setting": "00000000"})
        assert "Page 2 of 8" in view["html"]
        assert "versus" in VIEWS

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

    @pytest.mark.parametrize("value", ["2", "-1", "x", HOSTILE])
    def test_no_parameter_and_no_value_of_a_link_breaks_the_page(self, url, value):
        others = ("page", "deep_link", "request", "user", "__theme", "lang")  # Gradio's, the Hub's
        query = {"view": "samples", "direction": BACK, **dict.fromkeys(("p", *others), value)}
        address = f"{url}?{urllib.parse.urlencode(query)}"
        text = Page(asked(address)[1]).text
        assert f"Page {2 if value == '2' else 1} of 8" in text
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD")).close()
