"""Upstream files: pinned by git blob id, found in a local mirror, else downloaded and verified.

``upstream.json`` lists every file the benchmark reads: repository, commit, path, blob id and, where
somebody has seen the file, its size. A blob id is the SHA-1 of ``blob <size>`` and the content, so
it comes from the repository's tree and verifies a download that nobody here ever saw.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import IntegrityError, MissingFileError, unknown_name
from ..files import git_blob_id, home

MIRROR_VARIABLE = "TSTBENCH_SOURCES"
BASE_URL = "https://raw.githubusercontent.com"

BENCHMARK = "FayeXXX/A-Benchmark-of-Text-Style-Transfer"
LI_2018 = "lijuncen/Sentiment-and-Style-Transfer"
MIR_2019 = "passeul/style-transfer-model-evaluation"
COLA = "nyu-mll/CoLA-baselines"


@dataclass(frozen=True)
class UpstreamFile:
    """One file of somebody's public git repository, at one commit."""

    repository: str
    commit: str
    path: str
    blob: str  # git blob id, 40 hex digits
    size: int | None  # bytes; None where nobody here has seen the file

    @property
    def name(self) -> str:
        """``owner/repository/path``: what error messages call it."""
        return f"{self.repository}/{self.path}"

    def locate(self, _data_dir: Path | str | None = None) -> Path:
        """Where the verified file lies; see :func:`fetch`."""
        return fetch(self)

    def digest(self, _data_dir: Path | str | None = None) -> str:
        """The git blob id, known without reading the file."""
        return self.blob


@dataclass(frozen=True)
class PackageFile:
    """A file of our own writing that ships inside the package."""

    path: str  # below datasets_scripts/

    @property
    def name(self) -> str:
        """``tstbench/datasets_scripts/...``"""
        return f"tstbench/datasets_scripts/{self.path}"

    def locate(self, _data_dir: Path | str | None = None) -> Path:
        """Where the file lies in this installation."""
        path = Path(__file__).parent / self.path
        if not path.exists():
            raise MissingFileError(f"{self.name} is missing: the installation is incomplete")
        return path

    def digest(self, _data_dir: Path | str | None = None) -> str:
        """The git blob id of what is there now."""
        return git_blob_id(self.locate().read_bytes())


@dataclass(frozen=True)
class UserFile:
    """A file of a licensed corpus, in the user's own copy."""

    path: str  # below the corpus folder
    corpus: str  # the name of that folder
    variable: str  # environment variable that holds the default place
    howto: str  # how one gets the corpus

    @property
    def name(self) -> str:
        """``corpus/path``: the same on every machine."""
        return f"{self.corpus}/{self.path}"

    def locate(self, data_dir: Path | str | None = None) -> Path:
        """Where the file lies, below ``data_dir`` or the environment variable's folder.

        The folder may be the corpus or the folder that holds it.

        Raises:
            MissingFileError: no folder given, or no such file in it.
        """
        given = data_dir or os.environ.get(self.variable)
        if not given:
            raise MissingFileError(
                f"{self.corpus} is licensed and never downloaded: pass data_dir, or set "
                f"{self.variable} to your copy. {self.howto}"
            )
        folder = Path(given).expanduser()
        for place in (folder / self.path, folder / self.corpus / self.path):
            if place.exists():
                return place
        raise MissingFileError(
            f"{self.path} is not in {folder}: data_dir (or {self.variable}) must be the folder "
            f"{self.corpus} as its licensor ships it. {self.howto}"
        )

    def digest(self, data_dir: Path | str | None = None) -> str:
        """The git blob id of the user's file."""
        return git_blob_id(self.locate(data_dir).read_bytes())


SourceFile = UpstreamFile | PackageFile | UserFile


@cache
def _table() -> dict[str, dict]:
    return json.loads(Path(__file__).with_name("upstream.json").read_text("utf-8"))


def upstream_file(repository: str, path: str) -> UpstreamFile:
    """The pinned file.

    Raises:
        UnknownNameError: that repository or path is not pinned.

    >>> upstream_file(BENCHMARK, "Dataprepro/datasets/yelp/test.0").size
    25351
    """
    if repository not in _table():
        raise unknown_name("upstream repository", repository, _table())
    entry = _table()[repository]
    if path not in entry["files"]:
        near = [known for known in entry["files"] if known.rsplit("/")[-1] == path.rsplit("/")[-1]]
        raise unknown_name(f"file of {repository}", path, near or entry["files"])
    blob, size = entry["files"][path]
    return UpstreamFile(repository, entry["commit"], path, blob, size)


def upstream_files(repository: str, prefix: str = "") -> tuple[UpstreamFile, ...]:
    """All pinned files of a repository below a path prefix, sorted by path."""
    if repository not in _table():
        raise unknown_name("upstream repository", repository, _table())
    paths = sorted(p for p in _table()[repository]["files"] if p.startswith(prefix))
    return tuple(upstream_file(repository, path) for path in paths)


def fetch(file: UpstreamFile, *, base_url: str | None = None) -> Path:
    """The path of a verified copy: local mirror, else earlier download, else a download now.

    Args:
        file: what is wanted.
        base_url: where ``/<owner>/<repository>/<commit>/<path>`` is served; default
            ``$TSTBENCH_UPSTREAM_URL``, else raw.githubusercontent.com.

    Raises:
        MissingFileError: it is nowhere and cannot be downloaded.
        IntegrityError: the content is not what the blob id promises. A wrong download is deleted;
            a wrong file in the mirror is left for its owner to look at.
    """
    mirror = os.environ.get(MIRROR_VARIABLE)
    if mirror:
        path = Path(mirror).expanduser() / file.repository / file.path
        if path.exists():
            _verify(path, file, f"Replace it, or unset {MIRROR_VARIABLE} to download the file")
            return path
    path = home() / "downloads" / file.repository / file.commit / file.path
    if path.exists():
        _verify(path, file, "Delete it and try again")
        return path
    # HF_HUB_OFFLINE is what the libraries around us obey too: one switch for all of them.
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        raise MissingFileError(f"{_absent(file, mirror)}. HF_HUB_OFFLINE is set: no download tried")
    from .download import download  # only now: reading what is there needs no network stack

    base = (base_url or os.environ.get("TSTBENCH_UPSTREAM_URL") or BASE_URL).rstrip("/")
    url = f"{base}/{file.repository}/{file.commit}/{file.path}"
    try:
        download(url, path, blob=file.blob, label=file.name)
    except MissingFileError as error:
        raise MissingFileError(f"{_absent(file, mirror)}. The download failed: {error}") from error
    return path


def _verify(path: Path, file: UpstreamFile, advice: str) -> None:
    got = git_blob_id(path.read_bytes())
    if got != file.blob:
        raise IntegrityError(
            f"{path} is not {file.name} at commit {file.commit[:12]}: git blob id {got}, "
            f"promised {file.blob}. {advice}"
        )


def _absent(file: UpstreamFile, mirror: str | None) -> str:
    where = f"not in {MIRROR_VARIABLE}={mirror}" if mirror else f"{MIRROR_VARIABLE} is not set"
    return (
        f"{file.path} of https://github.com/{file.repository} (commit {file.commit}) is needed; "
        f"{where} (a mirror is laid out <owner>/<repository>/<path>)"
    )
