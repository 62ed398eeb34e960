"""The Hub's reading protocol on loopback, served from the repositories of a hub folder.

For machines without internet: the same code works once ``HF_ENDPOINT`` is set. The server is
read-only, so the standard library's HTTP server is enough. The existing mirror, olah 0.5.4, was
tried first: for local repositories it ignores byte ranges, so streaming a Parquet file of a few MB
fails; ``repo_exists`` and ``dataset_info`` find nothing; and ``whoami`` is sent to the real Hub
with the caller's token.
"""

from __future__ import annotations

import errno
import json
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from types import FrameType
from typing import IO, Any, cast
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from ...errors import InputError, TSTBenchError
from ...hosts import STATUS, Hosts
from ...talk import say
from ...untrusted import parse_yaml
from . import answers
from .answers import NotFoundError, card_of, entries_of
from .manifest import Repository, list_repositories
from .reported import Reported, as_json, is_result_file, parse_results
from .tasks import EVAL_FILE

Json = dict[str, Any]


def eval_results(repo: Repository) -> list[Json]:
    """``expand=evalResults`` of a model: its entries, and the reason for each file without any."""
    found: list[Json] = []
    for path in _files(repo):
        try:
            entries = parse_results(repo.source(path).read_bytes(), path)
        except InputError as error:
            found.append({"filename": path, "error": str(error)})
            continue
        found += [
            {"filename": path, "verified": False, "data": as_json(entry)} for entry in entries
        ]
    return found


def leaderboard(
    root: Path, dataset: Repository, *, task: str = "", derived: bool = False
) -> list[Json]:
    """``GET /api/datasets/{id}/leaderboard``: each task's entries, the highest value first.

    Args:
        root: the hub folder.
        dataset: one with an ``eval.yaml``.
        task: only this one; by default all, in the order of ``eval.yaml``.
        derived: also models that name a base model.
    """
    tasks = _tasks(dataset)
    known = [one for one in tasks if task in ("", one)]
    by_task: dict[str, list[Reported]] = {one: [] for one in known}
    for reported in _reported(root, derived=derived):
        about = reported.entry.dataset
        if about.id == dataset.repo_id and about.task_id in by_task:
            by_task[about.task_id].append(reported)
    return [row for one, entries in by_task.items() for row in _ranked(one, entries)]


def _ranked(task: str, entries: list[Reported]) -> Iterator[Json]:
    values = [one.entry.value for one in entries]
    for one in sorted(entries, key=lambda e: (-e.entry.value, e.model, e.filename)):
        owner = one.model.split("/")[0]
        source = as_json(one.entry).get("source")
        yield {
            "rank": 1 + sum(value > one.entry.value for value in values),
            "modelId": one.model,
            "value": one.entry.value,
            "filename": one.filename,
            "verified": False,
            "taskId": task,
            "author": {"type": "org", "name": owner, "fullname": owner, "avatarUrl": ""},
            **({"source": {**source, "isExternal": True}} if source else {}),
            **({"notes": one.entry.notes} if one.entry.notes else {}),
        }


def _reported(root: Path, *, derived: bool) -> Iterator[Reported]:
    for repo in list_repositories(root):
        if repo.kind != "model" or (not derived and card_of(repo).get("base_model")):
            continue
        for path in _files(repo):
            try:
                entries = parse_results(repo.source(path).read_bytes(), path)
            except InputError:
                continue  # the model's own answer says why
            yield from (Reported(repo.repo_id, path, one) for one in entries)


def _files(repo: Repository) -> list[str]:
    return list(filter(is_result_file, entries_of(repo)))


def _tasks(dataset: Repository) -> list[str]:
    try:
        there = EVAL_FILE in entries_of(dataset)
        found: Any = there and parse_yaml(dataset.source(EVAL_FILE).read_bytes(), EVAL_FILE)
        return [str(task["id"]) for task in found["tasks"]]
    except (InputError, TypeError, KeyError) as error:
        raise NotFoundError(
            "EntryNotFound", f"{dataset.repo_id} has no leaderboard: no {EVAL_FILE} with tasks"
        ) from error


PORT = 8090
HOST = "127.0.0.1"
BODY_LIMIT = 2**20  # bytes of a request: lists of paths are all that is ever sent

_API = re.compile(
    r"/api/(?P<kind>dataset|model|space)s/(?P<id>[^/]+/[^/]+)"
    r"(?:/(?P<what>revision|tree|paths-info|commits|refs|leaderboard)(?:/(?P<rev>[^/]+)(?:/(?P<path>.*))?)?)?/?"
)
_FILE = re.compile(
    r"/(?:(?P<kind>dataset|space)s/)?(?P<id>[^/]+/[^/]+)/(?:resolve|raw)/(?P<rev>[^/]+)/(?P<path>.+)"
)
_LIST = re.compile(r"/api/(?P<kind>dataset|model|space)s/?")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)
_DIGITS = 18  # no file has more bytes than such a number


