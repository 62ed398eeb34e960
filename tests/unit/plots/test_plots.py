"""Pictures as elements of a page, and where names go."""

import itertools
import re

import numpy as np
import pytest
from leaderboard_pages import Page
from leaderboard_results import HOSTILE

from tstbench.plots.canvas import new_figure, page_svg, svg_picture
from tstbench.plots.colours import KINDS, colour, twins
from tstbench.plots.label_places import Box, cross, place_labels
from tstbench.plots.plane import PHONE, WIDE, Axis, Point, draw_plane
from tstbench.plots.rows import Mark, Row, draw_page_rows

QUOTES = 'it\'s "quoted" & #1d6360'


def plane(size, names):
    points = [
        Point(
            system=name, family=kind, bound=kind == "human", x=10.0 + n, y=3.0 * n + 1, across=None,
            up=(1.0, 50.0), on_front=n == 0, tip=f"{name}\nsecond line",
        )
        for n, (name, kind) in enumerate(zip(names, KINDS, strict=False))
    ]  # fmt: skip
    across = Axis(title=names[0], logarithmic=False, higher_is_better=True)
    up = Axis(title="PPL", logarithmic=True, higher_is_better=False)
    tips = [point.tip for point in points]
    return page_svg(lambda: draw_plane(points, across, up, {}, size), tips, "wide")


def test_names_are_text_in_the_svg_of_a_page():
    names = [HOSTILE, QUOTES, "$x^2$", "plain", "ref", "old"]
    for size in (WIDE, PHONE):
        page = Page(plane(size, names))
        assert {tag for tag, _ in page.elements} <= set(
            "svg g path text use defs circle rect clippath".split()
        )
        assert not [name for _, a in page.elements for name in a if name.startswith("on")]
        marks = [a for _, a in page.elements if "data-tip" in a]
        assert [a["data-tip"] for a in marks] == [f"{name}\nsecond line" for name in names]
        assert all(a["aria-label"] == a["data-tip"] for a in marks)
        assert [a["tabindex"] for a in marks] == ["0", *["-1"] * 5], "one stop of the Tab key"
        assert "$x^2$" in page.text, "no formula"
        assert f"{HOSTILE} \N{RIGHTWARDS ARROW}" in page.text


def test_a_page_gives_a_picture_its_colours_and_fonts():
    svg = plane(WIDE, ["a", "b", "c", "d", "e", "f"])
    assert not re.findall("#[0-9a-f]{6}", re.sub('(url\\(|href=")#\\w+', "", svg))
    assert "font-family" not in svg
    assert {f"var(--{kind})" for kind in KINDS if kind != "human"} <= set(
        re.findall(r"var\(--\w+\)", svg)
    )
    ids = re.findall(r' id="([^"]*)"', svg)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#(\w+)', svg)) == set(ids)
    assert svg == plane(WIDE, ["a", "b", "c", "d", "e", "f"])


def test_a_picture_alone_has_the_dark_twin_of_each_of_its_colours():
    def draw():
        figure = new_figure(2, 2)
        figure.add_subplot().plot([0, 1], color=colour("muted"))
        return figure

    svg = svg_picture(draw, "a line")
    style, drawn = svg.split("</style>", 1)
    light, dark = (dict(re.findall(r"(--c\d+):(#\w+)", part)) for part in style.split("@media"))
    assert {colour("muted"), colour("surface")} <= set(light.values())
    assert dark == {name: twins()[one] for name, one in light.items()}
    assert set(re.findall(r"var\((--c\d+)\)", drawn)) == set(light)
    assert not set(re.findall("#[0-9a-f]{6}", drawn)) & set(twins())


def rows(values, **how):
    """Where the marks of each row are, from left to right, by their tips; and the SVG."""
    found = [
        Row(
            name=f"system-{n} with a longer name{n}",
            marks=tuple(Mark(value=v, tip=f"{n}: {v}", hollow=n > 1) for v in some),
            bound=n > 1,
        )
        for n, some in enumerate(values)
    ]
    tips = [mark.tip for row in found for mark in row.marks]
    svg = page_svg(lambda: draw_page_rows(found, "PPL", "Bounds", 330, **how), tips, "narrow")
    places = re.findall(r'data-tip="([^"]*)"[^>]*><circle class="target" cx="([\d.]+)"', svg)
    return {tip: float(x) for tip, x in places}, svg


