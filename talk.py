"""Messages for people go to standard error, so that standard output stays data."""

import sys


def say(text: str) -> None:
    """Tell the user what is happening."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201
