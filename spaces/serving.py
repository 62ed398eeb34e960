"""Serving a page of our own HTML and endpoints on Gradio's server (``gradio.Server``)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from errno import EADDRINUSE
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..hosts import STATUS, Hosts

if TYPE_CHECKING:
    import gradio


@dataclass(frozen=True)
class Running:
    """A served page."""

    url: str
    close: Callable[[], None]


MAX_BODY = 4 << 20  # bytes of a request: a file of a submission has 1 MiB


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
