"""Show what TSTBench keeps in TSTBENCH_HOME, and remove what is no longer needed.

  list    every scorer, system, checkpoint, download, task file, fingerprint,
          kept score and large board: size and last use
  size    the total of each kind
  prune   remove what is not current: replaced scorers, unfinished and unused
          downloads, fingerprints, scores and boards of other code, what killed
          commands left a day ago; replaced systems and interrupted trainings
          only with --systems

Examples:
  tstbench cache
  tstbench cache prune --dry-run
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..console import ask, say
from ..errors import InputError
from .arguments import Arguments, Parser

if TYPE_CHECKING:
    from ..pipelines.cache import Entry


def add_arguments(parser: Parser) -> None:
    """Add the action and how to prune."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "size", "prune"), default="list", help="default: list"
    )
    parser.switch("--dry-run", "prune: only show what would go")
    parser.switch("--yes", "prune: do not ask")
    parser.switch(
        "--systems", "prune: also systems that were trained again since, and interrupted trainings"
    )


def run(arguments: Arguments) -> None:
    """Show or prune."""
    from ..files import home
    from ..pipelines.cache import entries, prunable, readable
    from ..pipelines.tables import print_rows

    found = entries()
    for name in ("dry_run", "yes", "systems"):
        if getattr(arguments, name) and arguments.action != "prune":
            raise InputError(f"--{name.replace('_', '-')} belongs to 'tstbench cache prune'")
    if arguments.action == "prune":
        _prune(prunable(found, systems=arguments.systems), arguments)
        return
    if arguments.action == "size":
        kinds = dict.fromkeys(entry.kind for entry in found)
        groups = [(kind, [e for e in found if e.kind == kind]) for kind in kinds]
        rows = [(k, str(len(some)), readable(sum(e.size for e in some))) for k, some in groups]
        print_rows(("kind", "number", "size"), rows)
    else:
        _show(found)
    spare = prunable(found)
    whole, less = (readable(sum(entry.size for entry in some)) for some in (found, spare))
    say(f"{home()}: {whole}, of which 'tstbench cache prune' would remove {less}")


def _show(found: Sequence[Entry]) -> None:
    from ..pipelines.cache import readable
    from ..pipelines.tables import print_rows

    rows = [(e.kind, e.name, readable(e.size), e.last_used.isoformat(), e.state) for e in found]
    print_rows(("kind", "name", "size", "last used", "state"), rows)


def _prune(spare: Sequence[Entry], arguments: Arguments) -> None:
    from ..pipelines.cache import readable, remove

    if not spare:
        say("nothing to remove: everything is current")
        return
    _show(spare)
    total = readable(sum(entry.size for entry in spare))
    if arguments.dry_run:
        say(f"{total} would be removed")
        return
    if not arguments.yes:
        unasked = "nothing was removed: nobody can be asked here, so add --yes"
        if not ask(f"Remove these, {total}?", unasked):
            say("nothing was removed")
            return
    for entry in spare:
        remove(entry)
    say(f"removed {total}")
