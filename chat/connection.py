"""The connection to a chat server that is not trusted: an answer has a size, and one sender."""

from __future__ import annotations

import os
import re
import ssl
from functools import cache
from typing import Any

from ..errors import InputError, require
from .settings import OPENAI_URL, SECRET, ServerSettings

NO_KEY = "none"  # what is sent without one

MAX_ANSWER = 1 << 25  # bytes: 32 MiB; 4,000 tokens with 20 alternatives each take 8


def api_key(settings: ServerSettings) -> str:
    """The key for a server, from the environment; nothing else ever holds it.

    Raises:
        InputError: OpenAI needs one, and there is none.
    """
    key = os.environ.get(settings.key_name, "").strip()
    if not key and settings.url == OPENAI_URL:
        raise InputError(
            f"no key: OpenAI needs one in the environment variable {settings.key_name}, such "
            f"as export {settings.key_name}=...; for another server give "
            f"{settings.flag('base_url')}"
        )
    if not key.isascii() or not key.isprintable():
        raise InputError(
            f"the key in {settings.key_name} contains characters that no key has: copy it again"
        )
    return key or NO_KEY  # the client insists on one; a local server does not look at it


def connect(settings: ServerSettings, *, retries: int = 0, most: int = MAX_ANSWER) -> Any:
    """A client of the ``openai`` package for a server.

    Args:
        settings: of the server.
        retries: of the package's own, about which a budget knows nothing.
        most: bytes of an answer.

    Raises:
        MissingExtraError: openai is not installed.
        InputError: there is no key.
    """
    openai, key = require("openai", "llm"), api_key(settings)
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=settings.url,
        timeout=settings.timeout,
        max_retries=retries,
        http_client=bounded_client(_certificates(), key, most),
    )


# All of this machine's, which takes longer to read than a client to make.
_certificates = cache(ssl.create_default_context)


class TooMuchError(Exception):
    """A server sent more than an answer can be, or sent it compressed."""


def bounded_client(certificates: ssl.SSLContext, key: str, most: int = MAX_ANSWER) -> Any:
    """An HTTP client for the ``openai`` package.

    It follows no redirect, which would give the sentences to a server that nobody named, reads no
    more than ``most`` bytes of an answer, and no compressed one, in which a few bytes may
    stand for gigabytes. Where a server repeats the key, in an answer, in a list of models or in an
    error, nobody else gets to see it.

    Raises:
        MissingExtraError: openai is not installed.
    """
    openai = require("openai", "llm")
    # JSON may write any character as a number, and "/" behind a backslash.
    slash = {"/": r"\\?/"}
    each = (rf"(?:{slash.get(one, re.escape(one))}|\\u00(?i:{ord(one):02x}))" for one in key)
    repeated = re.compile("".join(each).encode())

    class Client(openai.DefaultAsyncHttpxClient):  # type: ignore[misc, name-defined]
        async def send(self, request: Any, **how: Any) -> Any:
            response = await super().send(request, **{**how, "stream": True})
            try:
                content = await _read(response, most)
            finally:
                await response.aclose()
            if len(key) >= SECRET:
                content = repeated.sub(b"...", content)
            kept = {"headers": response.headers, "content": content, "request": request}
            return type(response)(response.status_code, **kept)

    return Client(
        verify=certificates, follow_redirects=False, headers={"Accept-Encoding": "identity"}
    )


async def _read(response: Any, most: int) -> bytes:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise TooMuchError("a compressed answer, which nobody asked for")
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > most:
            raise TooMuchError(f"an answer of more than {most >> 20} MiB")
    return bytes(content)
