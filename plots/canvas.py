"""From a drawing to files: PNG and SVG with the same bytes each time, and the SVG of the page."""

from __future__ import annotations

import html
import io
import logging
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from .colours import KINDS, PAIRS, colour, twins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.transforms import Bbox

PNG_DPI = 160
DRAWN_DPI = 72.0  # one unit is one point
_MARGIN = 0.12  # inches
_HEX = re.compile(r"#[0-9a-f]{6}(?![0-9a-zA-Z])")
_MARK = re.compile(r'<g id="tip-(\d+)">((?:<defs>.*?</defs>)?<use [^>]*?x="([\d.]+)" y="([\d.]+)")')
_DIGITS = re.compile(r"(\.\d\d)\d+")  # those after hundredths of a point
_NEEDLESS = re.compile(  # in a page: all is inside, and the fonts are its own
    r'<g/>| clip-path="[^"]*"|<defs><clipPath.*?</defs>|font-family: [^;"]*; '
    r'| transform="rotate\(-0 [^"]*"'
)
_NAMES = {light: name for name, (light, _) in PAIRS.items()}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_DRAWING = Lock()  # matplotlib's settings are those of the process


@dataclass(frozen=True)
class Picture:
    """A picture in its three forms.

    Attributes:
        png: for slides and LaTeX.
        svg: for print; light.
        page: the SVG that follows the reader's light or dark colours.
        width, height: in points.
    """

    png: bytes
    svg: bytes
    page: bytes
    width: float
    height: float


def picture(draw: Callable[[], Figure]) -> Picture:
    """Make the figure once, and draw it once for each form; the page's has the drawing of the SVG.

    What reaches beyond the figure is measured first: ``bbox_inches="tight"`` would draw all of it
    once more for each form.
    """
    with _settings():
        figure = draw()
        figure.set_dpi(PNG_DPI)  # at which letters are as wide as they are in print
        around = figure.get_tightbbox().padded(_MARGIN)
        png = _saved(figure, "png", around, dpi=PNG_DPI, metadata={"Software": None})
        svg = _saved(figure, "svg", around, dpi=DRAWN_DPI, metadata=_NO_METADATA)
    text = svg.decode("utf-8")
    width, height = (_size(text, name) for name in ("width", "height"))
    return Picture(png, svg, _themed(text).encode("utf-8"), width, height)


def svg_picture(draw: Callable[[], Figure], title: str) -> str:
    """The SVG that follows the reader's light or dark colours, alone; see :func:`picture`."""
    with _settings():
        figure = draw()
        around = figure.get_tightbbox().padded(_MARGIN)
        named = {**_NO_METADATA, "Title": title}
        svg = _saved(figure, "svg", around, dpi=DRAWN_DPI, metadata=named)
    return _themed(svg.decode("utf-8"))


@cache
def load_behind() -> None:
    """Import matplotlib in another thread, so that a page's first picture need not wait for it."""
    Thread(target=import_module, args=["matplotlib.backends.backend_svg"], daemon=True).start()


def page_svg(draw: Callable[[], Figure], tips: Sequence[str], class_: str) -> str:
    """The figure as an element of a page, whose style sheet has its colours and fonts.

    The n-th mark with a tip has the ``gid`` ``tip-n``; keys go from one to the next.

    Args:
        draw: makes the figure, as large as it is to be.
        tips: what is said of each mark: any text.
        class_: of the element; two pictures of a page must differ in class or in content.
    """
    file = io.StringIO()
    with _settings(class_):
        draw().savefig(file, format="svg", transparent=True, metadata=_NO_METADATA)
    head, _, body = file.getvalue().partition("</defs>")  # with a style for all SVG of the page
    size = re.search(r'viewBox="[^"]*"', head)
    body = re.sub(r'<g id="(?!tip-)[^"]*"', "<g", body)
    body = _NEEDLESS.sub("", re.sub(r"\n *", "", body))
    body = re.sub("<[^>]*>", lambda tag: _DIGITS.sub(r"\1", tag[0]), body)  # and in no text
    body = re.sub(r"<g>(<(?:path|use) [^>]*/>)</g>", r"\1", body)
    body = _HEX.sub(lambda m: f"var(--{_NAMES[m[0]]})" if m[0] in _NAMES else m[0], body)

    def marked(match: re.Match[str]) -> str:
        number, inner, x, y = match.groups()
        tip, first = html.escape(tips[int(number)]), number == "0"
        return (
            f'<g role="img" aria-label="{tip}" data-tip="{tip}" tabindex="{0 if first else -1}">'
            f'<circle class="target" cx="{x}" cy="{y}" r="11"/>{inner}'
        )

    body = _MARK.sub(marked, body)
    style = "stroke-linejoin:round;stroke-linecap:butt"
    return f'<svg {size and size[0]} class="{class_}" style="{style}">{body}'


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; its ground is what it lies on."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DRAWN_DPI)


