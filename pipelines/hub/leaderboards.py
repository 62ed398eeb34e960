"""The Hub's own leaderboards, computed from what the models of a hub folder report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...untrusted import parse_yaml
from .answers import NotFoundError, card_of
from .reported import Reported, as_json, is_result_file, parse_results
from .repositories import Entry, Repository, list_repositories
from .tasks import EVAL_FILE

Json = dict[str, Any]


def eval_results(repo: Repository, commit: str) -> list[Json]:
    """``expand=evalResults`` of a model: its entries, and the reason for each file without any."""
    found: list[Json] = []
    for path, entry in _files(repo, commit):
        try:
            entries = parse_results(repo.read(entry), path)
        except InputError as error:
            found.append({"filename": path, "error": str(error)})
            continue
        found += [
            {"filename": path, "verified": False, "data": as_json(entry)} for entry in entries
        ]
    return found


def leaderboard(
    root: Path, dataset: Repository, commit: str, *, task: str = "", derived: bool = False
) -> list[Json]:
    """``GET /api/datasets/{id}/leaderboard``: each task's entries, the highest value first.

    Args:
        root: the hub folder.
        dataset: one with an ``eval.yaml``.
        commit: of the dataset.
        task: only this one; by default all, in the order of ``eval.yaml``.
        derived: also models that name a base model.
    """
    tasks = _tasks(dataset, commit)
    known = [one for one in tasks if task in ("", one)]
    by_task: dict[str, list[Reported]] = {one: [] for one in known}
    for reported in _reported(root, derived=derived):
        about = reported.entry.dataset
        if about.id == dataset.repo_id and about.task_id in by_task:
            by_task[about.task_id].append(reported)
    return [row for one, entries in by_task.items() for row in _ranked(one, entries)]


def _ranked(task: str, entries: list[Reported]) -> Iterator[Json]:
    values = [one.entry.value for one in entries]
    for one in sorted(entries, key=lambda e: (-e.entry.value, e.model, e.filename)):
        owner = one.model.split("/")[0]
        source = as_json(one.entry).get("source")
        yield {
            "rank": 1 + sum(value > one.entry.value for value in values),
            "modelId": one.model,
            "value": one.entry.value,
            "filename": one.filename,
            "verified": False,
            "taskId": task,
            "author": {"type": "org", "name": owner, "fullname": owner, "avatarUrl": ""},
            **({"source": {**source, "isExternal": True}} if source else {}),
            **({"notes": one.entry.notes} if one.entry.notes else {}),
        }


def _reported(root: Path, *, derived: bool) -> Iterator[Reported]:
    for repo in list_repositories(root):
        commit = repo.resolve() if repo.kind == "model" else None
        if commit is None or (not derived and card_of(repo, repo.files(commit)).get("base_model")):
            continue
        for path, entry in _files(repo, commit):
            try:
                entries = parse_results(repo.read(entry), path)
            except InputError:
                continue  # the model's own answer says why
            yield from (Reported(repo.repo_id, path, one) for one in entries)


def _files(repo: Repository, commit: str) -> list[tuple[str, Entry]]:
    return [(p, e) for p, e in sorted(repo.files(commit).items()) if is_result_file(p)]


def _tasks(dataset: Repository, commit: str) -> list[str]:
    entry = dataset.files(commit).get(EVAL_FILE)
    try:
        content: Any = parse_yaml(dataset.read(entry), EVAL_FILE) if entry else None
        return [str(task["id"]) for task in content["tasks"]]
    except (InputError, TypeError, KeyError) as error:
        raise NotFoundError(
            "EntryNotFound", f"{dataset.repo_id} has no leaderboard: no {EVAL_FILE} with tasks"
        ) from error
