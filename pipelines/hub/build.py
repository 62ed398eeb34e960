"""The list of artefacts: which repositories the hub folder holds, and from which folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import cast

from ...errors import InputError, MissingFileError, unknown_name
from ...files import home
from ...metrics.scorers.artefacts import Role, find
from ...metrics.scorers.published import repository_name
from .guard import LICENSED
from .repositories import Kind, find_repository, link_local_names, write_repository

NAMESPACE = "tstbench"
SPACES = ("leaderboard", "annotate")
PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Artefact:
    """One repository to write."""

    kind: Kind
    name: str
    source: Path
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Built:
    """One repository as it is now."""

    kind: Kind
    repo_id: str
    commit: str
    changed: bool


def build(
    root: Path | str,
    *,
    namespace: str = NAMESPACE,
    datasets: Mapping[str, Path] | None = None,
    models: Mapping[str, Path] | None = None,
    metrics_folder: Path | None = None,
    spaces_folder: Path | None = None,
    only: Collection[str] = (),
    report: Callable[[Built], None] | None = None,
) -> list[Built]:
    """Write every artefact as a git repository below ``root``; nothing changed, no new commit.

    Args:
        root: the hub folder.
        namespace: the organisation or user that the repositories belong to.
        datasets: built dataset folders (Parquet and card) by repository name: the benchmark's
            datasets, and ``results``, ``outputs``, ``human_judgments`` where they exist.
        models: folders of trained scorers and systems (files and card) by repository name.
        metrics_folder: where ``<name>/<name>.py`` are looked for; default: the installed ones.
        spaces_folder: where ``leaderboard/app.py``... are looked for; default: the installed ones.
        only: names of artefacts; default all.
        report: called after each repository, for progress.

    Raises:
        LicensedTextError: an artefact holds text that must not be published; the repositories
            before it are written, this one is not touched.
        UnknownNameError: ``only`` names what is not there.
        InputError, MissingFileError: a source folder is not fit to be published.
    """
    root = Path(root).expanduser().resolve()
    artefacts = [
        *dataset_artefacts(datasets or {}),
        *metric_artefacts(metrics_folder or _room("metrics")),
        *space_artefacts(spaces_folder or _room("spaces")),
        *model_artefacts(models or {}),
    ]
    names = [artefact.name for artefact in artefacts]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two artefacts are called {name!r}: rename one")
    for name in only:
        if name not in names:
            raise unknown_name("artefact", name, names)
    built = []
    for artefact in artefacts:
        if only and artefact.name not in only:
            continue
        built.append(_write(root, namespace, artefact))
        if report:
            report(built[-1])
    if built:
        link_local_names(root)
    return built


def dataset_artefacts(folders: Mapping[str, Path]) -> Iterator[Artefact]:
    """Built dataset folders as they are."""
    for name, folder in folders.items():
        yield Artefact("dataset", name, _existing(folder))


def metric_artefacts(folder: Path) -> Iterator[Artefact]:
    """Every ``<name>/<name>.py`` below the metrics room.

    ``evaluate.load`` asks for the revision of its own version first, so each metric carries that
    tag; another version of evaluate falls back to ``main``.
    """
    tag = f"v{version('evaluate')}"
    for script in sorted(folder.glob("*/*.py")):
        if script.stem == script.parent.name:
            yield Artefact("space", script.stem, script.parent, (tag,))


def space_artefacts(folder: Path) -> Iterator[Artefact]:
    """The Spaces that people look at, as far as they are there."""
    for name in SPACES:
        if (folder / name / "app.py").exists():
            yield Artefact("space", name, folder / name)


def model_artefacts(folders: Mapping[str, Path]) -> Iterator[Artefact]:
    """Folders of trained models as they are."""
    for name, folder in folders.items():
        yield Artefact("model", name, _existing(folder))


def folders_in(folder: Path) -> dict[str, Path]:
    """The sub-folders that have a card, by name: what a ``--datasets DIR`` would mean."""
    return {card.parent.name: card.parent for card in sorted(_existing(folder).glob("*/README.md"))}


def trained_scorers() -> dict[str, Path]:
    """The folders of the scorers trained on this machine, by the name of their repository.

    ``classifier-yelp-linear``, ``language-model-yelp-kn5-positive``... Those of licensed datasets
    are left out: they stay here.

    Raises:
        IntegrityError: a scorer was changed after it was made.
    """
    index = home() / "scorers" / "index"
    folders = {}
    for file in sorted(index.glob("*/*/*.json")):
        role, dataset = file.parts[-3:-1]
        if dataset in LICENSED:
            continue
        role = cast(Role, role)
        folders[repository_name(role, dataset, file.stem)] = find(role, dataset, file.stem).folder
    return folders


def _write(root: Path, namespace: str, artefact: Artefact) -> Built:
    repo_id = f"{namespace}/{artefact.name}"
    existing = find_repository(root, artefact.kind, repo_id)
    before = existing.resolve("main") if existing else None
    commit = write_repository(root, artefact.kind, repo_id, artefact.source, tags=artefact.tags)
    return Built(artefact.kind, repo_id, commit, commit != before)


def _room(name: str) -> Path:
    """Where a room lies: beside this one, both in a checkout and in an installed package."""
    return PACKAGE / name


def _existing(folder: Path | str) -> Path:
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise MissingFileError(f"no such folder: {folder}")
    return folder
