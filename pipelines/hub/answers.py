"""The answers of the Hub's reading endpoints, computed from the repositories of a hub folder.

This module does not know HTTP. A path from a URL is only looked up among the names that git
lists and never joined to a folder, so no address can lead out of the repositories.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...untrusted import parse_yaml
from .repositories import EMPTY, Entry, Repository, find_repository, list_repositories

Json = dict[str, Any]


class NotFoundError(Exception):
    """The Hub's answer with status 404: clients act on the code in its headers."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


def repository(root: Path, kind: str, repo_id: str) -> Repository:
    """The repository, or ``RepoNotFound``."""
    found = find_repository(root, kind, repo_id)
    if found is None:
        raise NotFoundError("RepoNotFound", f"Repository not found: {kind} {repo_id}")
    return found


def commit_of(repo: Repository, revision: str) -> str:
    """The commit id, or ``RevisionNotFound``."""
    commit = repo.resolve(revision)
    if commit is None:
        raise NotFoundError("RevisionNotFound", f"Invalid rev id: {revision}")
    return commit


def entry_of(repo: Repository, commit: str, path: str) -> Entry:
    """One file of a commit, or ``EntryNotFound``."""
    entry = repo.files(commit).get(path)
    if entry is None:
        raise NotFoundError("EntryNotFound", f"Entry not found: {path}")
    return entry


def info(repo: Repository, commit: str, *, blobs: bool = False) -> Json:
    """``GET /api/{kind}s/{id}[/revision/{rev}]``."""
    entries = repo.files(commit)
    history = repo.history(commit)
    card = card_of(repo, entries)
    siblings: list[Json] = [{"rfilename": path} for path in sorted(entries)]
    if blobs:
        siblings = [
            {"rfilename": e.path, "size": e.size, "blobId": e.blob, **_lfs(e)}
            for e in sorted(entries.values(), key=lambda e: e.path)
        ]
    answer = {
        "_id": commit[:24],
        "id": repo.repo_id,
        "author": repo.repo_id.split("/")[0],
        "sha": commit,
        "lastModified": _time(history[0][1]),
        "createdAt": _time(history[-1][1]),
        "private": False,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": _tags(card),
        "cardData": card,
        "siblings": siblings,
    }
    if repo.kind == "model":
        answer["modelId"] = repo.repo_id
        if "model-index" in card:
            answer["model-index"] = card["model-index"]
    if repo.kind == "space":
        answer["sdk"] = card.get("sdk", "static")
    return answer


def listing(root: Path, kind: str, *, author: str = "", search: str = "") -> list[Json]:
    """``GET /api/{kind}s?author=&search=``."""
    answers = []
    for repo in list_repositories(root):
        commit = repo.resolve()
        wanted = repo.kind == kind and (not author or repo.repo_id.startswith(f"{author}/"))
        if wanted and commit and search.lower() in repo.repo_id.lower():
            answers.append(info(repo, commit))
    return answers


def tree(repo: Repository, commit: str, folder: str, *, recursive: bool) -> list[Json]:
    """``GET .../tree/{rev}/{folder}``: the folders, then the files, below one folder."""
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
    below = [e for path, e in sorted(repo.files(commit).items()) if path.startswith(prefix)]
    if prefix and not below:
        raise NotFoundError("EntryNotFound", f"Entry not found: {folder}")
    deep = [e for e in below if "/" in e.path[len(prefix) :]]
    folders = {
        prefix + "/".join(e.path[len(prefix) :].split("/")[:depth])
        for e in deep
        for depth in range(1, e.path[len(prefix) :].count("/") + 1)
    }
    if not recursive:
        folders = {path for path in folders if "/" not in path[len(prefix) :]}
        below = [e for e in below if e not in deep]
    return [*(_folder(path) for path in sorted(folders)), *(_file(e) for e in below)]


def paths_info(repo: Repository, commit: str, paths: Iterable[str]) -> list[Json]:
    """``POST .../paths-info/{rev}``: those of the given paths that exist."""
    entries = repo.files(commit)
    found = []
    for path in (path.strip("/") for path in paths):
        if path in entries:
            found.append(_file(entries[path]))
        elif any(other.startswith(f"{path}/") for other in entries):
            found.append(_folder(path))
    return found


def refs(repo: Repository) -> Json:
    """``GET .../refs``."""
    groups = {"branches": ("heads", repo.branches()), "tags": ("tags", repo.tags())}
    answer: Json = {"converts": []}
    for group, (place, commits) in groups.items():
        answer[group] = [
            {"name": name, "ref": f"refs/{place}/{name}", "targetCommit": commit}
            for name, commit in commits.items()
        ]
    return answer


def commits(repo: Repository, commit: str) -> list[Json]:
    """``GET .../commits/{rev}``, newest first."""
    return [
        {
            "id": c,
            "title": message,
            "message": "",
            "date": _time(date),
            "authors": [{"user": "tstbench"}],
        }
        for c, date, message in repo.history(commit)
    ]


def whoami(root: Path) -> Json:
    """``GET /api/whoami-v2``: an anonymous reader, member of the namespaces in the hub folder."""
    namespaces = sorted({repo.repo_id.split("/")[0] for repo in list_repositories(root)})
    return {
        "type": "user",
        "id": EMPTY[:24],
        "name": "local",
        "fullname": "Reader of a local hub folder",
        "orgs": [{"type": "org", "id": EMPTY[:24], "name": name} for name in namespaces],
        "auth": {"type": "access_token", "accessToken": {"role": "read", "displayName": "local"}},
    }


def _file(entry: Entry) -> Json:
    return {
        "type": "file",
        "path": entry.path,
        "size": entry.size,
        "oid": entry.blob,
        **_lfs(entry),
    }


def _lfs(entry: Entry) -> Json:
    if entry.pointer is None:
        return {}
    pointer, size = entry.pointer, entry.pointer_size
    # The two spellings of the checksum: `oid` in trees, `sha256` in the older answers.
    facts = {"oid": pointer.sha256, "sha256": pointer.sha256, "size": pointer.size}
    return {"lfs": {**facts, "pointerSize": size}}


def _folder(path: str) -> Json:
    return {"type": "directory", "path": path, "size": 0, "oid": _stand_in(path)}


def _stand_in(path: str) -> str:
    # Clients want an id for a folder and never ask for it: git's own would cost a call each.
    return hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()


def card_of(repo: Repository, entries: Mapping[str, Entry]) -> Json:
    """The YAML front matter of README.md as the Hub reads it; empty if there is none."""
    if "README.md" not in entries:
        return {}
    parts = repo.read(entries["README.md"]).decode("utf-8", "replace").split("---\n", 2)
    if len(parts) < 3 or parts[0].strip():
        return {}
    try:
        card = parse_yaml(parts[1].encode(), "README.md")
    except InputError:
        return {}
    return card if isinstance(card, dict) else {}


def _tags(card: Json) -> list[str]:
    tags = card.get("tags") or []
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
