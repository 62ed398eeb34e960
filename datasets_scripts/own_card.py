"""The card of a user's own dataset, made from its data file."""

from __future__ import annotations

from typing import Any

import yaml

from .directions import DatasetFacts
from .licences import hub_licence

NO_LICENCE = (
    "**No licence is stated.** It is not known whether these sentences may be shared, so this "
    "folder is for you only; TSTBench does not publish it."
)


def own_card(facts: DatasetFacts, text: str, citation: str) -> str:
    """Markdown with YAML front matter, like the hand-written cards of our datasets.

    Args:
        facts: of the dataset.
        text: what its owner says about it, Markdown.
        citation: BibTeX, or empty.
    """
    front: dict[str, Any] = {
        "pretty_name": facts.title,
        **hub_licence(facts.licence),
        "language": [facts.language],
        "task_categories": ["text-generation"],
        "tags": ["text-style-transfer", facts.task],
    }
    styles = ", ".join(facts.styles)
    body = [
        f"# {facts.title}",
        text.strip() or f"Sentences in {len(facts.styles)} styles: {styles}.",
        "## Licence",
        f"{facts.licence}." if facts.licence else NO_LICENCE,
    ]
    if citation.strip():
        body += ["## Citation", f"```bibtex\n{citation.strip()}\n```"]
    written = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return f"---\n{written}---\n" + "\n\n".join(body) + "\n"
