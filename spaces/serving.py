"""Serving a page of our own HTML and endpoints on Gradio's server (``gradio.Server``)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    import gradio

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # Gradio reads it when imported


@dataclass(frozen=True)
class Running:
    """A served page."""

    url: str
    close: Callable[[], None]


def start(
    app: gradio.Server,
    host: str,
    port: int,
    *,
    blocked: Collection[Path] = (),
    on_close: Callable[[], None] = lambda: None,
) -> Running:
    """Serve and return at once; what cannot be served is closed.

    Args:
        app: the page.
        host: ``0.0.0.0`` for all interfaces.
        port: TCP port.
        blocked: folders that are never served as files.
        on_close: called when the page is closed.

    Raises:
        InputError: the port is in use.
    """
    try:
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
            _frontend=False,  # Gradio asks for the page once, and on a busy machine too early
            blocked_paths=[str(folder.resolve()) for folder in blocked],
        )
    except BaseException as error:
        on_close()
        if isinstance(error, OSError) and "port" in str(error):
            raise InputError(f"port {port} is in use: choose another port") from error
        raise

    def close() -> None:
        app.get_blocks().close(verbose=False)
        on_close()

    return Running(url, close)


def until_interrupted(running: Running) -> None:
    """Serve until Ctrl-C."""
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        running.close()
