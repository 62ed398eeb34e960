"""The content of a shared link: the state of the page as query parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

VIEWS = {
    "ranking": "Ranking",
    "overview": "All directions",
    "pictures": "Pictures",
    "samples": "Samples",
    "versus": "Head to head",
    "submit": "Submit",
    "about": "About",
}
SYSTEM = "system"  # a view that every system's name leads to, without a place in the navigation
_LONGEST = 1000  # characters of one parameter: links are typed, sent and logged


@dataclass(frozen=True)
class Query:
    """The parameters that the server needs; rows of a short table are sorted in the browser.

    Every value comes from a link: names are looked up, never used directly.
    """

    view: str = "ranking"
    direction: str = ""
    setting: str = ""
    metric: str = ""
    protocol: str = ""
    dataset: str = ""
    content: str = ""
    system: str = ""
    systems: str = ""
    first: str = ""
    second: str = ""
    order: str = ""
    text: str = ""
    texts: str = ""
    p: str = "1"
    rows: str = ""  # "all" for more than the first of a long table
    sort: str = ""  # this and the next are of a table that comes in windows
    q: str = ""
    family: str = ""
    parallel: str = ""
    from_: str = ""
    to: str = ""
    known: str = field(default="", compare=False)  # the revision that a waiting page shows
    unknown_view: str = ""  # what the link asked for instead of a view

    @classmethod
    def parse(cls, raw: Any) -> Query:
        """Keep the known parameters, as text of limited length.

        >>> Query.parse({"view": "samples", "p": 2, "unknown": "x"}).p
        '2'
        """
        if not isinstance(raw, Mapping):
            return cls()
        known = {f.name.rstrip("_"): f.name for f in fields(cls)}
        values = {
            known[k]: str(v)[:_LONGEST] for k, v in raw.items() if k in known and v is not None
        }
        values.pop("unknown_view", None)
        if values.get("view", "") not in (*VIEWS, SYSTEM):
            values["unknown_view"] = values.pop("view", "")
        return cls(**values)

    @property
    def page_number(self) -> int:
        """1 or more."""
        return max(1, int(self.p)) if self.p.isdecimal() and len(self.p) < 7 else 1
