"""What a chat server says, and what it means: a reply, ask again, or a message for the user."""

from __future__ import annotations

import re
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import ServerError
from ..hub import environment_fault
from .answers import Reply, Token, read_tokens
from .connection import TooMuchError
from .settings import ServerSettings

# Published models that OpenAI no longer serves.
RETIRED = ("gpt-3.5-turbo-1106", "gpt-4-0125-preview")
_LENGTH = re.compile(r"context.{0,12}length|maximum context|context window|too (?:long|many tok)")
_GONE = re.compile(r"deprecat|decommission|retired|shut ?down|no longer (?:available|supported)")
_NO_MODEL = re.compile(
    r"model.{0,160}(?:not exist|not found|pinned to|not supported)"
    r"|(?:unknown|invalid|no such) model|server is pinned to"
)
# Of transformers, TGI, vLLM and others, some with a status that says that the server failed.
_NO_TEMPLATE = re.compile(
    r"template.{0,40}(?:not (?:set|found|defined)|no longer allowed)"
    r"|(?:\bno|not have an?|without an?|provide an?) chat.?template"
)
_FILTERED = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
_NO_SERVER = (
    "{} does not answer as an OpenAI-compatible server does: check its address, which usually ends "
    "in /v1"
)
_HALVES = re.compile(r"[\ud800-\udfff]")
_NEVER = (501, 505)  # said by servers that know no POST, or not this HTTP
_SHOWN = 300  # characters of what a server says


class Passing(Exception):  # noqa: N818 - it is not the user's to see
    """A failure that may pass.

    Attributes:
        retry_after: seconds that the server wants us to wait, if it says so.
        is_limit: whether it only says that there are too many requests.
        is_said: whether a server said it in the protocol; that there is none should be told soon.
        is_free: whether nothing can have been computed: it surely cost nothing.
    """

    def __init__(
        self,
        text: str,
        *,
        retry_after: float | None = None,
        is_limit: bool = False,
        is_said: bool = False,
        is_free: bool = False,
    ) -> None:
        super().__init__(text)
        self.retry_after, self.is_limit = retry_after, is_limit
        self.is_said, self.is_free = is_said, is_said or is_free


class RefusedError(ServerError):
    """A failure that stays, with its message.

    Attributes:
        unknown_model: whether the server's list of models would help.
    """

    def __init__(self, text: str, *, unknown_model: bool = False) -> None:
        super().__init__(text)
        self.unknown_model = unknown_model


def fatal(
    error: Exception, settings: ServerSettings, of: str, *, has_key: bool
) -> Passing | RefusedError | Reply:
    """What an exception of the client means.

    Args:
        error: as it was raised.
        settings: of the request.
        of: whose request it is.
        has_key: whether one was sent.

    Returns:
        Something that may pass, something that does not, or an answer without a rewrite (a server
        whose filter refuses a text has answered).
    """
    import openai

    url = settings.url
    if isinstance(error.__cause__, TooMuchError):  # as older clients pass it on
        error = error.__cause__
    if isinstance(error, TooMuchError):
        return RefusedError(f"{url} sent {error}: that is no chat server's")
    if isinstance(error, openai.APIConnectionError):
        # By name: releases of the client stand on different releases of httpx, of different names.
        unsent = type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")
        if isinstance(error, openai.APITimeoutError):
            text = f"{url} did not answer within {settings.timeout:g} seconds (--timeout)"
        elif fault := environment_fault():
            return RefusedError(fault)
        else:
            text = f"{url} cannot be reached: is a server running there?"
        return Passing(text, is_free=unsent)
    if not isinstance(error, openai.APIStatusError):
        return Passing(_NO_SERVER.format(url))
    status, said, is_page = error.status_code, _said(error), _is_page(error)
    if error.code in _FILTERED:
        return Reply("", "content_filter", model=settings.model)
    advice = _advice(status, error.code, said.lower(), settings, has_key=has_key)
    if advice:
        unknown_model = advice == _unknown_model(error.code, said.lower(), settings)
        text = f"{of}: {url}: {advice} ({status}: {said})"
        return RefusedError(text, unknown_model=unknown_model)
    if is_page:  # such as a gateway's, in front of a server that rests
        return Passing(f"{_NO_SERVER.format(url)} ({status}: {said})")
    text = f"{url} answers with {status}: {said}"
    if status == 500:  # transformers' server says no more where a model cannot chat
        text += f". Its log may say why; if the model has no chat template, {settings.no_template}"
    return Passing(text, retry_after=_retry_after(error), is_limit=status == 429, is_said=True)


