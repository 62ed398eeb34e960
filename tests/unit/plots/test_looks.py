"""How all pictures look, on record: sizes, colours, lines and letters, and where each of them is.

Read the difference, look at the pictures, which a failure names, and if they are as they should be:
``pytest tests/unit/plots/test_looks.py --snapshot-update``.
"""

import hashlib
import re
from collections import Counter
from functools import partial

import numpy as np
import pytest
from analysis_results import SYSTEMS, handmade, judgment
from leaderboard_pages import ranking_of
from leaderboard_results import BACK, report, sample, write

from tstbench.pipelines.analysis.data import human_aspects, read_run
from tstbench.pipelines.analysis.style_space import StyleSpace
from tstbench.pipelines.style_invariance.arithmetic import style_invariance
from tstbench.pipelines.style_invariance.measure import StyleMap as InvarianceMap
from tstbench.plots.canvas import page_svg
from tstbench.plots.colours import KINDS, PAIRS
from tstbench.plots.plane import PAPER, PHONE, WIDE, Axis, Point, draw_plane
from tstbench.plots.rows import Mark, Row, draw_page_rows
from tstbench.spaces.analysis.direction_items import direction_items
from tstbench.spaces.analysis.space_items import draw_style_space
from tstbench.spaces.analysis.write_invariance import draw_style_map, draw_style_matrix
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.figures import dots, lengths, style_cloud, trade_off
from tstbench.spaces.leaderboard.overview import build_overview
from tstbench.spaces.leaderboard.overview_view import across_directions
from tstbench.spaces.leaderboard.style_map import StyleMap
from tstbench.trainers.training.curve import LearningCurve, curve_picture

