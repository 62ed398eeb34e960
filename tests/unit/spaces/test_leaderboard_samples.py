"""The leaderboard's sentences: differences, order, what is missing, and text that is hostile."""

import itertools
import math
import random
import re

import pytest
from leaderboard_pages import Page, show
from leaderboard_results import (
    HOSTILE,
    THERE,
    report,
    sample,
    write,
)

from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.diff import word_diff
from tstbench.spaces.leaderboard.markup import join, ui
from tstbench.spaces.leaderboard.picture_view import lengths_picture, map_picture
from tstbench.spaces.leaderboard.query import VIEWS, Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.samples import arrange, sides
from tstbench.spaces.leaderboard.views import render


class TestHostileText:
    """Names, origins, links and sentences that would like to be HTML."""

    @pytest.mark.parametrize("metric", ["", HOSTILE])
    @pytest.mark.parametrize("view", [*VIEWS, "system"])
    def test_nothing_becomes_an_element_or_an_attribute(self, real, view, metric):
        named = {"systems": HOSTILE, "system": HOSTILE, "first": HOSTILE, "second": "copy"}
        query = Query.parse({"view": view, "direction": THERE, "metric": metric, **named})
        board, ranks = Results(real).board(), RankCache()
        drawn = (lengths_picture, map_picture) if view == "pictures" else ()
        html, later = render(board, query, ranks).html, [d(board, query, ranks) for d in drawn]
        assert all("hurt" in one for one in (html, *later[:1])) or view in ("about", "submit")
        page = Page("".join([html, *later]))
        assert not page.all("script")
        assert not page.all("img")
        for _, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on")]
            assert all(
                str(attributes.get(name, "")).startswith(("https://", "?")) or not attributes[name]
                for name in ("href", "src")
                if name in attributes
            )
        if view not in ("pictures", "about", "submit"):
            assert HOSTILE in page.text, "shown as it is, as text"

    def test_only_https_leaves_the_page(self, root):
        one = report("a", {"acc": 1.0}, info={"outputs_url": "https://example.org/\"onload='x'"})
        write(root, one)
        (link,) = [a for a in Page(show(root).html).all("a") if a["href"].startswith("http")]
        assert link["href"] == "https://example.org/\"onload='x'"
        assert "noopener" in link["rel"]

    def test_a_metric_may_be_called_anything(self, root):
        one = report("a", {"acc": 1.0})
        odd = one.scores[0].model_copy(
            update={"key": HOSTILE, "metric": HOSTILE, "signature": f"{HOSTILE}|a:b"}
        )
        write(root, one.model_copy(update={"scores": (odd,)}))
        for view in ("ranking", "overview"):
            page = Page(show(root, view=view).html)
            assert not page.all("script")
            assert HOSTILE in page.text

    def test_text_cannot_become_markup(self):
        html = join(["<b>", ["&", None, 3], ui.tag("i", ["<", None]), ui.link("<", q='"><script>')])
        assert html == (
            '&lt;b&gt;&amp;3<i>&lt;</i><a href="?q=%22%3E%3Cscript%3E" data-link>&lt;</a>'
        )
        shown = ui.icon('"><script>', '"x')
        assert shown.count("<") == 4
        assert "&#34;&gt;&lt;script&gt;" in shown


