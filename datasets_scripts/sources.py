"""Upstream files: pinned by git blob id, found in a local mirror or downloaded and verified.

``upstream.json`` lists every file the benchmark reads: repository, commit, path, blob id and, if
known, its size. A blob id is the SHA-1 of ``blob <size>`` and the content, so
it can be read from the repository's tree and verifies a download without a prior copy.
"""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import ClassVar

from ..console import progress
from ..errors import IntegrityError, MissingFileError, unknown_name
from ..files import file_state, git_blob_id, home, lock, read_lines, write_bytes
from .cleaning import is_blank
from .licensed_copies import remember

MIRROR_VARIABLE = "TSTBENCH_SOURCES"
BASE_URL = "https://raw.githubusercontent.com"
ATTEMPTS = 4
PAUSE = 0.1  # seconds before the second attempt, four times as long before each further one
TIMEOUT = 30.0  # seconds without any data
CHUNK = 1 << 16

BENCHMARK = "FayeXXX/A-Benchmark-of-Text-Style-Transfer"
LI_2018 = "lijuncen/Sentiment-and-Style-Transfer"
MIR_2019 = "passeul/style-transfer-model-evaluation"
COLA = "nyu-mll/CoLA-baselines"
PAULI_2025 = "AmaliePauli/style_transfer_evaluation"


class SourceFile(ABC):
    """Where sentences come from: a file with one a line, unless a subclass reads it otherwise."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages and cards call it: the same on every machine."""

    @property
    @abstractmethod
    def commit(self) -> str:
        """The revision it is pinned to, empty if there is none."""

    def locate(self, data_dir: Path | str | None = None) -> Path:
        """Where the file is; raises :class:`MissingFileError` if it does not exist."""
        raise NotImplementedError  # a column of a table is no file

    def require(self, data_dir: Path | str | None = None) -> None:
        """Raise :class:`MissingFileError` if it does not exist."""
        self.locate(data_dir)

    def state(self, data_dir: Path | str | None = None) -> str | None:
        """What changes whenever its content does, not read; ``None`` if only reading can tell."""
        try:
            return file_state(self.locate(data_dir))
        except MissingFileError:
            return f"{self.name} absent"

    def digest(self, data_dir: Path | str | None = None) -> str:
        """The git blob id of its current content."""
        return git_blob_id(self.locate(data_dir).read_bytes())

    def lines(self, data_dir: Path | str | None = None) -> list[str]:
        """Its sentences, in order."""
        return read_lines(self.locate(data_dir))

    def number(self, row: int) -> int:
        """The line, counted from 1, of sentence ``row``, counted from 0."""
        return row + 1

    def rewrites(self, data_dir: Path | str | None = None) -> list[tuple[str, ...]]:
        """Its rewrites of each sentence, in order: one per line, none where the line is blank."""
        return [() if is_blank(line) else (line,) for line in self.lines(data_dir)]


@dataclass(frozen=True)
class UpstreamFile(SourceFile):
    """One file of a public git repository, at one commit."""

    repository: str
    path: str
    blob: str  # git blob id, 40 hex digits
    size: int | None = None  # bytes; None if unknown
    commit: str = ""

    @property
    def name(self) -> str:
        """``owner/repository/path``: what error messages call it."""
        return f"{self.repository}/{self.path}"

    def locate(self, _data_dir: Path | str | None = None) -> Path:
        """Where the verified file is; see :func:`fetch`."""
        return fetch(self)

    def state(self, _data_dir: Path | str | None = None) -> str | None:
        """Its place, size and times; one that could not be had is asked for again the next day."""
        there = next((path for path, _ in _places(self) if path.exists()), None)
        if there is not None:
            return file_state(there)
        return f"{self.name} absent" if _offline() else f"on {date.today()} {self.name} absent"

    def digest(self, _data_dir: Path | str | None = None) -> str:
        """The git blob id, known without reading the file."""
        return self.blob