ANGLES = np.linspace(0, 6, 30)
SPIRAL = np.stack([ANGLES * np.cos(ANGLES), ANGLES * np.sin(ANGLES)], axis=1)
HALVES = ("one style",) * 15 + ("the other",) * 15


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A few systems with sentences, and one of each kind without."""
    folder = handmade(tmp_path_factory.mktemp("looks") / "results")
    samples = [
        sample(n, f"source {n}", f"people {n}", (f"reference {n}",), s_bleu=50.0 + n)
        for n in range(40)
    ]
    write(folder, report("reference-1", {"s_bleu": 60.0}, info={"family": "human"}), samples)
    for n, kind in enumerate(KINDS):
        values = {"acc": 50.0 + n, "s_bleu": 40.0 - n, "multi_bleu": 30.0 - n, "ppl": 90.0 + 99 * n}
        write(folder, report(f"by-{kind}", values, info={"family": kind}))
        write(folder, report(f"by-{kind}", {"acc": 60.0 - n}, BACK, info={"family": kind}))
    return folder


def looks(svg):
    """Sizes, what is drawn in which style, how often each, and digests of the rest."""
    styles, places = Counter(re.findall(r'viewBox="[^"]*"', svg)), ""
    for tag, said in re.findall(r"<(path|use|text|rect|circle|line) ([^>]*)>", svg):
        style = re.search('style="([^"]*)', said)
        styles[f"{tag} {style[1]}" if style else tag] += 1
        kept = re.findall(r'\b(d|x|y|c[xy]|width|height|r|transform)="([^"]*)"', said)
        places += re.sub(r"-?\d+\.?\d*", lambda m: f"{float(m[0]) + 0.001:.1f}", str(kept))
    words = str(re.findall(">([^<]+)<", svg))
    digests = [hashlib.sha256(one.encode()).hexdigest()[:8] for one in (places, words)]
    lines = [f"{count} {style}" for style, count in sorted(styles.items())]
    return "\n".join([*lines, "places {}, words {}".format(*digests)])


def compare(pictures, folder, snapshot):
    colours = "".join(f"--{name}:{light};" for name, (light, _) in PAIRS.items())
    for name, svg in pictures.items():
        page = f"<style>:root{{{colours}}}</style>{svg}"
        (folder / f"{name}.html").write_text(page, "utf-8")
    found = {name: looks(str(svg)) for name, svg in pictures.items()}
    assert found == snapshot, f"see the pictures in {folder}; --snapshot-update records them"


def drawn(draw):
    return page_svg(draw, [""] * 999, "drawn")


def test_pictures_of_an_analysis(root, tmp_path, snapshot):
    (results,) = (one for one in read_run(root) if one.name != BACK)
    judged = [judgment(s, n, 1.0 + (n * m) % 5) for m, s in enumerate(SYSTEMS, 1) for n in range(9)]
    aspects = human_aspects(judged, results)
    joined = {"cae": ("cae@1", "cae@5", "cae@10")}
    items, missing = direction_items(
        results, aspects, joined, style_map=False, planes=[("human_style", "1/ppl")]
    )
    assert not missing
    pictures = {item.name: drawn(item.draw) for item in items}
    space = StyleSpace(
        points=SPIRAL, groups=HALVES, ids=("",) * 30, seen_by="", separation=0.75,
        picture_separation=0.7,
    )  # fmt: skip
    pictures["style-space"] = drawn(lambda: draw_style_space(space))
    compare(pictures, tmp_path, snapshot)


def test_pictures_of_a_leaderboard(root, tmp_path, snapshot):
    ranking = ranking_of(root)
    columns = {column.key: column for column in ranking.columns}
    spread = Mark(value=3.0, ink="accent", shape="|")
    rows = [Row(name="spread", marks=(spread,), text="3", quantiles=(1.0, 2.0, 3.0, 5.0, 9.0))]
    pictures = {
        "trade-off": trade_off(ranking, columns["s_bleu"], columns["acc"]),
        "dots": dots(ranking, columns["ppl"]),
        "lengths": lengths({"of some": [1, 2, 3, 4, 5], "of others": [2, 9, 4]}),
        "map": style_cloud(StyleMap(SPIRAL, HALVES, ("a text",) * 30, 0.9)),
        "directions": across_directions(build_overview(Results(root).board(), "acc")),
        "paper": drawn(lambda: draw_page_rows(rows, "words", "Bounds", 330)),
    }
    compare(pictures, tmp_path, snapshot)


def test_planes_with_little_room(tmp_path, snapshot):
    points = [
        Point(
            system=f"system {n}{' of a long name' * (n % 3)}", family=[*KINDS][n % len(KINDS)],
            bound=n % 5 == 0, x=9.0 + x, y=9.0 + y, across=(8.5 + x, 9.5 + x) if n % 2 else None,
            up=(8.0 + y, 10.0 + y) if n % 3 else None, on_front=n % 7 == 0,
        )
        for n, (x, y) in enumerate(np.concatenate([SPIRAL, SPIRAL / 4]))
    ]  # fmt: skip
    kinds = {
        "paper": (PAPER, True, False),
        "wide": (WIDE, False, True),
        "phone": (PHONE, True, True),
    }
    curves = {"one": [points[1].system, points[3].system], "two": [p.system for p in points[8:12]]}
    pictures = {}
    for name, (size, one, other) in kinds.items():
        across = Axis(title="across", logarithmic=one, higher_is_better=other)
        up = Axis(title="up", logarithmic=other, higher_is_better=one)
        pictures[name] = drawn(partial(draw_plane, points, across, up, curves, size))
    compare(pictures, tmp_path, snapshot)


def test_pictures_of_styles_and_of_learning(tmp_path, snapshot):
    styles = ("glad", "sad", "cross", "of a very long name", "shy", "calm")
    vectors = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.ones(30) / 4], axis=1)
    labels = np.repeat(np.arange(6), 5)
    found = style_invariance(vectors, labels)
    laid = InvarianceMap(points=SPIRAL, labels=labels, neighbours=0.9, neighbours_by_chance=0.3)
    steps = [{"step": n, "a": 10.0**-n, "b": 1.0, "validation/acc": n / 5} for n in range(1, 5)]
    steps[3] |= {"validation/selection": 0.5, "validation/bleu": 1.0}
    few = [{"step": 9, **{f"loss {n}": n - 2.0 for n in range(10)}}, {"step": 99, "late": 1.0}]
    early = [
        {"step": n, "a": 0.0, "validation/selection": 4.0 / n, "validation/ppl": 90.0}
        for n in (1, 9)
    ]
    pictures = {
        "matrix": drawn(lambda: draw_style_matrix(styles, found, centred=False)),
        "centred": drawn(lambda: draw_style_matrix(styles, found, centred=True)),
        "map": drawn(lambda: draw_style_map(styles, laid)),
        "curve": curve_picture([LearningCurve.of("x", some) for some in (steps, few, early)]),
    }
    compare(pictures, tmp_path, snapshot)
