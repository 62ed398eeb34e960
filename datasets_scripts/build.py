"""The published views of a dataset, and a Hub-style folder of them: Parquet, a card, fingerprints.

``datasets.load_dataset(<folder>)`` reads it, and so does the Hub once it is uploaded. It contains
no script: a Hub repository that contains ``<name>.py`` does not load at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData

from ..errors import InputError, MissingFileError
from ..files import atomic_folder, write_bytes, write_json, write_text
from .cards import MARKER, Provenance, marker_text, read_card, write_card
from .catalog import parse_dataset
from .cleaning import parse_cleaning
from .corpus import Corpus, Part, Place, Side, read_place
from .directions import Direction
from .fingerprint import fingerprint, style_fingerprint
from .quality import Quality, measure

Sides = dict[Place, Side]
DEFAULT_VIEW = "default"
STYLES_VIEW = "styles"

_ROWS_VERSION = 1  # raised when the same files and cleaning give different rows


@dataclass(frozen=True)
class Split:
    """One split of one view."""

    name: str  # ``test``, or in the default view ``test_negative_to_positive``
    part: str
    direction: Direction | None  # None: labelled sentences of every style

    @property
    def file(self) -> str:
        """Its path in a built folder; the default view uses the directions' files."""
        return f"{self.direction.config if self.direction else STYLES_VIEW}/{self.part}.parquet"


def split_rows(
    corpus: Corpus, split: Split, read: Callable[[Place], Side]
) -> Iterator[dict[str, Any]]:
    """The rows of a split of a view: what is built, and what a builder gives ``datasets``."""
    if direction := split.direction:
        side = read(corpus.place(direction, split.part))
        ids = side.ids(direction, split.part)
        for name, source, references in zip(ids, side.texts, side.references, strict=True):
            yield {
                "id": name,
                "source": source,
                "references": list(references),
                "source_style": direction.source_style,
                "target_style": direction.target_style,
            }
        return
    for style in range(len(corpus.facts.styles)):
        for text in read(Place(split.part, style)).texts:
            yield {"text": text, "style": style}


def views(corpus: Corpus, parts: Iterable[Part]) -> dict[str, tuple[Split, ...]]:
    """View name -> its splits, for the given raw splits.

    >>> mini = parse_dataset("mini")
    >>> list(views(mini, mini.parts))
    ['default', 'negative-to-positive', 'positive-to-negative', 'styles']
    """
    parts = list(parts)
    served = {
        d: [p.name for p in parts if p.serves(way)]
        for d, way in zip(corpus.facts.directions, corpus.ways(), strict=True)
    }
    labelled = tuple(Split(p.name, p.name, None) for p in parts if any(p.sentences))
    directions = tuple(
        Split(d.split(part), part, d) for d, names in served.items() for part in names
    )
    found = {DEFAULT_VIEW: directions if served else labelled}
    for d, names in served.items():
        found[d.config] = tuple(Split(part, part, d) for part in names)
    found[STYLES_VIEW] = labelled
    return found


def available_parts(
    corpus: Corpus, data_dir: Path | str | None = None, *, allow_missing: bool = False
) -> tuple[tuple[Part, ...], dict[str, str]]:
    """The splits whose files all exist, and for each other split why it is missing.

    Raises:
        MissingFileError: a file of a split cannot be found, and ``allow_missing`` is false or it
            is the test split: without it, leaks could not be found.
    """
    found, missing = [], {}
    for part in corpus.parts:
        try:
            for file in part.files:
                file.require(data_dir)
        except MissingFileError:
            if not allow_missing or part.name == "test":
                raise
            # Not the error's message: it names folders of this machine, and cards are public.
            missing[part.name] = f"{file.name} was missing on the machine that built this"
        else:
            found.append(part)
    return tuple(found), missing


def rows_digest(
    corpus: Corpus, parts: Iterable[Part], cleaning: str, data_dir: Path | str | None = None
) -> str:
    """SHA-256 of everything that rows depend on: raw files, cleaning, decontamination, versions.

    A cache keyed by it never returns stale rows (``datasets`` itself does not look at raw files).
    """
    facts = {
        "dataset": corpus.name,
        "version": corpus.version,
        "rows": _ROWS_VERSION,
        "cleaning": cleaning,
        "parts": [
            [p.name, p.decontamination, [[f.name, f.digest(data_dir)] for f in p.files]]
            for p in parts
        ],
    }
    if corpus.origin:  # its data file may use the same files in another layout
        facts["layout"] = corpus.layout
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@dataclass
class TransferConfig(datasets.BuilderConfig):
    """One view of a dataset."""

    cleaning: str | None = None  # default: that of the dataset's language
    allow_missing: bool = False  # leave out splits whose raw files are missing