def short(name: str, most: int) -> str:
    """A name of at most so many characters, without its middle: names of one system end apart.

    >>> short("delete-and-retrieve@15", 12)
    'delete-…e@15'
    """
    if len(name) <= most:
        return name
    tail = most // 3
    return f"{name[: most - tail - 1]}\N{HORIZONTAL ELLIPSIS}{name[-tail:]}"


def plain(axes: Axes, *, grid: str = "") -> None:
    """Take away what says nothing, and draw a quiet grid along ``x``, ``y`` or ``both``."""
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, colors=colour("muted"), labelcolor=colour("muted"), pad=4)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(visible=True, axis=grid, color=colour("line"), linewidth=0.8)  # type: ignore[arg-type]


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """A row for each name, from top to bottom."""
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", labelcolor=colour("ink"), labelsize=8.5)


def line_key(label: str, **how: Any) -> Line2D:
    """An entry of a legend for a line, or for a mark."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **how)


def legend_of_kinds(
    found: Collection[tuple[str, bool]], *, hatched: bool = False
) -> list[Line2D | Patch]:
    """Entries of a legend: which kind of system a mark, or a colour and hatch, stands for.

    Args:
        found: of each system its kind, and whether it is a bound.
        hatched: whether bars are shown, which are hatched.
    """
    from matplotlib.patches import Patch

    entries: list[Line2D | Patch] = []
    for name, kind in KINDS.items():
        if (name, False) not in found:
            continue
        if hatched:
            entry = Patch(hatch=kind.hatch or None, label=kind.title)
            entry.set(facecolor=colour(name), edgecolor=colour("surface"))
            entries.append(entry)
        else:
            entries.append(line_key(kind.title, color=colour(name), marker=kind.marker, ls=""))
    if any(bound for _, bound in found):
        title, ink = "hollow: bound, not ranked", colour("muted")
        if hatched:
            entries.append(Patch(facecolor="none", edgecolor=ink, label=title))
        else:
            entries.append(line_key(title, color=ink, marker="o", mfc="none", ls=""))
    return entries


@contextmanager
def _settings(salt: str = "tstbench") -> Iterator[None]:
    """Ours, whatever the user's are; letters that the font lacks are no reason to warn.

    Args:
        salt: on which the names of marks inside an SVG depend.
    """
    import matplotlib as mpl

    mpl.set_loglevel("ERROR")
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    ours = {
        "font.family": ["DejaVu Sans"],
        "font.size": 9.0,
        "text.color": colour("ink"),
        "text.parse_math": False,  # a name with two $ is no formula
        "axes.labelcolor": colour("ink"),
        "axes.titlecolor": colour("ink"),
        "axes.titlesize": 10.0,
        "axes.titleweight": "bold",
        "axes.unicode_minus": True,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "hatch.linewidth": 0.6,
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "legend.frameon": False,
    }
    with _DRAWING, mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(ours)  # type: ignore[arg-type]
        warnings.simplefilter("ignore")
        yield


def _saved(figure: Figure, form: str, around: Bbox, **how: object) -> bytes:
    file = io.BytesIO()
    figure.savefig(
        file,
        format=form,
        bbox_inches=around,
        facecolor=colour("surface"),
        **how,  # type: ignore[arg-type]
    )
    return file.getvalue()


def _size(svg: str, name: str) -> float:
    found = re.search(rf'<svg[^>]* {name}="([0-9.]+)pt"', svg)
    return float(found[1]) if found else 0.0


def _themed(svg: str) -> str:
    """The SVG with variables for colours, and their dark values where the reader wants dark."""
    used: dict[str, str] = {}

    def variable(match: re.Match[str]) -> str:
        if match[0] not in twins():
            return match[0]
        used.setdefault(match[0], f"--c{len(used)}")
        return f"var({used[match[0]]})"

    body = _HEX.sub(variable, svg)
    light = "".join(f"{name}:{c};" for c, name in used.items())
    dark = "".join(f"{name}:{twins()[c]};" for c, name in used.items())
    style = (
        f"<style>svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}"
        "text{font-family:system-ui,'DejaVu Sans',sans-serif}</style>"
    )
    start = body.index(">", body.index("<svg")) + 1
    return body[:start] + style + body[start:]
