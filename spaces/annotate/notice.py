"""The page of a link that leads nowhere: words, and no script."""

from __future__ import annotations

import html
from pathlib import Path
from string import Template

from starlette.requests import Request
from starlette.responses import Response

_PAGE = Template((Path(__file__).parent / "static/notice.html").read_text(encoding="utf-8"))


def not_found(request: Request, text: str) -> Response:
    """A page with status 404 that says what is wrong with the link."""
    theme = request.query_params.get("__theme")  # Hugging Face pages send it
    page = _PAGE.substitute(
        theme=theme if theme in ("dark", "light") else "",
        root=html.escape(request.scope.get("root_path", "")),
        text=html.escape(text[:1].upper() + text[1:].removesuffix(".") + "."),
    )
    return Response(page, status_code=404, media_type="text/html")