def test_better_is_right_on_rows_and_every_mark_has_its_own_tip():
    values = [(10.0, 100.0), (1000.0,), (30.0,)]
    lower, svg = rows(values, logarithmic=True, reverse=True)
    assert sorted(lower, key=lower.get) == ["1: 1000.0", "0: 100.0", "2: 30.0", "0: 10.0"]
    apart = [lower["0: 10.0"] - lower["0: 100.0"], lower["0: 100.0"] - lower["1: 1000.0"]]
    assert apart[0] == pytest.approx(apart[1], abs=0.1), "decades are equally wide"
    higher, _ = rows(values)
    assert sorted(higher, key=higher.get) == ["0: 10.0", "2: 30.0", "0: 100.0", "1: 1000.0"]
    assert svg.count("stroke-dasharray") == 1, "a line to the bound"
    found = re.findall(r'(?:y="|translate\(0 )([\d.]+)[^>]*>([^<]+)<', svg)
    heights = {text: float(y) for y, text in found}
    lines = ["system-1 with a", "longer name1", "Bounds", "system-2 with a"]
    assert sorted(lines, key=heights.get) == lines, "a long name has two lines"
    ticks = [(float(x), text) for x, text in re.findall(r' x="([\d.]+)"[^>]*>([\d,]+)<', svg)]
    assert 2 <= len(ticks) <= 4
    for (x, text), (following, other) in itertools.pairwise(sorted(ticks)):
        assert following - x > 3.5 * (len(text) + len(other)), "no tick covers another"


def test_no_dashed_line_crosses_the_title_of_the_bounds():
    marks = [Mark(value=value, hollow=hollow, tip="") for value, hollow in ((50, False), (1, True))]
    rows = [Row(name="a", marks=(mark,), text="1", bound=mark.hollow) for mark in marks]
    figure = draw_page_rows(rows, "BLEU", "Bounds: not ranked", 330)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    (title,) = (text for text in axes.texts if "Bounds" in text.get_text())
    (dashed,) = (line for line in axes.lines if line.get_linestyle() == "--")
    assert title.get_window_extent().x1 < dashed.get_window_extent().x0


@pytest.mark.parametrize(("low", "high"), [(165.0, 203.0), (110.0, 190.0), (20.5, 27.0)])
def test_a_short_logarithmic_scale_has_ticks_too_each_with_its_own_number(low, high):
    places, svg = rows([(low, high)], logarithmic=True)
    left, right = places[f"0: {low}"], places[f"0: {high}"]
    ticks = re.findall(r' x="([\d.]+)"[^>]*>([\d.,]+)<', svg)
    assert 2 <= len(ticks) <= 4
    for x, text in ticks:
        value = low * (high / low) ** ((float(x) - left) / (right - left))
        assert float(text) == pytest.approx(value, rel=0.002)


def test_a_short_logarithmic_axis_of_a_plane_has_ticks_with_their_own_numbers():
    points = [
        Point(
            system=name, family="rule", bound=False, x=10.0, y=y, across=None, up=None,
            on_front=False, tip=name,
        )
        for name, y in (("a", 12.0), ("b", 14.4))
    ]  # fmt: skip
    across, up = (Axis(title="", logarithmic=log, higher_is_better=True) for log in (False, True))
    axes = draw_plane(points, across, up, {}, WIDE).axes[0]
    ticks = axes.get_yticks()
    assert len(ticks) > 2
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"{tick:g}" for tick in ticks]


def test_no_name_covers_a_name_or_a_point():
    random = np.random.default_rng(0)
    points = [(float(x), float(y)) for x, y in random.uniform(40, 300, size=(25, 2))]
    points[1] = points[0]
    frame = Box(0, 0, 340, 340)
    texts = [f"system-{i}" for i in range(25)]
    places = [place for place in place_labels(points, texts, frame) if place]
    assert len(places) > 12
    for place in places:
        assert place.box.inside(frame)
        for x, y in points:
            assert not place.box.meets(Box(x - 4, y - 4, x + 4, y + 4))
    for a, b in itertools.combinations(places, 2):
        assert not a.box.meets(b.box)


def test_no_name_is_taken_for_that_of_another_point():
    points = [(100.0, 150.0), (130.0, 135.0)]  # to the right of the first is below the second
    places = place_labels(points, ["template", "delete-retrieve"], Box(0, 0, 340, 340))
    for place, own, other in zip(places, points, reversed(points), strict=True):
        assert place is not None, "both have a name"
        assert place.box.away(*other) >= 1.5 * place.box.away(*own)
    assert Box(0, 0, 3, 4).away(6, 8) == 5.0, "3 across, 4 down"
    assert Box(0, 0, 3, 4).away(1, 1) == 0.0


def test_of_free_places_the_one_that_hides_no_interval():
    lines = cross((100.0, 100.0), (60.0, 190.0), (90.0, 110.0))
    (place,) = place_labels([(100.0, 100.0)], ["right"], Box(0, 0, 340, 340), lines)
    assert not any(place.box.meets(line) for line in lines)
