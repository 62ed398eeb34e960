"""Layouts that several datasets share: numbered files, and the GYAFC tree."""

from __future__ import annotations

from .corpus import Corpus, Files, Part
from .directions import BENCHMARK_DATASETS
from .sources import BENCHMARK, PackageFile, SourceFile, UpstreamFile, UserFile, upstream_file

PARTS = {"train": "train", "validation": "dev", "test": "test"}  # our name -> upstream's


def benchmark_file(path: str) -> UpstreamFile:
    """A file of the benchmark paper's repository, below ``Dataprepro/datasets``."""
    return upstream_file(BENCHMARK, f"Dataprepro/datasets/{path}")


def parallel_corpus(name: str, folder: str) -> Corpus:
    """``{train,dev,test}.{0,1}``, line i of one side rewrites line i of the other."""
    parts = []
    for part, stem in PARTS.items():
        first: tuple[SourceFile, ...] = (benchmark_file(f"{folder}/{stem}.0"),)
        second: tuple[SourceFile, ...] = (benchmark_file(f"{folder}/{stem}.1"),)
        references = {(0, 1): second, (1, 0): first}
        parts.append(Part(part, sentences=(first, second), references=references))
    return Corpus(BENCHMARK_DATASETS[name], "1.0.0", tuple(parts))


def mini_file(path: str) -> PackageFile:
    """A file of our own dataset."""
    return PackageFile(f"mini/data/{path}")


def gyafc_corpus(name: str, domain: str) -> Corpus:
    """One domain of GYAFC (Rao and Tetreault 2018), from the user's own copy.

    Training pairs are aligned files; ``tune`` and ``test`` have separate sentences in ``informal``
    and ``formal``, each with four rewrites in ``formal.ref*`` and ``informal.ref*``. Files are
    taken by name: other distributions number the two styles the other way round.
    """
    styles = BENCHMARK_DATASETS[name].styles

    def file(path: str) -> UserFile:
        return UserFile(
            f"{domain}/{path}",
            corpus="GYAFC_Corpus",
            variable="TSTBENCH_GYAFC",
            howto="It is available for research only: https://github.com/raosudha89/GYAFC-corpus",
        )

    sides: list[Files] = [(file(f"train/{style}"),) for style in styles]
    both = {(0, 1): sides[1], (1, 0): sides[0]}
    parts = [Part("train", (sides[0], sides[1]), references=both)]
    for part, folder in (("validation", "tune"), ("test", "test")):
        sentences: list[Files] = [(file(f"{folder}/{style}"),) for style in styles]
        rewrites: list[Files] = [
            tuple(file(f"{folder}/{other}.ref{k}") for k in range(4)) for other in reversed(styles)
        ]
        both = {(0, 1): rewrites[0], (1, 0): rewrites[1]}
        parts.append(Part(part, (sentences[0], sentences[1]), both))
    return Corpus(BENCHMARK_DATASETS[name], "1.0.0", tuple(parts), agreement="gyafc-research-only")
