"""Sending a system's scores to its model repository on the Hub, where they are its own report.

Into one's own repository as a commit, or into somebody else's as a pull request.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError, unknown_name
from ...files import git_blob_id
from ...hub import is_repo_id
from ..read_standings import chosen_directions
from ..results import Stored, read_direction
from .build import NAMESPACE
from .eval_results import About, DatasetRevision, has_leaderboards, result_files
from .licensed import check_publishable
from .refusals import PushError, check_namespace, explained, hub_token

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TIMEOUT = 20.0  # seconds


@dataclass(frozen=True)
class Sent:
    """What was sent, or would be.

    Attributes:
        model: the repository.
        system: whose scores.
        files: all of them, by path.
        changed: the paths that the Hub does not have, or has differently.
        notes: what was left out or is not known, one sentence each.
        url: of the commit or pull request; None if nothing was sent.
    """

    model: str
    system: str
    files: dict[str, bytes]
    changed: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    url: str | None = None


def send_results(
    results: Path | str,
    model: str,
    *,
    system: str | None = None,
    namespace: str = NAMESPACE,
    source: str | None = None,
    pull_request: bool = False,
    dry_run: bool = False,
    token: str | None = None,
    endpoint: str | None = None,
) -> Sent:
    """Write a system's scores into ``.eval_results/`` of a model's repository.

    Args:
        results: a results folder.
        model: ``user/name`` of an existing repository.
        system: its name in the results; not needed if there is one only, or if it is called as
            the model is.
        namespace: the owner of the benchmark's datasets.
        source: a page to follow, ``https``; by default where the report says its outputs are.
        pull_request: propose the files instead of committing them.
        dry_run: read only; needs no token, and no Hub either.
        token: by default that of the environment or of ``hf auth login``.
        endpoint: default: ``HF_ENDPOINT``, otherwise huggingface.co.

    Raises:
        InputError: no such model name or namespace, a bound, or scores of other sentences than
            the dataset's.
        LicensedTextError: what would be sent quotes a licensed corpus.
        MissingFileError, UnknownNameError: no such results or system.
        PushError: no token, permission or connection; says what to do.
    """
    from huggingface_hub import HfApi

    if not is_repo_id(model):
        raise InputError(f"{model!r} is not the name of a model on the Hub: USER/MODEL")
    check_namespace(namespace)
    if source is not None and not source.startswith("https://"):
        raise InputError(f"the source {source!r} is not an https address")
    found = _of_system(_read(Path(results).expanduser()), system, model)
    notes = [
        f"{one.report.direction} is left out: {dataset} is not published, so it has no leaderboard"
        for one in found
        if not has_leaderboards(dataset := one.report.direction.split("/")[0])
    ]
    found = [one for one in found if has_leaderboards(one.report.direction.split("/")[0])]
    token = hub_token(token, model, needed=not dry_run)
    api = HfApi(endpoint=endpoint, token=token or False)
    try:
        revisions = _revisions(api, namespace, found, notes, optional=dry_run)
        files = result_files(
            [one.report for one in found], _about(found, namespace, revisions, source)
        )
        name = found[0].report.system.name if found else str(system)
        if not files:
            raise InputError(f"no score of {name} has a leaderboard on the Hub: {'; '.join(notes)}")
        check_publishable(model, files)
        changed = _changed(api, model, files, optional=dry_run)
        sent = Sent(model, name, files, changed, tuple(notes))
        if dry_run or not changed:
            return sent
        return _commit(api, sent, pull_request=pull_request)
    except Exception as error:
        known = explained(error, f"model {model}", token)
        if known is None:
            raise
        hint = "; to propose results for somebody else's model, add --pull-request"
        refused = "answered 403" in str(known) and not pull_request
        raise (PushError(f"{known}{hint}") if refused else known) from None


def _read(results: Path) -> list[Stored]:
    folders = chosen_directions(results).values()
    return [stored for folder in folders for stored in read_direction(folder)]


def _of_system(stored: Sequence[Stored], system: str | None, model: str) -> list[Stored]:
    """The results of one system that is no bound."""
    bounds = {one.report.system.name for one in stored if one.report.system.is_bound}
    names = sorted({one.report.system.name for one in stored} - bounds)
    if system in bounds:
        raise InputError(f"{system} is a bound, not a model: its scores are not reported")
    if system is None:
        same = [name for name in names if name.casefold() == model.split("/")[1].casefold()]
        chosen = same or names
        if len(chosen) != 1:
            listed = ", ".join(names) or "only bounds, which are not reported"
            raise InputError(f"which system is {model}? Add --system NAME; here are: {listed}")
        system = chosen[0]
    if system not in names:
        raise unknown_name("system", system, names)
    return [one for one in stored if one.report.system.name == system]


def _about(
    stored: Sequence[Stored],
    namespace: str,
    revisions: dict[str, DatasetRevision],
    source: str | None,
) -> About:
    sources = {one.report.direction: source or one.report.system.outputs_url for one in stored}
    return About(
        namespace,
        revisions,
        sources={direction: url for direction, url in sources.items() if url},
    )


def _revisions(
    api: HfApi, namespace: str, stored: Sequence[Stored], notes: list[str], *, optional: bool
) -> dict[str, DatasetRevision]:
    """The newest commit of each dataset on the Hub, with its fingerprints."""
    found = {}
    for dataset in sorted({one.report.direction.split("/")[0] for one in stored}):
        repo_id = f"{namespace}/{dataset}"
        try:
            found[dataset] = _revision(api, repo_id)
        except Exception as error:
            known = explained(error, f"dataset {repo_id}", None)
            if known is None or not optional:
                raise known or error from None
            notes.append(f"the revision of {repo_id} is not known: the Hub could not be read")
    return found


def _revision(api: HfApi, repo_id: str) -> DatasetRevision:
    commit = api.dataset_info(repo_id, timeout=_TIMEOUT).sha
    file = api.hf_hub_download(
        repo_id, "fingerprint.json", repo_type="dataset", revision=commit, etag_timeout=_TIMEOUT
    )
    return DatasetRevision(repo_id, commit, json.loads(Path(file).read_bytes())["fingerprints"])


def _changed(api: HfApi, model: str, files: dict[str, bytes], *, optional: bool) -> tuple[str, ...]:
    try:
        there = {
            one.path: getattr(one, "blob_id", None) for one in api.get_paths_info(model, [*files])
        }
    except Exception as error:
        known = explained(error, f"model {model}", None)
        if known is None or not optional:
            raise known or error from None
        there = {}
    return tuple(path for path, content in files.items() if there.get(path) != git_blob_id(content))


def _commit(api: HfApi, sent: Sent, *, pull_request: bool) -> Sent:
    from huggingface_hub import CommitOperationAdd

    info = api.create_commit(
        sent.model,
        [CommitOperationAdd(path, sent.files[path]) for path in sent.changed],
        commit_message=f"Report TSTBench scores of {sent.system}",
        create_pr=pull_request,
    )
    return replace(sent, url=info.pr_url or info.commit_url)