class TestSamples:
    def test_a_diff_holds_both_texts(self):
        words = "a b! C, d .".split()
        random.seed(1)
        for _ in range(200):
            old, new = (" ".join(random.choices(words, k=random.randint(0, 7))) for _ in range(2))
            pieces = word_diff(old, new).pieces
            kept = {k: "".join(p.text for p in pieces if p.kind != k) for k in ("gone", "new")}
            assert "".join(kept["gone"].split()) == "".join(new.split())
            assert "".join(kept["new"].split()).lower() == "".join(old.split()).lower()
            assert all(a.kind != b.kind for a, b in itertools.pairwise(pieces))

    @pytest.mark.parametrize(
        ("source", "prediction", "changed"),
        [
            ("What a gift !", "what a GIFT!", []),
            ("it 's fine .", "It's fine.", []),
            ("a gift!", "a gift.", ["gone !", "new ."]),
            ("İstanbul is dull", "İstanbul is fun", ["gone dull", "new fun"]),
            ("salt &amp; pepper, bad", "salt &amp; pepper, good", ["gone bad", "new good"]),
            ("w " * 70 + "bad", "w " * 70 + "good", ["gone bad", "new good"]),
        ],
    )
    def test_a_diff_sees_what_the_metrics_see(self, source, prediction, changed):
        pieces = word_diff(source, prediction).pieces
        assert [f"{p.kind} {p.text}" for p in pieces if p.kind != "same"] == changed

    def test_a_space_stands_where_one_was(self, root):
        one = sample(0, "bad food, sir!", "Great food , sir.", acc=100.0)
        write(root, report("a", {"acc": 100.0}), [one])
        assert "abad Great food , sir!." in Page(show(root, view="samples").html).text

    @pytest.mark.parametrize(
        ("prediction", "plain", "said", "marks"),
        [
            ("the soup was cold.", "", "unchanged", 0),
            ("The soup was cold .", "", "same words", 0),
            ("the soup was hot.", "", "", 2),
            ("the soup was hot.", "plain", "", 0),
            ("you could not wish for anything better here!", "", "rewritten", 0),
        ],
    )
    def test_changes_are_marked_where_that_helps(self, root, prediction, plain, said, marks):
        one = sample(0, "the soup was cold.", prediction, acc=100.0)
        write(root, report("a", {"acc": 100.0}), [one])
        page = Page(show(root, view="samples", texts=plain).html)
        assert prediction in page.text or marks
        assert len(page.all("ins") + page.all("del")) == marks
        assert said in page.text
        (chosen,) = [
            o["value"]
            for o in page.all("option")
            if "selected" in o and o["value"] in ("", "plain")
        ]
        assert chosen == plain

    def test_a_link_to_systems_with_a_bar_in_their_name(self, root):
        for name in ("a|b", "a", "c"):
            write(root, report(name, {"acc": 1.0}), [sample(0, "s", f"by {name}", acc=0.0)])
        text = Page(show(root, view="samples", systems="a|b|c").html).text
        assert "Systems: 3 of 3" in text
        assert "Systems: 1 of 3" in Page(show(root, view="samples", systems="c").html).text

    @pytest.fixture
    def systems(self):
        scores = {"one": (10.0, 50.0, 90.0), "two": (12.0, 90.0, 90.0)}
        return {
            name: {
                f"s-{i}": sample(i, f"source {i}", f"{name} {i}", acc=v, ppl=1000.0 - v)
                for i, v in enumerate(values)
            }
            for name, values in scores.items()
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

    def test_perplexities_are_compared_by_their_logarithms_and_what_has_none_is_last(self):
        values = {"one": (10.0, None, 0.5), "two": (1000.0, None, 0.0)}
        systems = {
            name: {
                f"s-{i}": sample(i, "s", "p", **({} if v is None else {"ppl": v}))
                for i, v in enumerate(some)
            }
            for name, some in values.items()
        }
        found = sides(systems, "ppl")
        assert [side.mean for side in found] == [505.0, None, 0.25]
        # Of ln 10 and ln 1000; below 1 there is nothing to compare.
        assert [side.spread for side in found] == [pytest.approx(math.log(10)), 0.0, 0.0]
        for order, ids in (("worst", ["s-0", "s-2", "s-1"]), ("best", ["s-2", "s-0", "s-1"])):
            assert [s.id for s in arrange(found, order, higher_is_better=False)] == ids

    def test_the_page_knows_what_is_worse_and_ends_at_its_end(self, root):
        rows = [sample(i, f"source {i}", "p", ppl=100.0 + i) for i in range(12)]
        write(root, report("a", {"ppl": 105.0}), rows)

        def page(**query):
            html = show(root, view="samples", metric="ppl", order="worst", **query).html
            return re.findall(r'<p class="id">s-(\d+)</p>', html), html

        assert page()[0] == ["11", "10", "9", "8", "7"]
        for number in ("3", "99"):
            ids, html = page(p=number)
            assert ids == ["1", "0"]
            assert "Page 3 of 3, 12 sentences" in html

    def test_no_more_systems_than_can_be_read_beside_one_another(self, root):
        names = [f"system {i}" for i in range(10)]
        for i, name in enumerate(names):
            write(root, report(name, {"acc": 50.0 - i}), [sample(0, "s", "p", acc=0.0)])
        for query in ({}, {"systems": "|".join(reversed(names))}):
            page = Page(show(root, view="samples", **query).html)
            boxes = [a for a in page.all("input") if "data-param-list" in a]
            assert [box["value"] for box in boxes if "checked" in box] == names[:8]
            assert [box["value"] for box in boxes] == names

    def test_a_sentence_that_a_system_lacks_is_said_to_be_missing(self, root):
        both = [sample(i, f"source {i}", f"mine {i}", acc=1.0) for i in range(2)]
        write(root, report("all", {"acc": 1.0}), both)
        write(root, report("part", {"acc": 1.0}), both[:1])
        page = Page(show(root, view="samples", direction=THERE).html)
        assert page.text.count("no rewrite of this sentence") == 1
        assert "source 1" in page.text

    def test_a_damaged_file_is_named(self, root):
        one = [sample(0, "s", "p", acc=1.0)]
        folder = write(root, report("a", {"acc": 1.0}), one)
        (folder / "samples.jsonl").write_text('{"id": 3}\n')
        assert "samples.jsonl is damaged: it does not match" in show(root, view="samples").html

    @pytest.mark.parametrize("public", [False, True])
    def test_licensed_texts_stay_at_home_and_are_not_missed_without_a_word(self, root, public):
        name = "gyafc_fr/informal-to-formal"
        for direction in (name, THERE):
            one = sample(0, "the source", "p", acc=1.0)
            write(root, report("a", {"acc": 1.0}, direction), [one])
        board, ranks = Results(root, public=public).board(), RankCache()
        shown, ours = (
            render(board, Query(view="samples", direction=direction), ranks).html
            for direction in (name, THERE)
        )
        assert ("the source" in shown, "is licensed" in shown) == (not public, public)
        assert "the source" in ours
