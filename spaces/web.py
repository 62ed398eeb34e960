"""A page of our own HTML and endpoints on Gradio's server (``gradio.Server``).

A page is a static file without data; everything shown comes from its endpoints.
"""

from __future__ import annotations

import json
import socket
import threading
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from errno import EADDRINUSE
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MissingExtraError, TSTBenchError
from ..hosts import STATUS, Hosts
from .templates import DESIGN, stylesheet

if TYPE_CHECKING:
    import gradio
    from starlette.requests import Request

Call = tuple[Callable[..., Any], tuple[str, ...]]  # and the fields of a request that it takes
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self' https://huggingface.co"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
NO_FILES = "the server could not read or write its files: tell the page's owner, try later"
MAX_BODY = 4 << 20  # bytes of a request: a file of a submission has 1 MiB
MAX_CALL = 64 << 10  # bytes of a request to a page of ours; the longest is a tenth of it


class NotThereError(TSTBenchError, LookupError):
    """What a request asks for does not exist: it is answered with status 404."""


@dataclass(frozen=True)
class Running:
    """A served page."""

    url: str
    close: Callable[[], None]


class KnownHosts:
    """ASGI layer: only requests that name this server, and are not too large, are answered.

    Nor those of other websites' pages, see :mod:`tstbench.hosts`.
    """

    def __init__(self, app: Any, hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Forward a request or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, _limited(receive), send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # RFC 6455: policy violation
        else:
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"x-content-type-options", b"nosniff"),
            ]
            await send({"type": "http.response.start", "status": refusal[0], "headers": headers})
            await send({"type": "http.response.body", "body": refusal[1].encode()})

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        """The status and the reason of a refusal."""
        said: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            said.setdefault(name, []).append(value.decode("latin-1"))
        host = said.get(b"host", [])
        if why := self.hosts.refusal(host[0] if len(host) == 1 else None):
            return STATUS, why
        for origin in said.get(b"origin", ()):
            if why := self.hosts.foreign(origin, host[0]):
                return 403, why
        if any(int(size) > MAX_BODY for size in said.get(b"content-length", ()) if size.isdigit()):
            return 413, f"a request has at most {MAX_BODY >> 20} MiB"
        return None


def _limited(receive: Callable) -> Callable:
    """A request that did not say how large it is ends where it becomes too large."""
    taken = 0

    async def limited() -> Any:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= MAX_BODY else {"type": "http.disconnect"}

    return limited


class Shield:
    """ASGI layer: headers that forbid external content, no uploads, no bodies above ``largest``.

    ``styled``: whether elements may have styles of their own, as those of charts do.
    """

    def __init__(self, app: Any, largest: int, *, styled: bool = False) -> None:
        self.app, self.largest, self.headers = app, largest, dict(HEADERS)
        if styled:
            self.headers["content-security-policy"] += "; style-src-attr 'unsafe-inline'"

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Forward a request or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        chunked = b"transfer-encoding" in dict(scope["headers"])
        too_long = chunked or not length.isdigit() or int(length) > self.largest
        if too_long or scope["path"].startswith("/gradio_api/upload"):
            await send({"type": "http.response.start", "status": 413, "headers": []})
            await send({"type": "http.response.body", "body": b"too large"})
            return

        async def send_with_headers(message: dict) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in self.headers.items()]
                kept = [(n, v) for n, v in message.get("headers", []) if n.decode() not in HEADERS]
                message = {**message, "headers": kept + ours}
            await send(message)

        await self.app(scope, receive, send_with_headers)


def static_files(folder: Path) -> dict[str, str]:
    """Return a page's scripts, what they build elements with, and ``style.css``, by name."""
    scripts = [*folder.glob("*.js"), DESIGN / "el.js"]
    content = {script.name: script.read_text(encoding="utf-8") for script in scripts}
    return {**content, "style.css": stylesheet([DESIGN / "base.css", folder / "style.css"])}


