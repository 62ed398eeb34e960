"""Instruction records, and the one template that turns them into text.

A record says what to do (``instruction``), what with (``input``, which may be empty) and what comes
of it (``output``). The layout with its three headings is that of Stanford's Alpaca, which the
benchmark's adapters were taught; the sentence before it is in our own words. Training and writing
build their rows with the same functions, so that nothing can differ between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import InputError

Template = Literal["alpaca", "short"]
_WITH_INPUT = (
    "An instruction follows that says what is to be done, and an input that it is about. Answer "
    "with what the instruction asks for.\n\n"
)
_WITHOUT_INPUT = (
    "An instruction follows that says what is to be done. Answer with what it asks for.\n\n"
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"))


@dataclass(frozen=True)
class Record:
    """One example: the instruction, its input (may be empty) and the wanted output."""

    instruction: str
    input: str
    output: str


@dataclass(frozen=True)
class Row:
    """A record as tokens: ``ids``, of which the first ``n_prompt`` are what is read."""

    ids: tuple[int, ...]
    n_prompt: int


def prompt(instruction: str, text: str, template: Template = "alpaca") -> str:
    r"""What the model reads: it goes on after the last heading's newline.

    Args:
        instruction: what is to be done.
        text: the input; if it is empty, there is no heading for it.
        template: ``short`` leaves the sentence before the headings out, for small models to which
            it says nothing.

    >>> prompt("Put it into the future:", "we eat .", "short")
    '### Instruction:\nPut it into the future:\n\n### Input:\nwe eat .\n\n### Response:\n'
    """
    before = "" if template == "short" else _WITH_INPUT if text else _WITHOUT_INPUT
    given = f"### Input:\n{text}\n\n" if text else ""
    return f"{before}### Instruction:\n{instruction}\n\n{given}### Response:\n"


def prompt_rows(tokenizer: Any, prompts: Sequence[str]) -> list[list[int]]:
    """Ids of prompts, with the start that the model's family puts first, without an end."""
    if not prompts:
        return []
    end = tokenizer.eos_token_id
    found: list[list[int]] = tokenizer(list(prompts))["input_ids"]
    # GPT-2's start is its end as well: a prompt of real text never consists of it alone.
    return [row[:-1] if len(row) > 1 and row[-1] == end else row for row in found]


def rows_of(
    tokenizer: Any, records: Sequence[Record], longest: int, template: Template = "alpaca"
) -> list[Row]:
    """Records as rows ``prompt output end``, cut at the end; those without any output are left out.

    Prompt and output become tokens apart from each other: what the model reads in training is what
    it will read when it writes.

    Args:
        tokenizer: of transformers.
        records: to learn from.
        longest: tokens of a row.
        template: see :func:`prompt`.

    Raises:
        InputError: there are records, but no row has room for a token of its output.
    """
    end = tokenizer.eos_token_id
    prompts = prompt_rows(tokenizer, [prompt(r.instruction, r.input, template) for r in records])
    outputs = [r.output for r in records]
    written = tokenizer(outputs, add_special_tokens=False)["input_ids"] if outputs else []
    rows = [
        Row(tuple([*before, *after, end][:longest]), len(before))
        for before, after in zip(prompts, written, strict=True)
    ]
    kept = [row for row in rows if len(row.ids) > row.n_prompt]
    if rows and not kept:
        shortest = min(row.n_prompt for row in rows)
        raise InputError(
            f"no record fits: the shortest prompt has {shortest} tokens, and a row may have "
            f"{longest}. Raise cutoff, take a base that reads longer rows, or --template short"
        )
    return kept


def answer(text: str, source: str) -> str:
    r"""The answer in what a model wrote: its first line, without quotes that the source lacks.

    >>> answer('  "we will eat ."\n### Input:', "we eat .")
    'we will eat .'
    >>> answer('"yes" she says', '"yes"')
    '"yes" she says'
    """
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    if line.startswith("###"):
        return ""
    for first, last in _QUOTES:
        quoted = len(line) > 1 and line.startswith(first) and line.endswith(last)
        if quoted and not source.strip().startswith(first):
            return line[1:-1].strip()
    return line