class _BadRequestError(Exception):
    """What was asked cannot be understood; the message is the answer."""


class ServerError(TSTBenchError, OSError):
    """The server cannot start, because of its environment."""


def serve(
    root: Path | str,
    *,
    host: str = HOST,
    port: int = PORT,
    allowed_hosts: Collection[str] = (),
    announce: Callable[[str], None] = print,
) -> None:
    """Serve a hub folder until Ctrl-C or SIGTERM.

    Args:
        root: the hub folder; repositories written while serving are available at once.
        host: the address to listen on; by default other machines cannot reach it.
        port: the port, 0 for any free one.
        allowed_hosts: names that it answers to besides its own, see :mod:`tstbench.hosts`.
        announce: called once, when the server is ready, with the line that sets ``HF_ENDPOINT``.

    Raises:
        MissingFileError: there is no such folder.
        ServerError: the port is taken or not allowed.
    """
    server = make_server(root, host=host, port=port, allowed_hosts=allowed_hosts)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        announce(f"export HF_ENDPOINT={server.url}")
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        signal.signal(signal.SIGTERM, previous)


def make_server(
    root: Path | str, *, host: str = HOST, port: int = 0, allowed_hosts: Collection[str] = ()
) -> HubServer:
    """A server that is already listening; the caller runs ``serve_forever``, ``server_close``."""
    root = Path(root).expanduser().resolve()
    list_repositories(root)  # no folder is an error now, not at the first request
    try:
        return HubServer(root, host, port, allowed_hosts)
    except OverflowError as error:
        raise ServerError(f"{port} is not a port: choose one from 0 to 65535") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = "is in use, perhaps by another `tstbench hub serve`. Choose another --port, or 0"
        else:
            why = f"cannot be listened on: {error.strerror}. Choose another --host or --port"
        raise ServerError(f"{host}:{port} {why}") from error


