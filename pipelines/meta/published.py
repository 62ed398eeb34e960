"""Published tables computed again, as Markdown: the paper's number beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import unknown_name
from .mir2019 import MODELS, Cell, averages, majority_accuracy, published_tables, unmasked_content
from .report import table
from .tstbench2025 import human_heat, overall_weights, printed_means

PUBLISHED = ("mir2019", "tstbench2025")
_TITLES = {
    7: "Table 7: style transfer intensity, correlation with people",
    8: "Table 8: content, style words removed, absolute correlation with people",
    9: "Table 9: content, style words masked, absolute correlation with people",
    10: "Table 10: naturalness, agreement with people in percent",
}


def published(study: str, resamples: int = 1000) -> str:
    """The tables of a study that published its own scores.

    Args:
        study: one of :data:`PUBLISHED`.
        resamples: of the intervals that the papers do not have.

    Raises:
        UnknownNameError: no tables are known for that study.
        MissingFileError, IntegrityError: see :func:`tstbench.datasets_scripts.sources.fetch`.
    """
    parts = {"mir2019": lambda: _mir2019(resamples), "tstbench2025": _tstbench2025}
    if study not in parts:
        raise unknown_name("study with published scores", study, PUBLISHED)
    return "\n".join(parts[study]())


def _mir2019(resamples: int) -> Iterator[str]:
    cells = published_tables()
    same = sum(cell.same for cell in cells)
    yield f"{same} of {len(cells)} cells are as printed to the last digit, margins included.\n"
    means = averages(cells)
    for number, title in _TITLES.items():
        some = [cell for cell in cells if cell.table == number]
        columns = list(dict.fromkeys(cell.column for cell in some))
        yield f"### {title}\n"
        rows: list[tuple[str, ...]] = [("printed / computed", *columns)]
        for model in MODELS:
            rows.append((model, *(_both(c) for c in some if c.model == model)))
        digits = some[0].digits
        rows.append(("Average", *(f"{means[number, column]:.{digits}f}" for column in columns)))
        yield table(rows)
    yield "### Not in the paper: content metrics on texts as they are\n"
    content = {model: unmasked_content(model) for model in MODELS}
    names = list(content[MODELS[0]])
    rows = [("absolute correlation", *names)]
    rows += [(model, *(f"{content[model][name]:.3f}" for name in names)) for model in MODELS]
    average = [sum(content[m][name] for m in MODELS) / len(MODELS) for name in names]
    rows.append(("Average", *(f"{value:.3f}" for value in average)))
    yield table(rows)
    yield "### Not in the paper: naturalness where people have a majority\n"
    yield (
        "Balanced accuracy is the mean of the shares among the items where people chose the input "
        "and among those where they chose the output; 50 is chance.\n"
    )
    rows = [("model", "chooser", "accuracy", "balanced accuracy", "95% interval", "items")]
    rows += [
        (
            one.model,
            one.chooser,
            f"{one.accuracy:.1f}",
            f"{one.balanced:.1f}",
            f"{one.low:.1f} to {one.high:.1f}",
            str(one.items),
        )
        for one in majority_accuracy(resamples)
    ]
    yield table(rows)


def _both(cell: Cell) -> str:
    text = f"{cell.printed} / {cell.shown}"
    if cell.margin is None:
        return text
    return f"{text} (±{cell.printed_margin} / ±{cell.margin:.3f})"


def _tstbench2025() -> Iterator[str]:
    means = printed_means()
    same = sum(one.same for one in means)
    yield f"{same} of {len(means)} published means follow from the single scores.\n"
    if other := [one for one in means if not one.same]:
        rows: Sequence[Sequence[str]] = [
            ("direction", "system", "aspect", "printed", "computed"),
            *((o.direction, o.system, o.aspect, o.printed, f"{o.computed:.3f}") for o in other),
        ]
        yield table(rows)
    heat = human_heat()
    pairs = list(dict.fromkeys((one.first, one.second) for one in heat))
    yield "### The human part of the heat maps: Pearson's r over systems\n"
    lines: list[tuple[str, ...]] = [("direction", "systems", *(f"{a}, {b}" for a, b in pairs))]
    for direction in dict.fromkeys(one.direction for one in heat):
        some = [one for one in heat if one.direction == direction]
        lines.append((direction, str(some[0].systems), *(f"{one.value:.3f}" for one in some)))
    yield table(lines)
    weights = ", ".join(f"{name} {weight:.2f}" for name, weight in overall_weights().items())
    yield f"Least squares over all systems: overall follows {weights}.\n"
