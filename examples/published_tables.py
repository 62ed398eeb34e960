"""Published tables computed again, as Markdown: ``python -m published_tables mir2019``.

The paper's number stands beside ours.

Tables 7 to 10 of Mir et al. (2019), from the scores that the authors published: a model's settings
are put one after the other; correlations are Pearson's r of the metric and the mean human score of
every output. Printed averages are means of the printed cells.

Of the benchmark paper, its human scores: the printed means again, and what its raters weighed. Its
correlation heat maps compare these means with automatic scores of the same outputs. Of those, only
ChatGPT's are public, so the part that can be computed is that between people's aspects.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tstbench.console import show_data
from tstbench.datasets_scripts.judgments.mir2019 import (
    ITEMS_PER_STYLE,
    MODELS,
    NATURALNESS_RATED,
    SETTINGS,
    Setting,
    human_input_naturalness,
    human_scores,
    stored_scores,
)
from tstbench.datasets_scripts.judgments.schema import Judgment
from tstbench.datasets_scripts.judgments.studies import STUDIES
from tstbench.datasets_scripts.judgments.tstbench2025 import FOLDERS, system_name
from tstbench.datasets_scripts.sources import BENCHMARK, fetch, upstream_file
from tstbench.datasets_scripts.tables import read_delimited
from tstbench.errors import InputError, TSTBenchError, unknown_name
from tstbench.files import write_text
from tstbench.metrics.statistics import SEED, divide
from tstbench.pipelines.meta.coefficients import coefficient, correlate, draw
from tstbench.pipelines.meta.result import table

_STI = "style_transfer_intensity/sentence_level"
_CLASSIFIERS = {"fasttext": "fastText", "textcnn": "textcnn"}
_CONTENT = ("BLEU", "METEOR", "EmbedAvg", "GreedyMatch", "VectorExtrema", "WMD")
_ADVERSARIAL = ("unigram", "neural")


@dataclass(frozen=True)
class Cell:
    """One cell of a published table.

    Attributes:
        table: 7 to 10.
        model: the row.
        column: such as ``fastText EMD``.
        printed: what the paper has, as text, with its digits.
        computed: the same from the stored scores, not rounded.
        margin: of a correlation, 1.96 (1 - r^2) / sqrt(n); ``None`` for an agreement.
        printed_margin: what the paper has.
    """

    table: int
    model: str
    column: str
    printed: str
    computed: float
    margin: float | None = None
    printed_margin: str | None = None

    @property
    def digits(self) -> int:
        """Digits after the point in the paper."""
        return len(self.printed.partition(".")[2])

    @property
    def shown(self) -> str:
        """The computed value with the paper's digits."""
        return f"{self.computed:.{self.digits}f}"

    @property
    def same(self) -> bool:
        """Whether value and margin are the printed ones, to the last digit."""
        margin = self.margin is None or f"{self.margin:.3f}" == self.printed_margin
        return self.shown == self.printed and margin


# As printed: model -> cells in the order of the columns.
_PRINTED: dict[int, dict[str, str]] = {
    7: {
        "CAAE": "0.566±0.038 0.573±0.038 0.587±0.037 0.589±0.037",
        "ARAE": "0.513±0.053 0.516±0.053 0.515±0.053 0.519±0.053",
        "DAR": "0.470±0.049 0.539±0.045 0.508±0.047 0.566±0.043",
    },
    8: {
        "CAAE": "0.458±0.044 0.498±0.042 0.370±0.048 0.489±0.043 0.496±0.042 0.496±0.042",
        "ARAE": "0.337±0.064 0.387±0.062 0.313±0.065 0.419±0.060 0.423±0.060 0.445±0.058",
        "DAR": "0.440±0.051 0.455±0.050 0.379±0.054 0.472±0.049 0.472±0.049 0.484±0.048",
    },
    9: {
        "CAAE": "0.488±0.043 0.517±0.041 0.356±0.049 0.490±0.043 0.496±0.042 0.517±0.041",
        "ARAE": "0.356±0.063 0.374±0.062 0.302±0.066 0.405±0.061 0.422±0.060 0.457±0.057",
        "DAR": "0.444±0.050 0.454±0.050 0.370±0.054 0.450±0.050 0.473±0.049 0.475±0.049",
    },
    10: {
        "CAAE": "56.07 64.51 57.38 67.87",
        "ARAE": "49.45 66.67 50.68 67.90",
        "DAR": "65.16 65.57 61.07 62.30",
    },
}


