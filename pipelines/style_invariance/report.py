"""A measurement for people and for programs: 80 columns, Markdown, CSV and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any

import numpy as np
from pydantic import JsonValue

from ..tables import DataTable, csv_text, escaped, to_markdown
from .arithmetic import StyleInvariance
from .measure import FORMS, EmbeddingInvariance, InvarianceOptions, StyleSample

WIDTH = 80
SCHEMA = 1
_NAME = 30  # columns of a name in a terminal
COMPARISON_HEADER = (
    "embedding", "form", "self_similar", "styles", "percentage", "expected", "p_value", "gap",
    "gap_p_value",
)  # fmt: skip


def file_names(measured: Sequence[EmbeddingInvariance]) -> list[str]:
    """A beginning of file names for each embedding, all different."""
    names: list[str] = []
    for one in measured:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", one.embedding.name).strip("-.") or "embedding"
        same = sum(re.fullmatch(rf"{re.escape(plain)}(~\d+)?", name) is not None for name in names)
        names.append(f"{plain}~{same + 1}" if same else plain)
    return names


def how(options: InvarianceOptions) -> str:
    """Which pairs are compared, and with what the count is."""
    pairs = "with" if options.self_pairs else "without"
    return (
        f"mean cosines, {pairs} pairs of a sentence and itself; chance: {options.permutations} "
        f"permutations of the labels, seed {options.seed}"
    )


def what(sample: StyleSample) -> str:
    """Which sentences are compared."""
    sizes = sorted({int((sample.labels == s).sum()) for s in range(len(sample.styles))})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    styles = f"{len(sample.styles)} styles, {each} sentences each"
    where = f"{sample.data.dataset}, split {sample.split}"
    return f"{where}: {styles}, {sum(sample.available)} available"


def terminal(
    sample: StyleSample, options: InvarianceOptions, measured: Sequence[EmbeddingInvariance]
) -> str:
    """Plain text, at most 80 columns wide."""
    lines = [*_filled(what(sample)), *_filled(how(options)), ""]
    title = "styles most similar to themselves"
    lines.append(f"{title:<38}{'count':>9}{'chance':>8}{'p':>7}{'gap':>9}{'p':>7}")
    for name, form, own, styles, _, expected, p, gap, gap_p in _counts(sample, measured):
        lines.append(
            f"{_cut(name, _NAME - 1)}, {form}".ljust(38)
            + f"{f'{own} of {styles}':>9}{expected:>8.2f}{_p(p):>7}{gap:>9.4f}{_p(gap_p):>7}"
        )
    for one in measured:
        lines += ["", f"{_cut(one.embedding.name, 60)}: most similar style"]
        lines.append(f"  {'':<24}{'raw':<26}{'centred':<26}".rstrip())
        for style, name in enumerate(sample.styles):
            most = (_cut(_most(sample, one.forms[form], style), 25) for form in FORMS)
            lines.append(
                f"  {_cut(name, 23):<24}" + "".join(f"{text:<26}" for text in most).rstrip()
            )
        if any(one.left_out):
            lines += _filled(f"left out, no word known: {_left_out(sample, one)}")
    lines += ["", *_filled("* a style that is most similar to itself, and to no other equally")]
    return "\n".join(lines)


def _filled(text: str) -> list[str]:
    return fill(text, WIDTH).splitlines()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}~"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"


def _most(sample: StyleSample, found: StyleInvariance, style: int) -> str:
    best = found.most_similar[style]
    names = ", ".join(sample.styles[n] for n in best)
    return f"{names} *" if best == (style,) else names


def _left_out(sample: StyleSample, one: EmbeddingInvariance) -> str:
    return ", ".join(
        f"{name} {count}" for name, count in zip(sample.styles, one.left_out, strict=True) if count
    )


def _counts(
    sample: StyleSample, measured: Sequence[EmbeddingInvariance]
) -> Iterator[tuple[str, str, int, int, float, float, float, float, float]]:
    """One row for each embedding and form, see :data:`COMPARISON_HEADER`."""
    styles = len(sample.styles)
    for one in measured:
        for form, found in one.forms.items():
            own = found.self_similar
            yield (
                *(one.embedding.name, form, own, styles, 100 * own / styles),
                *(found.expected, found.p_value, found.gap, found.gap_p_value),
            )


def comparison(
    sample: StyleSample, options: InvarianceOptions, measured: Sequence[EmbeddingInvariance]
) -> DataTable:
    """Counts and gaps of all embeddings: the paper's Table 7, with what chance gives."""
    rows = (
        (name, form, f"{own} of {styles}", f"{share:.1f}%", f"{expected:.2f}", _p(p), f"{gap:.4f}",
         _p(gap_p))
        for name, form, own, styles, share, expected, p, gap, gap_p in _counts(sample, measured)
    )  # fmt: skip
    return DataTable(
        name="style-invariance",
        title="Styles that are most similar to themselves",
        header=("embedding", "vectors", "count", "share", "by chance", "p", "gap", "p of the gap"),
        rows=tuple(rows),
        notes=(
            f"{what(sample)}; {how(options)}.",
            "Centred: the mean of all unit vectors is subtracted first. Gap: mean similarity "
            "within styles minus that between styles. p: share of permutations with at least that "
            "number.",
        ),
    )


