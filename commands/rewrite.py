"""Open a page on which systems rewrite your sentence side by side.

A system is a folder that 'tstbench train ... --out' wrote, or a Hub id.

Examples:
  tstbench rewrite stytrans-yelp delete-retrieve-yelp
  tstbench rewrite tstbench/stytrans-yelp-all --port 8000
"""

from __future__ import annotations

from ..errors import require_installed
from .arguments import Arguments, Parser, add_address


def add_arguments(parser: Parser) -> None:
    """Add systems, device, host and port."""
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="a folder or a Hub id")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"))
    add_address(parser, 7860)


def run(arguments: Arguments) -> None:
    """Serve until Ctrl-C."""
    require_installed("gradio", "space")
    from ..spaces.rewrite import launch

    launch(
        arguments.systems,
        arguments.host,
        arguments.port,
        device=arguments.device,
        allowed_hosts=arguments.allow_host,
    )
