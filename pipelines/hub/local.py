"""The repositories of a hub folder under their own names, loadable without a server."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import InputError
from .one_writer import hub_lock
from .repositories import Repository, list_repositories


def link_local_names(root: Path | str) -> Path:
    """Update ``<root>/local``; run there, ``load_dataset("tstbench/yelp")`` reads the folders.

    Raises:
        InputError: two repositories of different kinds share a name.
    """
    root = Path(root).expanduser().resolve()
    with hub_lock(root):
        return _link(root)


def _link(root: Path) -> Path:
    wanted: dict[str, Repository] = {}
    for repository in list_repositories(root):
        other = wanted.setdefault(repository.repo_id, repository)
        if other is not repository:
            raise InputError(
                f"{repository.repo_id} is both a {other.kind} and a {repository.kind}: "
                "one of them needs another name to be loadable from a folder"
            )
    view = root / "local"
    for link in view.glob("*/*"):
        if link.is_symlink() and f"{link.parent.name}/{link.name}" not in wanted:
            link.unlink()
    for repo_id, repository in wanted.items():
        link = view / repo_id
        target = Path(os.path.relpath(repository.path, link.parent))
        if link.is_symlink() and link.readlink() == target:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target, target_is_directory=True)
    return view
