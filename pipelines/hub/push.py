"""Writing to the real Hub: the repositories of a hub folder, and a system's scores.

The manifest on the Hub says what was pushed before. It is compared with the one here, so an
unchanged repository gets no commit, and an interrupted push continues when it is run again. One
repository gets at most one commit: ``create_commit`` is used instead of ``upload_folder``, which
splits a large folder into several commits if hf_xet is installed. Files on the Hub that no manifest
names are left alone: somebody else put them there (a submission that was merged into the results,
for instance).

Scores go into the model's own repository, as its own report: a commit, or a pull request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...errors import InputError, TSTBenchError, unknown_name
from ...files import git_blob_id, temporary_folder
from ...hub import environment_fault, is_repo_id, misunderstood
from ..results import Stored, read_direction
from ..standings import chosen_directions
from .build import NAMESPACE
from .eval_results import About, DatasetRevision, has_leaderboards, result_files
from .licensed import check_publishable
from .manifest import MANIFEST, File, Kind, Manifest, Repository, list_repositories

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TIMEOUT = 20.0  # seconds


class PushError(TSTBenchError):
    """The Hub refused or cannot be reached; the message names the repository and what to do."""


def _hub_token(token: str | None, what: str, *, needed: bool = True) -> str | None:
    """The given token, or else that of the environment or of ``hf auth login``.

    Raises:
        PushError: one is needed to write to ``what``, and there is none.
    """
    from huggingface_hub import get_token

    token = token or get_token()
    if needed and not token:
        raise PushError(
            "no Hub token: set HF_TOKEN or run `hf auth login`; the token needs write access to "
            f"{what}"
        )
    return token


_REMEDIES = {
    401: "the token is not valid: create one at https://huggingface.co/settings/tokens, then set "
    "HF_TOKEN or run `hf auth login`",
    402: "this needs a paid plan of the Hub: see https://huggingface.co/settings/billing",
    403: "the token has no write access: it needs the role `write` for this namespace, and you "
    "must be a member of the namespace",
    409: "the repository on the Hub is in a conflicting state: check it there, then run again",
    412: "somebody changed the repository in the meantime: run again",
    413: "a file is too large for the Hub",
    429: "too many requests: wait a few minutes, then run again; completed work is kept",
    507: "the storage quota of the namespace is used up: delete something or request more",
}


def _check_namespace(name: str) -> None:
    """Check the name of an owner of repositories.

    Raises:
        InputError: the Hub has no such names.
    """
    if not is_repo_id(f"{name}/name"):
        raise InputError(
            f"{name[:40]!r} is not the name of a user or an organisation on the Hub: it has "
            "letters, digits, '.', '_' and '-' only, and not many"
        )


def explained(error: Exception, what: str, token: str | None) -> PushError | None:
    """The error for users, without the token; None if it is a bug in TSTBench."""
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        status = getattr(error.response, "status_code", 0)
        said = getattr(error, "server_message", None) or str(error).split("\n")[0]
        remedy = _REMEDIES.get(status, "run again; if it persists, see the Hub's message")
        text = f"{what}: the Hub answered {status} ({said}): {remedy}"
    elif fault := environment_fault():
        text = f"{what}: {fault}"
    elif isinstance(error, FileNotFoundError) and error.filename:  # not the client's, without one
        text = f"{what}: {error.filename} is missing: run `tstbench hub build` again"
    elif isinstance(error, errors.HTTPError | OSError):  # whichever HTTP library the client has
        text = f"{what}: the Hub cannot be reached ({error}). Completed work is kept: run again"
    elif misunderstood(error):
        text = (
            f"{what}: the server's answer is not that of a Hub ({type(error).__name__}: {error}): "
            "check HF_ENDPOINT"
        )
    else:
        return None
    return PushError(text.replace(token, "***") if token else text)


@contextmanager
def _in_words(what: str, token: str | None, *, hint403: str = "") -> Iterator[None]:
    """What the Hub refuses, as a :class:`PushError`; of an answer 403, with a hint."""
    try:
        yield
    except Exception as error:
        known = explained(error, what, token)
        if known is None:
            raise
        hint = hint403 if "answered 403" in str(known) else ""
        raise PushError(
            f"{known}{hint}"
        ) from None  # the client's own message may quote the request


@dataclass(frozen=True)
class Plan:
    """How one repository differs between this machine and the Hub."""

    kind: Kind
    repo_id: str
    create: bool  # there is no such repository on the Hub yet
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # to be set on the Hub's newest commit
    commit: str | None = None  # the Hub's commit id, where one was made

    @property
    def has_files(self) -> bool:
        """Whether a commit is needed."""
        return bool(self.added or self.changed or self.deleted)

    @property
    def is_empty(self) -> bool:
        """Whether the Hub already has everything."""
        return not (self.create or self.has_files or self.tags)

    def __str__(self) -> str:
        head = f"{self.kind} {self.repo_id}"
        if self.is_empty:
            return f"{head}: up to date"
        lines = [f"{head}:{' new repository' if self.create else ''}"]
        lines += [f"  + {path}" for path in self.added]
        lines += [f"  ~ {path}" for path in self.changed]
        lines += [f"  - {path}" for path in self.deleted]
        lines += [f"  tag {tag}" for tag in self.tags]
        return "\n".join(lines)


def push(
    root: Path | str,
    *,
    namespace: str = NAMESPACE,
    only: Collection[str] = (),
    private: bool = False,
    dry_run: bool = False,
    token: str | None = None,
    endpoint: str | None = None,
    report: Callable[[Plan], None] | None = None,
) -> list[Plan]:
    """Create and update the repositories of a hub folder on the Hub.

    Args:
        root: the hub folder.
        namespace: the organisation or user on the Hub; repository names stay the same.
        only: names of repositories (``yelp``, ``joint``); default all.
        private: make new repositories private; existing ones stay as they are.
        dry_run: change nothing, only report what would change.
        token: default: ``HF_TOKEN``, otherwise the hub login. It never appears in a message.
        endpoint: default: ``HF_ENDPOINT``, otherwise huggingface.co.
        report: called after each repository, for progress.

    Returns:
        One plan per repository: what was done, or what would be done.

    Raises:
        PushError: no token, permission, quota or connection; the message names the repository.
        LicensedTextError: a file quotes a licensed corpus; nothing was sent, of any repository.
        IntegrityError: a file is not what was built; nothing was sent either.
        InputError: the namespace is not a name on the Hub.
        UnknownNameError: ``only`` has an unknown name.
        MissingFileError: there is no such folder.
    """
    from huggingface_hub import HfApi

    _check_namespace(namespace)
    repositories = _chosen(Path(root).expanduser().resolve(), only)
    for repository in repositories:  # all of them, before anything is sent
        files = {path: repository.source(path) for path in repository.manifest().files}
        check_publishable(f"{namespace}/{repository.name}", files)
    token = _hub_token(token, namespace, needed=not dry_run)
    api = HfApi(endpoint=endpoint, token=token or False)
    plans = []
    for repository in repositories:
        repo_id = f"{namespace}/{repository.name}"
        with _in_words(f"{repository.kind} {repo_id}", token):
            plans.append(_push_one(api, repository, repo_id, private=private, dry_run=dry_run))
        if report:
            report(plans[-1])
    return plans


def _chosen(root: Path, only: Collection[str]) -> list[Repository]:
    repositories = list_repositories(root)
    names = [repository.name for repository in repositories]
    for name in only:
        if name not in names:
            raise unknown_name("repository", name, names)
    if not repositories:
        raise InputError(
            f"{root} has no repositories: `tstbench hub build HUB` fills a folder HUB, "
            "with trained systems too: --systems FOLDER"
        )
    chosen = [r for r in repositories if not only or r.name in only]
    keys = [(repository.kind, repository.name) for repository in chosen]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"{root} has {key[1]} in two namespaces: push one with `only`")
    return chosen


def _push_one(
    api: HfApi, repository: Repository, repo_id: str, *, private: bool, dry_run: bool
) -> Plan:
    from huggingface_hub import RepoCard

    plan, head = _compare(api, repository, repo_id)
    if dry_run or plan.is_empty:
        return plan
    kind = repository.kind
    if plan.create:
        card = RepoCard.load(repository.source("README.md"), ignore_metadata_errors=True)
        sdk = card.data.get("sdk", "gradio") if kind == "space" else None
        api.create_repo(repo_id, repo_type=kind, private=private, exist_ok=True, space_sdk=sdk)
        head = api.repo_info(repo_id, repo_type=kind).sha
    if plan.has_files:
        head = _commit(api, repository, plan, head)
        plan = replace(plan, commit=head)
    existing = _remote_tags(api, plan) if plan.tags else {}
    for tag in plan.tags:
        if tag in existing:
            api.delete_tag(repo_id, tag=tag, repo_type=kind)
        api.create_tag(repo_id, tag=tag, revision=head, repo_type=kind)
    return plan


def _compare(api: HfApi, repository: Repository, repo_id: str) -> tuple[Plan, str | None]:
    """The plan, and the Hub's newest commit id."""
    from huggingface_hub.errors import RepositoryNotFoundError

    manifest = repository.manifest()
    plan = Plan(repository.kind, repo_id, create=False)
    try:
        info = api.repo_info(repo_id, repo_type=repository.kind)
    except RepositoryNotFoundError:
        return replace(plan, create=True, added=tuple(manifest.files), tags=manifest.tags), None
    head, here = info.sha, manifest.files
    left = {
        file.rfilename for file in getattr(info, "siblings", None) or ()
    }  # somebody may have deleted others
    there = {path: file for path, file in _files_on_hub(api, plan, head).items() if path in left}
    plan = replace(
        plan,
        added=tuple(path for path in here if path not in there),
        changed=tuple(path for path in here if path in there and here[path] != there[path]),
        deleted=tuple(path for path in there if path not in here),
    )
    if manifest.tags:
        remote = _remote_tags(api, plan)
        stale = (tag for tag in manifest.tags if plan.has_files or remote.get(tag) != head)
        plan = replace(plan, tags=tuple(stale))
    return plan, head