def matrix_table(sample: StyleSample, one: EmbeddingInvariance, form: str) -> DataTable:
    """Similarities of all pairs of styles, and the most similar: the paper's Tables 1 to 6."""
    found = one.forms[form]
    rows = [
        (f"{n}. {name}", *(f"{x:.3f}" for x in row), _most(sample, found, n - 1))
        for n, (name, row) in enumerate(zip(sample.styles, found.similarities, strict=True), 1)
    ]
    return DataTable(
        name=f"{one.embedding.name}-{form}",
        title=f"{one.embedding.name}, {form}: mean cosine of two styles",
        header=("style", *(str(n) for n in range(1, len(rows) + 1)), "most similar"),
        rows=tuple(rows),
    )


def markdown(
    sample: StyleSample, options: InvarianceOptions, measured: Sequence[EmbeddingInvariance]
) -> str:
    """Everything, with the pictures that lie beside it."""
    parts = [
        f"# Style invariance on {escaped(sample.data.dataset)}\n",
        to_markdown(comparison(sample, options, measured)),
    ]
    for one, name in zip(measured, file_names(measured), strict=True):
        parts += [f"## {escaped(one.embedding.name)}\n", f"`{one.signature}`\n"]
        if any(one.left_out):
            counts = escaped(_left_out(sample, one))
            parts.append(f"Sentences without a known word are left out: {counts}.\n")
        for form in FORMS:
            parts += [
                to_markdown(matrix_table(sample, one, form)),
                f"![Heat map of the similarities, {form}]({name}-{form}.svg)\n",
            ]
        if one.map is not None:
            parts += [
                f"t-SNE of {len(one.map.points)} sentences. Of a sentence's 10 nearest by cosine, "
                f"{100 * one.map.neighbours:.1f}% have its style; by chance, "
                f"{100 * one.map.neighbours_by_chance:.1f}%.\n",
                f"![Map of the sentences]({name}-map.svg)\n",
            ]
    return "\n".join(parts)


def tables(
    sample: StyleSample, measured: Sequence[EmbeddingInvariance]
) -> Iterator[tuple[str, str]]:
    """File names and contents: the comparison, and of each embedding two matrices and the map."""
    for one, name in zip(measured, file_names(measured), strict=True):
        for form, found in one.forms.items():
            rows = [
                (style, *map(float, row))
                for style, row in zip(sample.styles, found.similarities, strict=True)
            ]
            yield f"{name}-{form}.csv", csv_text(("style", *sample.styles), rows)
        if one.map is not None:
            points = [
                (sample.styles[label], float(x), float(y))
                for label, (x, y) in zip(one.map.labels, one.map.points, strict=True)
            ]
            yield f"{name}-map.csv", csv_text(("style", "x", "y"), points)
    yield "comparison.csv", csv_text(COMPARISON_HEADER, _counts(sample, measured))


def as_json(
    sample: StyleSample, options: InvarianceOptions, measured: Sequence[EmbeddingInvariance]
) -> dict[str, JsonValue]:
    """Everything that was measured, numbers to nine digits; no sentence is in it."""
    return {
        "schema": SCHEMA,
        "written_by": "tstbench style-invariance",
        "dataset": sample.data.dataset,
        "split": sample.split,
        "cleaning": sample.data.cleaning,
        "language": sample.language,
        "data": sample.fingerprint,
        "styles": list(sample.styles),
        "available": list(sample.available),
        "repeated": list(sample.repeated),
        "permutations": options.permutations,
        "seed": options.seed,
        "self_pairs": options.self_pairs,
        "embeddings": [_embedding(one) for one in measured],
    }


def _embedding(one: EmbeddingInvariance) -> JsonValue:
    return {
        "name": one.embedding.name,
        "kind": one.embedding.kind,
        "hash": one.embedding.hash,
        "signature": str(one.signature),
        "made_with": one.signature.made_with,
        "used": list(one.used),
        "left_out": list(one.left_out),
        **{form: _plain(asdict(found)) for form, found in one.forms.items()},
        "map": None
        if one.map is None
        else {
            "points": len(one.map.points),
            "neighbours": _plain(one.map.neighbours),
            "neighbours_by_chance": _plain(one.map.neighbours_by_chance),
        },
    }


def _plain(value: Any) -> JsonValue:
    if isinstance(value, dict):
        return {name: _plain(of) for name, of in value.items()}
    if isinstance(value, np.ndarray | tuple):
        return [_plain(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value