class HubServer(ThreadingHTTPServer):
    """One thread per connection; threads end with the process."""

    daemon_threads = True

    def __init__(self, root: Path, host: str, port: int, allowed_hosts: Collection[str] = ()):
        self.root = root
        self.hosts = Hosts(host, allowed_hosts)
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        """``http://127.0.0.1:8090``"""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Bind without the parent class's name lookup, which can hang without a network."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes
    timeout = 60  # seconds that an idle connection is kept
    server_version = "tstbench"
    sys_version = ""

    @property
    def root(self) -> Path:
        return cast(HubServer, self.server).root

    def parse_request(self) -> bool:
        """Whether the request is answered; what is not has had its answer."""
        if not super().parse_request():
            return False
        named = self.headers.get_all("host") or []
        refusal = cast(HubServer, self.server).hosts.refusal(named[0] if len(named) == 1 else None)
        if refusal is not None:
            self.close_connection = True  # its body is not read
            self._json(STATUS, {"error": refusal})
        return refusal is None

    def do_GET(self) -> None:
        self._handle(None)

    def do_HEAD(self) -> None:
        self._handle(None)

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("content-length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= BODY_LIMIT or "chunked" in self.headers.get("transfer-encoding", ""):
            self.close_connection = True  # the body is not read: this connection is of no more use
            self._json(
                413, {"error": "This hub folder is read-only: publish with `tstbench hub push`"}
            )
            return
        self._handle(self.rfile.read(length))

    def do_PUT(self) -> None:
        self.close_connection = True
        self._json(405, {"error": "This hub folder is read-only: publish with `tstbench hub push`"})

    do_DELETE = do_PATCH = do_PUT  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: loading a model makes dozens of requests."""

    def _handle(self, body: bytes | None) -> None:
        try:
            url = _url(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            if api := _API.fullmatch(url.path):
                expand = parse_qs(url.query).get("expand", [])
                self._json(200, self._api(_unquoted(api), query, body, expand))
            elif body is not None:
                self.do_PUT()
            elif file := _FILE.fullmatch(url.path):
                self._send_file(_unquoted(file))
            elif wanted := _LIST.fullmatch(url.path):
                author, search = query.get("author", ""), query.get("search", "")
                self._json(
                    200, answers.listing(self.root, wanted["kind"], author=author, search=search)
                )
            elif url.path == "/api/whoami-v2":
                self._json(200, answers.whoami(self.root))
            elif url.path == "/":
                self._index()
            else:
                self._json(404, {"error": "The local hub does not know this address"})
        except _BadRequestError as error:
            self._json(400, {"error": str(error)})
        except NotFoundError as error:
            headers = {"X-Error-Code": error.code, "X-Error-Message": _header(str(error))}
            self._json(404, {"error": str(error)}, headers)
        except TSTBenchError as error:  # a broken repository: the client and stderr get the message
            say(f"tstbench: {error}")
            self._json(500, {"error": str(error)})

    def _api(
        self, at: dict[str, str], query: dict[str, str], body: bytes | None, expand: list[str]
    ) -> Any:
        repo = answers.repository(self.root, at["kind"], at["id"])
        what = at["what"]
        if what == "refs":
            return answers.refs(repo)
        commit = answers.commit_of(repo, at["rev"] or "main")
        if what == "paths-info":
            return answers.paths_info(repo, self._paths(body or b""))
        if what == "tree":
            recursive = query.get("recursive", "").lower() in {"1", "true"}
            return answers.tree(repo, at["path"], recursive=recursive)
        if what == "commits":
            return answers.commits(repo)
        if what == "leaderboard" and at["kind"] == "dataset":
            derived = query.get("base_model", "").lower() in {"0", "false"}
            task = query.get("task_id", "")
            return leaderboard(self.root, repo, task=task, derived=derived)
        info = answers.info(repo, commit, blobs=bool(query.get("blobs")))
        if "evalResults" in expand and at["kind"] == "model":
            info["evalResults"] = eval_results(repo)
        return info

    def _paths(self, body: bytes) -> list[str]:
        if "json" in self.headers.get("content-type", ""):
            paths = _json_paths(body)
        else:
            paths = parse_qs(body.decode("utf-8", "replace")).get("paths", [])
        return [paths] if isinstance(paths, str) else paths

    def _send_file(self, at: dict[str, str]) -> None:
        repo = answers.repository(self.root, at["kind"] or "model", at["id"])
        commit = answers.commit_of(repo, at["rev"])
        entry = answers.entry_of(repo, at["path"])
        source = repo.source(entry.path)
        headers = {
            "Content-Type": "application/octet-stream",  # never interpreted, whatever it is
            "X-Content-Type-Options": "nosniff",
            "X-Repo-Commit": commit,
            "ETag": f'"{entry.sha256 or entry.oid}"',
            "Accept-Ranges": "bytes",
        }
        span = _span(self.headers.get("range", ""), entry.size)
        if span is None:
            self._start(416, {**headers, "Content-Range": f"bytes */{entry.size}"}, 0)
            return
        first, last = span
        status = 200
        if (first, last) != (0, entry.size - 1):
            status = 206
            headers["Content-Range"] = f"bytes {first}-{last}/{entry.size}"
        self._start(status, headers, last - first + 1)
        if self.command != "HEAD":
            with source.open("rb") as stream:
                stream.seek(first)
                self._copy(stream, last - first + 1)

    def _copy(self, stream: IO[bytes], length: int) -> None:
        while length > 0 and (block := stream.read(min(length, 2**18))):
            self.wfile.write(block)
            length -= len(block)

    def _index(self) -> None:
        names = [f"{repo.kind:8}{repo.repo_id}\n" for repo in list_repositories(self.root)]
        text = "A local hub, read-only. Repositories:\n\n" + "".join(names)
        self._send(200, text.encode(), {"Content-Type": "text/plain; charset=utf-8"})

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value, default=str).encode()  # dates in a card are not JSON
        self._send(status, body, {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self._start(status, headers, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _start(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


def _unquoted(match: re.Match[str]) -> dict[str, str]:
    """The parts of an address, unquoted after splitting: a ``%2F`` does not end a part."""
    return {name: unquote(part or "") for name, part in match.groupdict().items()}


def _url(target: str) -> SplitResult:
    try:
        url = urlsplit(target)
    except ValueError as error:  # half of an IPv6 address
        raise _BadRequestError(f"This is not an address: {error}") from error
    if "\0" in unquote(target):
        raise _BadRequestError("An address with a NUL character leads nowhere")
    return url


def _json_paths(body: bytes) -> list[str] | str:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _BadRequestError("The request is not JSON, or nested too deep") from error
    paths = found.get("paths") if isinstance(found, dict) else None
    several = isinstance(paths, list) and all(isinstance(path, str) for path in paths)
    if not (several or isinstance(paths, str)):
        raise _BadRequestError('The request needs "paths": a path, or a list of them')
    return cast("list[str] | str", paths)


def _header(text: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", text)


def _span(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a Range header; None if it cannot be satisfied (RFC 9110, 14.1).

    >>> _span("bytes=2-3", 10), _span("bytes=-4", 10), _span("bytes=8-99", 10), _span("", 10)
    ((2, 3), (6, 9), (8, 9), (0, 9))
    >>> _span("bytes=10-", 10) is None
    True
    """
    match = _RANGE.fullmatch(header.strip())
    if not match or match.groups() == ("", ""):
        return 0, size - 1  # none, or several ranges: the whole file is a valid answer
    first, last = match.groups()
    if len(first) > _DIGITS or len(last) > _DIGITS:
        raise _BadRequestError(f"A Range has numbers of at most {_DIGITS} digits")
    if first == "":
        start, end = max(0, size - int(last)), size - 1
    else:
        start, end = int(first), min(int(last or size - 1), size - 1)
    return (start, end) if start <= end and start < size else None
