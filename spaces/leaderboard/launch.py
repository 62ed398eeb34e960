"""Opening the page: what ``tstbench leaderboard`` and the Space's ``app.py`` call."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...datasets_scripts.directions import DIRECTIONS
from ...errors import TSTBenchError, require
from .data import Results, fetch_results
from .submission import MAX_BYTES, ScoreSubmission, ToFolder, ToPullRequest

if TYPE_CHECKING:
    import gradio

PORT = 7860
_WARM_UP_AFTER = 3.0  # seconds: importing must not slow down the first view


@dataclass(frozen=True)
class Running:
    """A page that is being served."""

    url: str
    blocks: gradio.Blocks

    def close(self) -> None:
        """Stop serving."""
        self.blocks.close(verbose=False)


def launch(
    results: Path | str,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    score: ScoreSubmission | None = None,
    directions: Sequence[str] = tuple(DIRECTIONS),
    block: bool = True,
) -> Running:
    """Serve the leaderboard of a results folder.

    Args:
        results: a folder of reports, or the Hub name of a results dataset (``tstbench/results``);
            submissions are written to the one, or opened as pull requests on the other.
        host: ``0.0.0.0`` lets other machines in.
        port: 0 takes any that is free.
        score: scores submissions; without it the page takes none.
        directions: that submissions may be made for.
        block: serve until interrupted, rather than return at once.

    Raises:
        MissingFileError: no such folder, nor a dataset that can be fetched.
        MissingExtraError: Gradio is not installed.
        TSTBenchError: the port is taken.
    """
    require("gradio", "space")
    from .page import Page
    from .submit_page import Desk

    folder = fetch_results(results)
    board = Results(folder)
    board.board()  # thousands of files: read before anybody waits for them
    local = Path(results).expanduser().is_dir()
    publish = ToFolder(folder) if local else ToPullRequest(str(results))
    desk = Desk(board, score, publish, directions) if score else None
    page = Page(board, desk)
    try:
        _, url, _ = page.blocks.launch(
            server_name=host,
            server_port=port or _free_port(host),
            prevent_thread_lock=True,
            max_file_size=2 * MAX_BYTES,  # above ours, so that it is ours that explains
            **page.serving_options(),
        )
    except OSError as error:
        raise TSTBenchError(
            f"port {port} on {host} cannot be opened ({error}). Choose another, such as "
            f"--port {port + 1}."
        ) from error
    warming = threading.Timer(_WARM_UP_AFTER, _warm_up)
    warming.daemon = True
    warming.start()
    if block:
        print(f"Leaderboard: {url}  (Ctrl-C stops it)", file=sys.stderr)  # noqa: T201
        page.blocks.block_thread()
    return Running(url, page.blocks)


def _free_port(host: str) -> int:
    import socket

    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def _warm_up() -> None:
    """Load what the pictures need while nobody waits for it."""
    from . import picture_view  # noqa: F401
