"""Arguments that commands have in common: paths, addresses, settings, how to score and to learn.

Everything else is imported when it is needed, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import printable
from ..errors import InputError, unknown_name

if TYPE_CHECKING:
    from ..pipelines.scoring import Scoring

Arguments = argparse.Namespace
_LAST_PORT = 2**16 - 1
_EMPTY = "the path is empty; the current folder is '.'"


class Parser(argparse.ArgumentParser):
    """The parser of a command: a path is checked, and names by others are shown safely."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("type", Path, _path)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # Without a flag stand paths and names; an empty one is a variable that is not set.
        rest = action.nargs in (argparse.PARSER, argparse.REMAINDER)  # another parser reads it
        if not action.option_strings and not rest and "" in arg_strings:
            raise argparse.ArgumentError(action, _EMPTY)
        return super()._get_values(action, arg_strings)  # type: ignore[misc]

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(printable(message, lines=True), file)

    def switch(self, flag: str, what: str, **more: Any) -> None:
        """Add an option without a value."""
        self.add_argument(flag, action="store_true", help=what, **more)

    def several(self, flag: str, metavar: str, what: str, **more: Any) -> None:
        """Add an option with one value or more behind it; without it, a list of none."""
        self.add_argument(flag, nargs="+", default=[], metavar=metavar, help=what, **more)

    def repeatable(self, flag: str, metavar: str | tuple[str, ...], what: str, **more: Any) -> None:
        """Add an option that can be given several times; without it, a list of none."""
        self.add_argument(flag, action="append", default=[], metavar=metavar, help=what, **more)

    def path(self, flag: str, metavar: str, what: str | None, **more: Any) -> None:
        """Add an option whose value is a path."""
        self.add_argument(flag, type=Path, metavar=metavar, help=what, **more)

    def count(self, flag: str, what: str, **more: Any) -> None:
        """Add an option whose value is a whole number, ``N``."""
        self.add_argument(flag, type=int, metavar="N", help=what, **more)

    def known(self, arguments: Sequence[str]) -> Arguments:
        """The arguments, parsed.

        Raises:
            UnknownNameError: a flag that there is not, with the likeliest one that there is.
        """
        parsed, rest = self.parse_known_args(arguments)
        if rest:
            flags = [o for action in self._actions for o in action.option_strings]
            known = [flag for flag in flags if flag.startswith("--")]
            raise unknown_name("option", rest[0].partition("=")[0], known)
        return parsed


