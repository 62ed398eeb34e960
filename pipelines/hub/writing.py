"""Writing a repository of a hub folder: one commit if anything changed, otherwise none.

Commits depend only on the content and its history (author, dates and messages are fixed), so two
machines that publish the same artefacts get the same commit ids, and ``revision=<sha>`` means the
same in both labs.
"""

from __future__ import annotations

import filecmp
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...errors import InputError, MissingFileError
from ...files import git_blob_id, in_names
from . import lfs
from .eval_results import FOLDER
from .git import git
from .guard import check_publishable
from .one_writer import hub_lock, writing_to
from .repositories import ATTRIBUTES, EMPTY, KINDS, NAME, Kind, Repository

# One minute per commit from a fixed day on: a date must not make two equal histories differ.
FIRST_COMMIT = 1735689600  # 2025-01-01T00:00:00Z, in seconds
AUTHOR = "TSTBench <tstbench@users.noreply.huggingface.co>"

# Hidden files are left out of a folder and refused by name, but for the results of a model.
_HIDDEN = re.compile(rf"{re.escape(FOLDER)}/[A-Za-z0-9_][A-Za-z0-9_.-]*\.yaml")
_SIGNS = "_=@()"  # besides those of a file name


def write_repository(
    root: Path | str,
    kind: Kind,
    repo_id: str,
    source: Path | Mapping[str, Path | bytes],
    *,
    tags: Iterable[str] = (),
) -> str:
    """Give a repository exactly these files: one commit if anything changed, otherwise none.

    Args:
        root: the hub folder; created if it does not exist.
        kind: dataset, model or space.
        repo_id: ``namespace/name``.
        source: a folder (hidden files, caches and empty ``__init__.py`` files are left out), or
            contents and files by path.
        tags: names that will point to the resulting commit; existing ones are moved.

    Returns:
        The commit id, 40 hex digits.

    Raises:
        LicensedTextError: a file contains, or may contain, text that must not be published.
        InputError: no files, no card, a name the Hub does not accept, a link, or a dataset script
            (a dataset with ``<name>.py`` in it does not load).
        MissingExtraError: git is not installed.
    """
    root = Path(root).expanduser().resolve()
    files = folder_files(source) if isinstance(source, Path) else dict(source)
    repository, tags = Repository(root, kind, repo_id), tuple(tags)  # read twice
    _check_names(repository, files, tags)
    check_publishable(kind, repo_id, files)

    with hub_lock(root), writing_to(repository):
        held = _hold(repository.git_dir, files)
        before = repository.resolve("main")
        old = {p: e.blob for p, e in repository.files(before).items()} if before else {}
        new = {path: git_blob_id(content) for path, content in held.items()}
        if old != new:
            _commit(repository, held, old, new, before)
        _update_work_tree(repository, {**files, ATTRIBUTES: held[ATTRIBUTES]}, old)
        commit = repository.resolve("main") or EMPTY
        for tag in tags:
            git(repository.git_dir, "update-ref", f"refs/tags/{tag}", commit)
    return commit


def folder_files(folder: Path) -> dict[str, Path | bytes]:
    """What is published of a folder, by path: no hidden files, caches or empty ``__init__.py``.

    Raises:
        MissingFileError: there is no such folder.
        InputError: a link, which would be published as something else.
    """
    if not folder.is_dir():
        raise MissingFileError(f"no such folder: {folder}")
    files: dict[str, Path | bytes] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
        if hidden or path.suffix == ".pyc":
            continue
        if path.is_symlink():
            raise InputError(f"{path} is a link, and links are not published: copy the file itself")
        empty_package = path.name == "__init__.py" and not path.stat().st_size
        if path.is_file() and not empty_package:
            files[relative.as_posix()] = path
    return files


