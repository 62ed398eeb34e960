"""What a scorer learns from: ``--split``, and ``--without`` the sentences of a study."""

from __future__ import annotations

import argparse
from collections.abc import Collection


def add_without(parser: argparse.ArgumentParser, *, named: bool = True) -> None:
    """Add the option; ``named`` says whether the scorer then needs a name of its own."""
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="STUDY",
        help="learn from no source sentence of a study of human judgments: li2018, mir2019, "
        "pauli2025, 'studies' for all at hand, your own (CSV or JSON Lines), or a text file, one "
        f"sentence a line; repeatable{'; with --name' if named else ''}",
    )


def add_split(parser: argparse.ArgumentParser) -> None:
    """Add ``--split``."""
    parser.add_argument(
        "--split",
        help="learn from another split than the one that is pinned, such as train; "
        "metrics use it with --scorer ROLE=KIND@train",
    )


def check_name(arguments: argparse.Namespace, defaults: Collection[str]) -> None:
    """Check that what is trained without some sentences has a name, which no metric asks for.

    Args:
        arguments: parsed, with ``without`` and ``name``.
        defaults: the names of the scorers that metrics use.

    Raises:
        InputError: sentences are left out without a name, or it is such a name.
    """
    from ..errors import InputError

    if arguments.without and not arguments.name:
        raise InputError(
            "--without needs --name: a scorer that may not know some sentences must not replace "
            "the one that metrics use"
        )
    if (arguments.name or "").split(".")[0] in defaults:  # behind a point stands a split
        raise InputError(
            f"--name {arguments.name} is the scorer that metrics use: choose another name, such as "
            f"{arguments.name.replace('.', '-')}-without"
        )
