"""What docstrings write for other readers than Markdown: names as Sphinx has them, and examples.

``:class:`.Report``` becomes ``Report``; an example with ``>>>`` becomes a block of code.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):`(~?)\.*([\w.]+)`")
_EXAMPLE = re.compile(r"^>>> .*\n?(?:^.+\n?)*", re.MULTILINE)


class Roles(griffe.Extension):
    """Turns every role into code (its last name after a ``~``), and every example into a block."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            text = _EXAMPLE.sub(_block, obj.docstring.value)
            obj.docstring.value = _ROLE.sub(_code, text)


def _code(role: re.Match[str]) -> str:
    name = role[2].split(".")[-1] if role[1] else role[2]
    return f"`{name}`"


def _block(example: re.Match[str]) -> str:
    return f"```pycon\n{example[0].rstrip()}\n```\n"
