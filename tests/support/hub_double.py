"""A stand-in for huggingface.co that can be written to, in memory, for tests of publishing.

What is read is answered by the server of ``pipelines/hub``; that it speaks the Hub's protocol is
what the public clients say. Writing is as strict as the Hub where a publisher's mistake would show:
tokens, parent commits, checksums of large files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from answering import answering

from tstbench.pipelines.hub.manifest import File
from tstbench.pipelines.hub.serve import LARGE, AnswerError, Entry, Handler, HubServer, Snapshot

TOKEN = "hf_" + "w" * 34  # the one that may write
PAGE = 2  # pull requests on one page
CREATED = "2026-01-01T00:00:00.000Z"


@dataclass
class Repo:
    """What its newest commit has, and what was proposed."""

    private: bool = False
    sdk: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    proposed: list[dict[str, bytes]] = field(default_factory=list)  # by pull request
    titles: list[str] = field(default_factory=list)  # of the pull requests
    closed: set[int] = field(default_factory=set)  # their numbers, from 1
    tags: dict[str, str] = field(default_factory=dict)
    head: str = ""

    def commit(self, files: dict[str, bytes], message: str) -> str:
        state = repr([self.head, message, *sorted(files.items())])
        self.head = hashlib.sha1(state.encode()).hexdigest()
        self.files = files
        self.messages.append(message)
        return self.head

    def snapshot(self, kind: str, repo_id: str) -> Snapshot:
        entries = {
            path: Entry.of(
                path,
                File(sha256=hashlib.sha256(content).hexdigest(), size=len(content)),
                lambda content=content: content,
            )
            for path, content in sorted(self.files.items())
        }
        read = self.files.__getitem__
        return Snapshot(kind, repo_id, self.head, self.messages[-1], self.tags, entries, read)


class DoubleHandler(Handler):
    _AT = f"/api/{Handler._KIND}/{Handler._ID}"
    routes = {
        "/api/repos/create": "create",
        "/api/validate-yaml": "validate",
        rf"/(?:(dataset|space)s/)?{Handler._ID}\.git/info/lfs/objects/batch": "batch",
        "/_large/([0-9a-f]{64})": "put_large",
        f"{_AT}/discussions": "discussions",
        f"{_AT}/preupload/([^/]+)": "preupload",
        f"{_AT}/commit/([^/]+)": "commit",
        f"{_AT}/tag/([^/]+)": "tag",
        **Handler.routes,
    }
    posted = ("paths_info", "create", "validate", "batch", "preupload", "commit", "tag")

    def do_GET(self):  # noqa: N802
        with self.server.lock:
            self.server.requests.append(f"{self.command} {unquote(urlsplit(self.path).path)}")
            self.answer(self.read_body())

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

    def snapshots(self):
        return [repo.snapshot(*key) for key, repo in self.server.repos.items()]

    def snapshot(self, kind, repo_id, revision="main"):
        repo = self.repo(kind, repo_id)
        if revision not in ("main", repo.head, *repo.tags):
            raise AnswerError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return repo.snapshot(kind, repo_id)

    def check_token(self, repo_id: str, *, writing: bool) -> None:
        given = self.headers.get("authorization", "").removeprefix("Bearer ")
        if given and given != TOKEN:
            raise AnswerError(401, "Invalid credentials in Authorization header")
        if writing and not given:
            raise AnswerError(401, "Invalid username or password.")
        if writing and repo_id in self.server.refuse:
            status, message = self.server.refuse[repo_id]
            raise AnswerError(status, message.format(token=given))

    def repo(self, kind: str | None, repo_id: str, *, writing: bool = False) -> Repo:
        self.check_token(repo_id, writing=writing)
        found = self.server.repos.get((kind or "model", repo_id))
        if found is None or (found.private and not self.headers.get("authorization")):
            raise AnswerError(404, "Repository not found", "RepoNotFound")
        return found

    def address(self, kind: str, repo_id: str) -> str:
        return f"{self.server.url}/{'' if kind == 'model' else kind + 's/'}{repo_id}"

    def create(self):
        wanted = json.loads(self.body)
        repo_id = f"{wanted.get('organization') or 'tester'}/{wanted['name']}"
        self.check_token(repo_id, writing=True)
        key = (wanted.get("type") or "model", repo_id)
        if key in self.server.repos:
            there = {"error": "You already created this repo", "url": self.address(*key)}
            return self.send_json(409, there)
        private = bool(wanted.get("private")) or wanted.get("visibility") == "private"
        repo = self.server.repos[key] = Repo(private, wanted.get("sdk"))
        files = {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"}
        if key[0] == "space":
            if not repo.sdk:
                raise AnswerError(400, "a Space needs an sdk")
            files["README.md"] = b"---\nsdk: gradio\n---\n"
        repo.commit(files, "initial commit")
        return {"url": self.address(*key), "id": repo_id, "name": repo_id}

    def validate(self):
        return {"errors": [], "warnings": []}

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
        return {"discussions": page, "count": len(found), "start": first}

    def tag(self, kind, repo_id, name):
        repo = self.repo(kind, repo_id, writing=True)
        if self.command == "DELETE":
            if repo.tags.pop(name, None) is None:
                raise AnswerError(404, "no such tag", "RevisionNotFound")
            return {}
        wanted = json.loads(self.body)["tag"]
        if wanted in repo.tags:
            raise AnswerError(409, "Tag already exists")
        repo.tags[wanted] = self.snapshot(kind, repo_id, name).commit
        return {}

    def preupload(self, kind, repo_id, _revision):
        self.repo(kind, repo_id, writing=True)
        entries = self.snapshot(kind, repo_id).entries
        answers = [
            {
                "path": f["path"],
                "uploadMode": "lfs" if f["path"].endswith(LARGE) else "regular",
                "shouldIgnore": False,
                "oid": entries[f["path"]].oid if f["path"] in entries else None,
            }
            for f in json.loads(self.body)["files"]
        ]
        return {"files": answers}

    def batch(self, kind, repo_id):
        self.repo(kind, repo_id, writing=True)
        objects = []
        for wanted in json.loads(self.body)["objects"]:
            upload = {"href": f"{self.server.url}/_large/{wanted['oid']}", "header": {}}
            there = wanted["oid"] in self.server.large
            objects.append({**wanted, **({} if there else {"actions": {"upload": upload}})})
        return {"transfer": "basic", "objects": objects}

    def put_large(self, checksum):
        if hashlib.sha256(self.body).hexdigest() != checksum:
            raise AnswerError(422, "the content is not what its checksum says")
        self.server.large[checksum] = self.body
        return {}

    def commit(self, kind, repo_id, _revision):
        repo = self.repo(kind, repo_id, writing=True)
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        if header.get("parentCommit") not in (None, repo.head):
            raise AnswerError(412, "A commit has happened since. Please refresh and try again.")
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
                raise AnswerError(400, f"not understood: {line['key']}")
        address = self.address(kind, repo_id)
        if self.query.get("create_pr"):
            repo.proposed.append(files)
            repo.titles.append(header["summary"])
            commit = "0" * 40
            proposal = {"pullRequestUrl": f"{address}/discussions/{len(repo.proposed)}"}
            return {"commitOid": commit, "commitUrl": f"{address}/commit/{commit}", **proposal}
        commit = repo.commit(files, header["summary"])
        return {"success": True, "commitOid": commit, "commitUrl": f"{address}/commit/{commit}"}


class HubDouble(HubServer):
    """``repos`` by ``(kind, id)``; ``refuse`` holds ``(status, message)`` by repository id."""

    handler = DoubleHandler

    def __init__(self):
        self.repos: dict[tuple[str, str], Repo] = {}
        self.large: dict[str, bytes] = {}
        self.refuse: dict[str, tuple[int, str]] = {}
        self.requests: list[str] = []
        self.lock = threading.RLock()
        super().__init__(Path("/nowhere"), "127.0.0.1", 0)


@contextmanager
def running() -> Iterator[HubDouble]:
    """A double that answers until the block ends."""
    with answering(HubDouble()) as server:
        yield server
