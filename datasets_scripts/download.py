"""One verified, resumable download with a progress bar."""

from __future__ import annotations

import time
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from socket import gaierror
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from ..errors import NO_ROOM, IntegrityError, MissingFileError, naming
from ..files import git_blob_id, lock, sync
from ..talk import progress

ATTEMPTS = 4
PAUSE = 0.1  # seconds before the second attempt, four times as long before each further one
TIMEOUT = 30.0  # seconds without any data
CHUNK = 1 << 16


def download(url: str, path: Path, *, blob: str, label: str) -> None:
    """Download ``url`` to ``path``; the file gets that name only when its content is verified.

    An interrupted download is kept beside it as ``.part`` and resumed, within this call or by
    the next one. Processes that want the same file take turns.

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
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with lock(path, "download"):
        if path.exists():  # another process was faster and has verified it
            return
        resumed = part.exists()
        _transfer(url, part, label)
        got = git_blob_id(part.read_bytes())
        if got != blob and resumed:  # what was there may not have been the beginning of this file
            part.unlink()
            _transfer(url, part, label)
            got = git_blob_id(part.read_bytes())
        if got != blob:
            part.unlink()
            raise IntegrityError(
                f"{url} is not the pinned version of {label}: git blob id {got}, expected {blob}. "
                f"Nothing was kept. A proxy or captive portal may have answered instead"
            )
        sync(part)
        part.replace(path)
        sync(path.parent)


def _transfer(url: str, part: Path, label: str) -> None:
    """Fill ``part``, resuming what is there; try again if the connection breaks."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _attempt(url, part, label)
            return
        except HTTPError as error:
            error.close()
            if error.code == 416 and part.exists():
                part.unlink()  # longer than the upstream file, so not the beginning of it
            elif error.code < 500 and error.code != 429:
                raise MissingFileError(f"{url}: HTTP {error.code} {error.reason}") from error
            problem: Exception = error
        except (URLError, HTTPException, OSError) as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise  # no fault of the connection: another attempt would find the disk as full
            problem = error
            if isinstance(getattr(error, "reason", None), gaierror):
                break  # no network
        if attempt < ATTEMPTS:
            time.sleep(PAUSE * 4 ** (attempt - 1))
    kept = part.stat().st_size if part.exists() else 0
    attempts = "1 attempt" if attempt == 1 else f"{attempt} attempts"
    raise MissingFileError(
        f"{url}: {problem} ({attempts}; {kept} bytes are kept and will be resumed)"
    ) from problem


def _attempt(url: str, part: Path, label: str) -> None:
    done = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"Range": f"bytes={done}-"} if done else {})  # noqa: S310
    with urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310 - the scheme was checked
        if not _continues(answer, done):
            done = 0  # the server sends the whole file
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length else None
        with (
            naming(part),
            part.open("ab" if done else "wb") as stream,
            progress(total, label.split("/")[-1], done=done, unit="B", unit_scale=True) as bar,
        ):
            while chunk := answer.read(CHUNK):
                stream.write(chunk)
                bar.update(len(chunk))
    if total is not None and part.stat().st_size < total:  # read() does not say so itself
        raise ConnectionError(f"connection lost after {part.stat().st_size} of {total} bytes")


def _continues(answer: HTTPResponse, done: int) -> bool:
    start = f"bytes {done}-"
    return answer.status == 206 and answer.headers.get("Content-Range", "").startswith(start)
