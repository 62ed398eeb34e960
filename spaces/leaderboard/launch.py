"""Opening the page, for ``tstbench leaderboard`` and the Space's ``app.py``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from ...console import say
from ...datasets_scripts.catalog import DATASETS, DIRECTIONS
from ...errors import require
from ...files import process_folder
from ..web import Running, start, until_interrupted
from .data import Results, fetch_results
from .page import Page
from .reported import read_reported
from .submission import ScoreSubmission, ToFolder, ToPullRequest
from .submit import Desk

PORT = 7860


def launch(
    results: Path | str,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    allowed_hosts: Collection[str] = (),
    score: ScoreSubmission | None = None,
    directions: Sequence[str] | None = None,
    reported: str | None = None,
    block: bool = True,
) -> Running:
    """Serve the leaderboard of a results folder.

    Args:
        results: a folder of reports, or the Hub name of a results dataset (``tstbench/results``);
            submissions are written to the folder or opened as pull requests on the dataset.
        host: ``0.0.0.0`` makes the page reachable from other machines.
        port: 0 takes any free port.
        allowed_hosts: names that it answers to besides its own, see :mod:`tstbench.hosts`.
        score: scores submissions; without it the page accepts none.
        directions: those that accept submissions; ``None`` for all known directions.
        reported: what models report on the Hub: ``hub`` asks it once, now; or a folder with
            ``<user>/<model>/.eval_results/*.yaml``; by default nothing is shown.
        block: serve until interrupted instead of returning at once.

    Raises:
        MissingFileError: there is no such folder, and no such dataset can be downloaded.
        MissingExtraError: Gradio is not installed.
        InputError: the port is in use or none.
    """
    require("gradio", "space")
    folder = fetch_results(results)
    # A name that is allowed besides is that of a proxy, which others reach.
    public = bool(allowed_hosts) or host not in ("localhost", "127.0.0.1", "::1")
    board = Results(folder, read_reported(reported) if reported else None, public=public)
    board.read_behind()
    held = (DATASETS.get(path.name) for path in folder.iterdir())
    if public and (licensed := sorted(facts.name for facts in held if facts and facts.licensed)):
        say(
            f"warning: {folder} has results of {', '.join(licensed)}, which is licensed, and other "
            "machines can reach this page: it shows scores without sentences"
        )
    local = Path(results).expanduser().is_dir()
    publish = ToFolder(folder) if local else ToPullRequest(str(results))
    desk = Desk(board, score, publish, directions or tuple(DIRECTIONS)) if score else None
    with board.serving():
        running = start(
            Page(board, desk).app(),
            host,
            port,
            allowed_hosts=allowed_hosts,
            on_close=desk.close if desk else lambda: None,
            blocked=[process_folder()],  # submissions; Gradio would serve what lies in its folder
        )
    if block:
        say(f"Leaderboard: {running.url}  (Ctrl-C stops it)")
        until_interrupted(running)
    return running
