"""The front matter of the card of a model that was trained on datasets of the benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from .catalog import DATASETS
from .licences import hub_licence


def model_front_matter(
    trained_on: Iterable[str], tags: Sequence[str], *, namespace: str = "tstbench", **more: Any
) -> str:
    """YAML between ``---`` lines, as the Hub reads it.

    Args:
        trained_on: names of datasets or corpora; a model has the terms of what it learned from.
        tags: besides ``text-style-transfer``.
        namespace: the owner of the datasets on the Hub.
        more: further fields.
    """
    known = [DATASETS[name] for name in trained_on if name in DATASETS]
    licences = dict.fromkeys(facts.licence for facts in known)
    front: dict[str, Any] = {
        "library_name": "tstbench",
        **hub_licence(next(iter(licences)) if len(licences) == 1 else ""),
        "language": list(dict.fromkeys(facts.language for facts in known)) or ["en"],
        "tags": ["text-style-transfer", *tags],
    }
    if published := [f"{namespace}/{facts.name}" for facts in known if facts.publishable]:
        front["datasets"] = published
    text = yaml.safe_dump({**front, **more}, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{text}---\n"
