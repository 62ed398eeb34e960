"""A measurement of style invariance as a folder: tables, pictures, JSON; whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...files import atomic_folder, check_free, write_json, write_text
from ...pipelines.style_invariance.arithmetic import StyleInvariance
from ...pipelines.style_invariance.measure import (
    EmbeddingInvariance,
    InvarianceOptions,
    StyleMap,
    StyleSample,
)
from ...pipelines.style_invariance.report import as_json, file_names, markdown, tables
from ...plots.canvas import new_figure, picture, short
from ...plots.colours import KINDS, colour, heat, on_heat
from ...plots.label_places import Box
from .write import is_analysis, write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_CELL = 0.56  # inches
_NAME = 18
_MINUS = "\N{MINUS SIGN}"
_INKS = tuple(name for name in KINDS if name != "unknown")  # that is the grey of the others
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">")
_MAP_WIDTH, _MAP_HEIGHT = 6.6, 5.0
_COLUMNS = 4
_LETTER, _LINE = 5.6, 13.0  # points, of a label in bold
_NEAREST = 3  # a third of its style: how far that reaches says how dense it is around a point
_CANDIDATES = 400


def draw_style_matrix(styles: Sequence[str], found: StyleInvariance, *, centred: bool) -> Figure:
    """All pairs, since each row has its own maximum: that one is framed."""
    from matplotlib.patches import Rectangle

    size = len(styles)
    figure = new_figure(_CELL * size + 1.7, _CELL * size + 1.0)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    low, high = float(found.similarities.min()), float(found.similarities.max())
    for i, row in enumerate(found.similarities):
        axes.text(-0.15, i + 0.5, short(styles[i], _NAME), ha="right", va="center", fontsize=9)
        for j, value in enumerate(row):
            share = _share(float(value), low, high, centred=centred)
            axes.add_patch(
                Rectangle((j, i), 1, 1, facecolor=heat(share), lw=1.5, edgecolor=colour("surface"))
            )
            axes.text(
                j + 0.5, i + 0.5, _shown(value), ha="center", va="center", fontsize=8,
                color=on_heat(share), fontweight="bold" if j in found.most_similar[i] else "normal",
                zorder=4,
            )  # fmt: skip
    for i, best in enumerate(found.most_similar):
        for j in best:
            axes.add_patch(
                Rectangle(
                    (j + 0.05, i + 0.05), 0.9, 0.9, facecolor="none", lw=2.0, zorder=3,
                    edgecolor=colour("ink"),
                )
            )  # fmt: skip
    for j, name in enumerate(styles):
        axes.text(
            j + 0.62, size + 0.16, short(name, _NAME), ha="right", va="top", fontsize=9,
            rotation=40, rotation_mode="anchor",
        )  # fmt: skip
    scale = (
        "blue: more similar than two sentences are on average; orange: less"
        if centred
        else f"colour: from the lowest ({_shown(low)}) to the highest ({_shown(high)})"
    )
    longest = max(len(short(name, _NAME)) for name in styles)
    axes.text(
        -2.6, size + 0.75 + 0.085 * longest, f"framed: the highest of its row\n{scale}",
        fontsize=8, color=colour("muted"), va="top",
    )  # fmt: skip
    axes.set_xlim(-2.6, size)
    axes.set_ylim(size + 1.7, 0)
    axes.set_aspect("equal")
    return figure


def draw_style_map(styles: Sequence[str], laid: StyleMap) -> Figure:
    """All sentences on one map, each style with a mark and a name; below, each style by itself.

    The axes of t-SNE have no meaning, so there are none.
    """
    rows = -(-len(styles) // _COLUMNS)
    below = 1.55 * rows
    figure = new_figure(_MAP_WIDTH, _MAP_HEIGHT + 0.1 + below)
    height = _MAP_HEIGHT + 0.1 + below
    axes = figure.add_axes((0.0, 1 - _MAP_HEIGHT / height, 1.0, _MAP_HEIGHT / height))
    _empty(axes, laid.points)
    for style in range(len(styles)):
        _dots(axes, laid, style, 4.4)
    figure.draw_without_rendering()
    _names(axes, styles, laid)
    wide = 1 / _COLUMNS
    for style, name in enumerate(styles):
        row, column = divmod(style, _COLUMNS)
        bottom = (below - 1.55 * (row + 1) + 0.04) / height
        small = figure.add_axes(
            (column * wide + 0.005, bottom, wide - 0.01, 1.25 / height), label=str(style)
        )
        _empty(small, laid.points)
        small.plot(
            laid.points[:, 0], laid.points[:, 1], ".", ls="", ms=1.6, color=colour("line-strong")
        )
        _dots(small, laid, style, 2.2)
        small.set_title(
            f"{short(name, _NAME)} ({int((laid.labels == style).sum())})", fontsize=8.5, pad=3,
            loc="left",
        )  # fmt: skip
    return figure


def _share(value: float, low: float, high: float, *, centred: bool) -> float:
    """Where a value lies on the scale of colours: 0 to 1, or -1 to 1 around 0."""
    if centred:
        most = max(abs(low), abs(high))
        return value / most if most else 0.0
    return (value - low) / (high - low) if high > low else 0.0


def _shown(value: float) -> str:
    return f"{value:.3f}".replace("-", _MINUS)


def _empty(axes: Axes, points: np.ndarray) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(colour("line"))
    for limits, values in ((axes.set_xlim, points[:, 0]), (axes.set_ylim, points[:, 1])):
        room = 0.04 * (float(np.ptp(values)) or 1.0)
        limits(float(values.min()) - room, float(values.max()) + room)


def _dots(axes: Axes, laid: StyleMap, style: int, size: float) -> None:
    """Mark and filling tell styles apart without their colours."""
    ink = colour(_INKS[style % len(_INKS)])
    filled = style % 2 == 0
    own = laid.points[laid.labels == style]
    axes.plot(
        own[:, 0], own[:, 1], _MARKS[style % len(_MARKS)], ls="", ms=size, mew=0.8, color=ink,
        mfc=ink if filled else colour("surface"), zorder=2,
    )  # fmt: skip


def _names(axes: Axes, styles: Sequence[str], laid: StyleMap) -> None:
    """Each name where its style is densest and no other name is; the densest choose first."""
    places = axes.transData.transform(laid.points)
    frame = axes.get_window_extent()
    within = Box(float(frame.x0), float(frame.y0), float(frame.x1), float(frame.y1))
    ranked = [_densest(places[laid.labels == style]) for style in range(len(styles))]
    taken: list[Box] = []
    for style in sorted(range(len(styles)), key=lambda s: ranked[s][1]):
        name = short(styles[style], _NAME)
        boxes = [_box(name, x, y) for x, y in ranked[style][0]]
        free = [
            n
            for n, box in enumerate(boxes)
            if box.inside(within) and not any(box.meets(other) for other in taken)
        ]
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        at = axes.transData.inverted().transform(ranked[style][0][chosen])
        axes.text(
            at[0], at[1], name, ha="center", va="center", fontsize=8.5, fontweight="bold", zorder=5,
            color=colour("ink"),
            bbox={
                "boxstyle": "round,pad=0.2", "facecolor": colour("surface"), "lw": 1.2,
                "edgecolor": colour(_INKS[style % len(_INKS)]),
            },
        )  # fmt: skip


def _densest(places: np.ndarray) -> tuple[np.ndarray, float]:
    """A style's points, the densest first, and the distance that says how dense the first is."""
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    near = np.sort(apart, axis=1)[:, (len(places) - 1) // _NEAREST]
    order = np.argsort(near, kind="stable")[:_CANDIDATES]
    return places[order], float(near[order[0]])


def _box(name: str, x: float, y: float) -> Box:
    half = _LETTER * len(name) / 2 + 5
    return Box(x - half, y - _LINE / 2 - 3, x + half, y + _LINE / 2 + 3)


JSON_FILE = "style_invariance.json"
_ours = partial(is_analysis, manifest=JSON_FILE)


def check_out(out: Path) -> None:
    """Before anything is computed: may the folder be written?

    Raises:
        InputError: it has files that this command did not write.
    """
    check_free(out, _ours)


def write_invariance(
    out: Path,
    sample: StyleSample,
    options: InvarianceOptions,
    measured: Sequence[EmbeddingInvariance],
) -> None:
    """Write ``README.md``, ``style_invariance.json``, and CSV, PNG and SVG for each embedding.

    Raises:
        InputError: the folder has files that this command did not write.
    """
    with atomic_folder(out, ours=_ours) as folder:
        write_text(folder / "README.md", markdown(sample, options, measured))
        for name, text in tables(sample, measured):
            write_text(folder / name, text)
        for one, name in zip(measured, file_names(measured), strict=True):
            for form, found in one.forms.items():
                centred = form == "centred"
                draw = partial(draw_style_matrix, sample.styles, found, centred=centred)
                write_picture(folder / f"{name}-{form}", picture(draw))
            if one.map is not None:
                draw = partial(draw_style_map, sample.styles, one.map)
                write_picture(folder / f"{name}-map", picture(draw))
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())
        }
        write_json(folder / JSON_FILE, {**as_json(sample, options, measured), "files": files})
