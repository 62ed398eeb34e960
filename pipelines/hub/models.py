"""The files of a model's repository: the model's own, its card, and the scores it reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from ...metrics.scorers.artefacts import SCORERS, ScorerCard
from ...trainers.system_card import SYSTEM_STORE
from ..results import Stored
from .build import Files
from .eval_results import About, DatasetRevision, model_index, result_files
from .repositories import find_repository
from .writing import folder_files


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
    commit = repo.resolve() if repo else None
    if repo is None or commit is None:
        return None
    entry = repo.files(commit)["fingerprint.json"]
    return DatasetRevision(repo_id, None, json.loads(repo.read(entry))["fingerprints"])


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
