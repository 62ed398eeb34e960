"""HTML that is safe from injection: text becomes markup only through :func:`el`.

``markupsafe`` keeps the two apart by type: a ``Markup`` is HTML made here, any other
string is text and is escaped when it is put into markup.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

_VOID = frozenset({"br", "hr", "img", "input", "meta"})

Child = object  # a Markup, a text or number to be escaped, None, or an iterable of these


def el(tag: str, *children: Child, **attributes: object) -> Markup:
    """One element.

    Args:
        tag: the element's name.
        children: what is inside; ``None`` is nothing, iterables are flattened, text is escaped.
        attributes: ``class_`` for ``class``, ``data_x`` for ``data-x``; ``None`` and ``False``
            omit the attribute, ``True`` writes it without a value.

    >>> el("a", "1 < 2", class_="x", data_value=3, hidden=True, title=None)
    Markup('<a class="x" data-value="3" hidden>1 &lt; 2</a>')
    """
    opening = tag
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        opening += f" {name}" if value is True else f' {name}="{escape(value)}"'
    if tag in _VOID:
        return Markup(f"<{opening}>")  # noqa: S704
    pieces: list[str] = []
    _collect(children, pieces)
    return Markup(f"<{opening}>{''.join(pieces)}</{tag}>")  # noqa: S704


def join(children: Iterable[Child]) -> Markup:
    """Escape text, flatten iterables, and concatenate everything."""
    pieces: list[str] = []
    _collect(children, pieces)
    return Markup("".join(pieces))  # noqa: S704


def _collect(children: Iterable[Child], pieces: list[str]) -> None:
    for child in children:
        if type(child) is Markup:
            pieces.append(child)
        elif child is None:
            continue
        elif isinstance(child, str) or not isinstance(child, Iterable):
            pieces.append(escape(child))
        else:
            _collect(child, pieces)


def https_link(url: str | None, *children: Child, **attributes: object) -> Markup | None:
    """A link to another site; ``None`` unless it is plain https.

    >>> https_link("javascript:alert(1)", "outputs") is None
    True
    """
    if url is None or not url.startswith("https://"):
        return None
    return el("a", *children, href=url, rel="noopener noreferrer", target="_blank", **attributes)