def _path(text: str) -> Path:
    """A path; an empty one, as of a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError(_EMPTY)
    return Path(text)


def add_address(parser: Parser, port: int) -> None:
    """Add ``--host``, ``--port`` and ``--allow-host`` of a command that serves.

    Args:
        parser: of the command.
        port: the usual one.
    """
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all")
    parser.add_argument(
        "--port", type=_port, default=port, help=f"0 takes any free port (default {port})"
    )
    parser.repeatable(
        "--allow-host",
        "NAME",
        "answer under this name too, as behind a proxy; '*' for every name; repeatable",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_LAST_PORT)) or int(text) > _LAST_PORT:
        what = f"{text!r} is not a port: choose one from 0 to {_LAST_PORT}"
        raise argparse.ArgumentTypeError(what)
    return int(text)


def add_flags(parser: Parser, title: str, settings: type) -> None:
    """Add a flag for each setting of a dataclass that has a ``help``."""
    from ..settings import described

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


def add_resume(parser: Parser) -> None:
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


def add_data_dir(parser: Parser) -> None:
    """Add ``--data-dir``."""
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")


def add_yes(parser: Parser) -> None:
    """Add ``--yes``."""
    parser.switch("--yes", "train what takes hours without asking first")


def read_toml(path: Path | None) -> dict[str, Any]:
    """The settings of a file; none without one."""
    from ..files import parse_toml, read_text

    return {} if path is None else parse_toml(read_text(path), path)


def given(settings: type, arguments: Arguments, of: str) -> dict[str, Any]:
    """The settings given as flags."""
    from ..settings import from_texts

    return from_texts(settings, given_texts(settings, arguments), of)


def given_texts(settings: type, arguments: Arguments) -> dict[str, str]:
    """What was given as flags, as text."""
    from ..settings import described

    return {
        setting.name: text
        for setting in described(settings)
        if (text := getattr(arguments, f"setting_{setting.name}", None)) is not None
    }


def add_scoring_arguments(parser: Parser) -> None:
    """Add metrics, profile, scorers, options, device and batch size."""
    from ..chat.settings import Handling

    parser.add_argument(
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help="metrics or families, such as joint bleu; default: the benchmark's ten",
    )
    parser.add_argument("--profile", default="embedded", help="embedded (default), lm or paper")
    parser.repeatable(
        "--scorer",
        "ROLE=SCORER",
        "use another scorer than the profile's: encoder=HUB_ID_OR_FOLDER@LAYER, "
        "classifier=textcnn, classifier=linear@train (what it learns from), "
        "acceptability=HUB_ID, language_model=FILE, "
        "causal_lm=HUB_ID, FOLDER or FILE.gguf, bleurt=HUB_ID_OR_FOLDER, judge=MODEL@URL, "
        "lexicon=FILE, "
        "word_vectors=FILE, masked_vectors=FOLDER, attribution=finetuned (or HUB_ID_OR_FOLDER), "
        "meaning=FOLDER",
    )
    parser.repeatable(
        "--set",
        "FAMILY.OPTION=VALUE",
        "an option of a metric, such as bleu.protocol=13a or ppl.norm=words+1",
        dest="settings",
    )
    parser.add_argument("--device", default="auto", help="auto (default), cpu, cuda or mps")
    parser.add_argument(
        "--dtype",
        default="float32",
        help="number type on the device: float32 (default), bfloat16 or float16",
    )
    add_batch_size(parser)
    add_flags(parser, "a chat model that judges (llm_judge); no score depends on these", Handling)


def add_batch_size(parser: Parser) -> None:
    """Add the batch size, which changes no score."""
    parser.count(
        "--batch-size",
        "score at most N sentences at once: fewer need less memory; no score changes",
    )


def read_scoring(arguments: Arguments) -> Scoring:
    """The checked scoring settings of the arguments."""
    from ..chat.settings import Handling
    from ..metrics.options import parse_settings
    from ..pipelines.scoring import scoring
    from ..settings import read_settings

    return scoring(
        arguments.metrics,
        profile=arguments.profile,
        scorers=arguments.scorer,
        settings=parse_settings(arguments.settings),
        device=arguments.device,
        dtype=arguments.dtype,
        batch_size=arguments.batch_size,
        asking=read_settings(Handling, given(Handling, arguments, "the judge"), "the judge"),
    )


def add_without(parser: Parser) -> None:
    """Add the option; the scorer then needs a name of its own."""
    parser.repeatable(
        "--without",
        "STUDY",
        "learn from no source sentence of a study of human judgments: li2018, mir2019, "
        "pauli2025, 'studies' for all at hand, your own (CSV or JSON Lines), or a text file, one "
        "sentence a line; repeatable; with --name",
    )


def add_split(parser: Parser) -> None:
    """Add ``--split``."""
    parser.add_argument(
        "--split",
        help="learn from another split than the one that is pinned, such as train; "
        "metrics use it with --scorer ROLE=KIND@train",
    )


def check_name(arguments: Arguments, defaults: Collection[str]) -> None:
    """Check that what is trained without some sentences has a name, which no metric asks for.

    Args:
        arguments: parsed, with ``without`` and ``name``.
        defaults: the names of the scorers that metrics use.

    Raises:
        InputError: sentences are left out without a name, or it is such a name.
    """
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
