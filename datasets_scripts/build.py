"""Build a Hub-style folder: Parquet, a card with YAML configs, fingerprints.

``datasets.load_dataset(<folder>)`` reads it, and so does the Hub once it is uploaded. No script is
in it: a repository that holds ``<name>.py`` does not load at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData

from ..errors import InputError
from ..files import atomic_folder, write_json, write_text
from .builder import direction_features, style_features
from .card import Provenance, write_card
from .cleaning import parse_cleaning
from .corpora import parse_dataset
from .corpus import Corpus, Part, Side, read_side
from .fingerprint import fingerprint, style_fingerprint
from .load import TRAINING_ORDER
from .publication import MARKER, MARKER_TEXT
from .quality import Quality, measure
from .rows import direction_rows, style_rows
from .sources import UpstreamFile
from .views import DEFAULT_VIEW, STYLES_VIEW, Split, available_parts, rows_digest, views

Sides = dict[tuple[str, int], Side]  # (part, style index) -> sentences


@dataclass(frozen=True)
class BuildReport:
    """What a build wrote."""

    dataset: str
    folder: Path
    cleaning: str
    rows: dict[str, dict[str, int]]  # view -> split -> number of rows
    fingerprints: dict[str, str]  # "negative-to-positive/test", "styles/train" -> 64 hex digits
    left_out: dict[str, str]  # part -> why it is not there
    quality: tuple[Quality, ...]
    publishable: bool  # False: a licensed corpus, for this user alone


def build(
    dataset: str,
    out_dir: Path | str,
    *,
    cleaning: str = "paper-v1",
    data_dir: Path | str | None = None,
    allow_missing: bool = False,
    accept_licence: str | None = None,
) -> BuildReport:
    """Write ``<out_dir>/<dataset>/``, replacing what is there when everything is complete.

    The same raw files and library versions give the same bytes.

    Args:
        dataset: ``yelp``.
        out_dir: the folder that gets a folder per dataset.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`.
        data_dir: the user's copy of a licensed corpus.
        allow_missing: leave out the parts whose raw files are missing, and say so in the card.
        accept_licence: for a licensed corpus, the name of its licence: the build is refused
            without it, and the folder is marked as not for publication.

    Raises:
        UnknownNameError: no such dataset or cleaning.
        InputError: a licence was not accepted, or raw files do not belong together.
        MissingFileError: a raw file is nowhere.
        IntegrityError: a raw file has other content than pinned.
    """
    corpus = parse_dataset(dataset)
    clean = parse_cleaning(cleaning)
    _check_licence(corpus, accept_licence)
    parts, left_out = available_parts(corpus, data_dir, allow_missing=allow_missing)
    sides: Sides = {
        (part.name, style): read_side(corpus, part.name, style, clean, data_dir)
        for part in parts
        for style in (0, 1)
    }
    training = next(name for name in TRAINING_ORDER if (name, 0) in sides)
    quality = measure(sides, corpus.facts.styles, training)
    folder = Path(out_dir) / corpus.name
    digest = rows_digest(corpus, parts, clean.name, data_dir)
    with atomic_folder(folder, ours=_is_built) as scratch:
        fingerprints, infos = _write_splits(corpus, parts, sides, scratch)
        provenance = Provenance(
            cleaning=clean.name,
            rows_digest=digest,
            fingerprints=fingerprints,
            steps=[
                (
                    p.name,
                    p.decontamination,
                    sum(sides[p.name, style].removed for style in (0, 1)),
                    sum(sides[p.name, style].repeats for style in (0, 1)),
                )
                for p in parts
                if p.decontamination
            ],
            left_out=left_out,
            files=_files(parts, data_dir),
            training=training,
        )
        write_json(scratch / "fingerprint.json", provenance.summary(corpus))
        front = _front_matter(corpus, parts, infos, digest)
        write_text(scratch / "README.md", write_card(corpus, front, quality, provenance))
        if corpus.facts.licensed:
            write_text(scratch / MARKER, MARKER_TEXT.format(licence=corpus.agreement))
    return BuildReport(
        dataset=corpus.name,
        folder=folder,
        cleaning=clean.name,
        rows={
            view: {name: info.num_examples for name, info in infos[view].splits.items()}
            for view in infos
        },
        fingerprints=fingerprints,
        left_out=left_out,
        quality=quality,
        publishable=not corpus.facts.licensed,
    )


def _is_built(folder: Path) -> bool:
    """Whether a folder is one that :func:`build` wrote."""
    return (folder / "fingerprint.json").is_file() and (folder / "README.md").is_file()


def _check_licence(corpus: Corpus, accepted: str | None) -> None:
    if not corpus.facts.licensed or accepted == corpus.agreement:
        return
    given = f" (given: {accepted!r})" if accepted else ""
    raise InputError(
        f"{corpus.name} is licensed: a folder of it is for you alone and must not be published. "
        f"To build it all the same, name the licence: accept_licence={corpus.agreement!r}, or "
        f"--accept-licence {corpus.agreement}{given}"
    )


def _write_splits(
    corpus: Corpus, parts: tuple[Part, ...], sides: Sides, folder: Path
) -> tuple[dict[str, str], dict[str, datasets.DatasetInfo]]:
    """Write one Parquet file a split; views that show the same rows share it."""
    fingerprints: dict[str, str] = {}
    tables: dict[str, pa.Table] = {}
    infos = {}
    for view, splits in views(corpus, parts).items():
        features = style_features(corpus.facts) if view == STYLES_VIEW else direction_features()
        found = datasets.SplitDict()
        for split in splits:
            if split.file not in tables:
                tables[split.file] = _write_split(split, sides, features, folder / split.file)
                fingerprints[split.file.removesuffix(".parquet")] = _fingerprint(split, sides)
            table = tables[split.file]
            found.add(datasets.SplitInfo(split.name, table.nbytes, table.num_rows))
        infos[view] = datasets.DatasetInfo(
            features=features,
            splits=found,
            config_name=view,
            download_size=sum((folder / split.file).stat().st_size for split in splits),
            dataset_size=sum(info.num_bytes for info in found.values()),
        )
    return fingerprints, infos


def _write_split(split: Split, sides: Sides, features: datasets.Features, path: Path) -> pa.Table:
    rows: list[Any]
    if split.direction:
        side = sides[split.part, split.direction.source_index]
        rows = list(direction_rows(side, split.direction, split.part))
    else:
        rows = list(style_rows(sides[split.part, style] for style in (0, 1)))
    # The schema carries the features (class names), so that no script is needed to read them.
    table = pa.Table.from_pylist(rows, schema=features.arrow_schema)
    path.parent.mkdir(exist_ok=True)
    pq.write_table(table, path, compression="zstd")
    return table


def _fingerprint(split: Split, sides: Sides) -> str:
    if split.direction:
        side = sides[split.part, split.direction.source_index]
        return fingerprint(side.texts, side.references)
    pairs = [
        (row["text"], row["style"])
        for row in style_rows(sides[split.part, style] for style in (0, 1))
    ]
    return style_fingerprint([text for text, _ in pairs], [style for _, style in pairs])


def _front_matter(
    corpus: Corpus,
    parts: tuple[Part, ...],
    infos: dict[str, datasets.DatasetInfo],
    digest: str,
) -> dict[str, Any]:
    configs: list[dict[str, Any]] = []
    for view, splits in views(corpus, parts).items():
        files = [{"split": split.name, "path": split.file} for split in splits]
        # The cache of ``datasets`` looks at this text, not at the Parquet files: without the digest
        # a folder built again with another cleaning could come back as it was.
        configs.append({"config_name": view, "description": f"rows {digest}", "data_files": files})
        if view == DEFAULT_VIEW:
            configs[-1]["default"] = True
    card = DatasetCardData(configs=configs)
    DatasetInfosDict(infos).to_dataset_card_data(card)
    return card.to_dict()


def _files(parts: tuple[Part, ...], data_dir: Path | str | None) -> list[tuple[str, str, str]]:
    every = dict.fromkeys(file for part in parts for file in part.files)
    return [
        (f.name, f.commit if isinstance(f, UpstreamFile) else "", f.digest(data_dir)) for f in every
    ]
