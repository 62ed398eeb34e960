"""Everything that is published: prepared in folders, then written as repositories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from ...datasets_scripts.build import BuildReport
from ...datasets_scripts.build import build as build_dataset
from ...datasets_scripts.catalog import DATASETS, dataset_facts
from ...datasets_scripts.judgments.schema import read_judgments, write_judgments
from ...errors import InputError, MissingFileError, TSTBenchError
from ...files import check_inside, temporary_folder, write_jsonl, write_text
from ...metrics.scorers.artefacts import SCORERS, ScorerCard
from ...metrics.scorers.portable import base_datasets
from ...talk import say
from ...trainers.system_card import SYSTEM_STORE, SystemCard, repository_name
from ..history import HISTORY_FILE, read_history
from ..report import Report
from ..results import RESULT_FILES, SAMPLES_FILE, Stored, read_direction, system_folders
from ..significance import write_significance
from .build import Built, Files, Source, build, may_be_published, private_data, trained_scorers
from .eval_results import About, DatasetRevision, model_index, result_files
from .human_judgments import for_everybody, language_yaml, stage_judgments
from .licensed import LICENSED, LicensedTextError
from .manifest import find_repository, folder_files
from .tasks import EVAL_FILE, eval_yaml


def trained_systems() -> dict[str, Path]:
    """The folders of the systems in the store, by the name of their repository.

    ``delete-retrieve-mini-negative-to-positive``... Those trained on data that must not be
    published are left out: see :func:`.build.may_be_published`.

    Raises:
        IntegrityError: a system was changed after it was trained.
    """
    return {
        name: one.folder
        for one in SYSTEM_STORE.models()
        if may_be_published(name := repository_name(one.card), _learned_from(one.card))
    }


def systems_in(folders: Iterable[Path]) -> dict[str, Path]:
    """Folders that ``tstbench train ... --out`` wrote, by the name of their repository.

    Raises:
        LicensedTextError: one learned from data that must not be published.
        MissingSystemError, IntegrityError: a folder has no system, or was changed.
    """
    found = [SYSTEM_STORE.open(folder) for folder in folders]
    for one in found:
        if (private := private_data(_learned_from(one.card))) is not None:
            raise LicensedTextError(
                f"{one.folder} learned from {private}, so it is not published: that is licensed, "
                "or no licence of it is known (give its data file, with a licence: --data FILE)"
            )
    return {repository_name(one.card): one.folder for one in found}


def _learned_from(card: SystemCard) -> list[str]:
    taught = [direction.split("/")[0] for direction in card.directions]
    named = [name for name in LICENSED if name in json.dumps(card.settings)]
    return [*taught, *named, *base_datasets(card.settings)]


def model_sources(
    root: Path,
    namespace: str,
    folders: Mapping[str, Path],
    stored: Sequence[Stored],
) -> dict[str, Callable[[], Files]]:
    """What is published of each model, made when the datasets before it are written.

    Args:
        root: the hub folder: its datasets must have the sentences that were scored.
        namespace: the owner of the repositories.
        folders: of trained scorers and systems, by name of the repository.
        stored: results; those of a system are recognised by its hash.
    """
    return {
        name: partial(_model_files, root, namespace, folder, stored)
        for name, folder in folders.items()
    }


def dataset_revision(root: Path, repo_id: str) -> DatasetRevision | None:
    """The newest version of a dataset in the hub folder; None if there is none.

    Without its commit: the Hub will make one of its own.
    """
    repo = find_repository(root, "dataset", repo_id)
    if repo is None:
        return None
    told = json.loads(repo.source("fingerprint.json").read_bytes())
    return DatasetRevision(repo_id, None, told["fingerprints"])


def _model_files(root: Path, namespace: str, folder: Path, stored: Sequence[Stored]) -> Files:
    files = folder_files(folder)
    if SCORERS.is_model(folder):
        scorer = SCORERS.open(folder)
        text = SCORERS.describe(scorer)["README.md"]  # also of one made by an older version
        name = f"{scorer.card.role} {scorer.card.dataset} {scorer.card.name}"
        files["README.md"] = _with_scores(text, name, _scorer_scores(scorer.card))
    elif SYSTEM_STORE.is_model(folder):
        system = SYSTEM_STORE.open(folder)
        texts = SYSTEM_STORE.describe(system)
        own = [one for one in stored if one.report.system.system_hash == system.hash]
        reports = [one.report for one in own]
        files |= {name: text.encode() for name, text in texts.items()}
        files["README.md"] = _with_scores(
            texts["README.md"], system.card.name, model_index(reports)
        )
        files |= result_files(reports, _about(root, namespace, own))
    return files


def _about(root: Path, namespace: str, stored: Sequence[Stored]) -> About:
    datasets = {one.report.direction.split("/")[0] for one in stored}
    found = {name: dataset_revision(root, f"{namespace}/{name}") for name in sorted(datasets)}
    page = f"https://huggingface.co/datasets/{namespace}/results/tree/main"
    return About(
        namespace,
        revisions={name: revision for name, revision in found.items() if revision},
        sources={
            one.report.direction: f"{page}/{one.report.direction}/{one.folder.name}"
            for one in stored
        },
    )


def _scorer_scores(card: ScorerCard) -> list[EvalResult]:
    return [
        EvalResult(
            task_type="text-classification",
            dataset_type=card.dataset,
            dataset_name=card.trained_on,
            metric_type=name,
            metric_value=value,
        )
        for name, value in card.scores.items()
    ]


def _with_scores(text: str, name: str, scores: list[EvalResult]) -> bytes:
    """The card with a ``model-index``; unchanged if there are no scores."""
    if not scores:
        return text.encode()
    card = ModelCard(text)
    data = cast(ModelCardData, card.data)
    data.model_name = name
    data.eval_results = scores
    return str(card).encode()


RESULTS_CARD = """\
---
pretty_name: TSTBench results
license: other
license_name: scores-apache-2.0-sentences-as-their-datasets
{language}tags:
- text-style-transfer
- leaderboard
configs:
- config_name: default
  data_files:
  - split: scores
    path: scores.jsonl
