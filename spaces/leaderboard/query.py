"""What a shared link says: the state of the page, as its query parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

VIEWS = {
    "ranking": "Ranking",
    "overview": "All directions",
    "pictures": "Pictures",
    "samples": "Samples",
    "submit": "Submit",
    "about": "About",
}
_LONGEST = 300  # characters of one parameter: a link is typed, sent and logged


@dataclass(frozen=True)
class Query:
    """The parameters that the server needs; sorting and filtering of rows stay in the browser.

    Every value is what somebody put into a link: names are looked up, never used as they are.
    """

    view: str = "ranking"
    direction: str = ""
    setting: str = ""
    metric: str = ""
    protocol: str = ""
    content: str = ""
    system: str = ""
    systems: str = ""
    order: str = ""
    text: str = ""
    page: str = "1"

    @classmethod
    def parse(cls, raw: Any) -> Query:
        """Keep the parameters we know, as text of a bounded length.

        >>> Query.parse({"view": "samples", "page": 2, "unknown": "x"}).page
        '2'
        """
        if not isinstance(raw, Mapping):
            return cls()
        known = {f.name for f in fields(cls)}
        values = {k: str(v)[:_LONGEST] for k, v in raw.items() if k in known and v is not None}
        if values.get("view") not in VIEWS:
            values.pop("view", None)
        return cls(**values)

    @property
    def page_number(self) -> int:
        """1 or more."""
        return max(1, int(self.page)) if self.page.isdecimal() and len(self.page) < 7 else 1
