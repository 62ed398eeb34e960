"""The list of artefacts: the repositories of the hub folder and the folders they come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from ...datasets_scripts.catalog import DATASETS
from ...errors import InputError, MissingFileError, unknown_name
from ...files import home
from ...metrics.scorers.artefacts import find
from ...metrics.scorers.portable import base_datasets
from ...metrics.scorers.published import repository_name
from ...talk import say
from .manifest import Kind, find_repository, link_local_names, write_repository

NAMESPACE = "tstbench"
SPACES = ("leaderboard", "annotate", "rewrite")
PACKAGE = Path(__file__).resolve().parents[2]


Files = Mapping[str, Path | bytes]
# A folder; or files by path, made when their turn comes: then the repositories before are written.
Source = Path | Callable[[], Files]


@dataclass(frozen=True)
class Artefact:
    """One repository to write."""

    kind: Kind
    name: str
    builder: str
    source: Source
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Built:
    """One repository after it was written."""

    kind: Kind
    repo_id: str
    commit: str
    changed: bool


def build(
    root: Path | str,
    *,
    namespace: str = NAMESPACE,
    datasets: Mapping[str, Source] | None = None,
    models: Mapping[str, Source] | None = None,
    metrics_folder: Path | None = None,
    spaces_folder: Path | None = None,
    only: Collection[str] = (),
    report: Callable[[Built], None] | None = None,
) -> list[Built]:
    """Write every artefact as a folder in ``root``; an unchanged one is left as it is.

    Args:
        root: the hub folder.
        namespace: the organisation or user that the repositories belong to.
        datasets: built datasets (Parquet and card) by repository name: the benchmark's datasets,
            and ``results``, ``outputs``, ``human_judgments`` where they exist.
        models: trained scorers and systems (files and card) by repository name.
        metrics_folder: the folder with ``<name>/<name>.py``; default: the installed metrics.
        spaces_folder: the folder with ``leaderboard/app.py``...; default: the installed Spaces.
        only: names of artefacts; default all.
        report: called after each repository, for progress.

    Raises:
        LicensedTextError: an artefact contains text that must not be published; the repositories
            before it are written, this one is not touched.
        UnknownNameError: ``only`` has an unknown name.
        InputError, MissingFileError: a source folder cannot be published.
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
            raise InputError(f"two artefacts are named {name!r}: rename one")
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


def dataset_artefacts(sources: Mapping[str, Source]) -> Iterator[Artefact]:
    """Built dataset folders."""
    for name, source in sources.items():
        yield Artefact("dataset", name, "dataset", _existing(source))


def metric_artefacts(folder: Path) -> Iterator[Artefact]:
    """Every ``<name>/<name>.py`` in the metrics room.

    ``evaluate.load`` asks for the revision of its own version first, so each metric has that
    tag; another version of evaluate falls back to ``main``.
    """
    tag = f"v{version('evaluate')}"
    for script in sorted(folder.glob("*/*.py")):
        if script.stem == script.parent.name:
            files = partial(_metric_files, script.parent)
            yield Artefact("space", script.stem, "metric", files, (tag,))


def _metric_files(folder: Path) -> Files:
    # The family beside them is imported from the installed package, and stays at home.
    private = ("family.py", "__init__.py")
    return {f.name: f for f in folder.iterdir() if f.is_file() and f.name not in private}


def space_artefacts(folder: Path) -> Iterator[Artefact]:
    """The Spaces that people look at, if they exist."""
    for name in SPACES:
        if (folder / name / "app.py").exists():
            yield Artefact("space", name, "page", folder / name)


def model_artefacts(sources: Mapping[str, Source]) -> Iterator[Artefact]:
    """Folders of trained models."""
    for name, source in sources.items():
        yield Artefact("model", name, "model", _existing(source))


def trained_scorers() -> dict[str, Path]:
    """The folders of the scorers trained on this machine, by the name of their repository.

    ``classifier-yelp-linear``, ``language-model-yelp-kn5-positive``... Those trained on data that
    must not be published are left out: see :func:`may_be_published`.

    Raises:
        IntegrityError: a scorer was changed after it was trained.
    """
    index = home() / "scorers" / "index"
    folders = {}
    for file in sorted(index.glob("*/*/*.json")):
        role, dataset = file.parts[-3:-1]
        name = repository_name(role, dataset, file.stem)
        if may_be_published(name, [dataset]):  # otherwise it is not even opened
            found = find(role, dataset, file.stem)
            if may_be_published(name, base_datasets(found.card.settings)):
                folders[name] = found.folder
    return folders


def may_be_published(model: str, learned_from: Iterable[str]) -> bool:
    """Whether a trained model may leave this machine; says so if not: it may quote its data.

    Args:
        model: its name.
        learned_from: datasets and corpora, those of its base too. Licensed ones must not be
            published, nor those that are unknown or have no licence.
    """
    if (name := private_data(learned_from)) is not None:
        say(f"left out: {model}: it learned from {name}, which is licensed or has no licence")
    return name is None


def private_data(names: Iterable[str]) -> str | None:
    """The first of these datasets and corpora that must not be published, if one is."""
    for name in names:
        if name != "cola" and not (name in DATASETS and DATASETS[name].publishable):
            return name
    return None


def _write(root: Path, namespace: str, artefact: Artefact) -> Built:
    repo_id = f"{namespace}/{artefact.name}"
    existing = find_repository(root, artefact.kind, repo_id)
    before = existing.commit if existing else None
    source = artefact.source() if callable(artefact.source) else artefact.source
    commit = write_repository(
        root, artefact.kind, repo_id, source, builder=artefact.builder, tags=artefact.tags
    )
    return Built(artefact.kind, repo_id, commit, commit != before)


def _room(name: str) -> Path:
    """The folder of a room: beside this one, both in a checkout and in an installed package."""
    return PACKAGE / name


def _existing(source: Source) -> Source:
    if callable(source):
        return source
    folder = Path(source).expanduser()
    if not folder.is_dir():
        raise MissingFileError(f"no such folder: {folder}")
    return folder
