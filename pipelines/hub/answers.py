"""The answers of the Hub's reading endpoints, computed from the repositories of a hub folder.

This module does not know HTTP. A path from a URL is only looked up among the names that the
manifest lists and never joined to a folder, so no address can lead out of the repositories. Each
repository has one revision, what was built last: ``main``, its tags, and its commit id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...files import git_blob_id
from ...untrusted import parse_yaml
from .manifest import MANIFEST, Repository, find_repository, list_repositories

Json = dict[str, Any]
DATE = "2025-01-01T00:00:00.000Z"  # of every revision: equal content has equal answers
LARGE = (".arpa", ".arrow", ".bin", ".npy", ".npz", ".onnx", ".parquet", ".safetensors")


@dataclass(frozen=True)
class Entry:
    """One file as the Hub lists it."""

    path: str
    size: int  # bytes
    oid: str  # git's id of its content; of a large file, of its pointer
    sha256: str | None = None  # of a large file


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
    """The commit id of a branch, tag or (abbreviated) commit id, or ``RevisionNotFound``."""
    commit = repo.commit
    if revision in ("main", *repo.manifest().tags) or (
        len(revision) >= _SHORTEST and commit.startswith(revision)
    ):
        return commit
    raise NotFoundError("RevisionNotFound", f"Invalid rev id: {revision}")


_SHORTEST = 7  # digits of an abbreviated commit id


def entry_of(repo: Repository, path: str) -> Entry:
    """One file, or ``EntryNotFound``."""
    entry = entries_of(repo).get(path)
    if entry is None:
        raise NotFoundError("EntryNotFound", f"Entry not found: {path}")
    return entry


def entries_of(repo: Repository) -> dict[str, Entry]:
    """Every file by path, the manifest too."""
    return _entries(repo, repo.commit)


@lru_cache(maxsize=512)  # by its commit; a hub folder has some dozens
def _entries(repo: Repository, _commit: str) -> dict[str, Entry]:
    files = repo.manifest().files
    found = {}
    for path in sorted({*files, MANIFEST}):
        if path.endswith(LARGE):
            file = files[path]
            pointer = _POINTER.format(sha256=file.sha256, size=file.size).encode()
            found[path] = Entry(path, file.size, git_blob_id(pointer), file.sha256)
        else:
            content = repo.source(path).read_bytes()
            found[path] = Entry(path, len(content), git_blob_id(content))
    return found


_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"


def info(repo: Repository, commit: str, *, blobs: bool = False) -> Json:
    """``GET /api/{kind}s/{id}[/revision/{rev}]``."""
    entries = entries_of(repo).values()
    card = card_of(repo)
    siblings: list[Json] = [{"rfilename": entry.path} for entry in entries]
    if blobs:
        siblings = [
            {"rfilename": e.path, "size": e.size, "blobId": e.oid, **_lfs(e)} for e in entries
        ]
    answer = {
        "_id": commit[:24],
        "id": repo.repo_id,
        "author": repo.repo_id.split("/")[0],
        "sha": commit,
        "lastModified": DATE,
        "createdAt": DATE,
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
        wanted = repo.kind == kind and (not author or repo.repo_id.startswith(f"{author}/"))
        if wanted and search.lower() in repo.repo_id.lower():
            answers.append(info(repo, repo.commit))
    return answers


def tree(repo: Repository, folder: str, *, recursive: bool) -> list[Json]:
    """``GET .../tree/{rev}/{folder}``: the folders, then the files, below one folder."""
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
    below = [e for path, e in entries_of(repo).items() if path.startswith(prefix)]
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


def paths_info(repo: Repository, paths: Iterable[str]) -> list[Json]:
    """``POST .../paths-info/{rev}``: those of the given paths that exist."""
    entries = entries_of(repo)
    found = []
    for path in (path.strip("/") for path in paths):
        if path in entries:
            found.append(_file(entries[path]))
        elif any(other.startswith(f"{path}/") for other in entries):
            found.append(_folder(path))
    return found


def refs(repo: Repository) -> Json:
    """``GET .../refs``."""

    def ref(place: str, name: str) -> Json:
        return {"name": name, "ref": f"refs/{place}/{name}", "targetCommit": repo.commit}

    tags = [ref("tags", tag) for tag in repo.manifest().tags]
    return {"converts": [], "branches": [ref("heads", "main")], "tags": tags}


def commits(repo: Repository) -> list[Json]:
    """``GET .../commits/{rev}``: the one that there is."""
    title = f"Built by {repo.manifest().builder}"
    authors = [{"user": "tstbench"}]
    return [{"id": repo.commit, "title": title, "message": "", "date": DATE, "authors": authors}]


def whoami(root: Path) -> Json:
    """``GET /api/whoami-v2``: an anonymous reader, member of the namespaces in the hub folder."""
    namespaces = sorted({repo.repo_id.split("/")[0] for repo in list_repositories(root)})
    return {
        "type": "user",
        "id": "0" * 24,
        "name": "local",
        "fullname": "Reader of a local hub folder",
        "orgs": [{"type": "org", "id": "0" * 24, "name": name} for name in namespaces],
        "auth": {"type": "access_token", "accessToken": {"role": "read", "displayName": "local"}},
    }


def _file(entry: Entry) -> Json:
    facts = {"path": entry.path, "size": entry.size, "oid": entry.oid}
    return {"type": "file", **facts, **_lfs(entry)}


def _lfs(entry: Entry) -> Json:
    if entry.sha256 is None:
        return {}
    pointer = _POINTER.format(sha256=entry.sha256, size=entry.size)
    # The two spellings of the checksum: `oid` in trees, `sha256` in the older answers.
    facts = {"oid": entry.sha256, "sha256": entry.sha256, "size": entry.size}
    return {"lfs": {**facts, "pointerSize": len(pointer)}}


def _folder(path: str) -> Json:
    return {"type": "directory", "path": path, "size": 0, "oid": _stand_in(path)}


def _stand_in(path: str) -> str:
    # Clients want an id for a folder and never ask for it: git's own would cost a call each.
    return hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()


def card_of(repo: Repository) -> Json:
    """The YAML front matter of README.md as the Hub reads it; empty if there is none."""
    parts = repo.source("README.md").read_text("utf-8", "replace").split("---\n", 2)
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
