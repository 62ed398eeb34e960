"""Lines that are not plain rewrites: other columns, JSON, markup, the phrases of chat models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import InputError

_MOST = 0.2  # of the lines: the form of the file is another
_SOME = 0.02  # what a clean-up forgot
_QUOTED = 40  # characters of a line in a message

_HEADER = re.compile(
    r"(?:id|index|source|input)?[\t,;]?"
    r"(?:prediction|output|rewrite|target|generated|hypothesis|text|sentence|reference|source)s?"
    r"(?:[ _-]?\d)?",
    re.IGNORECASE,
)
# What programs write for a text that is missing, and for bytes that nobody decoded.
_LEFTOVER = re.compile(r"(?i:nan)|None|null|NULL|<NA>|b'.*'|b\".*\"")


@dataclass(frozen=True)
class Suspicion:
    """One thing that looks wrong; only ``what_to_do`` may quote a text."""

    what: str
    where: str
    what_to_do: str

    @property
    def short(self) -> str:
        """What a report and a table say: no quotation, and no advice."""
        return f"{self.what} ({self.where})"

    def __str__(self) -> str:
        return f"{self.short}: {self.what_to_do}"


@dataclass(frozen=True)
class _Form:
    """A pattern that rewrites do not have, and the share of the lines from which it matters."""

    what: str
    pattern: re.Pattern[str]
    limit: float
    do: str


@dataclass(frozen=True)
class FormFault:
    """Lines with a form that rewrites do not have."""

    what: str
    lines: Sequence[int]
    do: str


_FORMS = (
    _Form(
        "contain a tab",
        re.compile(r"\t"),
        _MOST,
        "keep only the column of the rewrites, or name the file .tsv and its column 'prediction'",
    ),
    _Form(
        "are JSON",
        re.compile(r"""^\s*(?:\{\s*["']\w+["']\s*:.*\}|\[\s*["'].*["']\s*\]),?\s*\Z"""),
        _MOST,
        'name the file .jsonl, with {"prediction": "..."} on each line',
    ),
    _Form(
        "are in quotation marks",
        re.compile(
            r"""^\s*(?:".*"|'.*'|[\u201c\u201e].*[\u201c\u201d]|[\u2018\u201a].*[\u2018\u2019]"""
            r"""|\u300c.*\u300d|\u00ab.*\u00bb|\u00bb.*\u00ab|`.*`|\*\*.*\*\*),?\s*\Z"""
        ),
        _MOST,
        "remove the marks around the rewrites",
    ),
    _Form(
        "begin with a number",
        re.compile(r"^\s*\(?\d+[.):\]]\s"),
        _MOST,
        "remove the numbers of a list",
    ),
    _Form(
        "contain HTML or its entities",
        re.compile(
            r"&(?:amp|lt|gt|quot|apos|nbsp|#\d+|#x[0-9a-f]+);|</?(?:br|p|b|i|div|span)\s*/?>",
            re.IGNORECASE,
        ),
        _SOME,
        "write plain text: html.unescape turns &quot; into a quotation mark",
    ),
    _Form(
        "contain special tokens or pieces of words",
        re.compile(
            r"</?s>|<pad>|\[(?:PAD|CLS|SEP|MASK|EOS|BOS)\]|<\|\w+\|>"
            r"|\w@@ |(?:^| )##\w|[\u2581\u0120]"
        ),
        _SOME,
        "decode with skip_special_tokens=True, and join the pieces",
    ),
    _Form(
        "contain broken characters or '\\n'",
        re.compile(
            r"[\u0080-\u009f\ufeff\u200b\ufffd]|\u00c3[\u00a0-\u00bf]|\u00e2\u20ac"
            r"|\u00c2[\u00a0-\u00bf]|\\n"
        ),
        _SOME,
        "decode the file as UTF-8 and write it once",
    ),
    _Form(
        "write letters and their marks apart",
        re.compile(r"[\u0300-\u036f\u1100-\u11ff\u3099\u309a]"),
        _SOME,
        "write them as one, as models know them: unicodedata.normalize('NFC', text)",
    ),
    _Form(
        "have the phrases of a chat model around the rewrite",
        re.compile(
            r"^\s*(?:sure|certainly|of course|absolutely)\b[^.?]{0,60}(?:here|:)"
            r"|^\s*here(?:'s| is| are)\b[^.?]{0,80}:"
            r"|^\s*(?:output|answer|response|result|rewrite|rewritten|translation|paraphrase)"
            r"(?: (?:sentence|text|version))?\s*:"
            r"|\bas an ai\b|\b(?:ai|large) language model\b"
            r"|^\s*i(?:'m| am) (?:sorry|unable)[^.]{0,40}\b(?:assist|fulfil|rewrite|comply)"
            r"|^\s*i can(?:'t|not| not) (?:assist|fulfil|rewrite|comply)",
            re.IGNORECASE,
        ),
        _SOME,
        "keep only the rewrite itself",
    ),
)


def form_faults(
    outputs: Sequence[str], usual: Sequence[str], target_style: str
) -> Iterator[FormFault]:
    """The forms that more outputs have than usual texts (sources, references) would explain."""
    if outputs and is_header(outputs[0]):
        do = "all the lines below stand one line too late"
        yield FormFault("look like a header", (0,), f"remove {quote(outputs[0])}: {do}")
    for form in (*_FORMS, _label(target_style)):
        lines = [n for n, text in enumerate(outputs) if form.pattern.search(text)]
        if len(lines) < max(2, form.limit * len(outputs)):
            continue
        expected = sum(form.pattern.search(text) is not None for text in usual) / len(usual)
        if len(lines) / len(outputs) - expected >= form.limit / 2:
            yield FormFault(form.what, lines, form.do)


def check_no_records(lines: Sequence[str], where: str, key: str) -> None:
    """Check that the lines of a text file are not JSON objects, which letters would stand for.

    Raises:
        InputError: most of them are.
    """
    records = [n for n, line in enumerate(lines, start=1) if _is_record(line)]
    if len(records) > len(lines) / 2:
        raise InputError(
            f"{where}, line {records[0]}: JSON, which would be scored letter by letter: "
            f"{len(records)} of {len(lines)} lines are objects. Name the file .jsonl, with the "
            f"text under {key!r}, also if the texts are JSON themselves"
        )


def _is_record(line: str) -> bool:
    """Whether a line is a JSON object, as of JSON Lines."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def is_leftover(text: str) -> bool:
    """Whether a program wrote this for a missing text, or for bytes.

    >>> is_leftover("NaN"), is_leftover("b'so good'"), is_leftover("none")
    (True, True, False)
    """
    return _LEFTOVER.fullmatch(text.strip()) is not None


def is_header(line: str) -> bool:
    """Whether a line is the head of a table, not a sentence.

    >>> is_header("id,prediction"), is_header("the output is good")
    (True, False)
    """
    return _HEADER.fullmatch(line.strip()) is not None


def quote(text: str) -> str:
    """The beginning of a line, in quotation marks."""
    text = text.strip()
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")


def _label(target_style: str) -> _Form:
    """``Positive:`` before the rewrite, as in a prompt."""
    style = re.escape(target_style)
    pattern = rf"^\s*{style}(?: (?:sentence|text|version|style|rewrite))?\s*:"
    do = "keep only the rewrite itself"
    return _Form("begin with a label", re.compile(pattern, re.IGNORECASE), _SOME, do)
