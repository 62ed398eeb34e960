"""A licence as the Hub's cards state it."""

from __future__ import annotations

# Names that the Hub knows; others are given as "other" with a name.
_HUB_LICENCES = """
afl-3.0 apache-2.0 bsd-2-clause bsd-3-clause cc cc-by-2.0 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0
cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-4.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0
cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0
gpl-3.0 mit odbl odc-by openrail pddl unknown unlicense
"""


def hub_licence(name: str) -> dict[str, str]:
    """The fields of a card's front matter.

    >>> hub_licence("CC-BY-SA-4.0"), hub_licence("")
    ({'license': 'cc-by-sa-4.0'}, {'license': 'unknown'})
    >>> hub_licence("Our own terms")
    {'license': 'other', 'license_name': 'our-own-terms'}
    """
    known = name.lower() or "unknown"
    if known in _HUB_LICENCES.split():
        return {"license": known}
    return {"license": "other", "license_name": known.replace(" ", "-")}
