"""What is published: the list of it, where it comes from, and what stays here.

Of a licensed dataset only scores leave: :func:`build_all` leaves its texts out, and every model
that learned from it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...console import say
from ...datasets_scripts.build import BuildReport
from ...datasets_scripts.build import build as build_dataset
from ...datasets_scripts.catalog import DATASETS, dataset_facts
from ...datasets_scripts.judgments.schema import (
    Judgment,
    read_judgments,
    without_licensed_text,
    write_judgments,
)
from ...datasets_scripts.judgments.studies import STUDIES, parse_study
from ...errors import InputError, MissingFileError, TSTBenchError, unknown_name
from ...files import check_inside, home, temporary_folder, write_bytes, write_jsonl, write_text
from ...metrics.scorers.artefacts import SCORERS, base_datasets, find
from ...metrics.scorers.artefacts import repository_name as scorer_name
from ...trainers.card import SystemCard, repository_name
from ...trainers.system import SYSTEM_STORE
from ..growth import HISTORY_FILE, read_history
from ..ranked_table import parquet_values
from ..results import RESULT_FILES, SAMPLES_FILE, Stored, read_direction, system_folders
from ..standings import read_standings, write_significance
from .cards import (
    COLUMNS,
    OUTPUTS_CARD,
    RESULTS_CARD,
    judgments_card,
    language_yaml,
    scorer_scores,
    with_scores,
)
from .eval_results import EVAL_FILE, About, DatasetRevision, eval_yaml, model_index, result_files
from .licensed import LicensedTextError
from .manifest import Kind, find_repository, folder_files, link_local_names, write_repository

NAMESPACE = "tstbench"
PAGES = ("leaderboard", "annotate", "rewrite")
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
    artefacts: Sequence[Artefact],
    *,
    namespace: str = NAMESPACE,
    only: Collection[str] = (),
    report: Callable[[Built], None] | None = None,
) -> list[Built]:
    """Write artefacts as folders in ``root``; an unchanged one is left as it is.

    Args:
        root: the hub folder.
        artefacts: what to write, in this order.
        namespace: the organisation or user that the repositories belong to.
        only: names of artefacts; default all.
        report: called after each repository, for progress.

    Raises:
        LicensedTextError: an artefact contains text that must not be published; the repositories
            before it are written, this one is not touched.
        UnknownNameError: ``only`` has an unknown name.
        InputError, MissingFileError: a source folder cannot be published.
    """
    root = Path(root).expanduser().resolve()
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
        kind, repo_id = artefact.kind, f"{namespace}/{artefact.name}"
        existing = find_repository(root, kind, repo_id)
        before = existing.commit if existing else None
        source = artefact.source() if callable(artefact.source) else artefact.source
        commit = write_repository(
            root, kind, repo_id, source, builder=artefact.builder, tags=artefact.tags
        )
        built.append(Built(kind, repo_id, commit, commit != before))
        if report:
            report(built[-1])
    if built:
        link_local_names(root)
    return built


_METRIC_SCRIPT = """\
from tstbench.metrics.module import module_of

Module = module_of("{name}")
"""
_METRIC_APP = b"""\
from pathlib import Path

from tstbench.spaces.metric_page import launch

if __name__ == "__main__":
    launch(Path(__file__).parent)
