"""Write a language model with a trained adapter (llama-lora, llama-lora-inst) added to its weights.

The folder is an ordinary checkpoint of transformers, in float32, which needs no adapter any more.

Examples:
  tstbench merge my-adapter --out merged
"""

from __future__ import annotations

from ..console import say
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """Add the adapter, its base model, and where to write."""
    parser.add_argument("system", help="a folder that 'train' wrote, or a Hub id")
    parser.path("--out", "FOLDER", None, required=True)
    parser.add_argument("--base", default="", help="the base model, if it is not found by itself")
    parser.add_argument("--revision", help="branch, tag or commit of a Hub id")


def run(arguments: Arguments) -> None:
    """Merge, and say where."""
    from ..trainers.lora.system import merge

    merge(arguments.system, arguments.out, base=arguments.base, revision=arguments.revision)
    say(f"wrote {arguments.out}")
