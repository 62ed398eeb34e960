"""What the owner of a new study should know before the links are sent out."""

from __future__ import annotations

from collections import Counter

from ...datasets_scripts.cleaning import match_key
from .study import Item, Study


def remarks(study: Study) -> list[str]:
    """One sentence per thing that could make the ratings mean something else than expected."""
    found = []
    if study.bounds:
        found.append(
            f"bounds in this study: {', '.join(study.bounds)}. They show what raters give to a "
            "copied source or to people's rewrites; they are listed apart from the systems."
        )
    if not study.references_shown or not study.shows_styles:
        return found
    found.append(
        "warning: raters see the references. They then judge how near an output is to what people "
        "wrote; leave the references out unless your protocol asks for them."
    )
    outputs = Counter(system for item in study.items for system in item.systems)
    seen = Counter(s for item in study.items if _is_reference(item) for s in item.systems)
    found += [
        f"warning: {system} is not blind: {count} of its {outputs[system]} outputs equal a "
        "reference that raters see. Leave the references or this system out."
        for system, count in sorted(seen.items())
    ]
    return found


def _is_reference(item: Item) -> bool:
    """Whether a rater would recognise the output: spaces and case do not disguise it."""
    return match_key(item.output) in map(match_key, item.references)