"""


def spaces() -> list[Artefact]:
    """A Space for each metric, with scripts that import it from the package; and the pages."""
    # ``evaluate.load`` asks for the revision of its own version first, so each metric has that
    # tag; another version of evaluate falls back to ``main``.
    tags = (f"v{version('evaluate')}",)
    scripts = sorted((PACKAGE / "metrics").glob("*/*.py"))
    metrics = [script.parent for script in scripts if script.stem == script.parent.name]
    pages = [PACKAGE / "spaces" / name for name in PAGES]
    return [
        *(Artefact("space", f.name, "metric", partial(_metric_files, f), tags) for f in metrics),
        *(Artefact("space", folder.name, "page", folder) for folder in pages),
    ]


def _metric_files(folder: Path) -> Files:
    return {
        "README.md": folder / "README.md",
        "requirements.txt": b"tstbench[space]\n",
        f"{folder.name}.py": _METRIC_SCRIPT.format(name=folder.name).encode(),
        "app.py": _METRIC_APP,
    }


def trained_scorers() -> dict[str, Path]:
    """The folders of the scorers trained on this machine, by the name of their repository.

    ``classifier-yelp-linear``, ``language-model-yelp-kn5-positive``... Those trained on data that
    must not be published are left out, with a line.

    Raises:
        IntegrityError: a scorer was changed after it was trained.
    """
    index = home() / "scorers" / "index"
    folders = {}
    for file in sorted(index.glob("*/*/*.json")):
        role, dataset = file.parts[-3:-1]
        name = scorer_name(role, dataset, file.stem)
        if _may_be_published(name, [dataset]):  # otherwise it is not even opened
            found = find(role, dataset, file.stem)
            if _may_be_published(name, _behind(found.card.settings)):
                folders[name] = found.folder
    return folders


def _may_be_published(model: str, learned_from: Iterable[str]) -> bool:
    """Whether a trained model may leave this machine; says so if not: it may quote its data."""
    if (name := _private(learned_from)) is not None:
        say(f"left out: {model}: it learned from {name}, which is licensed or has no licence")
    return name is None


def _private(names: Iterable[str]) -> str | None:
    """The first of these datasets and corpora that is licensed, unknown or without a licence."""
    for name in names:
        if name != "cola" and not (name in DATASETS and DATASETS[name].publishable):
            return name
    return None


def _behind(settings: Mapping[str, Any]) -> list[str]:
    """The datasets behind a model's base, and licensed ones that its settings name."""
    named = ["gyafc"] if "gyafc" in json.dumps(settings).lower() else []
    return [*base_datasets(settings), *named]


def trained_systems() -> dict[str, Path]:
    """The folders of the systems in the store, by the name of their repository.

    ``delete-retrieve-mini-negative-to-positive``... Those trained on data that must not be
    published are left out, with a line.

    Raises:
        IntegrityError: a system was changed after it was trained.
    """
    return {
        name: one.folder
        for one in SYSTEM_STORE.models()
        if _may_be_published(name := repository_name(one.card), _learned_from(one.card))
    }


def systems_in(folders: Iterable[Path]) -> dict[str, Path]:
    """Folders that ``tstbench train ... --out`` wrote, by the name of their repository.

    Raises:
        LicensedTextError: one learned from data that must not be published.
        MissingSystemError, IntegrityError: a folder has no system, or was changed.
    """
    found = [SYSTEM_STORE.open(folder) for folder in folders]
    for one in found:
        if (private := _private(_learned_from(one.card))) is not None:
            raise LicensedTextError(
                f"{one.folder} learned from {private}, so it is not published: that is licensed, "
                "or no licence of it is known (give its data file, with a licence: --data FILE)"
            )
    return {repository_name(one.card): one.folder for one in found}


def _learned_from(card: SystemCard) -> list[str]:
    taught = [direction.split("/")[0] for direction in card.directions]
    return [*taught, *_behind(card.settings)]


def _model_files(root: Path, namespace: str, folder: Path, stored: Sequence[Stored]) -> Files:
    files = folder_files(folder)
    if SCORERS.is_model(folder):
        scorer = SCORERS.open(folder)
        text = SCORERS.describe(scorer)["README.md"]  # also of one made by an older version
        name = f"{scorer.card.role} {scorer.card.dataset} {scorer.card.name}"
        files["README.md"] = with_scores(text, name, scorer_scores(scorer.card))
    elif SYSTEM_STORE.is_model(folder):
        system = SYSTEM_STORE.open(folder)
        texts = SYSTEM_STORE.describe(system)
        own = [one for one in stored if one.report.system.system_hash == system.hash]
        reports = [one.report for one in own]
        files |= {name: text.encode() for name, text in texts.items()}
        files["README.md"] = with_scores(texts["README.md"], system.card.name, model_index(reports))
        files |= result_files(reports, _about(root, namespace, own))
    return files


