"""The leaderboard's pictures: who is in them, which way is better, what is claimed."""

import itertools

import numpy as np
import pytest
from analysis_results import judgment
from leaderboard_pages import Page, ranking_of, show
from leaderboard_results import THERE, report, sample, write
from scipy.stats import spearmanr

from tstbench.datasets_scripts.judgments.schema import write_judgments
from tstbench.spaces.leaderboard import figures
from tstbench.spaces.leaderboard.correlation import correlate, interval_of_rho, spearman
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.figures import lengths, trade_off
from tstbench.spaces.leaderboard.markup import ui
from tstbench.spaces.leaderboard.picture_view import map_picture
from tstbench.spaces.leaderboard.query import Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.style_map import style_map

HUMAN = {"family": "human"}


def rated(root, scores):
    """Write one rating of fluency for each system."""
    rows = [judgment(system, 0, score, aspect="fluency") for system, score in scores.items()]
    write_judgments(root / "human.jsonl", rows)


def tips(html):
    return [a["data-tip"] for _, a in Page(html).elements if "data-tip" in a]


class TestAgreement:
    def test_it_is_signed_by_what_is_better_and_without_bounds(self, root):
        """People and a copy agree with the metrics by far; the five systems do the opposite."""
        for i in range(5):
            write(root, report(f"s{i}", {"acc": 50.0 + i, "ppl": 100.0 - i, "cola": 7.0}))
        write(root, report("human", {"acc": 99.0, "ppl": 1.0}, info=HUMAN))
        write(root, report("copy", {"acc": 1.0, "ppl": 200.0}))
        rated(root, {**{f"s{i}": 3.0 - i / 10 for i in range(5)}, "human": 5.0, "copy": 1.0})
        found = correlate(ranking_of(root))
        cells = {metric: cell for metric, (cell,) in zip(found.metrics, found.cells, strict=True)}
        for cell in (cells["ACC"], cells["PPL"]):
            assert (cell.value, cell.points, cell.shown) == (pytest.approx(-1), 5, True)
        assert cells["CoLA"].value is None, "a constant orders nothing"

    def test_nothing_is_said_of_three_systems(self, root):
        for i in range(3):
            write(root, report(f"s{i}", {"acc": 50.0 + i}))
        write(root, report("human", {"acc": 99.0}, info=HUMAN))
        rated(root, {"s0": 1.0, "s1": 2.0, "s2": 3.0, "human": 5.0})
        assert correlate(ranking_of(root)) is None
        text = Page(show(root, view="pictures", direction=THERE).html).text
        assert "Nothing can be said: fewer than 4 systems" in text

    def test_the_cell_has_its_interval_and_its_number_of_systems(self, root):
        for i, acc in enumerate((1.0, 2.0, 4.0, 3.0)):
            write(root, report(f"s{i}", {"acc": acc}))
        rated(root, {f"s{i}": 1.0 + i for i in range(4)})
        found = correlate(ranking_of(root))
        html = ui.heat(found)
        assert "+0.80" in Page(html).text  # by hand: 1 - 6 * 2 / (4 * 15)
        assert "4 systems" in Page(html).text
        assert "to +" in Page(html).text
        assert 'class="unclear"' in html, "faded: 4 systems do not tell it from 0"

    def test_rho_is_scipys(self):
        random = np.random.default_rng(4)
        for _ in range(20):
            x, y = random.integers(0, 6, size=(2, 12))  # with ties
            assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)

    def test_the_interval_by_hand(self):
        """z = atanh(0.8) = 1.0986; its error is sqrt(1.32 / 7) = 0.4343, so 0.2475 to 1.9497."""
        assert interval_of_rho(0.8, 10) == pytest.approx((0.2426, 0.9603), abs=2e-4)
        # At 1: rho is 1 - 6 / 990, z is 2.8980 and its error 0.4620, so the low end is tanh 1.9926.
        assert interval_of_rho(1.0, 10) == pytest.approx((0.9635, 1.0), abs=2e-4)
        assert interval_of_rho(-1.0, 10) == pytest.approx((-1.0, -0.9635), abs=2e-4)

    @pytest.mark.parametrize("n", [4, 5, 6])
    def test_the_interval_decides_as_all_orders_of_the_systems_do(self, n):
        """The exact permutation test is the oracle: every coloured cell is significant by it."""
        orders = list(itertools.permutations(range(n)))
        rhos = np.array([spearman(np.arange(n), np.array(order)) for order in orders])
        for rho in np.unique(rhos.round(9)):
            low, high = interval_of_rho(float(rho), n)
            if not low <= 0 <= high:
                assert np.mean(np.abs(rhos) >= abs(rho) - 1e-9) <= 0.06

    def test_the_interval_contains_the_truth_as_often_as_it_says(self):
        random, true = np.random.default_rng(1), 6 / np.pi * np.arcsin(0.6 / 2)
        caught = []
        for _ in range(500):
            x = random.standard_normal(12)
            y = 0.6 * x + 0.8 * random.standard_normal(12)
            low, high = interval_of_rho(spearman(x, y), 12)
            caught.append(low <= true <= high)
        assert 0.92 < np.mean(caught) < 0.985


