"""The dataset ``human_judgments``: one Parquet file for each study, and a card with their terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.judgments.schema import Judgment, read_judgments, without_licensed_text
from ...datasets_scripts.judgments.studies import STUDIES, parse_study
from ...errors import InputError, MissingFileError
from ...files import write_bytes, write_text

COLUMNS: Mapping[str, str] = {
    "study": "name of the study",
    "dataset": "whose sentences were rewritten",
    "direction": "`dataset/source-to-target`",
    "system": "who made the output",
    "sample_id": "id of the sentence; null if the study published none",
    "source": "the sentence; null if it was not published or may not be",
    "output": "the rewrite; null in the same cases",
    "aspect": "what was judged",
    "scale": "level of measurement and range, such as `ordinal 1-5`",
    "rater": "a pseudonym, or the name of an average",
    "score": "on the scale, unless `flag` says otherwise; null if there is none",
    "note": "why a score is missing, or what the rater wrote",
    "item": "the study's own number of a sentence without an id: pairs scores, names no text",
    "model": "the model of which `system` is one setting",
    "condition": "what was varied when the output was made",
    "certain": "whether the public output of the system is certainly the rated one",
    "flag": "`impossible`: published, but not on the scale; kept, and not to be averaged",
}


def stage_judgments(folder: Path | None, studies: Sequence[str], staging: Path) -> Path:
    """Write the dataset's files.

    Args:
        folder: the user's own JSON Lines; ``None`` for none.
        studies: names of published studies.
        staging: the folder to write to.

    Raises:
        MissingFileError: no judgments in the folder, or a study's files cannot be found.
        InputError: a line is no judgment, two files are of one study, or a licence is missing.
        UnknownNameError: no such study.
    """
    found = {name: parse_study(name).judgments() for name in studies}
    if folder is not None:
        files = sorted(folder.glob("*.jsonl"))
        if not files:
            raise MissingFileError(
                f"no judgments in {folder}: *.jsonl as 'annotate --export' writes"
            )
        for file in files:
            if file.stem in found:
                raise InputError(f"{file} and the published study {file.stem}: leave one out")
            found[file.stem] = [for_everybody(row, file) for row in read_judgments(file)]
    for name, rows in found.items():
        _write_parquet(staging / "data" / f"{name}.parquet", rows)
    write_text(staging / "README.md", card(found))
    return staging


def for_everybody(row: Judgment, file: Path) -> Judgment:
    """The judgment, without the texts of a licensed dataset.

    Raises:
        InputError: it has texts of a dataset whose licence is not known, or that has none.
    """
    facts = DATASETS.get(row.dataset)
    has_texts = row.source is not None or row.output is not None
    if has_texts and row.dataset not in STUDIES and not (facts and facts.licence):
        raise InputError(
            f"{file} has sentences of {row.dataset}, whose licence is not known. Give its data "
            "file, with a licence (--data FILE), or leave them out"
        )
    return without_licensed_text(row)


def language_yaml(datasets: Iterable[str]) -> str:
    """A card's line ``language`` for texts of these datasets; of one not known here, nothing."""
    codes = {DATASETS[name].language for name in datasets if name in DATASETS}
    return yaml.safe_dump({"language": sorted(codes)})  # in quotes where YAML reads 'no' as false


def _write_parquet(path: Path, rows: Iterable[Judgment]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"score": pa.float64(), "certain": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    table = pa.Table.from_pylist([row.model_dump(mode="json") for row in rows], schema=schema)
    content = pa.BufferOutputStream()
    parquet.write_table(table, content)
    write_bytes(path, content.getvalue().to_pybytes())


def card(found: Mapping[str, Sequence[Judgment]]) -> str:
    """The README: configurations, columns, and the terms and provenance of every study."""
    configs = "".join(
        f"- config_name: {name}\n  data_files:\n  - split: judgments\n    path: {path}\n"
        for name, path in [
            ("default", "data/*.parquet"),
            *((n, f"data/{n}.parquet") for n in found),
        ]
    )
    columns = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items())
    studies = "\n\n".join(_study(name, rows) for name, rows in found.items())
    return f"""\
---
pretty_name: TSTBench human judgments
license: other
license_name: terms-of-each-study
{language_yaml(row.dataset for rows in found.values() for row in rows)}tags:
- text-style-transfer
configs:
{configs}---
# TSTBench human judgments

What people said about the outputs of text style transfer systems, in one schema: one row per
judgment of one rater, or per published average. `tstbench meta-evaluate` measures how far metrics
agree with them.

| column | meaning |
| --- | --- |
{columns}

Studies asked different questions of different people: never average their scores together.

## Studies, licences and provenance

There is no single licence: the terms of each study apply to its rows.

{studies}
"""


def _study(name: str, rows: Sequence[Judgment]) -> str:
    aspects = ", ".join(dict.fromkeys(row.aspect for row in rows))
    systems = len({(row.direction, row.system) for row in rows})
    directions = len({row.direction for row in rows})
    flagged = sum(row.flag is not None for row in rows)
    size = (
        f"{len(rows)} rows: {aspects}; {directions} directions, {systems} pairs of system and "
        f"direction; {flagged} flagged scores."
    )
    if name not in STUDIES:
        return f"### {name}\n\n{size}"
    study = STUDIES[name]
    origin = f"https://github.com/{study.repository}"
    return (
        f"### {name}\n\n{study}\n\n{size} Licence: {study.licence or 'none stated'}. From {origin}."
    )
