"""The Hub's reading protocol on loopback, served from the repositories of a hub folder.

For machines without internet: the same code works once ``HF_ENDPOINT`` is set. The server is
read-only, so the standard library's HTTP server is enough. The existing mirror, olah 0.5.4, was
tried first: for local repositories it ignores byte ranges, so streaming a Parquet file of a few MB
fails; ``repo_exists`` and ``dataset_info`` find nothing; and ``whoami`` is sent to the real Hub
with the caller's token.

A path from an address is only looked up among the names that the manifest lists and never joined to
a folder, so no address can lead out of the repositories. Each repository has one revision, what was
built last: ``main``, its tags, and its commit id.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from socketserver import TCPServer
from types import FrameType
from typing import Any, ClassVar, cast
from urllib.parse import parse_qs, unquote, urlsplit

from ...console import say
from ...errors import InputError, TSTBenchError
from ...files import git_blob_id
from ...hosts import STATUS, Hosts
from ...untrusted import parse_yaml
from .eval_results import EVAL_FILE, Reported, as_json, is_result_file, parse_results
from .manifest import MANIFEST, File, Repository, find_repository, list_repositories

PORT = 8090
HOST = "127.0.0.1"
BODY_LIMIT = 2**20  # bytes of a request: lists of paths are all that is ever sent
DATE = "2025-01-01T00:00:00.000Z"  # of every revision: equal content has equal answers
LARGE = (".arpa", ".arrow", ".bin", ".npy", ".npz", ".onnx", ".parquet", ".safetensors")

_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
_SHORTEST = 7  # digits of an abbreviated commit id
_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)
_DIGITS = 18  # no file has more bytes than such a number
_READ_ONLY = "This hub folder is read-only: publish with `tstbench hub push`"

Json = dict[str, Any]


class ServerError(TSTBenchError, OSError):
    """The server cannot start, because of its environment."""


class AnswerError(Exception):
    """An answer that is no success; clients act on the code in its headers."""

    def __init__(self, status: int, message: str, code: str = ""):
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Entry:
    """One file as the Hub lists it."""

    path: str
    file: File
    oid: str  # git's id of its content; of a large file, of its pointer

    @classmethod
    def of(cls, path: str, file: File, read: Callable[[], bytes]) -> Entry:
        """The entry of a file whose content is read only if it is small."""
        large = path.endswith(LARGE)
        content = _POINTER.format(sha256=file.sha256, size=file.size).encode() if large else read()
        return cls(path, file, git_blob_id(content))

    @property
    def etag(self) -> str:
        """What clients recognise the content by."""
        return self.file.sha256 if self.path.endswith(LARGE) else self.oid

    def lfs(self) -> Json:
        """What is said of a large file; of others nothing."""
        if not self.path.endswith(LARGE):
            return {}
        pointer = len(_POINTER.format(sha256=self.file.sha256, size=self.file.size))
        # The two spellings of the checksum: `oid` in trees, `sha256` in the older answers.
        facts = {"oid": self.file.sha256, "sha256": self.file.sha256, "size": self.file.size}
        return {"lfs": {**facts, "pointerSize": pointer}}

    def in_tree(self) -> Json:
        """Its line in a listing."""
        facts = {"type": "file", "path": self.path, "size": self.file.size, "oid": self.oid}
        return {**facts, **self.lfs()}


@dataclass(frozen=True)
class Snapshot:
    """A repository's one revision, and how its files are read."""

    kind: str
    repo_id: str
    commit: str
    title: str  # of the commit
    tags: Mapping[str, str]  # commit ids by tag
    entries: Mapping[str, Entry]  # by path, in order
    read: Callable[[str], Path | bytes]

    def content(self, path: str) -> bytes:
        """The bytes of a file."""
        found = self.read(path)
        return found if isinstance(found, bytes) else found.read_bytes()

    def card(self) -> Json:
        """The YAML front matter of README.md as the Hub reads it; empty if there is none."""
        if "README.md" not in self.entries:
            return {}
        parts = self.content("README.md").decode("utf-8", "replace").split("---\n", 2)
        if len(parts) < 3 or parts[0].strip():
            return {}
        try:
            card = parse_yaml(parts[1].encode(), "README.md")
        except InputError:
            return {}
        return card if isinstance(card, dict) else {}

    def results(self) -> Iterator[Reported | Json]:
        """What a model reports of itself; for a file that cannot be read, the reason."""
        for path in filter(is_result_file, self.entries):
            try:
                entries = parse_results(self.content(path), path)
            except InputError as error:
                yield {"filename": path, "error": str(error)}
                continue
            yield from (Reported(self.repo_id, path, one) for one in entries)


