"""The names that a server answers to.

A page in a browser may have its own name point to 127.0.0.1 once it is loaded (DNS rebinding). The
browser then takes a server on this machine for the page's own, and lets its scripts read whatever
is served. Their requests still name that page in the header ``Host``: a server that refuses names
which are not its own gives nothing away. An address of digits is not looked up, so it is accepted.

A page of another website may also send requests to 127.0.0.1 as it is, such as uploads: it cannot
read the answers, but they would be done. A browser says whose page asks in the header ``Origin``.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address

from .console import printable

ANY = "*"
STATUS = 421  # Misdirected Request, RFC 9110, section 15.5.20
_HEADER = re.compile(r"(?:\[(?P<v6>[^\]]*)\]|(?P<name>[^:\[\]]*))(?::\d{0,5})?")
_SHOWN = 80  # characters of a name in an answer


@dataclass(frozen=True)
class Hosts:
    """The names that are served.

    Attributes:
        served: the address that the server listens on, or its name.
        allowed: further names, such as that of a proxy; ``*`` for every name.
        how: what allows a further name, for the message of a refusal.
    """

    served: str
    allowed: Collection[str] = ()
    how: str = "start the server with --allow-host"

    def refusal(self, header: str | None) -> str | None:
        """Why a request is refused, in words; ``None`` if it is not.

        Args:
            header: its ``Host``; ``None`` if it has none, or several.

        >>> Hosts("127.0.0.1").refusal("localhost:8090") is None
        True
        >>> print(Hosts("127.0.0.1").refusal("evil.example"))
        this server does not answer to the name 'evil.example'. If it is yours, as behind a proxy, \
start the server with --allow-host evil.example
        """
        if ANY in self.allowed:
            return None
        found = _HEADER.fullmatch(header or "")
        name = _bare((found["v6"] or found["name"]) if found else "")
        if not name:
            return "a request needs one header Host, with the name of this server"
        if _is_address(name) or name in self._names:
            return None
        name = printable(name[:_SHOWN])
        return (
            f"this server does not answer to the name {name!r}. If it is yours, as behind a proxy, "
            f"{self.how} {name}"
        )

    def foreign(self, origin: str, host: str) -> str | None:
        """Why a request of a page is refused that is none of this server; ``None`` if it is one.

        Args:
            origin: its ``Origin``; without one, it is no request of a browser's page to a server.
            host: its ``Host``.

        >>> Hosts("127.0.0.1").foreign("http://127.0.0.1:8090", "127.0.0.1:8090") is None
        True
        >>> Hosts("127.0.0.1").foreign("https://evil.example", "127.0.0.1:8090")
        "a page of 'https://evil.example' may not use this server"
        """
        _, _, place = origin.partition("://")
        found = _HEADER.fullmatch(place)
        name = _bare(found["name"] or "") if found else ""
        if ANY in self.allowed or place == host or name in set(map(_bare, self.allowed)):
            return None
        return f"a page of {printable(origin[:_SHOWN])!r} may not use this server"

    @property
    def _names(self) -> set[str]:
        names = {"localhost", self.served, *self.allowed}
        if _is_address(self.served) and ip_address(self.served).is_unspecified:
            names.add(socket.gethostname())  # all interfaces: other machines know it by that name
        return {_bare(name) for name in names}


def _bare(name: str) -> str:
    return name.lower().removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
