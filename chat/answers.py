"""Answers that were paid for, kept in ``$TSTBENCH_HOME/answers``: nothing is asked twice.

One file for each server and model: a line that says which, then one for each answer, as it comes.
The key of an answer covers everything that can change it: address, model, parameters, messages, and
which sample it is. No key of a server is in it, nor in the file.

A line is written whole and under a lock, so that two processes can share a file; a line that
``kill -9`` cut off is skipped when the file is read again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import naming
from ..files import home, lock
from ..store import canonical

Token = tuple[str, tuple[tuple[str, float], ...]]  # its text; the likeliest at its place


@dataclass(frozen=True)
class Reply:
    """What a server answered.

    Attributes:
        text: the answer, as it came; empty if there was none.
        finish: why it ended: ``stop``, ``length`` (cut off at ``max_tokens``), ``content_filter``.
        prompt_tokens: as the server counts them; 0 if it does not say.
        completion_tokens: likewise.
        model: which model the server says it was.
        tokens: each token of the answer with the likeliest ones at its place and their natural
            logarithms, if they were asked for and the server gives them.
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""
    tokens: tuple[Token, ...] | None = None


@dataclass(frozen=True)
class Call:
    """A request, and the key of its answer.

    Attributes:
        body: what is sent: ``model``, ``messages`` (a completion model: ``prompt``) and the
            parameters.
        url: of the server.
        sample: which of several answers to the same question.
    """

    body: Mapping[str, Any]
    url: str
    sample: int = 0

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that can change the answer."""
        return hashlib.sha256(canonical([self.url, self.body, self.sample])).hexdigest()

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """What the model reads; the prompt of a completion model is one message."""
        return self.body.get("messages") or [{"content": self.body["prompt"]}]


class Answers:
    """The kept answers of one model on one server."""

    def __init__(self, url: str, model: str) -> None:
        name = hashlib.sha256(canonical([url, model])).hexdigest()[:32]
        self.path = answers_folder() / f"{name}.jsonl"
        self._about = {"server": url, "model": model}
        self._known: dict[str, Reply] = {}
        self._read = 0  # bytes of the file

    def get(self, key: str) -> Reply | None:
        """The answer with a key, also if another process has written it by now."""
        if key not in self._known:
            self._catch_up()
        return self._known.get(key)

    def put(self, key: str, reply: Reply) -> None:
        """Keep an answer; when this returns, it is on the disk."""
        said = {name: value for name, value in vars(reply).items() if value is not None}
        line = json.dumps({"key": key, **said}, ensure_ascii=False).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock(self.path), naming(self.path), self.path.open("a+b") as stream:
            end = stream.seek(0, os.SEEK_END)
            if end:
                stream.seek(end - 1)
                if stream.read(1) != b"\n":  # a line that was cut off stays alone
                    line = b"\n" + line
            else:
                line = json.dumps(self._about).encode() + b"\n" + line
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        self._known[key] = reply

    def _catch_up(self) -> None:
        """Read what was appended since the last time."""
        try:
            if self.path.stat().st_size == self._read:
                return
        except FileNotFoundError:
            return
        with self.path.open("rb") as stream:
            stream.seek(self._read)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                if (found := _parsed(line)) is not None:
                    self._known.setdefault(*found)


def _parsed(line: bytes) -> tuple[str, Reply] | None:
    try:
        row = json.loads(line)
        key = row.pop("key")
        if (tokens := row.pop("tokens", None)) is not None:
            row["tokens"] = read_tokens(tokens)
        reply = Reply(**row)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    whole = isinstance(key, str) and isinstance(reply.text, str)
    return (key, reply) if whole else None


def read_tokens(rows: Any) -> tuple[Token, ...]:
    """Tokens from JSON; raises ``TypeError`` or ``ValueError`` if they are something else."""
    return tuple(
        (_text(text), tuple((_text(other), float(value)) for other, value in others))
        for text, others in rows
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def answers_folder() -> Path:
    """Where the answers are kept."""
    return home() / "answers"
