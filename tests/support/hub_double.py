"""A stand-in for huggingface.co that can be written to, in memory, for tests of publishing.

It speaks as much of the Hub's protocol as the public clients ask of it and is as strict as the Hub
where a publisher's mistake would show: tokens, parent commits, checksums of large files. It shares
no code with the server under ``pipelines/hub``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_" + "w" * 34  # the one that may write
LARGE = (".parquet", ".safetensors", ".bin", ".arpa", ".npz")
PAGE = 2  # pull requests on one page
CREATED = "2026-01-01T00:00:00.000Z"


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Repo:
    """Commits as snapshots: file contents by path, by commit id."""

    private: bool = False
    sdk: str | None = None
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    proposed: list[dict[str, bytes]] = field(default_factory=list)  # by pull request
    titles: list[str] = field(default_factory=list)  # of the pull requests
    closed: set[int] = field(default_factory=set)  # their numbers, from 1
    tags: dict[str, str] = field(default_factory=dict)
    head: str = ""

    def commit(self, files: dict[str, bytes], message: str) -> str:
        state = [self.head, message, *sorted((p, blob_id(c)) for p, c in files.items())]
        self.head = hashlib.sha1(repr(state).encode()).hexdigest()
        self.commits[self.head] = files
        self.messages.append(message)
        return self.head

    @property
    def files(self) -> dict[str, bytes]:
        return self.commits[self.head]


class HubDouble(ThreadingHTTPServer):
    """``repos`` by ``(kind, id)``; ``refuse`` holds ``(status, message)`` by repository id."""

    daemon_threads = True

    def __init__(self):
        self.repos: dict[tuple[str, str], Repo] = {}
        self.large: dict[str, bytes] = {}
        self.refuse: dict[str, tuple[int, str]] = {}
        self.requests: list[str] = []
        self.lock = threading.RLock()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def running() -> Iterator[HubDouble]:
    """A double that answers until the block ends."""
    server = HubDouble()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class RefusedError(Exception):
    def __init__(self, status: int, message: str, code: str = ""):
        super().__init__(message)
        self.status, self.code = status, code


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        self.query = {key: values[0] for key, values in parse_qs(url.query).items()}
        self.body = self.read_body()
        with self.server.lock:
            self.server.requests.append(f"{self.command} {unquote(url.path)}")
            try:
                status, body, headers = self.route(url.path)
            except RefusedError as error:
                status, body = error.status, {"error": str(error)}
                headers = {"X-Error-Message": str(error)}
                if error.code:
                    headers["X-Error-Code"] = error.code
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **headers}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", headers.get("Content-Length", str(len(body))))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def read_body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def route(self, path: str):
        table = (
            (r"/api/repos/create", self.create),
            (r"/api/validate-yaml", lambda: ok({"errors": [], "warnings": []})),
            (r"/api/agent-harnesses", lambda: ok([])),
            (r"/(?:(dataset|space)s/)?([^/]+/[^/]+)\.git/info/lfs/objects/batch", self.batch),
            (r"/_large/([0-9a-f]{64})", self.put_large),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)", self.info),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/revision/([^/]+)", self.info),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/tree/([^/]+)(?:/(.*))?", self.tree),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/paths-info/([^/]+)", self.paths),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/refs", self.refs),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/discussions", self.discussions),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/preupload/([^/]+)", self.preupload),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/commit/([^/]+)", self.commit),
            (r"/api/(dataset|model|space)s/([^/]+/[^/]+)/tag/([^/]+)", self.tag),
            (r"/(?:(dataset|space)s/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", self.resolve),
        )
        for pattern, answer in table:
            if match := re.fullmatch(pattern, path):
                return answer(*(part and unquote(part) for part in match.groups()))
        raise RefusedError(404, f"no such address: {path}")

    def check_token(self, repo_id: str, *, writing: bool) -> None:
        given = self.headers.get("authorization", "").removeprefix("Bearer ")
        if given and given != TOKEN:
            raise RefusedError(401, "Invalid credentials in Authorization header")
        if writing and not given:
            raise RefusedError(401, "Invalid username or password.")
        if writing and repo_id in self.server.refuse:
            status, message = self.server.refuse[repo_id]
            raise RefusedError(status, message.format(token=given))

    def repo(self, kind: str | None, repo_id: str, *, writing: bool = False) -> Repo:
        self.check_token(repo_id, writing=writing)
        found = self.server.repos.get((kind or "model", repo_id))
        if found is None or (found.private and not self.headers.get("authorization")):
            raise RefusedError(404, "Repository not found", "RepoNotFound")
        return found

    def address(self, kind: str, repo_id: str) -> str:
        return f"{self.server.url}/{'' if kind == 'model' else kind + 's/'}{repo_id}"

    def snapshot(self, repo: Repo, revision: str) -> tuple[str, dict[str, bytes]]:
        commit = repo.head if revision == "main" else repo.tags.get(revision, revision)
        if commit not in repo.commits:
            raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return commit, repo.commits[commit]

    def create(self):
        wanted = json.loads(self.body)
        repo_id = f"{wanted.get('organization') or 'tester'}/{wanted['name']}"
        self.check_token(repo_id, writing=True)
        key = (wanted.get("type") or "model", repo_id)
        if key in self.server.repos:
            raise RefusedError(409, "You already created this repo")
        private = bool(wanted.get("private")) or wanted.get("visibility") == "private"
        repo = self.server.repos[key] = Repo(private, wanted.get("sdk"))
        files = {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"}
        if key[0] == "space":
            if not repo.sdk:
                raise RefusedError(400, "a Space needs an sdk")
            files["README.md"] = b"---\nsdk: gradio\n---\n"
        repo.commit(files, "initial commit")
        return ok({"url": self.address(*key), "id": repo_id, "name": repo_id})

    def info(self, kind, repo_id, revision="main"):
        repo = self.repo(kind, repo_id)
        commit, files = self.snapshot(repo, revision)
        return ok(
            {
                "_id": commit,
                "id": repo_id,
                "author": repo_id.split("/")[0],
                "sha": commit,
                "private": repo.private,
                "disabled": False,
                "gated": False,
                "tags": [],
                "downloads": 0,
                "likes": 0,
                "lastModified": CREATED,
                "createdAt": CREATED,
                "siblings": [{"rfilename": path} for path in files],
            }
        )

    def tree(self, kind, repo_id, revision, folder):
        _, files = self.snapshot(self.repo(kind, repo_id), revision)
        prefix = f"{folder}/" if folder else ""
        below = {path: content for path, content in files.items() if path.startswith(prefix)}
        if prefix and not below:
            raise RefusedError(404, "Entry not found", "EntryNotFound")
        folders = {path.rsplit("/", 1)[0] for path in below if "/" in path[len(prefix) :]}
        if self.query.get("recursive", "").lower() not in {"1", "true"}:
            folders = {prefix + path[len(prefix) :].split("/")[0] for path in folders}
            below = {path: c for path, c in below.items() if "/" not in path[len(prefix) :]}
        return ok([folder_entry(p) for p in folders] + [entry(p, c) for p, c in below.items()])

    def paths(self, kind, repo_id, revision):
        _, files = self.snapshot(self.repo(kind, repo_id), revision)
        if "json" in self.headers.get("content-type", ""):
            paths = json.loads(self.body)["paths"]
        else:
            paths = parse_qs(self.body.decode()).get("paths", [])
        found = [entry(path, files[path]) for path in paths if path in files]
        found += [
            folder_entry(path)
            for path in paths
            if path not in files and any(other.startswith(f"{path}/") for other in files)
        ]
        return ok(found)

    def refs(self, kind, repo_id):
        repo = self.repo(kind, repo_id)
        tags = [
            {"name": name, "ref": f"refs/tags/{name}", "targetCommit": commit}
            for name, commit in repo.tags.items()
        ]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}
        return ok({"branches": [main], "tags": tags, "converts": []})

    def discussions(self, kind, repo_id):
        repo = self.repo(kind, repo_id)
        first = PAGE * int(self.query.get("p", 0))
        found = [
            {
                "num": number,
                "title": title,
                "author": {"name": "somebody"},
                "createdAt": CREATED,
                "status": "closed" if number in repo.closed else "open",
                "isPullRequest": True,
                "repo": {"name": repo_id, "type": kind},
            }
            for number, title in reversed(list(enumerate(repo.titles, 1)))
        ]
        page = found[first : first + PAGE]
        return ok({"discussions": page, "count": len(found), "start": first})

    def tag(self, kind, repo_id, name):
        repo = self.repo(kind, repo_id, writing=True)
        if self.command == "DELETE":
            if repo.tags.pop(name, None) is None:
                raise RefusedError(404, "no such tag", "RevisionNotFound")
            return ok({})
        wanted = json.loads(self.body)["tag"]
        if wanted in repo.tags:
            raise RefusedError(409, "Tag already exists")
        repo.tags[wanted] = self.snapshot(repo, name)[0]
        return ok({})

    def preupload(self, kind, repo_id, revision):
        _, files = self.snapshot(self.repo(kind, repo_id, writing=True), revision)
        answers = [
            {
                "path": f["path"],
                "uploadMode": "lfs" if f["path"].endswith(LARGE) else "regular",
                "shouldIgnore": False,
                "oid": blob_id(files[f["path"]]) if f["path"] in files else None,
            }
            for f in json.loads(self.body)["files"]
        ]
        return ok({"files": answers})

    def batch(self, kind, repo_id):
        self.repo(kind, repo_id, writing=True)
        objects = []
        for wanted in json.loads(self.body)["objects"]:
            upload = {"href": f"{self.server.url}/_large/{wanted['oid']}", "header": {}}
            there = wanted["oid"] in self.server.large
            objects.append({**wanted, **({} if there else {"actions": {"upload": upload}})})
        return ok({"transfer": "basic", "objects": objects})

    def put_large(self, checksum):
        if hashlib.sha256(self.body).hexdigest() != checksum:
            raise RefusedError(422, "the content is not what its checksum says")
        self.server.large[checksum] = self.body
        return 200, b"", {}

    def commit(self, kind, repo_id, revision):
        repo = self.repo(kind, repo_id, writing=True)
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        if header.get("parentCommit") not in (None, repo.head):
            raise RefusedError(412, "A commit has happened since. Please refresh and try again.")
        files = dict(repo.files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.server.large[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
            elif line["key"] != "header":
                raise RefusedError(400, f"not understood: {line['key']}")
        if self.query.get("create_pr"):
            repo.proposed.append(files)
            repo.titles.append(header["summary"])
            number = len(repo.proposed)
            address, commit = self.address(kind, repo_id), "0" * 40
            proposal = {"pullRequestUrl": f"{address}/discussions/{number}"}
            return ok({"commitOid": commit, "commitUrl": f"{address}/commit/{commit}", **proposal})
        commit = repo.commit(files, header["summary"])
        url = f"{self.address(kind, repo_id)}/commit/{commit}"
        return ok({"success": True, "commitOid": commit, "commitUrl": url})

    def resolve(self, kind, repo_id, revision, path):
        commit, files = self.snapshot(self.repo(kind, repo_id), revision)
        if path not in files:
            raise RefusedError(404, "Entry not found", "EntryNotFound")
        content = files[path]
        headers = {"X-Repo-Commit": commit, "ETag": f'"{blob_id(content)}"'}
        if span := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", "")):
            first, last = int(span[1]), min(int(span[2] or len(content)), len(content) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            return 206, content[first : last + 1], headers
        if self.command == "HEAD":
            headers["Content-Length"] = str(len(content))
        return 200, content, headers


def ok(value):
    return 200, value, {}


def entry(path: str, content: bytes) -> dict:
    facts = {"type": "file", "path": path, "size": len(content), "oid": blob_id(content)}
    if path.endswith(LARGE):
        sha256 = hashlib.sha256(content).hexdigest()
        facts["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 130}
    return facts


def folder_entry(path: str) -> dict:
    return {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}
