"""The page on which visitors see their sentence rewritten by several systems, side by side.

:func:`launch` serves systems that are folders or repositories of the Hub.
"""

from .server import launch, serve

__all__ = ["launch", "serve"]