---
# TSTBench results

One row per score of a system on a direction: value, 95% interval, unit, the signature that lists
everything the value depends on, and the versions of the libraries used. Only rows with
equal signatures may be compared.

`scores.jsonl` is made from the folders `<dataset>/<direction>/<system>/` beside it. They contain
the full reports (`report.json`), every sentence with its scores (`samples.jsonl`), the bootstrap
replicates (`replicates.parquet`) and, per direction, the paired significance (`significance.json`).
Each report names the origin of its outputs. `human.jsonl`, if present, has human judgments of the
same outputs; each study has its own terms.

## Licence

Scores and reports: Apache-2.0. The sentences in `samples.jsonl` have the terms of their dataset
and of the outputs' origin; those of a licensed dataset (GYAFC) are left out.
"""

OUTPUTS_CARD = """\
---
pretty_name: TSTBench system outputs
license: other
license_name: terms-of-each-origin
{language}tags:
- text-style-transfer
configs:
- config_name: default
  data_files:
  - split: test
    path: outputs.jsonl
---
# TSTBench system outputs

The predictions behind tstbench/results: `direction`, `system`, `id` of the test sentence,
`prediction`, and the `origin` of the outputs.

## Licence

There is no single one: the terms of each `origin` apply to its rows, and those of the dataset to
what they rewrite.
"""


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
    for name in datasets:
        facts = dataset_facts(name)
        if facts.licensed and (not only or name in only):
            raise LicensedTextError(
                f"{name} is licensed: it may only be built (`tstbench build`) and used locally"
            )
        if not facts.licence and (not only or name in only):
            raise InputError(
                f"{name} has no licence, so it is not published. If you may publish it, name "
                'its licence in the data file: licence = "cc-by-4.0"'
            )
    with temporary_folder() as staging:
        folders: dict[str, Source] = {
            name: partial(_dataset_files, _build_dataset(name, staging, allow_missing))
            for name in datasets
            if not only or name in only
        }
        stored = _stored(results) if results is not None else []
        if results is not None:
            folders["results"] = _stage_results(results, stored, staging / "results")
            with_texts = [one for one in stored if one.has_samples and not _is_licensed(one)]
            if with_texts:
                folders["outputs"] = _stage_outputs(with_texts, staging / "outputs")
        if judgments is not None or studies:
            folders["human_judgments"] = stage_judgments(judgments, studies, staging / "judgments")
        models = {**trained_scorers(), **trained_systems(), **systems_in(systems)}
        return build(
            root,
            namespace=namespace,
            datasets=folders,
            models=dict(model_sources(root, namespace, models, stored)),
            only=only,
            report=report,
        )


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
    return stored.report.direction.split("/")[0] in LICENSED


def _stage_results(results: Path, found: Sequence[Stored], staging: Path) -> Path:
    rows: list[dict[str, Any]] = []
    for stored in found:
        place = staging / stored.folder.relative_to(results)
        place.mkdir(parents=True)
        for name in _published_files(stored):
            shutil.copy(stored.folder / name, place)
        rows += _score_rows(stored.report)
    for direction in sorted(staging.glob("*/*")):  # of what is published, and of nothing else
        write_significance(direction)
    human = results / "human.jsonl"
    check_inside(human, results)
    if human.is_file():  # the leaderboard shows people's scores beside the automatic ones
        rows_of_people = [for_everybody(row, human) for row in read_judgments(human)]
        write_judgments(staging / "human.jsonl", rows_of_people)
    write_jsonl(staging / "scores.jsonl", rows)
    write_text(staging / "README.md", _card(RESULTS_CARD, found))
    return staging


def _score_rows(report: Report) -> Iterator[dict[str, Any]]:
    """The lines of ``scores.jsonl`` for a report: one a score."""
    system = report.system
    for score in report.scores:
        yield {
            "direction": report.direction,
            "system": system.name,
            "family": system.family,
            "date": system.date,
            "profile": score.profile,
            "metric": score.metric,
            "value": score.value,
            "low": score.interval.low if score.interval else None,
            "high": score.interval.high if score.interval else None,
            "unit": score.unit,
            "signature": score.signature,
            "made_with": score.made_with,
        }


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
        for sample in stored.samples()
    ]
    write_jsonl(staging / "outputs.jsonl", rows)
    write_text(staging / "README.md", _card(OUTPUTS_CARD, found))
    return staging
