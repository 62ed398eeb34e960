"""The base of all builders: views, features and rows for ``datasets``.

``datasets`` refuses scripts from the Hub, so builders run on the publisher's machine (or from this
package), and the Hub gets the folder that :func:`tstbench.datasets_scripts.build.build` writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import datasets

from .card import read_card
from .cleaning import parse_cleaning
from .corpus import Corpus, Place, read_place
from .directions import DatasetFacts, Direction
from .rows import direction_rows, style_rows
from .views import available_parts, is_labelled, rows_digest, views


@dataclass
class TransferConfig(datasets.BuilderConfig):
    """One view of a dataset."""

    cleaning: str | None = None  # default: that of the dataset's language
    allow_missing: bool = False  # leave out splits whose raw files are missing


def direction_features() -> datasets.Features:
    """Columns of a direction."""
    text = datasets.Value("string")
    return datasets.Features(
        {
            "id": text,
            "source": text,
            "references": datasets.List(text),
            "source_style": text,
            "target_style": text,
        }
    )


def style_features(facts: DatasetFacts) -> datasets.Features:
    """Columns of the styles view."""
    return datasets.Features(
        {
            "text": datasets.Value("string"),
            "style": datasets.ClassLabel(names=list(facts.styles)),
        }
    )


def transfer_configs(corpus: Corpus) -> list[TransferConfig]:
    """One config per view."""
    version = datasets.Version(corpus.version)
    return [TransferConfig(name=name, version=version) for name in views(corpus, corpus.parts)]


class TransferBuilder(datasets.GeneratorBasedBuilder):
    """Builds one dataset's views from its raw files.

    A subclass sets ``CORPUS``, ``BUILDER_CONFIGS`` and ``DEFAULT_CONFIG_NAME``. Use it like any
    other builder: ``Yelp(config_name="styles").download_and_prepare()``, then ``as_dataset()``.
    """

    CORPUS: ClassVar[Corpus]
    BUILDER_CONFIG_CLASS = TransferConfig

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Like ``datasets.DatasetBuilder``, but ``hash`` and ``dataset_name`` are set here.

        The cache of ``datasets`` is keyed by the module's name and not by the raw files, so both
        are replaced by what the rows actually depend on.
        """
        kwargs["dataset_name"] = self.CORPUS.name
        data_dir = kwargs.get("data_dir")
        self._parts, self._missing = available_parts(
            self.CORPUS, data_dir, allow_missing=kwargs.get("allow_missing", False)
        )
        cleaning = parse_cleaning(kwargs.get("cleaning") or self.CORPUS.cleaning)
        kwargs["hash"] = rows_digest(self.CORPUS, self._parts, cleaning.name, data_dir)
        super().__init__(*args, **kwargs)

    def _info(self) -> datasets.DatasetInfo:
        card = read_card(self.CORPUS)
        styles = is_labelled(self.config.name, self.CORPUS.facts)
        return datasets.DatasetInfo(
            description=self.__doc__ or "",
            features=style_features(self.CORPUS.facts) if styles else direction_features(),
            citation=card.citation,
            license=card.front["license"],
            version=self.config.version,
        )

    def _split_generators(self, _dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [
            datasets.SplitGenerator(
                name=split.name, gen_kwargs={"part": split.part, "direction": split.direction}
            )
            for split in views(self.CORPUS, self._parts)[self.config.name]
        ]

    def _generate_examples(
        self, part: str, direction: Direction | None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        corpus = self.CORPUS
        cleaning = parse_cleaning(self.config.cleaning or corpus.cleaning)
        places = (
            [Place(part, style) for style in range(len(corpus.facts.styles))]
            if direction is None
            else [corpus.place(direction, part)]
        )
        sides = [read_place(corpus, place, cleaning, self.config.data_dir) for place in places]
        rows = direction_rows(sides[0], direction, part) if direction else style_rows(sides)
        for key, row in enumerate(rows):
            yield key, dict(row)