def make_app(
    name: str,
    title: str,
    files: Mapping[str, str],
    calls: Mapping[str, Call],
    given: Callable[[Request], tuple[Any, ...]] = lambda _: (),
    *,
    largest: int = MAX_CALL,
    styled: bool = False,
) -> gradio.Server:
    """The server of a page, without the page itself.

    Its scripts and its stylesheet are at ``/<name>/``, its endpoints at ``/<name>/api/``.

    Args:
        name: of the page, in addresses.
        title: of the server.
        files: the scripts and the stylesheet, by name; see :func:`static_files`.
        calls: what answers, by endpoint.
        given: the first arguments of each call, made of the request.
        largest: bytes of a request.
        styled: whether its elements may have styles of their own.
    """
    import gradio
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response

    app = gradio.Server(title=title, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Shield, largest=largest, styled=styled)

    def asset(request: Request) -> Response:
        file = request.path_params["file"]
        if file not in files:
            return Response("no such file", status_code=404, media_type="text/plain")
        kind = "text/css" if file.endswith(".css") else "text/javascript"
        return Response(files[file], media_type=kind)

    async def endpoint(request: Request) -> Response:
        call, body = request.path_params["call"], await request.body()
        status, answer = await run_in_threadpool(_reply, calls, call, body, lambda: given(request))
        return JSONResponse(answer, status_code=status)

    app.add_route(f"/{name}/{{file}}", asset)
    app.add_route(f"/{name}/api/{{call}}", endpoint, methods=["POST"])
    return app


def _reply(
    calls: Mapping[str, Call], name: str, body: bytes, given: Callable[[], tuple[Any, ...]]
) -> tuple[int, Any]:
    """Status and JSON content of the answer to one request.

    A request that went wrong is answered with ``{"error": words}``: 404 for something that does
    not exist, 422 for anything else that the sender can mend.
    """
    if name not in calls:
        return 404, {"error": f"there is no endpoint {name!r}: there are {', '.join(calls)}"}
    call, fields = calls[name]
    try:
        return 200, call(*given(), *_fields(name, fields, body))
    except NotThereError as error:
        return 404, {"error": str(error)}
    except MissingExtraError as error:
        return 503, {"error": str(error)}
    except TSTBenchError as error:
        return 422, {"error": str(error)}
    except OSError:  # a full disk, a folder that is gone: a visitor can only tell the owner
        traceback.print_exc()
        return 500, {"error": NO_FILES}


def _fields(name: str, fields: tuple[str, ...], body: bytes) -> list[Any]:
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InputError(f"{name}: the request is not JSON") from None
    if not isinstance(given, dict) or given.keys() != set(fields):
        wanted = f"the fields {', '.join(fields)}" if fields else "no fields"
        raise InputError(f"{name}: send a JSON object with {wanted}")
    return [given[field] for field in fields]


def start(
    app: gradio.Server,
    host: str,
    port: int,
    *,
    allowed_hosts: Collection[str] = (),
    blocked: Collection[Path] = (),
    on_close: Callable[[], None] = lambda: None,
) -> Running:
    """Serve and return at once; what cannot be served is closed.

    Args:
        app: the page.
        host: ``0.0.0.0`` for all interfaces.
        port: TCP port; 0 takes any free one.
        allowed_hosts: names that it answers to besides its own, see :mod:`tstbench.hosts`.
        blocked: folders that are never served as files.
        on_close: called when the page is closed.

    Raises:
        InputError: the port is in use, or is none.
    """
    app.add_middleware(KnownHosts, hosts=Hosts(host, allowed_hosts))
    try:
        _, url, _ = app.launch(
            server_name=host,
            server_port=free_port(host, port),
            prevent_thread_lock=True,
            quiet=True,
            share=False,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            run_history=False,
            enable_monitoring=False,
            max_file_size=1,
            _frontend=False,  # Gradio asks for the page once, and on a busy machine too early
            blocked_paths=[str(folder.resolve()) for folder in blocked],
        )
    except BaseException:
        on_close()
        raise

    def close() -> None:
        app.get_blocks().close(verbose=False)
        on_close()

    return Running(url, close)


def free_port(host: str, port: int = 0) -> int:
    """A port that is free now: the one that is asked for, or for 0 any.

    Raises:
        InputError: it is in use or none, or the address is not this machine's.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # not what has just ended
        try:
            probe.bind((host, port))
        except OverflowError as error:
            raise InputError(f"{port} is not a port: choose one from 0 to 65535") from error
        except OSError as error:
            used = f"port {port} is in use"
            what = used if error.errno == EADDRINUSE else f"{host}:{port}: {error.strerror}"
            raise InputError(
                f"{what}. Choose another with --port; --port 0 takes any free one"
            ) from error
        return int(probe.getsockname()[1])


def until_interrupted(running: Running) -> None:
    """Serve until Ctrl-C."""
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        running.close()
