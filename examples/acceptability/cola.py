"""Train the acceptability classifier that the CoLA metric scores with.

It learns from the Corpus of Linguistic Acceptability (Warstadt, Singh and Bowman 2019), which
reports Matthews' correlation (MCC), since two thirds of its sentences are acceptable.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tstbench.datasets_scripts.sources import COLA, upstream_file
from tstbench.errors import InputError
from tstbench.files import read_lines, temporary_folder
from tstbench.metrics.scorers.artefacts import Artefact
from tstbench.metrics.scorers.classifiers import ACCEPTABILITY_STYLES, StyleModel
from tstbench.metrics.scorers.train import (
    ClassifierConfig,
    LabelledSentences,
    labelled,
    train_classifier,
)

COLA_ARCHIVE = "acceptability_corpus/cola_public.zip"
COLA_FILES = {
    "train": "in_domain_train.tsv",
    "in_domain": "in_domain_dev.tsv",
    "out_of_domain": "out_of_domain_dev.tsv",
}


@dataclass(frozen=True)
class AcceptabilityCorpus:
    """Sentences labelled 0 (unacceptable) or 1 (acceptable).

    Attributes:
        name: the corpus's name in the scorer cache: ``cola`` or ``broken``.
        trained_on: a description for people.
        train: sentences to learn from.
        dev: development sets to measure on, by name.
    """

    name: str
    trained_on: str
    train: LabelledSentences
    dev: Mapping[str, LabelledSentences]


def read_cola(file: Path) -> LabelledSentences:
    """One file of the corpus: four columns, source, label, the author's mark, sentence.

    Raises:
        MissingFileError: no such file.
        InputError: a line that is not such a row; the message names file and line.
    """
    sentences, labels = [], []
    for number, line in enumerate(read_lines(file), start=1):
        columns = line.split("\t")
        if len(columns) != 4 or columns[1] not in ("0", "1"):
            raise InputError(
                f"{file}, line {number}: a row of CoLA has four tab-separated columns (source, "
                f"label 0 or 1, mark, sentence), got {line[:60]!r}"
            )
        labels.append(int(columns[1]))
        sentences.append(columns[3])
    return labelled(sentences, labels, ACCEPTABILITY_STYLES, what=str(file))


def cola_corpus(path: Path | str | None = None) -> AcceptabilityCorpus:
    """CoLA: from its published archive, or from a folder with its three files.

    The archive is the released corpus; the ``raw`` folder beside it in the authors' repository is
    an older version, with errors in eight sentences and two labels that the release corrects.

    Args:
        path: ``cola_public.zip``, or the folder of ``in_domain_train.tsv`` and the others; None
            takes the pinned archive from the local mirror or downloads it.

    Raises:
        MissingFileError: it cannot be found or downloaded.
        InputError: see :func:`read_cola`; or the archive is not that of CoLA.
    """
    place = Path(path) if path is not None else upstream_file(COLA, COLA_ARCHIVE).locate()
    if place.is_file():
        with temporary_folder() as folder:
            _unpack(place, folder)
            return cola_corpus(folder)
    parts = {part: read_cola(place / name) for part, name in COLA_FILES.items()}
    train = parts.pop("train")
    return AcceptabilityCorpus("cola", "CoLA, in-domain training part", train, parts)


def train_acceptability(
    corpus: AcceptabilityCorpus, kind: str = "lora", config: ClassifierConfig | None = None
) -> Artefact:
    """Train and store an acceptability classifier, unless its recipe was trained before.

    Args:
        corpus: the card states the accuracy on the first of its dev sets.
        kind: of style classifier.
        config: settings of that kind; None for its defaults.

    Returns:
        The artefact; ``card.scores["mcc_in_domain"]`` and others are Matthews' correlations.
    """
    first = next(iter(corpus.dev.values()))
    seen = {sentence for part in corpus.dev.values() for sentence in part.sentences}

    def measure(model: StyleModel) -> dict[str, float]:
        return {f"mcc_{name}": mcc(model, part) for name, part in corpus.dev.items()}

    return train_classifier(
        kind,
        corpus.train.sentences,
        corpus.train.labels,
        ACCEPTABILITY_STYLES,
        config,
        dataset=corpus.name,
        trained_on=corpus.trained_on,
        exclude=seen,
        held_out=(first.sentences, first.labels),
        role="acceptability",
        measure=measure,
    )


def _unpack(archive: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as content:
            for name in COLA_FILES.values():
                (folder / name).write_bytes(content.read(f"cola_public/raw/{name}"))
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{archive} is not the CoLA archive: {error}") from error


def mcc(model: StyleModel, data: LabelledSentences) -> float:
    """Matthews' correlation of the most probable label with the true one, from -1 to 1."""
    from sklearn.metrics import matthews_corrcoef  # only now: it takes a second to import

    predicted = model.distribution(data.sentences).argmax(axis=1)
    return float(matthews_corrcoef(np.asarray(data.labels), predicted))
