"""Maps of styles as items: the TSTBench paper's two, and ours."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...pipelines.analysis.style_space import StyleSpace
from ...pipelines.tables import DataTable, csv_text
from ...plots.canvas import new_figure
from ...plots.colours import colour
from .items import Item

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Name of the files, title, what is on it.
TEST_SENTENCES = (
    "style-space-test",
    "The test sentences of both styles",
    "t-SNE of what people wrote in each style: the sources of both directions (figure 6a of the "
    "TSTBench paper)",
)
REFERENCES = (
    "style-space-references",
    "The references of both styles",
    "t-SNE of what people rewrote into each style: the first references of both directions (figure "
    "6b of the TSTBench paper)",
)
SOURCES_AND_REFERENCES = (
    "style-space",
    "Sources and references",
    "t-SNE of sources and first references of this direction, never both of one sentence",
)


def space_item(kind: tuple[str, str, str], where: str, space: StyleSpace) -> Item:
    """One map with its separation.

    Args:
        kind: of the three above.
        where: name of the direction or directions.
        space: what to draw.
    """
    name, title, shows = kind
    one, other = Counter(space.groups)
    table = DataTable(
        name=f"{name} {where}",
        title=f"How far {one} and {other} are apart on {where}",
        header=("separation", "among their own"),
        rows=(
            ("in the vectors", f"{100 * space.separation:.1f}%"),
            ("in the picture", f"{100 * space.picture_separation:.1f}%"),
        ),
        notes=(
            f"Seen by {space.seen_by}. Among their own: the share of sentences whose 10 nearest "
            "are mostly of their own group; 50% is chance.",
        ),
    )
    rows = [
        (where, i, group, float(x), float(y))
        for i, group, (x, y) in zip(space.ids, space.groups, space.points, strict=True)
    ]
    return Item(
        table=table,
        name=name,
        title=title,
        says=(
            f"{shows}, as seen by {space.seen_by}. Distances between far points mean nothing. "
            f"Separation: {100 * space.separation:.0f}% of the sentences lie among their own group "
            "in the vectors (chance: 50%)."
        ),
        alt=f"A point for each of {len(rows)} sentences, {one} and {other}.",
        csv=csv_text(("direction", "id", "group", "x", "y"), rows),
        draw=lambda: draw_style_space(space),
    )


def draw_style_space(space: StyleSpace) -> Figure:
    """A point for each sentence; the axes of t-SNE have no meaning, so there are none."""
    figure = new_figure(6.4, 4.6)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(colour("line"))
    marks = (("fpft", "o", True), ("prompted", "^", False))
    for group, (name, mark, filled) in zip(dict.fromkeys(space.groups), marks, strict=True):
        chosen = [n for n, g in enumerate(space.groups) if g == group]
        axes.plot(
            space.points[chosen, 0], space.points[chosen, 1], mark, ls="", ms=4.4, mew=0.9,
            color=colour(name), mfc=colour(name) if filled else colour("surface"),
            label=f"{group} ({len(chosen)})",
        )  # fmt: skip
    figure.legend(loc="upper left", bbox_to_anchor=(0.0, -0.01), ncols=2, fontsize=9)
    axes.annotate(
        f"separation {100 * space.separation:.0f}% (chance: 50%)", (1.0, 0.0),
        xycoords="axes fraction", xytext=(0, -10), textcoords="offset points", ha="right",
        va="top", fontsize=9, color=colour("muted"),
    )  # fmt: skip
    return figure