@dataclass(frozen=True)
class PackageFile(SourceFile):
    """A file of our own writing that ships inside the package."""

    path: str  # below datasets_scripts/
    commit: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """``tstbench/datasets_scripts/...``"""
        return f"tstbench/datasets_scripts/{self.path}"

    def locate(self, _data_dir: Path | str | None = None) -> Path:
        """Where the file is in this installation."""
        path = Path(__file__).parent / self.path
        if not path.exists():
            raise MissingFileError(f"{self.name} is missing: the installation is incomplete")
        return path


@dataclass(frozen=True)
class UserFile(SourceFile):
    """A file of a licensed corpus, in the user's own copy."""

    path: str  # below the corpus folder
    corpus: str  # the name of that folder
    variable: str  # environment variable with the default folder
    howto: str  # how to get the corpus
    commit: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """``corpus/path``: the same on every machine."""
        return f"{self.corpus}/{self.path}"

    def locate(self, data_dir: Path | str | None = None) -> Path:
        """Where the file is, below ``data_dir`` or the environment variable's folder.

        The folder may be that of the corpus or its parent. It is remembered: what is published
        later is checked for sentences of it (:mod:`.licensed_copies`).

        Raises:
            MissingFileError: no folder given, or no such file in it.
        """
        root = self._root(data_dir)
        remember(self.variable, root)
        return root / self.path

    def state(self, data_dir: Path | str | None = None) -> str | None:
        """Its place, size and times; the folder is not remembered."""
        try:
            return file_state(self._root(data_dir) / self.path)
        except MissingFileError:
            return f"{self.name} absent"

    def _root(self, data_dir: Path | str | None) -> Path:
        given = data_dir or os.environ.get(self.variable)
        if not given:
            raise MissingFileError(
                f"{self.corpus} is licensed and never downloaded: pass data_dir, or set "
                f"{self.variable} to your copy. {self.howto}"
            )
        folder = Path(given).expanduser()
        for root in (folder, folder / self.corpus):
            if (root / self.path).exists():
                return root
        raise MissingFileError(
            f"{self.path} is not in {folder}: data_dir (or {self.variable}) must be the folder "
            f"{self.corpus} as its licensor ships it. {self.howto}"
        )


@cache
def _table() -> dict[str, dict]:
    return json.loads(Path(__file__).with_name("upstream.json").read_text("utf-8"))


def upstream_file(repository: str, path: str) -> UpstreamFile:
    """The pinned file at a path of a repository.

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
    return UpstreamFile(repository, path, blob, size, entry["commit"])


def benchmark_file(path: str) -> UpstreamFile:
    """A file of the benchmark paper's datasets."""
    return upstream_file(BENCHMARK, f"Dataprepro/datasets/{path}")


def upstream_files(repository: str, prefix: str = "") -> tuple[UpstreamFile, ...]:
    """All pinned files of a repository below a path prefix, sorted by path."""
    if repository not in _table():
        raise unknown_name("upstream repository", repository, _table())
    paths = sorted(p for p in _table()[repository]["files"] if p.startswith(prefix))
    return tuple(upstream_file(repository, path) for path in paths)


def fetch(file: UpstreamFile) -> Path:
    """The path of a verified copy: from the local mirror, an earlier download, or a new download.

    The server of ``/<owner>/<repository>/<commit>/<path>`` is ``$TSTBENCH_UPSTREAM_URL``, or else
    raw.githubusercontent.com.

    Raises:
        MissingFileError: it cannot be found or downloaded.
        IntegrityError: the content does not match the blob id. A wrong download is deleted;
            a wrong file in the mirror is left for its owner to check.
    """
    for path, advice in _places(file):
        if path.exists():
            _verify(path, file, advice)
            return path
    mirror = os.environ.get(MIRROR_VARIABLE)
    if _offline():
        absent = _absent(file, mirror)
        raise MissingFileError(f"{absent}. HF_HUB_OFFLINE is set, so it was not downloaded")
    base = (os.environ.get("TSTBENCH_UPSTREAM_URL") or BASE_URL).rstrip("/")
    url = f"{base}/{file.repository}/{file.commit}/{file.path}"
    try:
        _download(url, path, file)
    except MissingFileError as error:
        raise MissingFileError(f"{_absent(file, mirror)}. The download failed: {error}") from error
    return path


