"""Serves the page, for ``tstbench rewrite`` and the Space's ``app.py``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...console import say
from ...errors import require
from ..web import Call, Running, make_app, start, static_files, until_interrupted
from .desk import PATIENCE, Desk
from .offers import open_offers

if TYPE_CHECKING:
    import gradio

PORT = 7860
_STATIC = Path(__file__).parent / "static"
_CALLS: dict[str, Call] = {
    "systems": (Desk.systems, ()),
    "ask": (Desk.ask, ("text", "source", "target")),
    "look": (Desk.look, ("ticket",)),
}


def page_of(desk: Desk) -> gradio.Server:
    """The server of a desk."""
    from starlette.responses import HTMLResponse

    app = make_app("rewrite", "TSTBench rewrite", static_files(_STATIC), _CALLS, lambda _: (desk,))
    page = (_STATIC / "page.html").read_text(encoding="utf-8")
    app.add_route("/", lambda _: HTMLResponse(page))
    return app


def serve(
    systems: Sequence[str],
    host: str = "127.0.0.1",
    port: int = PORT,
    *,
    device: str = "auto",
    strict: bool = True,
    allowed_hosts: Collection[str] = (),
    patience: float = PATIENCE,
) -> Running:
    """Serve systems and return at once; their weights are read meanwhile.

    Args:
        systems: folders that ``tstbench train --out`` wrote, and Hub ids.
        host: ``0.0.0.0`` for all interfaces.
        port: TCP port.
        device: where they compute: ``auto``, ``cpu`` or ``cuda``.
        strict: raise if one cannot be opened; otherwise the page says so in its place.
        allowed_hosts: names that it answers to besides its own, see :mod:`tstbench.hosts`.
        patience: seconds that a system has for a sentence.

    Raises:
        UnknownNameError, MissingSystemError, IntegrityError: a system cannot be opened.
        InputError: a system is given twice or has no direction, or the port is in use.
        MissingExtraError: gradio is not installed.
    """
    require("gradio", "space")
    offers = open_offers(systems, strict=strict)
    desk = Desk(offers, device, patience=patience)
    return start(page_of(desk), host, port, allowed_hosts=allowed_hosts, on_close=desk.close)


def launch(
    systems: Sequence[str],
    host: str = "127.0.0.1",
    port: int = PORT,
    *,
    device: str = "auto",
    strict: bool = True,
    allowed_hosts: Collection[str] = (),
) -> None:
    """Serve until Ctrl-C; see :func:`serve`."""
    running = serve(systems, host, port, device=device, strict=strict, allowed_hosts=allowed_hosts)
    say(f"Rewriting page: {running.url}  (Ctrl-C stops it)")
    until_interrupted(running)
