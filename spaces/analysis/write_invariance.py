"""A measurement of style invariance as a folder: tables, pictures, JSON; whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ...files import (
    atomic_folder,
    check_free,
    write_bytes,
    write_json,
    write_text,
)
from ...pipelines.style_invariance.measure import FORMS, EmbeddingInvariance, InvarianceOptions
from ...pipelines.style_invariance.report import as_json, file_names, markdown, tables
from ...pipelines.style_invariance.sentences import StyleSample
from .canvas import Picture, picture
from .draw_invariance import draw_style_map, draw_style_matrix
from .write import is_analysis

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
            for form in FORMS:
                found, centred = one.form(form), form == "centred"
                draw = partial(draw_style_matrix, sample.styles, found, centred=centred)
                _write(folder, f"{name}-{form}", picture(draw))
            if one.map is not None:
                _write(
                    folder, f"{name}-map", picture(partial(draw_style_map, sample.styles, one.map))
                )
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())
        }
        write_json(folder / JSON_FILE, {**as_json(sample, options, measured), "files": files})


def _write(folder: Path, name: str, drawn: Picture) -> None:
    write_bytes(folder / f"{name}.png", drawn.png)
    write_bytes(folder / f"{name}.svg", drawn.svg)
