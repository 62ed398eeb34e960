"""Print or write the test sources of a direction, in the order in which outputs are scored.

As text, one sentence per line: write one rewrite per line, in the same order. As JSON Lines, each
with its id: write objects with 'id' and 'prediction', in any order. Do not show a system the
references: they are for your own reading.

Examples:
  tstbench sources yelp/negative-to-positive --out sources.txt
  tstbench sources yelp/negative-to-positive --format jsonl --references
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..console import say, show_data
from ..errors import InputError
from .arguments import Arguments, Parser, add_data_dir

if TYPE_CHECKING:
    from ..datasets_scripts.load import TestSet

SourcesForm = Literal["text", "jsonl"]


def add_arguments(parser: Parser) -> None:
    """Add direction, file and format."""
    parser.add_argument("direction", metavar="DIRECTION", help="such as yelp/negative-to-positive")
    parser.path("--out", "FILE", "write to a new file")
    parser.switch("--references", "with people's rewrites (jsonl)")
    parser.add_argument(
        "--format",
        choices=("text", "jsonl"),
        help="default: jsonl with --references or FILE.jsonl, otherwise text",
    )
    add_data_dir(parser)


def run(arguments: Arguments) -> None:
    """Print or write them."""
    from ..datasets_scripts.catalog import dataset_facts
    from ..datasets_scripts.load import load_test_set
    from ..files import write_text

    out: Path | None = arguments.out
    rich = arguments.references or (out is not None and out.suffix == ".jsonl")
    form: SourcesForm = arguments.format or ("jsonl" if rich else "text")
    if form == "text" and arguments.references:
        raise InputError("--references needs --format jsonl: text has one sentence per line")
    test_set = load_test_set(arguments.direction, data_dir=arguments.data_dir)
    text = sources_text(test_set, form, references=arguments.references)
    facts = dataset_facts(test_set.direction.dataset)
    if facts.licensed:
        say(f"{facts.title} is licensed to you: do not publish its sentences")
    if out is None:
        show_data(text, end="")
        return
    if out.is_dir():
        raise InputError(f"{out} is a folder, but must be a file")
    if out.exists() and out.read_bytes() != text.encode():
        raise InputError(f"{out} exists and has other content: it is left unchanged")
    write_text(out, text)
    say(f"wrote {len(test_set)} sources to {out}")


def sources_text(test_set: TestSet, form: SourcesForm, *, references: bool = False) -> str:
    """The sources in order: one per line, or JSON Lines with ids.

    Args:
        test_set: whose sources.
        form: ``text`` or ``jsonl``.
        references: in ``jsonl``, people's rewrites too.

    Raises:
        InputError: a sentence contains a line break, so that it does not fit into a line of text.
    """
    if form == "text":
        for name, source in zip(test_set.ids, test_set.sources, strict=True):
            if source.splitlines() not in ([], [source]):
                raise InputError(
                    f"{test_set.direction}, {name}: the sentence contains a line break, so one "
                    "line per sentence is not possible: use --format jsonl"
                )
        return "".join(f"{source}\n" for source in test_set.sources)
    rows = zip(test_set.ids, test_set.sources, test_set.references, strict=True)
    lines = (
        {"id": name, "source": source, **({"references": list(some)} if references else {})}
        for name, source, some in rows
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