def _download(url: str, path: Path, file: UpstreamFile) -> None:
    """Download ``url`` to ``path``, verified; processes that want the same file take turns."""
    from urllib.parse import quote, urlsplit  # only now: reading files needs no network code

    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        raise MissingFileError(f"{url} is not a web address: http or https is needed")
    url = parts._replace(path=quote(parts.path)).geturl()
    with lock(path, "download"):
        if path.exists():  # another process was faster and has verified it
            return
        content = _content(url, file.name.split("/")[-1])
        got = git_blob_id(content)
        if got != file.blob:
            raise IntegrityError(
                f"{url} is not the pinned version of {file.name}: git blob id {got}, expected "
                f"{file.blob}. Nothing was kept. A proxy or captive portal may have answered "
                "instead"
            )
        write_bytes(path, content)


def _content(url: str, label: str) -> bytes:
    """The server's file; asks again if the connection breaks."""
    from http.client import HTTPException
    from socket import gaierror
    from urllib.error import HTTPError, URLError

    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _answer(url, label)
        except HTTPError as error:
            error.close()
            if error.code < 500 and error.code != 429:
                raise MissingFileError(f"{url}: HTTP {error.code} {error.reason}") from error
            problem: Exception = error
        except (URLError, HTTPException, OSError) as error:
            problem = error
            if isinstance(getattr(error, "reason", None), gaierror):
                break  # no network
        if attempt < ATTEMPTS:
            time.sleep(PAUSE * 4 ** (attempt - 1))
    attempts = "1 attempt" if attempt == 1 else f"{attempt} attempts"
    raise MissingFileError(f"{url}: {problem} ({attempts})") from problem


def _answer(url: str, label: str) -> bytes:
    from urllib.request import urlopen

    content = bytearray()
    with urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310 - the scheme was checked
        length = answer.headers.get("Content-Length")
        total = int(length) if length else None
        with progress(total, label, unit="B", unit_scale=True) as bar:
            while chunk := answer.read(CHUNK):
                content += chunk
                bar.update(len(chunk))
    if total is not None and len(content) < total:  # read() does not say so itself
        raise ConnectionError(f"connection lost after {len(content)} of {total} bytes")
    return bytes(content)


def pinned_names() -> frozenset[str]:
    """The pinned files, as they are called below ``downloads`` once they are there."""
    return frozenset(_name(file) for repository in _table() for file in upstream_files(repository))


def _name(file: UpstreamFile) -> str:
    return f"{file.repository}/{file.commit}/{file.path}"


def _places(file: UpstreamFile) -> list[tuple[Path, str]]:
    """Where a copy may be, the download last, and what to do if it is not the pinned one."""
    places = [(home() / "downloads" / _name(file), "Delete it and try again")]
    if mirror := os.environ.get(MIRROR_VARIABLE):
        advice = f"Replace it, or unset {MIRROR_VARIABLE} to download the file"
        places.insert(0, (Path(mirror).expanduser() / file.repository / file.path, advice))
    return places


def _offline() -> bool:
    """Whether nothing may be downloaded; the libraries we use obey the same switch."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}


def _verify(path: Path, file: UpstreamFile, advice: str) -> None:
    got = git_blob_id(path.read_bytes())
    if got != file.blob:
        raise IntegrityError(
            f"{path} is not {file.name} at commit {file.commit[:12]}: git blob id {got}, "
            f"expected {file.blob}. {advice}"
        )


def _absent(file: UpstreamFile, mirror: str | None) -> str:
    where = f"not in {MIRROR_VARIABLE}={mirror}" if mirror else f"{MIRROR_VARIABLE} is not set"
    return (
        f"{file.path} of https://github.com/{file.repository} (commit {file.commit}) is needed; "
        f"{where} (files in a mirror are at <owner>/<repository>/<path>)"
    )