def _about(root: Path, namespace: str, stored: Sequence[Stored]) -> About:
    """What result files say; of datasets no commit, which the Hub will make."""
    revisions = {}
    for name in sorted({one.report.direction.split("/")[0] for one in stored}):
        if repo := find_repository(root, "dataset", f"{namespace}/{name}"):
            told = json.loads(repo.source("fingerprint.json").read_bytes())
            revisions[name] = DatasetRevision(repo.repo_id, None, told["fingerprints"])
    page = f"https://huggingface.co/datasets/{namespace}/results/tree/main"
    return About(
        namespace,
        revisions,
        sources={
            one.report.direction: f"{page}/{one.report.direction}/{one.folder.name}"
            for one in stored
        },
    )


def build_all(
    root: Path | str,
    *,
    datasets: Sequence[str],
    results: Path | None = None,
    judgments: Path | None = None,
    studies: Sequence[str] = (),
    systems: Sequence[Path] = (),
    allow_missing: bool = False,
    only: Collection[str] = (),
    namespace: str = "tstbench",
    report: Callable[[Built], None] | None = None,
) -> list[Built]:
    """Build datasets, metrics, Spaces, trained models, results and judgments as repositories.

    Args:
        root: the hub folder.
        datasets: names; GYAFC and data without a licence are refused.
        results: a results folder: becomes ``results`` and ``outputs``.
        judgments: a folder of exported JSONL: becomes ``human_judgments``.
        studies: names of published studies of human judgments, which it gets too.
        systems: folders of trained systems, in addition to those of the store.
        allow_missing: leave out dataset splits whose upstream files are missing.
        only: names of repositories; default all.
        namespace: the organisation on the Hub.
        report: called after each repository.

    Raises:
        TSTBenchError: an artefact cannot be built or must not be published.
    """
    root = Path(root).expanduser().resolve()
    chosen = [name for name in datasets if not only or name in only]
    for facts in map(dataset_facts, datasets):
        if facts.licensed and facts.name in chosen:
            raise LicensedTextError(
                f"{facts.name} is licensed: it may only be built (`tstbench build`) and used "
                "locally"
            )
        if not facts.licence and facts.name in chosen:
            raise InputError(
                f"{facts.name} has no licence, so it is not published. If you may publish it, name "
                'its licence in the data file: licence = "cc-by-4.0"'
            )
    with temporary_folder() as staging:
        folders: dict[str, Source] = {
            name: partial(_dataset_files, _build_dataset(name, staging, allow_missing))
            for name in chosen
        }
        stored = _stored(results) if results is not None else []
        if results is not None:
            folders["results"] = _stage_results(results, stored, staging / "results")
            with_texts = [one for one in stored if one.has_samples and not _is_licensed(one)]
            if with_texts:
                folders["outputs"] = _stage_outputs(with_texts, staging / "outputs")
        if judgments is not None or studies:
            folders["human_judgments"] = _stage_judgments(judgments, studies, staging / "judgments")
        models = {**trained_scorers(), **trained_systems(), **systems_in(systems)}
        artefacts = [
            *(Artefact("dataset", name, "dataset", source) for name, source in folders.items()),
            *spaces(),
            *(
                Artefact(
                    "model", name, "model", partial(_model_files, root, namespace, folder, stored)
                )
                for name, folder in models.items()
            ),
        ]
        return build(root, artefacts, namespace=namespace, only=only, report=report)


def _build_dataset(name: str, staging: Path, allow_missing: bool) -> BuildReport:
    try:
        return build_dataset(name, staging / "datasets", allow_missing=allow_missing)
    except MissingFileError as error:
        if allow_missing:
            raise
        raise MissingFileError(
            f"{error}. To publish {name} without the splits whose files are missing, add "
            "--allow-missing; the test split is always needed"
        ) from error


def _dataset_files(built: BuildReport) -> Files:
    """A built dataset that is a benchmark of the Hub too."""
    return {**folder_files(built.folder), EVAL_FILE: eval_yaml(dataset_facts(built.dataset))}


