"""What lies in a place: whether two runs left the same, byte for byte and name for name."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from tstbench.files import TEMPORARY

# torch makes an empty folder when it is imported, whoever imports it; matplotlib a list of fonts.
_OF_OTHERS = re.compile(r"(tmp/torchinductor_[^/]*|user/\.cache/matplotlib)(/.*)?")
# Python's tempfile tries its folder with such a file, and a kill between two lines of it leaves it.
_TRIAL = re.compile(r"tmp/[a-z0-9_]{8}")
# How an unchanged file is recognised: inodes and times, which no two runs share.
_NAME_ONLY = re.compile(r"home/fingerprints/[^/]+\.json")
# How long a training took and on which machine, which is no part of a model; see store.py.
_CARD = re.compile(r".*/(system|scorer)\.json")
_TOOK = re.compile(rb"Trained( in [0-9 mins]*s\b)?")


@dataclass(frozen=True)
class Found:
    """One entry of a place: its permissions and what it contains."""

    mode: int
    content: str


Tree = dict[str, Found]


def tree_of(root: Path) -> Tree:
    """Everything below a folder by path; see :func:`differences`."""
    tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not _OF_OTHERS.fullmatch(name) and not _is_trial(path, name):
            tree[name] = Found(path.lstat().st_mode & 0o7777, _content(path, name))
    return tree


def _is_trial(path: Path, name: str) -> bool:
    return bool(_TRIAL.fullmatch(name)) and path.is_file() and path.read_bytes() in (b"", b"blat")


def _content(path: Path, name: str) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_dir():
        return "folder"
    if _NAME_ONLY.fullmatch(name):
        json.loads(path.read_text("utf-8"))  # whole, at least
        return "file"
    content = path.read_bytes()
    if _CARD.fullmatch(name):
        card = json.loads(content)
        card.pop("made", None)
        content = json.dumps(card).encode()
    elif path.name == "README.md":
        content = _TOOK.sub(b"", content)
    return hashlib.sha256(content).hexdigest()


def differences(found: Tree, expected: Tree) -> list[str]:
    """What a disturbed run left otherwise than an undisturbed one, a line each; empty if nothing.

    Of a folder that was left behind, only the folder is named. A killed process may leave temporary
    folders, and locks stay.
    """
    found = {name: one for name, one in found.items() if not is_temporary(name)}
    extra = {name for name in found.keys() - expected.keys() if not _is_lock(name)}
    tops = (name for name in extra if name.rpartition("/")[0] not in extra)
    lines = [f"left behind: {name}" for name in tops if not name.startswith("tmp/")]
    gone = {name for name in expected.keys() - found.keys() if not _is_lock(name)}
    lines += [f"missing: {name}" for name in gone]
    for name in found.keys() & expected.keys():
        if found[name].content != expected[name].content:
            lines.append(f"differs: {name}")
        elif found[name].mode != expected[name].mode:
            lines.append(f"mode {found[name].mode:o}, not {expected[name].mode:o}: {name}")
    return sorted(lines + litter(found))


def litter(tree: Tree) -> list[str]:
    """What nobody asked for, even of an undisturbed run."""
    places = [n for n in tree if n.startswith("tmp/") and n.count("/") == 1 and not _is_lock(n)]
    locks = filter(_is_lock, tree)
    return [f"left behind: {name}" for name in {*places, *locks, *filter(is_temporary, tree)}]


def is_temporary(name: str) -> bool:
    """Whether it is a temporary folder of ours, or in one."""
    return f"/{TEMPORARY}" in f"/{name}" or name.startswith("tmp/tstbench-")


def _is_lock(name: str) -> bool:
    return name.endswith(".lock")
