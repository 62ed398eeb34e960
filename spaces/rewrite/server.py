"""Serves the page, for ``tstbench rewrite`` and the Space's ``app.py``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...errors import require
from ...talk import say
from ..serving import Running, start, until_interrupted
from .desk import PATIENCE, Desk
from .offers import open_offers

PORT = 7860


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
    from .page import make_app

    desk = Desk(offers, device, patience=patience)
    return start(make_app(desk), host, port, allowed_hosts=allowed_hosts, on_close=desk.close)


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