class TestPictures:
    def test_better_is_right_and_up(self, root):
        for i, name in enumerate("abc"):
            write(root, report(name, {"acc": 10.0 * i, "ppl": 100.0 + i}))
        ranking = ranking_of(root)
        html = trade_off(ranking, ranking.columns[1], ranking.columns[0])
        found = Page(html).elements
        places = {
            a["aria-label"][0]: (target["cx"], target["cy"])
            for (_, a), (_, target) in itertools.pairwise(found)
            if "data-tip" in a
        }
        pictures = str(show(root, view="pictures", direction=THERE).html)
        assert "Style: ACC (%) \N{RIGHTWARDS ARROW}" in pictures, "style is across, as in analyses"
        assert float(places["a"][0]) > float(places["b"][0]) > float(places["c"][0]), "lower PPL"
        assert float(places["c"][1]) < float(places["b"][1]) < float(places["a"][1]), "higher ACC"

    def test_of_many_systems_the_first_are_shown_and_the_front_of_all(self, root, monkeypatch):
        values = {"a": (9, 3), "b": (8, 2), "c": (7, 1), "d": (2, 8), "e": (1, 7)}  # front: a and d
        for name, (acc, bleu) in values.items():
            write(root, report(name, {"acc": acc, "s_bleu": bleu}))
        ranking, drawn = ranking_of(root), []
        monkeypatch.setattr(figures, "MOST_POINTS", 2)
        monkeypatch.setattr(figures, "_plane", lambda points, *_: drawn.extend(points))
        trade_off(ranking, ranking.columns[0], ranking.columns[1])
        assert {p.system: p.on_front for p in drawn} == {"a": True, "b": False, "d": True}

    def test_length_quantiles(self):
        (tip,) = set(tips(lengths({"x": [1, 2, 3, 4, 5]})))
        assert tip == "x\nmedian 3 words, half have 2 to 4, most 1.2 to 4.8"


class TestMap:
    SOURCES = tuple(f"the soup was cold {i}" for i in range(120))
    REWRITES = tuple(f"the soup was hot {i}" for i in range(120))
    OUTPUTS = tuple(f"a soup {i}" for i in range(9))

    @staticmethod
    def embedded(texts, *, by_style):
        """Vectors in which the style separates, or only the number, the topic, does."""
        random = np.random.default_rng(0)
        noise = random.standard_normal((len(texts), 8)) * 0.05
        for vector, text in zip(noise, texts, strict=True):
            words = text.split()
            vector[0] += ("hot" in words) if by_style else int(words[-1]) / 20
        return noise

    def draw(self, *, by_style):
        return style_map(
            ("source", self.SOURCES),
            ("human", self.REWRITES),
            ("ours", self.OUTPUTS),
            encode=lambda texts: self.embedded(texts, by_style=by_style),
        )

    def test_styles_that_separate(self):
        found = self.draw(by_style=True)
        assert found.separated
        assert found.separation > 0.95
        assert found.groups == ("source",) * 60 + ("human",) * 60 + ("ours",) * 5
        no_pairs = (*self.SOURCES[::2], *self.REWRITES[1::2], *self.OUTPUTS[::2])
        assert found.texts == no_pairs

    def test_topics_are_no_styles(self):
        found = self.draw(by_style=False)
        assert not found.separated
        assert found.separation < 0.6

    def test_a_map_is_computed_once(self, tstbench_home):
        first = self.draw(by_style=True)
        (kept,) = (tstbench_home / "style-maps").iterdir()
        groups = (("a", self.SOURCES), ("b", self.REWRITES), ("c", self.OUTPUTS))
        again = style_map(*groups, encode=pytest.fail)
        assert np.array_equal(first.points, again.points)
        kept.write_text("[[1, 2]]")
        assert np.array_equal(self.draw(by_style=True).points, first.points), "a damaged file"

    def test_it_says_why_there_is_none(self, root):
        board = Results(root).board
        write(root, report("a", {"acc": 1.0}), [sample(i, f"s {i}", "p") for i in range(120)])
        text = map_picture(board(), Query.parse({"direction": THERE}), RankCache())
        assert "no human rewrites" in text
