"""Serves a study's annotation page."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ...errors import require
from ..serving import Running, start, until_interrupted
from .desk import Desk


def serve(
    study_folder: Path | str | None,
    host: str = "127.0.0.1",
    port: int = 7860,
    *,
    allowed_hosts: Collection[str] = (),
) -> Running:
    """Serve a study and return at once.

    Args:
        study_folder: made by :func:`.create.create_study`; ``None`` serves a page that explains
            how to create one.
        host: ``0.0.0.0`` for all interfaces; then only the secret links protect the study.
        port: TCP port; 0 takes any free one.
        allowed_hosts: names that it answers to besides its own, see :mod:`tstbench.hosts`.

    Raises:
        MissingFileError: there is no study in the folder.
        InputError: the study is damaged or served by another process, or the port is in use.
        MissingExtraError: gradio is not installed.
    """
    require("gradio", "space")
    from .page import make_app

    desk = None if study_folder is None else Desk(study_folder)
    if desk is None:
        return start(make_app(None), host, port, allowed_hosts=allowed_hosts)
    try:
        app = make_app(desk)
    except BaseException:
        desk.close()
        raise
    return start(
        app,
        host,
        port,
        allowed_hosts=allowed_hosts,
        blocked=[desk.folder],
        on_close=desk.close,
    )


def launch(
    study_folder: Path | str | None,
    host: str = "127.0.0.1",
    port: int = 7860,
    *,
    allowed_hosts: Collection[str] = (),
) -> None:
    """Serve a study until Ctrl-C; see :func:`serve`. For the links see :func:`.study.links`."""
    until_interrupted(serve(study_folder, host, port, allowed_hosts=allowed_hosts))
