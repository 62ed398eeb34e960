"""Serves a study's annotation page."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError, require
from .desk import Desk


@dataclass(frozen=True)
class Running:
    """A served study."""

    url: str
    close: Callable[[], None]


def serve(study_folder: Path | str | None, host: str = "127.0.0.1", port: int = 7860) -> Running:
    """Serve a study and return at once.

    Args:
        study_folder: made by :func:`.create.create_study`; ``None`` serves a page that explains
            how to create one.
        host: ``0.0.0.0`` for all interfaces; then only the secret links protect the study.
        port: TCP port.

    Raises:
        MissingFileError: there is no study in the folder.
        InputError: the study is damaged or served by another process, or the port is in use.
        MissingExtraError: gradio is not installed.
    """
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # gradio reads it when imported
    require("gradio", "space")
    from .page import make_app

    desk = None if study_folder is None else Desk(study_folder)
    try:
        app = make_app(desk)
        _, url, _ = app.launch(
            server_name=host,
            server_port=port,
            prevent_thread_lock=True,
            quiet=True,
            share=False,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            run_history=False,
            enable_monitoring=False,
            max_file_size=1,
            blocked_paths=[] if desk is None else [str(desk.folder.resolve())],
        )
    except BaseException as error:
        if desk is not None:
            desk.close()
        if isinstance(error, OSError) and "port" in str(error):
            raise InputError(f"port {port} is in use: choose another port") from error
        raise

    def close() -> None:
        app.get_blocks().close(verbose=False)
        if desk is not None:
            desk.close()

    return Running(url, close)


def launch(study_folder: Path | str | None, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve a study until Ctrl-C; see :func:`serve`. For the links see :func:`.study.links`."""
    running = serve(study_folder, host, port)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        running.close()