def settings_of(model: str, among: Sequence[Setting] = SETTINGS) -> list[Setting]:
    """The settings of a model, in the authors' order."""
    return [setting for setting in among if setting.model == model]


def published_tables() -> list[Cell]:
    """Every per-model cell of the four tables.

    Raises:
        MissingFileError, IntegrityError: the study's files, see
            :func:`tstbench.datasets_scripts.sources.fetch`.
    """
    computed: dict[int, Callable[[str], dict[str, float]]] = {
        7: _style,
        8: lambda model: _content(model, "style_removed"),
        9: lambda model: _content(model, "style_masked"),
        10: _agreement,
    }
    cells = []
    for number, rows in _PRINTED.items():
        for model in MODELS:
            outputs = len(settings_of(model)) * 2 * ITEMS_PER_STYLE
            values = computed[number](model)
            for (column, value), text in zip(values.items(), rows[model].split(), strict=True):
                printed, _, printed_margin = text.partition("±")
                margin = 1.96 * (1 - value**2) / outputs**0.5 if printed_margin else None
                cells.append(
                    Cell(number, model, column, printed, value, margin, printed_margin or None)
                )
    return cells


def unmasked_content(model: str) -> dict[str, float]:
    """The stored content metrics on texts as they are, which the paper does not print."""
    return _content(model, "unmasked")


def _human(model: str, aspect: str) -> np.ndarray:
    return np.array([s for setting in settings_of(model) for s in human_scores(setting)[aspect]])


def _style(model: str) -> dict[str, float]:
    human = _human(model, "style_difference")
    towards = np.repeat([1, 0], ITEMS_PER_STYLE)  # the positive style is the second column
    found = {}
    for key, title in _CLASSIFIERS.items():
        target, moved = [], []
        for setting in settings_of(model):
            styles = np.asarray(_stored(f"{_STI}/style_distributions/{setting.file}.npz")[key])
            target.append(styles[np.arange(len(styles)), towards])
            moved.append(_stored(f"{_STI}/scores_based_on_emd/{setting.file}.npz")[key])
        for name, parts in (("target style scores", target), ("EMD", moved)):
            scores = np.concatenate(parts).astype(np.float64)
            found[f"{title} {name}"] = coefficient("pearson", scores, human)
    return found


def _content(model: str, texts: str) -> dict[str, float]:
    human = _human(model, "content_masked")
    stored = [
        _stored(f"content_preservation/sentence_level/{setting.file}.npz")[texts]
        for setting in settings_of(model)
    ]
    return {
        name: abs(coefficient("pearson", np.concatenate([s[name] for s in stored]), human))
        for name in _CONTENT
    }


@cache
def _stored(path: str) -> Any:
    return stored_scores(path)


@dataclass(frozen=True, eq=False)
class Choices:
    """Which of input and output is more natural: 1 the output, 0 the input, 0.5 neither.

    Attributes:
        relative: by majority of the raters, asked for the pair.
        absolute: by their mean scores of each text.
        classifiers: by classifier: which text it takes for human rather.
    """

    relative: np.ndarray
    absolute: np.ndarray
    classifiers: dict[str, np.ndarray]


def naturalness_choices(model: str) -> Choices:
    """People's and the published classifiers' choices on a model's rated outputs."""
    inputs = np.array(human_input_naturalness())
    known = stored_scores("naturalness/sentence_level/input_texts.npz")
    relative, absolute = [], []
    classifiers: dict[str, list[np.ndarray]] = {name: [] for name in _ADVERSARIAL}
    for setting in settings_of(model, NATURALNESS_RATED):
        scores = human_scores(setting)
        relative += [0.5 if s is None else s for s in scores["naturalness_relative"]]
        absolute.append(_choice(np.array(scores["naturalness"]), inputs))
        stored = stored_scores(f"naturalness/sentence_level/{setting.file}.npz")
        for name in _ADVERSARIAL:
            classifiers[name].append(_choice(stored[name], np.asarray(known[name][model])))
    return Choices(
        np.array(relative),
        np.concatenate(absolute),
        {name: np.concatenate(parts) for name, parts in classifiers.items()},
    )