def _stored(results: Path) -> list[Stored]:
    """All complete results; others, and those of data without a licence, are named and left out.

    Those of GYAFC stay, without its sentences; see :func:`_stage_results`.
    """
    folders = sorted(folder for folder in results.glob("*/*") if system_folders(folder))
    found = []
    for folder in folders:
        dataset = folder.parent.name
        if dataset in DATASETS and DATASETS[dataset].licence:
            found += read_direction(folder)
        else:
            say(
                f"left out: {folder}: no licence of {dataset} is known. If you may publish it, "
                "name one in its data file, and give the file: --data FILE"
            )
    if not found:
        what = "complete results" if folders else "results"
        raise MissingFileError(
            f"no {what} in {results}: <dataset>/<direction>/<system>/report.json"
        )
    return found


def _is_licensed(stored: Stored) -> bool:
    return not DATASETS[stored.report.direction.split("/")[0]].publishable


def _stage_results(results: Path, found: Sequence[Stored], staging: Path) -> Path:
    for stored in found:
        place = staging / stored.folder.relative_to(results)
        place.mkdir(parents=True)
        for name in _published_files(stored):
            shutil.copy(stored.folder / name, place)
    for direction in sorted(staging.glob("*/*")):  # of what is published, and of nothing else
        write_significance(direction)
    human = results / "human.jsonl"
    check_inside(human, results)
    if human.is_file():  # the leaderboard shows people's scores beside the automatic ones
        rows_of_people = [_for_everybody(row, human) for row in read_judgments(human)]
        write_judgments(staging / "human.jsonl", rows_of_people)
    standings = read_standings(staging, each_seed=True)
    write_bytes(staging / "scores.parquet", parquet_values(standings))
    write_text(staging / "README.md", _card(RESULTS_CARD, found))
    return staging


def _card(text: str, found: Sequence[Stored]) -> str:
    datasets = (one.report.direction.split("/")[0] for one in found)
    return text.format(language=language_yaml(datasets))


def _published_files(stored: Stored) -> Iterator[str]:
    """What :meth:`.results.Stored.check_whole` found whole, and the history; nothing else.

    Of a licensed corpus its scores, without the sentences.
    """
    without_texts = _is_licensed(stored) and stored.has_samples
    if without_texts:
        say(f"{stored.folder}: its scores are published without {SAMPLES_FILE}: licensed text")
    for name in sorted(RESULT_FILES):
        if not (stored.folder / name).is_file() or (without_texts and name == SAMPLES_FILE):
            continue
        if name == HISTORY_FILE:
            try:
                read_history(stored.folder)
            except TSTBenchError as error:
                say(f"left out: {error}")
                continue
        yield name


def _stage_outputs(found: Sequence[Stored], staging: Path) -> Path:
    rows = [
        {
            "direction": stored.report.direction,
            "system": stored.report.system.name,
            "id": sample.id,
            "prediction": sample.prediction,
            "origin": stored.report.system.origin,
        }
        for stored in found
        for sample in stored.each_sample()
    ]
    write_jsonl(staging / "outputs.jsonl", rows)
    write_text(staging / "README.md", _card(OUTPUTS_CARD, found))
    return staging


def _stage_judgments(folder: Path | None, studies: Sequence[str], staging: Path) -> Path:
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
            found[file.stem] = [_for_everybody(row, file) for row in read_judgments(file)]
    for name, rows in found.items():
        _write_parquet(staging / "data" / f"{name}.parquet", rows)
    write_text(staging / "README.md", judgments_card(found))
    return staging


def _for_everybody(row: Judgment, file: Path) -> Judgment:
    """The judgment, without the texts of a licensed dataset.

    Raises:
        InputError: it has texts of a dataset whose licence is not known, or that has none.
    """
    facts = DATASETS.get(row.dataset)
    has_texts = (row.source, row.output, row.note) != (None, None, None)
    if has_texts and row.dataset not in STUDIES and not (facts and facts.licence):
        raise InputError(
            f"{file} has sentences of {row.dataset}, whose licence is not known. Give its data "
            "file, with a licence (--data FILE), or leave them out"
        )
    return without_licensed_text(row)


def _write_parquet(path: Path, rows: Iterable[Judgment]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"score": pa.float64(), "certain": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    table = pa.Table.from_pylist([row.model_dump(mode="json") for row in rows], schema=schema)
    content = pa.BufferOutputStream()
    parquet.write_table(table, content)
    write_bytes(path, content.getvalue().to_pybytes())