class TransferBuilder(datasets.GeneratorBasedBuilder):
    """Builds one view of a dataset from its raw files, for ``datasets``.

    ``datasets`` refuses scripts from the Hub, so builders run on the publisher's machine (or from
    this package), and the Hub gets the folder that :func:`build` writes of the same rows.

        TransferBuilder(CORPORA["yelp"], "styles").download_and_prepare()
    """

    BUILDER_CONFIG_CLASS = TransferConfig

    def __init__(self, corpus: Corpus, view: str = DEFAULT_VIEW, **settings: Any) -> None:
        """Find the files of the view. ``hash`` and ``dataset_name`` are set here.

        The cache of ``datasets`` is keyed by the module's name and not by the raw files, so both
        are replaced by what the rows actually depend on.

        Args:
            corpus: the dataset.
            view: ``negative-to-positive``, ``styles``, or every direction.
            settings: ``cleaning`` and ``allow_missing``, as of :func:`build`, and those of every
                ``datasets.DatasetBuilder``, such as ``data_dir`` and ``cache_dir``.

        Raises:
            ValueError: no such view.
            MissingFileError, IntegrityError: see :func:`build`.
        """
        self._corpus = corpus
        data_dir = settings.get("data_dir")
        parts, _ = available_parts(
            corpus, data_dir, allow_missing=settings.get("allow_missing", False)
        )
        known = views(corpus, parts)
        if view not in known:
            raise ValueError(f"{corpus.name} has no view {view!r}, only {', '.join(known)}")
        self._splits = {split.name: split for split in known[view]}
        self._cleaning = parse_cleaning(settings.get("cleaning") or corpus.cleaning)
        super().__init__(
            config_name=view,
            dataset_name=corpus.name,
            hash=rows_digest(corpus, parts, self._cleaning.name, data_dir),
            version=corpus.version,
            **settings,
        )

    def _info(self) -> datasets.DatasetInfo:
        card = read_card(self._corpus)
        return datasets.DatasetInfo(
            description=card.body,
            features=_features(self._corpus, [*self._splits.values()]),
            citation=card.citation,
            license=card.front["license"],
            version=self.config.version,
        )

    def _split_generators(self, _dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [
            datasets.SplitGenerator(name=name, gen_kwargs={"split": split})
            for name, split in self._splits.items()
        ]

    def _generate_examples(self, split: Split) -> Iterator[tuple[int, dict[str, Any]]]:
        def read(place: Place) -> Side:
            return read_place(self._corpus, place, self._cleaning, self.config.data_dir)

        yield from enumerate(split_rows(self._corpus, split, read))


def _is_labelled(splits: Sequence[Split]) -> bool:
    """Whether a view shows labelled sentences, not rows of a direction."""
    return all(split.direction is None for split in splits)


def _features(corpus: Corpus, splits: Sequence[Split]) -> datasets.Features:
    """The columns of a view."""
    text = datasets.Value("string")
    if _is_labelled(splits):
        label = datasets.ClassLabel(names=list(corpus.facts.styles))
        return datasets.Features({"text": text, "style": label})
    return datasets.Features(
        {
            "id": text,
            "source": text,
            "references": datasets.List(text),
            "source_style": text,
            "target_style": text,
        }
    )


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
    if not corpus.facts.licensed or accepted == corpus.facts.licence:
        return
    given = f" (given: {accepted!r})" if accepted else ""
    licence = corpus.facts.licence
    raise InputError(
        f"{corpus.name} is licensed: its folder is for you only and must not be published. "
        f"To build it anyway, accept the licence by name: accept_licence={licence!r}, or "
        f"--accept-licence {licence}{given}"
    )


def _write_splits(
    corpus: Corpus, parts: tuple[Part, ...], sides: Sides, folder: Path
) -> tuple[dict[str, str], dict[str, datasets.DatasetInfo]]:
    """Write one Parquet file per split; views that show the same rows share it."""
    fingerprints: dict[str, str] = {}
    tables: dict[str, pa.Table] = {}
    infos = {}
    for view, splits in views(corpus, parts).items():
        features = _features(corpus, splits)
        found = datasets.SplitDict()
        for split in splits:
            if split.file not in tables:
                rows = list(split_rows(corpus, split, sides.__getitem__))
                tables[split.file] = _write_table(rows, features, folder / split.file)
                fingerprints[split.file.removesuffix(".parquet")] = _fingerprint(split, rows)
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


def _write_table(rows: list[Any], features: datasets.Features, path: Path) -> pa.Table:
    # The schema carries the features (class names), so that no script is needed to read them.
    table = pa.Table.from_pylist(rows, schema=features.arrow_schema)
    content = pa.BufferOutputStream()
    pq.write_table(table, content, compression="zstd")
    write_bytes(path, content.getvalue().to_pybytes())
    return table


def _fingerprint(split: Split, rows: list[Any]) -> str:
    if split.direction:
        return fingerprint([row["source"] for row in rows], [row["references"] for row in rows])
    return style_fingerprint([row["text"] for row in rows], [row["style"] for row in rows])


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
        description = f"{_description(view, splits, corpus)} (content {digest[:16]})"
        configs.append({"config_name": view, "description": description, "data_files": files})
        if view == DEFAULT_VIEW:
            configs[-1]["default"] = True
    card = DatasetCardData(configs=configs)
    DatasetInfosDict(infos).to_dataset_card_data(card)
    return card.to_dict()


def _description(view: str, splits: Sequence[Split], corpus: Corpus) -> str:
    """What a view shows, for people."""
    if _is_labelled(splits):
        return f"Sentences labelled with their style: {', '.join(corpus.facts.styles)}"
    if view == DEFAULT_VIEW:
        return "All directions: one split for each direction and part"
    (direction,) = {split.direction for split in splits if split.direction}
    return f"From {direction.source_style} to {direction.target_style}"


def _files(parts: tuple[Part, ...], data_dir: Path | str | None) -> list[tuple[str, str, str]]:
    every = dict.fromkeys(file for part in parts for file in part.files)
    return [(f.name, f.commit, f.digest(data_dir)) for f in every]
