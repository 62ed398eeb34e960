"""A test set's sources as a file, for those who run a system of their own."""

from __future__ import annotations

import json
from typing import Literal

from ..datasets_scripts.load import TestSet
from ..errors import InputError

SourcesForm = Literal["text", "jsonl"]


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