def _advice(
    status: int, code: str | None, said: str, settings: ServerSettings, *, has_key: bool
) -> str:
    """What a refusal means and what to do; empty if the failure may pass."""
    model, key, flag = repr(settings.model), settings.key_name, settings.flag
    if _NO_TEMPLATE.search(said):
        return f"{model} has no chat template, and so cannot chat: {settings.no_template}"
    if code in ("insufficient_quota", "billing_hard_limit_reached"):
        return f"the account of the key in {key} has no credit left"
    if 300 <= status < 400:
        return f"redirects are not followed: give the address it names with {flag('base_url')}"
    if status in _NEVER:
        return "no chat server: check its address, which usually ends in /v1"
    if status in (408, 409, 429) or status >= 500:
        return ""
    if status == 401 and not has_key:
        return f"it wants a key, and the environment variable {key} is not set"
    if status == 401:
        return f"it refuses the key in {key}: it is wrong or expired"
    if status == 403:
        return f"it does not let the key in {key} use {model}"
    if code == "context_length_exceeded" or _LENGTH.search(said):
        return (
            f"the prompt and the longest answer together are longer than the context of {model}: "
            f"give {settings.shorter}, a lower {flag('max_tokens')} or another {flag('model')}"
        )
    if unknown := _unknown_model(code, said, settings):
        return unknown
    if status == 404:
        return "it has no chat/completions: check its address, which usually ends in /v1"
    return (
        f"leave out a parameter that {model} does not take with {flag('omit')}, and give others "
        f"with {flag('extra')}"
    )


def _unknown_model(code: str | None, said: str, settings: ServerSettings) -> str:
    """What to do about a model that is not there, or no more; empty if that is not the reason."""
    is_gone = _GONE.search(said) is not None
    if not (code in ("model_not_found", "model_deprecated") or is_gone or _NO_MODEL.search(said)):
        return ""
    also = ", and OpenAI has retired it" if settings.model in RETIRED else ""
    what = "has been retired" if is_gone else "is not known there"
    return (
        f"{settings.model!r} {what}{also}: choose another with {settings.flag('model')} NAME, "
        "under whose name its results then are, or a server that has it with "
        f"{settings.flag('base_url')} URL"
    )


def reply_of(body: Any, url: str) -> Reply:
    """The reply in a server's JSON.

    Args:
        body: as it came, of any shape.
        url: of the server, for the message.

    Raises:
        Passing: it is not what the protocol says.
    """
    try:
        choice, usage = body["choices"][0], body.get("usage") or {}
        # A completion model's answer has its text where a chat's has a message.
        message = {"content": choice["text"]} if "text" in choice else choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        if not isinstance(text, str | None):
            raise TypeError
        finish = "refusal" if text is None and refusal else str(choice.get("finish_reason", "stop"))
        return Reply(
            _whole(text or refusal or ""),
            _whole(finish),
            _tokens(usage.get("prompt_tokens")),
            _tokens(usage.get("completion_tokens")),
            _whole(str(body.get("model") or "")),
            _probabilities(choice.get("logprobs")),
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise Passing(_NO_SERVER.format(url)) from error


def _probabilities(said: Any) -> tuple[Token, ...] | None:
    """The tokens with their alternatives; ``None`` if there are none, or in an unknown form."""
    try:
        if "tokens" in said:  # of a completion model
            alternatives = said.get("top_logprobs") or [{}] * len(said["tokens"])
            return read_tokens(
                (_whole(token), [(_whole(o), value) for o, value in others.items()])
                for token, others in zip(said["tokens"], alternatives, strict=True)
            )
        rows = [
            (
                _whole(one["token"]),
                [(_whole(o["token"]), o["logprob"]) for o in one.get("top_logprobs") or [one]],
            )
            for one in said["content"]
        ]
        return read_tokens(rows) or None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _whole(text: str) -> str:
    """Without halves of a character, which JSON can hold and UTF-8 cannot."""
    return _HALVES.sub("\ufffd", text)


def _tokens(count: Any) -> int:
    """How many a server counts; 0, which is unknown, if that is no number."""
    try:
        return max(0, int(count or 0))
    except (TypeError, ValueError, OverflowError):  # NaN and Infinity, which Python's JSON takes
        return 0


def _is_page(error: Any) -> bool:
    return isinstance(error.body, str) and error.body.lstrip().lower().startswith(
        ("<!doctype", "<html")
    )


def _said(error: Any) -> str:
    """The server's own words, shortened."""
    if _is_page(error):
        return "a page of HTML"
    text = error.body
    if isinstance(text, dict):
        text = text.get("error", text)
    if isinstance(text, dict):
        text = text.get("message") or text.get("detail") or text
    elif not isinstance(text, str):
        text = error.message
    words = " ".join(str(text).split())
    return words[:_SHOWN] + ("..." if len(words) > _SHOWN else "") or "nothing else"


def _retry_after(error: Any) -> float | None:
    """Seconds, from ``retry-after-ms`` or ``Retry-After``: a number or a date."""
    headers = error.response.headers
    with suppress(TypeError, ValueError):
        return max(0.0, float(headers.get("retry-after-ms")) / 1000)
    value = headers.get("retry-after")
    with suppress(TypeError, ValueError):
        return max(0.0, float(value))
    with suppress(TypeError, ValueError):
        when = parsedate_to_datetime(value)
        return max(0.0, when.timestamp() - _now(headers))
    return None


def _now(headers: Any) -> float:
    """The server's clock if it says it: ours may be wrong."""
    import time

    with suppress(TypeError, ValueError):
        return parsedate_to_datetime(headers.get("date")).timestamp()
    return time.time()