def _choice(output: np.ndarray, source: np.ndarray) -> np.ndarray:
    return np.asarray((np.sign(output - source) + 1) / 2)


def _agreement(model: str) -> dict[str, float]:
    choices = naturalness_choices(model)
    people = {"absolute": choices.absolute, "relative": choices.relative}
    return {
        f"{name} {kind}": float(100 * (choice == people[kind]).mean())
        for name, choice in choices.classifiers.items()
        for kind in people
    }


@dataclass(frozen=True)
class Majority:
    """One way of choosing, on the outputs where people have a majority.

    Attributes:
        model: whose outputs.
        chooser: ``unigram``, ``neural`` or ``always the input``.
        accuracy: share of items on which it says what the majority says, percent.
        balanced: mean of the shares among "input" and among "output", percent; 50 is chance.
        low: 95% bootstrap over source sentences, of ``balanced``.
        high: the same.
        items: items with a majority.
    """

    model: str
    chooser: str
    accuracy: float
    balanced: float
    low: float
    high: float
    items: int


def majority_accuracy(resamples: int = 1000, seed: int = SEED) -> list[Majority]:
    """The published classifiers against the constant answer "the input is more natural"."""
    found = []
    for model in MODELS:
        choices = naturalness_choices(model)
        clear = choices.relative != 0.5
        people = choices.relative[clear]
        items = np.tile(np.arange(2 * ITEMS_PER_STYLE), len(clear) // (2 * ITEMS_PER_STYLE))[clear]
        counts = draw(2 * ITEMS_PER_STYLE, resamples, seed)
        ways = {**choices.classifiers, "always the input": np.zeros(len(clear))}
        for name, every in ways.items():
            right = (every[clear] == people).astype(np.float64)
            rates = [balanced_accuracy(right, people, items, c) for c in (None, counts)]
            low, high = np.nanpercentile(100 * rates[1], [2.5, 97.5])
            found.append(
                Majority(
                    model,
                    name,
                    float(100 * right.mean()),
                    float(100 * rates[0][0]),
                    float(low),
                    float(high),
                    int(clear.sum()),
                )
            )
    return found


def balanced_accuracy(
    right: np.ndarray, people: np.ndarray, items: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    """The mean over people's two answers of the share on which a chooser is right: shape (R,).

    Args:
        right: shape (N,), 1 where it says what people say.
        people: shape (N,), 0 or 1.
        items: shape (N,), the number of the source sentence.
        counts: shape (R, I): how often each sentence is drawn; ``None``: once each.
    """
    if counts is None:
        counts = np.ones((1, int(items.max()) + 1))
    shares = []
    for answer in (0, 1):
        asked = people == answer
        size = counts.shape[1]
        total = np.bincount(items[asked], minlength=size).astype(np.float64)
        hits = np.bincount(items[asked], weights=right[asked], minlength=size)
        shares.append(divide(counts @ hits, counts @ total))
    return np.asarray(sum(shares) / 2)


def averages(cells: Iterable[Cell]) -> dict[tuple[int, str], float]:
    """Means of the computed cells over the models, rounded as printed: by table and column."""
    groups: dict[tuple[int, str], list[float]] = {}
    for cell in cells:
        groups.setdefault((cell.table, cell.column), []).append(float(cell.shown))
    return {key: sum(some) / len(some) for key, some in groups.items()}


ASPECTS = ("style", "content", "fluency", "overall")
_ASPECT_OF = {
    "Strength": "style",
    "Content": "content",
    "Fluency": "fluency",
    "Overall": "overall",
}
_GEOMETRIC = "G3_human"  # cube root of the product of the three means


@dataclass(frozen=True)
class PrintedMean:
    """A system's mean human score as published, and from the single scores.

    Attributes:
        direction: in full.
        system: as in the judgments.
        aspect: ``style``, ``content``, ``fluency``, ``overall`` or ``G3``.
        printed: as published.
        computed: not rounded.
    """

    direction: str
    system: str
    aspect: str
    printed: str
    computed: float

    @property
    def same(self) -> bool:
        """Whether it is the same to three digits after the point."""
        return abs(self.computed - float(self.printed)) < 0.0005 + 1e-9


@dataclass(frozen=True)
class HumanHeat:
    """Pearson correlation of people's aspects over the systems of a direction."""

    direction: str
    systems: int
    first: str
    second: str
    value: float


def printed_means() -> list[PrintedMean]:
    """Every published mean.

    Raises:
        MissingFileError, IntegrityError: see :func:`tstbench.datasets_scripts.sources.fetch`.
        InputError: a table names a system that has no scores.
    """
    means = system_means(STUDIES["tstbench2025"].judgments())
    found = []
    for folder, direction in FOLDERS.items():
        file = upstream_file(BENCHMARK, f"Evaluation/human_average/{folder}/avg_score.csv")
        for _line, row in read_delimited(fetch(file), file.name)[1]:
            system = system_name(row["Model"])
            if (direction, system) not in means:
                raise InputError(f"{file.name}: {system} has no scores in all_score.json")
            of = means[direction, system]
            for column, aspect in _ASPECT_OF.items():
                found.append(PrintedMean(direction, system, aspect, row[column], of[aspect]))
            three = of["style"] * of["content"] * of["fluency"]
            found.append(PrintedMean(direction, system, "G3", row[_GEOMETRIC], three ** (1 / 3)))
    return found


def system_means(judgments: list[Judgment]) -> dict[tuple[str, str], dict[str, float]]:
    """(direction, system) to the mean of each aspect; flagged scores are left out."""
    given: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in judgments:
        if row.usable is not None:
            aspects = given.setdefault((row.direction, row.system), {})
            aspects.setdefault(row.aspect, []).append(row.usable)
    return {
        key: {aspect: float(np.mean(scores)) for aspect, scores in aspects.items()}
        for key, aspects in given.items()
    }


def human_heat() -> list[HumanHeat]:
    """The human part of the heat maps: pairs of aspects, over systems."""
    means = system_means(STUDIES["tstbench2025"].judgments())
    found = []
    for direction in FOLDERS.values():
        rows = [of for (where, _), of in means.items() if where == direction]
        for number, first in enumerate(ASPECTS):
            for second in ASPECTS[number + 1 :]:
                a, b = (np.array([[row[name] for row in rows]]) for name in (first, second))
                value = float(correlate("pearson", a, b)[0])
                found.append(HumanHeat(direction, len(rows), first, second, value))
    return found


def overall_weights() -> dict[str, float]:
    """Least-squares weights of style, content and fluency in the overall means of all systems."""
    means = system_means(STUDIES["tstbench2025"].judgments())
    parts = np.array([[of[name] for name in ASPECTS[:3]] for of in means.values()])
    overall = np.array([of["overall"] for of in means.values()])
    design = np.column_stack([parts, np.ones(len(parts))])
    weights, *_ = np.linalg.lstsq(design, overall, rcond=None)
    return {name: float(w) for name, w in zip(ASPECTS[:3], weights, strict=False)}


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


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables of the studies that are named, or of all."""
    parser = argparse.ArgumentParser(
        prog="python -m published_tables", description="Published tables computed again."
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(PUBLISHED))
    parser.add_argument("--resamples", type=int, default=1000, help="of our intervals")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write them here, too")
    arguments = parser.parse_args(argv)
    try:
        studies = arguments.studies or PUBLISHED
        tables = (f"## {study}\n\n{published(study, arguments.resamples)}" for study in studies)
        text = "\n".join(tables)
        show_data(text)
        if arguments.out:
            write_text(arguments.out, text)
    except TSTBenchError as error:
        print(f"python -m published_tables: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