def _check_names(
    repository: Repository, files: Mapping[str, Path | bytes], tags: Iterable[str]
) -> None:
    kind, repo_id = repository.kind, repository.repo_id
    parts = repo_id.split("/")
    if kind not in KINDS:
        raise InputError(f"{kind!r} is not a kind of repository; choose one of: {', '.join(KINDS)}")
    if len(parts) != 2 or not all(NAME.fullmatch(part) for part in parts):
        raise InputError(
            f"{repo_id!r} is not a repository id: use namespace/name, with letters, digits, "
            "'.', '_' and '-' only"
        )
    if not files:
        raise InputError(f"{repo_id}: there are no files to publish")
    if "README.md" not in files:
        raise InputError(f"{repo_id}: README.md is missing: every {kind} needs a card")
    if kind == "dataset" and f"{parts[1]}.py" in files:
        raise InputError(
            f"{repo_id}: {parts[1]}.py must not be in the dataset repository, the `datasets` "
            "library refuses to load a repository with a script of its own name"
        )
    for path in files:
        if kind == "model" and _HIDDEN.fullmatch(path):
            continue
        segments = path.split("/")
        if not all(_is_segment(s) and not s.startswith((".", "-")) for s in segments):
            raise InputError(f"{repo_id}: {path!r} is not a valid file name on the Hub: rename it")
    for tag in tags:
        if not NAME.fullmatch(tag) or ".." in tag:
            raise InputError(f"{repo_id}: {tag!r} is not a valid tag name")


def _is_segment(name: str) -> bool:
    """Whether a name has letters and digits, of any script, and harmless signs only."""
    return bool(name) and all(in_names(sign) or sign in _SIGNS for sign in name)


def _hold(git_dir: Path, files: Mapping[str, Path | bytes]) -> dict[str, bytes]:
    """What git stores for each path: small contents, and pointers to the large files."""
    held, large = {}, []
    for path, content in files.items():
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        if lfs.is_large(path, size):
            held[path] = lfs.store(git_dir, content).encode()
            large.append(path)
        else:
            held[path] = content if isinstance(content, bytes) else content.read_bytes()
    held[ATTRIBUTES] = lfs.attributes(large)
    return held


def _commit(
    repository: Repository,
    held: Mapping[str, bytes],
    old: Mapping[str, str],
    new: Mapping[str, str],
    before: str | None,
) -> None:
    """One atomic commit with ``git fast-import``."""
    earlier = int(git(repository.git_dir, "rev-list", "--count", before)) if before else 0
    when = f"{AUTHOR} {FIRST_COMMIT + 60 * earlier} +0000"
    message = _message(old, new).encode()
    stream = [f"commit refs/heads/main\ncommitter {when}\ndata {len(message)}\n".encode(), message]
    stream.append(f"\nfrom {before}\ndeleteall\n".encode() if before else b"\ndeleteall\n")
    for path, content in sorted(held.items()):
        stream += [f"M 100644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
    stream.append(b"done\n")
    git(repository.git_dir, "fast-import", "--quiet", "--done", feed=b"".join(stream))


def _message(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """One line that lists the changes.

    >>> _message({"a": "1", "b": "2"}, {"a": "3", "c": "4"})
    'Add c; change a; delete b'
    """
    groups = {
        "add": sorted(new.keys() - old.keys()),
        "change": sorted(path for path in new.keys() & old.keys() if new[path] != old[path]),
        "delete": sorted(old.keys() - new.keys()),
    }
    parts = []
    for verb, paths in groups.items():
        if paths:
            names = ", ".join(paths[:3])
            parts.append(f"{verb} {names}" + (f" and {len(paths) - 3} more" if paths[3:] else ""))
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def _update_work_tree(
    repository: Repository, files: Mapping[str, Path | bytes], old: Mapping[str, str]
) -> None:
    for path in old.keys() - files.keys():
        (repository.path / path).unlink(missing_ok=True)
        for folder in list((repository.path / path).parents):
            if folder == repository.path or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()
    for path, content in files.items():
        target = repository.path / path
        if not _same(content, target):
            lfs.copy_atomically(content, target)
    git(repository.git_dir, "read-tree", "main")


def _same(content: Path | bytes, target: Path) -> bool:
    if not target.is_file():
        return False
    if isinstance(content, bytes):
        return target.read_bytes() == content
    return filecmp.cmp(content, target, shallow=False)
