"""Flags, and a TOML file, for the settings of a dataclass."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import unknown_name
from ..files import parse_toml, read_text
from ..settings import described, from_texts


def add_flags(parser: argparse.ArgumentParser, title: str, settings: type) -> None:
    """Add a flag for each setting that has a ``help``."""
    group = parser.add_argument_group(title)
    for setting in described(settings):
        if not setting.help:  # chosen in another way
            continue
        usual = "" if setting.default in (None, "") else f" (default {setting.default})"
        group.add_argument(
            f"--{setting.name.replace('_', '-')}",
            dest=f"setting_{setting.name}",
            metavar="VALUE",
            help=f"{setting.help}{usual}".replace("%", "%%"),
        )


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add ``--resume`` and ``--restart``."""
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        dest="resume",
        action="store_const",
        const="yes",
        default="auto",
        help="continue an interrupted training, or fail if there is none (default: if there is)",
    )
    again.add_argument(
        "--restart",
        dest="resume",
        action="store_const",
        const="no",
        help="begin anew, whatever an interrupted training left",
    )


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add ``--yes``."""
    parser.add_argument(
        "--yes", action="store_true", help="train what takes hours without asking first"
    )


def refuse(flag: str, parser: argparse.ArgumentParser) -> None:
    """Raise :class:`UnknownNameError` for a flag, with the likeliest one that exists."""
    known = [o for action in parser._actions for o in action.option_strings if o.startswith("--")]
    raise unknown_name("option", flag.partition("=")[0], known)


def read_toml(path: Path | None) -> dict[str, Any]:
    """The settings of a file; none without one."""
    return {} if path is None else parse_toml(read_text(path), path)


def given(settings: type, arguments: argparse.Namespace, of: str) -> dict[str, Any]:
    """The settings given as flags."""
    flags = {
        setting.name: text
        for setting in described(settings)
        if (text := getattr(arguments, f"setting_{setting.name}", None)) is not None
    }
    return from_texts(settings, flags, of)
