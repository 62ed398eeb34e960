"""Build a Hub-style folder: Parquet, a card with YAML configs, fingerprints.

``datasets.load_dataset(<folder>)`` reads it, and so does the Hub once it is uploaded. It contains
no script: a Hub repository that contains ``<name>.py`` does not load at all.
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
from ..files import atomic_folder, write_bytes, write_json, write_text
from .builder import direction_features, style_features
from .card import Provenance, write_card
from .cleaning import parse_cleaning
from .corpora import parse_dataset
from .corpus import Corpus, Part, Place, Side, read_place
from .fingerprint import fingerprint, style_fingerprint
from .publication import MARKER, marker_text
from .quality import Quality, measure
from .rows import direction_rows, style_rows
from .views import DEFAULT_VIEW, Split, available_parts, is_labelled, rows_digest, views

Sides = dict[Place, Side]


@dataclass(frozen=True)
class BuildReport:
    """What a build wrote."""

    dataset: str
    folder: Path
    cleaning: str
    rows: dict[str, dict[str, int]]  # view -> split -> number of rows
    fingerprints: dict[str, str]  # "negative-to-positive/test", "styles/train" -> 64 hex digits
    left_out: dict[str, str]  # split -> why it is missing
    quality: tuple[Quality, ...]
    publishable: bool  # False: a licensed corpus, for this user only


def build(
    dataset: str,
    out_dir: Path | str,
    *,
    cleaning: str | None = None,
    data_dir: Path | str | None = None,
    allow_missing: bool = False,
    accept_licence: str | None = None,
) -> BuildReport:
    """Write ``<out_dir>/<dataset>/``, replacing an earlier build once everything is complete.

    The same raw files and library versions give identical bytes.

    Args:
        dataset: ``yelp``.
        out_dir: the folder in which each dataset gets its own folder.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`; by default that of its language.
        data_dir: the user's copy of a licensed corpus.
        allow_missing: leave out the splits whose raw files are missing, and say so in the card.
        accept_licence: for a licensed corpus, the name of its licence; without it, the build is
            refused. The folder is marked as not for publication.

    Raises:
        UnknownNameError: no such dataset or cleaning.
        InputError: a licence was not accepted, or raw files do not belong together.
        MissingFileError: a raw file cannot be found.
        IntegrityError: a raw file's content does not match the pinned one.
    """
    corpus = parse_dataset(dataset)
    clean = parse_cleaning(cleaning or corpus.cleaning)
    _check_licence(corpus, accept_licence)
    parts, left_out = available_parts(corpus, data_dir, allow_missing=allow_missing)
    sides: Sides = {
        place: read_place(corpus, place, clean, data_dir) for place in _places(corpus, parts)
    }
    with_sentences = {place.part for place, side in sides.items() if side.texts}
    learned = corpus.facts.learn_from
    training = learned if learned in with_sentences else "test"
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
                    sum(side.removed for side in _of_styles(corpus, sides, p.name)),
                    sum(side.repeats for side in _of_styles(corpus, sides, p.name)),
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
        if text := marker_text(corpus):
            write_text(scratch / MARKER, text)
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
        publishable=corpus.facts.publishable,
    )


def _places(corpus: Corpus, parts: tuple[Part, ...]) -> list[Place]:
    """The styles of each split, then the directions with sentences of their own."""
    every = range(len(corpus.facts.styles))
    of_styles = [Place(part.name, style) for part in parts for style in every]
    of_directions = [
        place
        for part in parts
        for direction in corpus.facts.directions
        if part.serves(corpus.way(direction))
        and (place := corpus.place(direction, part.name)).target is not None
    ]
    return [*of_styles, *of_directions]


def _of_styles(corpus: Corpus, sides: Sides, part: str) -> list[Side]:
    """The sentences of every style in a split, in the order of the styles."""
    return [sides[Place(part, style)] for style in range(len(corpus.facts.styles))]


def _is_built(folder: Path) -> bool:
    """Whether :func:`build` wrote this folder."""
    return (folder / "fingerprint.json").is_file() and (folder / "README.md").is_file()


def _check_licence(corpus: Corpus, accepted: str | None) -> None:
    if not corpus.facts.licensed or accepted == corpus.agreement:
        return
    given = f" (given: {accepted!r})" if accepted else ""
    raise InputError(
        f"{corpus.name} is licensed: its folder is for you only and must not be published. "
        f"To build it anyway, accept the licence by name: accept_licence={corpus.agreement!r}, or "
        f"--accept-licence {corpus.agreement}{given}"
    )


def _write_splits(
    corpus: Corpus, parts: tuple[Part, ...], sides: Sides, folder: Path
) -> tuple[dict[str, str], dict[str, datasets.DatasetInfo]]:
    """Write one Parquet file per split; views that show the same rows share it."""
    fingerprints: dict[str, str] = {}
    tables: dict[str, pa.Table] = {}
    infos = {}
    for view, splits in views(corpus, parts).items():
        labelled = is_labelled(view, corpus.facts)
        features = style_features(corpus.facts) if labelled else direction_features()
        found = datasets.SplitDict()
        for split in splits:
            if split.file not in tables:
                tables[split.file] = _write_split(
                    corpus, split, sides, features, folder / split.file
                )
                fingerprints[split.file.removesuffix(".parquet")] = _fingerprint(
                    corpus, split, sides
                )
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


def _write_split(
    corpus: Corpus, split: Split, sides: Sides, features: datasets.Features, path: Path
) -> pa.Table:
    rows: list[Any]
    if split.direction:
        side = sides[corpus.place(split.direction, split.part)]
        rows = list(direction_rows(side, split.direction, split.part))
    else:
        rows = list(style_rows(_of_styles(corpus, sides, split.part)))
    # The schema carries the features (class names), so that no script is needed to read them.
    table = pa.Table.from_pylist(rows, schema=features.arrow_schema)
    content = pa.BufferOutputStream()
    pq.write_table(table, content, compression="zstd")
    write_bytes(path, content.getvalue().to_pybytes())
    return table


def _fingerprint(corpus: Corpus, split: Split, sides: Sides) -> str:
    if split.direction:
        side = sides[corpus.place(split.direction, split.part)]
        return fingerprint(side.texts, side.references)
    pairs = [
        (row["text"], row["style"]) for row in style_rows(_of_styles(corpus, sides, split.part))
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
        # The cache of ``datasets`` looks at this text, not at the Parquet files. Without the
        # digest, a folder built again with another cleaning could be read from a stale cache.
        description = f"{_description(view, corpus)} (content {digest[:16]})"
        configs.append({"config_name": view, "description": description, "data_files": files})
        if view == DEFAULT_VIEW:
            configs[-1]["default"] = True
    card = DatasetCardData(configs=configs)
    DatasetInfosDict(infos).to_dataset_card_data(card)
    return card.to_dict()


def _description(view: str, corpus: Corpus) -> str:
    """What a view shows, for people."""
    if view == DEFAULT_VIEW and corpus.facts.directions:
        return "All directions: one split for each direction and part"
    if is_labelled(view, corpus.facts):
        return f"Sentences labelled with their style: {', '.join(corpus.facts.styles)}"
    (direction,) = (d for d in corpus.facts.directions if d.config == view)
    return f"From {direction.source_style} to {direction.target_style}"


def _files(parts: tuple[Part, ...], data_dir: Path | str | None) -> list[tuple[str, str, str]]:
    every = dict.fromkeys(file for part in parts for file in part.files)
    return [(f.name, f.commit, f.digest(data_dir)) for f in every]
