"""One verified download with a progress bar."""

from __future__ import annotations

import time
from http.client import HTTPException
from pathlib import Path
from socket import gaierror
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

from ..errors import IntegrityError, MissingFileError
from ..files import git_blob_id, lock, write_bytes
from ..talk import progress

ATTEMPTS = 4
PAUSE = 0.1  # seconds before the second attempt, four times as long before each further one
TIMEOUT = 30.0  # seconds without any data
CHUNK = 1 << 16


def download(url: str, path: Path, *, blob: str, label: str) -> None:
    """Download ``url`` to ``path``; the file gets that name only when its content is verified.

    Processes that want the same file take turns.

    Args:
        url: ``http`` or ``https``.
        path: the final name; its folder is created.
        blob: the git blob id that the content must have.
        label: what the progress bar and the errors call the file.

    Raises:
        MissingFileError: no such file on the server, no network, or every attempt failed.
        IntegrityError: the content is wrong; nothing is kept.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        raise MissingFileError(f"{url} is not a web address: http or https is needed")
    url = parts._replace(path=quote(parts.path)).geturl()
    with lock(path, "download"):
        if path.exists():  # another process was faster and has verified it
            return
        content = _content(url, label)
        got = git_blob_id(content)
        if got != blob:
            raise IntegrityError(
                f"{url} is not the pinned version of {label}: git blob id {got}, expected {blob}. "
                f"Nothing was kept. A proxy or captive portal may have answered instead"
            )
        write_bytes(path, content)


def _content(url: str, label: str) -> bytes:
    """The server's file; asks again if the connection breaks."""
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
    content = bytearray()
    with urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310 - the scheme was checked
        length = answer.headers.get("Content-Length")
        total = int(length) if length else None
        with progress(total, label.split("/")[-1], unit="B", unit_scale=True) as bar:
            while chunk := answer.read(CHUNK):
                content += chunk
                bar.update(len(chunk))
    if total is not None and len(content) < total:  # read() does not say so itself
        raise ConnectionError(f"connection lost after {len(content)} of {total} bytes")
    return bytes(content)