def _files_on_hub(api: HfApi, plan: Plan, head: str | None) -> dict[str, File]:
    """What the manifest on the Hub names: nothing, where there is none that can be read."""
    from huggingface_hub.errors import RemoteEntryNotFoundError

    with temporary_folder() as scratch:
        try:
            file = api.hf_hub_download(
                plan.repo_id, MANIFEST, repo_type=plan.kind, revision=head, local_dir=scratch
            )
            return Manifest.model_validate_json(Path(file).read_bytes()).files
        except (RemoteEntryNotFoundError, ValidationError):
            return {}


def _remote_tags(api: HfApi, plan: Plan) -> dict[str, str]:
    refs = api.list_repo_refs(plan.repo_id, repo_type=plan.kind)
    return {tag.name: tag.target_commit for tag in refs.tags}


def _commit(api: HfApi, repository: Repository, plan: Plan, parent: str | None) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    new = (*plan.added, *plan.changed)
    operations: list[Any] = [
        CommitOperationAdd(path, repository.source(path)) for path in (*new, MANIFEST)
    ]
    operations += [CommitOperationDelete(path) for path in plan.deleted]
    counts = ((len(new), "written"), (len(plan.deleted), "deleted"))
    files = ", ".join(f"{count} files {what}" for count, what in counts if count)
    info = api.create_commit(
        plan.repo_id,
        operations,
        commit_message=f"tstbench hub push: {files}",
        repo_type=plan.kind,
        parent_commit=parent,
    )
    return info.oid


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
    notes: tuple[str, ...] = ()
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
    from huggingface_hub import CommitOperationAdd, HfApi

    if not is_repo_id(model):
        raise InputError(f"{model!r} is not the name of a model on the Hub: USER/MODEL")
    _check_namespace(namespace)
    if source is not None and not source.startswith("https://"):
        raise InputError(f"the source {source!r} is not an https address")
    folders = chosen_directions(Path(results).expanduser()).values()
    stored = [one for folder in folders for one in read_direction(folder)]
    found = _of_system(stored, system, model)
    notes = [
        f"{one.report.direction} is left out: {dataset} is not published, so it has no leaderboard"
        for one in found
        if not has_leaderboards(dataset := one.report.direction.split("/")[0])
    ]
    found = [one for one in found if has_leaderboards(one.report.direction.split("/")[0])]
    token = _hub_token(token, model, needed=not dry_run)
    api = HfApi(endpoint=endpoint, token=token or False)
    revisions = _revisions(api, namespace, found, notes, optional=dry_run)
    addresses = {one.report.direction: source or one.report.system.outputs_url for one in found}
    about = About(
        namespace,
        revisions,
        sources={direction: url for direction, url in addresses.items() if url},
    )
    files = result_files([one.report for one in found], about)
    name = found[0].report.system.name if found else str(system)
    if not files:
        raise InputError(f"no score of {name} has a leaderboard on the Hub: {'; '.join(notes)}")
    check_publishable(model, files)
    if dry_run:
        return Sent(model, name, files, tuple(files), tuple(notes))
    refused = "" if pull_request else "; for somebody else's model, add --pull-request"
    with _in_words(f"model {model}", token, hint403=refused):
        there = {
            one.path: getattr(one, "blob_id", None) for one in api.get_paths_info(model, [*files])
        }
        changed = tuple(p for p, content in files.items() if there.get(p) != git_blob_id(content))
        sent = Sent(model, name, files, changed, tuple(notes))
        if not changed:
            return sent
        info = api.create_commit(
            model,
            [CommitOperationAdd(path, files[path]) for path in changed],
            commit_message=f"Report TSTBench scores of {name}",
            create_pr=pull_request,
        )
    return replace(sent, url=info.pr_url or info.commit_url)


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


def _revisions(
    api: HfApi, namespace: str, stored: Sequence[Stored], notes: list[str], *, optional: bool
) -> dict[str, DatasetRevision]:
    """The newest commit of each dataset on the Hub, with its fingerprints."""
    found = {}
    for dataset in sorted({one.report.direction.split("/")[0] for one in stored}):
        repo_id = f"{namespace}/{dataset}"
        try:
            with _in_words(f"dataset {repo_id}", None):
                found[dataset] = _revision(api, repo_id)
        except PushError:
            if not optional:
                raise
            notes.append(f"the revision of {repo_id} is not known: the Hub could not be read")
    return found


def _revision(api: HfApi, repo_id: str) -> DatasetRevision:
    commit = api.dataset_info(repo_id, timeout=_TIMEOUT).sha
    file = api.hf_hub_download(
        repo_id, "fingerprint.json", repo_type="dataset", revision=commit, etag_timeout=_TIMEOUT
    )
    return DatasetRevision(repo_id, commit, json.loads(Path(file).read_bytes())["fingerprints"])
