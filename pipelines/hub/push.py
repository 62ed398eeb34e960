"""Pushing a hub folder to the real Hub: repositories are created, updated and tagged.

The manifest on the Hub says what was pushed before. It is compared with the one here, so an
unchanged repository gets no commit, and an interrupted push continues when it is run again. One
repository gets at most one commit: ``create_commit`` is used instead of ``upload_folder``, which
splits a large folder into several commits if hf_xet is installed.

Files on the Hub that no manifest names are left alone: somebody else put them there (a submission
that was merged into the results, for instance).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...errors import InputError, unknown_name
from ...files import temporary_folder
from .answers import card_of
from .build import NAMESPACE
from .licensed import check_publishable
from .manifest import MANIFEST, File, Kind, Manifest, Repository, list_repositories
from .refusals import check_namespace, explained, hub_token

if TYPE_CHECKING:
    from huggingface_hub import HfApi


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

    check_namespace(namespace)
    repositories = _chosen(Path(root).expanduser().resolve(), only)
    for repository in repositories:  # all of them, before anything is sent
        _check(repository, f"{namespace}/{repository.name}")
    token = hub_token(token, namespace, needed=not dry_run)
    api = HfApi(endpoint=endpoint, token=token or False)
    plans = []
    for repository in repositories:
        repo_id = f"{namespace}/{repository.name}"
        try:
            plan = _push_one(api, repository, repo_id, private=private, dry_run=dry_run)
        except Exception as error:
            known = explained(error, f"{repository.kind} {repo_id}", token)
            if known is None:
                raise
            # From None: the client's own message may quote the request.
            raise known from None
        plans.append(plan)
        if report:
            report(plan)
    return plans


def _chosen(root: Path, only: Collection[str]) -> list[Repository]:
    repositories = list_repositories(root)
    names = [repository.name for repository in repositories]
    for name in only:
        if name not in names:
            raise unknown_name("repository", name, names)
    if not repositories:
        raise InputError(f"{root} has no repositories: fill it with `tstbench hub build`")
    chosen = [r for r in repositories if not only or r.name in only]
    seen: set[tuple[str, str]] = set()
    for repository in chosen:
        key = (repository.kind, repository.name)
        if key in seen:
            raise InputError(
                f"{root} has {repository.name} in two namespaces: push one with `only`"
            )
        seen.add(key)
    return chosen


def _check(repository: Repository, repo_id: str) -> None:
    """That its files are what was built, and quote no licensed corpus."""
    contents: dict[str, Path | bytes] = {
        path: repository.source(path) for path in repository.manifest().files
    }
    check_publishable(repo_id, contents)


def _push_one(
    api: HfApi, repository: Repository, repo_id: str, *, private: bool, dry_run: bool
) -> Plan:
    plan, head = _compare(api, repository, repo_id)
    if dry_run or plan.is_empty:
        return plan
    kind = repository.kind
    if plan.create:
        sdk = card_of(repository).get("sdk", "gradio") if kind == "space" else None
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
        head = api.repo_info(repo_id, repo_type=repository.kind).sha
    except RepositoryNotFoundError:
        return replace(plan, create=True, added=tuple(manifest.files), tags=manifest.tags), None
    there, here = _files_on_hub(api, plan, head), manifest.files
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