def _snapshot(repo: Repository) -> Snapshot:
    return _snapshot_at(repo, repo.commit)


@lru_cache(maxsize=512)  # by its commit; a hub folder has some dozens
def _snapshot_at(repo: Repository, commit: str) -> Snapshot:
    manifest, content = repo.manifest(), repo.source(MANIFEST).read_bytes()
    itself = File(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    entries = {
        path: Entry.of(path, file, lambda path=path: repo.source(path).read_bytes())  # type: ignore[misc]
        for path, file in sorted({**manifest.files, MANIFEST: itself}.items())
    }
    title = f"Built by {manifest.builder}"
    tags = dict.fromkeys(manifest.tags, commit)
    return Snapshot(repo.kind, repo.repo_id, commit, title, tags, entries, repo.source)


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
        if not list_repositories(server.root):  # a folder of results, perhaps
            say(f"careful: {root} has no repositories: serve what `tstbench hub build` wrote")
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


class Handler(BaseHTTPRequestHandler):
    """Each endpoint is a method, which gives JSON, or has sent an answer and gives None."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes
    timeout = 60  # seconds that an idle connection is kept
    server_version = "tstbench"
    sys_version = ""

    _KIND, _ID = "(dataset|model|space)s", "([^/]+/[^/]+)"
    routes: ClassVar[Mapping[str, str]] = {
        f"/api/{_KIND}/?": "listing",
        f"/api/{_KIND}/{_ID}(?:/revision/([^/]+))?/?": "info",
        f"/api/{_KIND}/{_ID}/tree/([^/]+)(?:/(.*))?": "tree",
        f"/api/{_KIND}/{_ID}/paths-info/([^/]+)": "paths_info",
        f"/api/{_KIND}/{_ID}/commits/([^/]+)": "commits",
        f"/api/{_KIND}/{_ID}/refs": "refs",
        f"/api/(dataset)s/{_ID}/leaderboard": "leaderboard",
        "/api/whoami-v2": "whoami",
        f"/(?:(dataset|space)s/)?{_ID}/(?:resolve|raw)/([^/]+)/(.+)": "file",
        "/": "index",
    }
    posted: ClassVar[Collection[str]] = ("paths_info",)

    def snapshots(self) -> list[Snapshot]:
        """Every repository that is served."""
        return [_snapshot(repo) for repo in list_repositories(cast(HubServer, self.server).root)]

    def snapshot(self, kind: str, repo_id: str, revision: str = "main") -> Snapshot:
        """A repository at a branch, tag or (abbreviated) commit id."""
        repo = find_repository(cast(HubServer, self.server).root, kind, repo_id)
        if repo is None:
            raise AnswerError(404, f"Repository not found: {kind} {repo_id}", "RepoNotFound")
        found = _snapshot(repo)
        abbreviated = len(revision) >= _SHORTEST and found.commit.startswith(revision)
        if not (revision in ("main", *found.tags) or abbreviated):
            raise AnswerError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return found

    def parse_request(self) -> bool:
        """Whether the request is answered; what is not has had its answer."""
        if not super().parse_request():
            return False
        named = self.headers.get_all("host") or []
        refusal = cast(HubServer, self.server).hosts.refusal(named[0] if len(named) == 1 else None)
        if refusal is not None:
            self.close_connection = True  # its body is not read
            self.send_json(STATUS, {"error": refusal})
        return refusal is None

    def do_GET(self) -> None:
        """Answer."""
        self.answer(b"")

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """Answer a list of paths, and nothing longer."""
        try:
            length = int(self.headers.get("content-length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= BODY_LIMIT or "chunked" in self.headers.get("transfer-encoding", ""):
            self.close_connection = True  # the body is not read: this connection is of no more use
            self.send_json(413, {"error": _READ_ONLY})
        else:
            self.answer(self.rfile.read(length))

    def do_PUT(self) -> None:
        """Refuse."""
        self.close_connection = True
        self.send_json(405, {"error": _READ_ONLY})

    do_DELETE = do_PATCH = do_PUT  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: loading a model makes dozens of requests."""

    def answer(self, body: bytes) -> None:
        """Find the endpoint that is asked for, and send what it says."""
        self.body = body
        try:
            found = self.ask()
            if found is not None:
                self.send_json(200, found)
        except AnswerError as error:
            said = {"X-Error-Message": re.sub(r"[^\x20-\x7e]", "?", str(error))}
            headers = {**said, "X-Error-Code": error.code} if error.code else said
            self.send_json(error.status, {"error": str(error)}, headers)
        except TSTBenchError as error:  # a broken repository: the client and stderr get the message
            say(f"tstbench: {error}")
            self.send_json(500, {"error": str(error)})

    def ask(self) -> Any:
        """What the endpoint of this request says."""
        try:
            url = urlsplit(self.path)
        except ValueError as error:  # half of an IPv6 address
            raise AnswerError(400, f"This is not an address: {error}") from error
        if "\0" in unquote(self.path):
            raise AnswerError(400, "An address with a NUL character leads nowhere")
        self.asked = parse_qs(url.query)
        self.query = {key: values[0] for key, values in self.asked.items()}
        for pattern, name in self.routes.items():
            if match := re.fullmatch(pattern, url.path):
                if self.command == "POST" and name not in self.posted:
                    break
                # Unquoted after splitting: a %2F does not end a part.
                parts = [None if part is None else unquote(part) for part in match.groups()]
                return getattr(self, name)(*parts)
        if self.command == "POST":
            raise AnswerError(405, _READ_ONLY)
        raise AnswerError(404, "The local hub does not know this address")

    # -- endpoints -------------------------------------------------------------------------------

    def listing(self, kind: str) -> list[Json]:
        """``GET /api/{kind}s?author=&search=``."""
        author, search = self.query.get("author", ""), self.query.get("search", "").lower()
        return [
            self.about(one)
            for one in self.snapshots()
            if one.kind == kind
            and (not author or one.repo_id.startswith(f"{author}/"))
            and search in one.repo_id.lower()
        ]

    def info(self, kind: str, repo_id: str, revision: str | None) -> Json:
        """``GET /api/{kind}s/{id}[/revision/{rev}]``."""
        found = self.snapshot(kind, repo_id, revision or "main")
        answer = self.about(found)
        if "evalResults" in self.asked.get("expand", []) and kind == "model":
            answer["evalResults"] = [
                {"filename": one.filename, "verified": False, "data": as_json(one.entry)}
                if isinstance(one, Reported)
                else one
                for one in found.results()
            ]
        return answer

    def about(self, found: Snapshot) -> Json:
        """What is said of a repository."""
        card, entries = found.card(), found.entries.values()
        siblings: list[Json] = [{"rfilename": entry.path} for entry in entries]
        if self.query.get("blobs"):
            siblings = [
                {"rfilename": e.path, "size": e.file.size, "blobId": e.oid, **e.lfs()}
                for e in entries
            ]
        tags = card.get("tags")
        answer = {
            "_id": found.commit[:24],
            "id": found.repo_id,
            "author": found.repo_id.split("/")[0],
            "sha": found.commit,
            "lastModified": DATE,
            "createdAt": DATE,
            "private": False,
            "gated": False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
            "cardData": card,
            "siblings": siblings,
        }
        if found.kind == "model":
            answer["modelId"] = found.repo_id
            if "model-index" in card:
                answer["model-index"] = card["model-index"]
        if found.kind == "space":
            answer["sdk"] = card.get("sdk", "static")
        return answer

    def tree(self, kind: str, repo_id: str, revision: str, folder: str | None) -> list[Json]:
        """``GET .../tree/{rev}/{folder}``: the folders, then the files, below one folder."""
        entries = self.snapshot(kind, repo_id, revision).entries.values()
        prefix = f"{folder.strip('/')}/" if folder and folder.strip("/") else ""
        below = [entry for entry in entries if entry.path.startswith(prefix)]
        if prefix and not below:
            raise AnswerError(404, f"Entry not found: {folder}", "EntryNotFound")
        recursive = self.query.get("recursive", "").lower() in {"1", "true"}
        folders = {
            prefix + "/".join(steps[:depth])
            for entry in below
            for steps in [entry.path[len(prefix) :].split("/")]
            for depth in range(1, len(steps) if recursive else min(len(steps), 2))
        }
        files = [e for e in below if recursive or "/" not in e.path[len(prefix) :]]
        return [*map(_folder, sorted(folders)), *(entry.in_tree() for entry in files)]

    def paths_info(self, kind: str, repo_id: str, revision: str) -> list[Json]:
        """``POST .../paths-info/{rev}``: those of the given paths that exist."""
        entries = self.snapshot(kind, repo_id, revision).entries
        found = []
        for path in (path.strip("/") for path in self.paths()):
            if path in entries:
                found.append(entries[path].in_tree())
            elif any(other.startswith(f"{path}/") for other in entries):
                found.append(_folder(path))
        return found

    def paths(self) -> list[str]:
        """The paths that a request names, as a form or as JSON."""
        if "json" not in self.headers.get("content-type", ""):
            return parse_qs(self.body.decode("utf-8", "replace")).get("paths", [])
        try:
            told = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise AnswerError(400, "The request is not JSON, or nested too deep") from error
        paths = told.get("paths") if isinstance(told, dict) else None
        paths = [paths] if isinstance(paths, str) else paths
        if not (isinstance(paths, list) and all(isinstance(path, str) for path in paths)):
            raise AnswerError(400, 'The request needs "paths": a path, or a list of them')
        return paths

    def commits(self, kind: str, repo_id: str, revision: str) -> list[Json]:
        """``GET .../commits/{rev}``: the one that there is."""
        found = self.snapshot(kind, repo_id, revision)
        told = {"title": found.title, "message": "", "date": DATE}
        return [{"id": found.commit, **told, "authors": [{"user": "tstbench"}]}]

    def refs(self, kind: str, repo_id: str) -> Json:
        """``GET .../refs``."""
        found = self.snapshot(kind, repo_id)

        def ref(place: str, name: str, commit: str) -> Json:
            return {"name": name, "ref": f"refs/{place}/{name}", "targetCommit": commit}

        tags = [ref("tags", tag, commit) for tag, commit in found.tags.items()]
        return {"converts": [], "branches": [ref("heads", "main", found.commit)], "tags": tags}

    def leaderboard(self, kind: str, repo_id: str) -> list[Json]:
        """``GET /api/datasets/{id}/leaderboard``: each task's entries, the highest value first.

        ``task_id=`` for one task alone; ``base_model=false`` for models too that name a base.
        """
        dataset = self.snapshot(kind, repo_id)
        try:
            content: Any = EVAL_FILE in dataset.entries and parse_yaml(
                dataset.content(EVAL_FILE), EVAL_FILE
            )
            tasks = [str(task["id"]) for task in content["tasks"]]
        except (InputError, TypeError, KeyError) as error:
            said = f"{repo_id} has no leaderboard: no {EVAL_FILE} with tasks"
            raise AnswerError(404, said, "EntryNotFound") from error
        derived = self.query.get("base_model", "").lower() in {"0", "false"}
        models = [one for one in self.snapshots() if one.kind == "model"]
        reported = [
            entry
            for model in models
            if derived or not model.card().get("base_model")
            for entry in model.results()
            if isinstance(entry, Reported) and entry.entry.dataset.id == repo_id
        ]
        wanted = self.query.get("task_id", "")
        return [
            row
            for task in tasks
            if wanted in ("", task)
            for row in _ranked(task, [e for e in reported if e.entry.dataset.task_id == task])
        ]

    def whoami(self) -> Json:
        """``GET /api/whoami-v2``: an anonymous reader, member of the namespaces that there are."""
        namespaces = sorted({one.repo_id.split("/")[0] for one in self.snapshots()})
        nobody = "0" * 24
        token = {"role": "read", "displayName": "local"}
        return {
            "type": "user",
            "id": nobody,
            "name": "local",
            "fullname": "Reader of a local hub folder",
            "orgs": [{"type": "org", "id": nobody, "name": name} for name in namespaces],
            "auth": {"type": "access_token", "accessToken": token},
        }

    def file(self, kind: str | None, repo_id: str, revision: str, path: str) -> None:
        """``GET /{id}/resolve/{rev}/{path}``, or a range of its bytes."""
        found = self.snapshot(kind or "model", repo_id, revision)
        if path not in found.entries:
            raise AnswerError(404, f"Entry not found: {path}", "EntryNotFound")
        entry, source = found.entries[path], found.read(path)
        size = entry.file.size
        headers = {
            "Content-Type": "application/octet-stream",  # never interpreted, whatever it is
            "X-Content-Type-Options": "nosniff",
            "X-Repo-Commit": found.commit,
            "ETag": f'"{entry.etag}"',
            "Accept-Ranges": "bytes",
        }
        span = _span(self.headers.get("range", ""), size)
        if span is None:
            self.start(416, {**headers, "Content-Range": f"bytes */{size}"}, 0)
            return
        first, last = span
        part = {} if span == (0, size - 1) else {"Content-Range": f"bytes {first}-{last}/{size}"}
        self.start(206 if part else 200, {**headers, **part}, last - first + 1)
        if self.command != "HEAD":
            with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
                stream.seek(first)
                left = last - first + 1
                while left > 0 and (block := stream.read(min(left, 2**18))):
                    self.wfile.write(block)
                    left -= len(block)

    def index(self) -> None:
        """``GET /``: what there is, for people."""
        names = [f"{one.kind:8}{one.repo_id}\n" for one in self.snapshots()]
        text = "A local hub, read-only. Repositories:\n\n" + "".join(names)
        self.send_body(200, text.encode(), {"Content-Type": "text/plain; charset=utf-8"})

    # -- answers ---------------------------------------------------------------------------------

    def send_json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """An answer in JSON."""
        body = json.dumps(value, default=str).encode()  # dates in a card are not JSON
        self.send_body(status, body, {"Content-Type": "application/json", **(headers or {})})

    def send_body(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """An answer."""
        self.start(status, headers, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def start(self, status: int, headers: Mapping[str, str], length: int) -> None:
        """The head of an answer whose body has this many bytes."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


class HubServer(ThreadingHTTPServer):
    """One thread per connection; threads end with the process."""

    daemon_threads = True
    handler: ClassVar[type[Handler]] = Handler

    def __init__(self, root: Path, host: str, port: int, allowed_hosts: Collection[str] = ()):
        self.root = root
        self.hosts = Hosts(host, allowed_hosts)
        super().__init__((host, port), self.handler)

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


def _folder(path: str) -> Json:
    # Clients want an id for a folder and never ask for it: git's own would cost a call each.
    oid = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
    return {"type": "directory", "path": path, "size": 0, "oid": oid}


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
        raise AnswerError(400, f"A Range has numbers of at most {_DIGITS} digits")
    if first == "":
        start, end = max(0, size - int(last)), size - 1
    else:
        start, end = int(first), min(int(last or size - 1), size - 1)
    return (start, end) if start <= end and start < size else None
