"""The outputs behind the numbers, as a file that ``tstbench evaluate`` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...errors import TSTBenchError
from ...pipelines.results import Stored
from .data import Results


class Downloads:
    """ASGI middleware: answers ``/?download=outputs`` and changes nothing else.

    Args:
        app: the page.
        results: whose outputs are offered.
    """

    def __init__(self, app: ASGIApp, results: Results) -> None:
        self._app = app
        self._results = results

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward everything but a download."""
        if scope["type"] == "http" and scope["path"] == "/":
            query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
            if query.get("download") == "outputs":
                answer = await anyio.to_thread.run_sync(self._outputs, query)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _outputs(self, query: Mapping[str, str]) -> Response:
        """JSON Lines of one report's predictions, by the direction and the folder in the link."""
        entries = self._results.board().of(query.get("direction", ""))
        wanted = query.get("system", "")
        entry = next((e for e in entries if e.folder.name == wanted and e.has_samples), None)
        if entry is None:
            return PlainTextResponse("There are no outputs of this system to download.\n", 404)
        try:
            samples = Stored(entry.folder, entry.report).samples()
        except TSTBenchError:
            return PlainTextResponse("The file of these outputs is damaged.\n", 404)
        rows = ({"id": sample.id, "prediction": sample.prediction} for sample in samples)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{entry.direction.name}_{entry.folder.name}")
        headers = {
            "Content-Disposition": f'attachment; filename="{name}.jsonl"',
            "X-Content-Type-Options": "nosniff",
        }
        return Response(lines.encode(), media_type="application/jsonl", headers=headers)
