"""What a messenger or a search engine shows of a link: ours instead of Gradio's."""

from __future__ import annotations

import re

from markupsafe import Markup

from .markup import el, join

_OTHERS = re.compile(r'<title>.*?</title>|<meta (?:property="og:|name="twitter:)[^>]*>', re.DOTALL)
_ABOUT = (
    "The leaderboard for text style transfer: systems rewrite the same test sentences and are "
    "scored on style, content and fluency, with intervals and significance tests."
)


def without_previews(page: str) -> str:
    """The page without the title and tags that its framework wrote into it.

    >>> without_previews('<head><title>Gradio</title><meta property="og:title" content="Gradio" />')
    '<head>'
    """
    return _OTHERS.sub("", page)


def preview(title: str) -> Markup:
    """Title and tags of a page, for the title of its view."""
    name = f"{title} \N{EN DASH} TSTBench"
    tags = {
        "og:type": "website",
        "og:site_name": "TSTBench",
        "og:title": name,
        "og:description": _ABOUT,
        "twitter:card": "summary",
        "twitter:title": name,
        "twitter:description": _ABOUT,
    }
    return join(
        [
            el("title", name),
            el("meta", name="description", content=_ABOUT),
            [el("meta", property=key, content=value) for key, value in tags.items()],
        ]
    )
