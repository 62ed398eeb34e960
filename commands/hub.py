"""Build, serve or push everything as Hub repositories; report scores to a model's repository.

Examples:
  tstbench hub build hub --datasets mini yelp --results demo
  tstbench hub serve hub                 # prints the HF_ENDPOINT line
  tstbench hub push hub --dry-run
  tstbench hub results demo --model you/your-model --dry-run
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..console import say, show, show_data
from .arguments import Arguments, Parser, add_address

if TYPE_CHECKING:
    from ..pipelines.hub.build import Built

PUBLISHED = ("mini", "yelp", "amazon", "shakespeare", "styptb_tfu", "styptb_arr")
_ROOT = "the hub folder"


def add_arguments(parser: Parser) -> None:
    """Add the four actions."""
    actions = parser.add_subparsers(dest="action", required=True)

    def action(name: str, what: str) -> Parser:
        return actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")

    _add_build(action("build", "write every artefact as a folder with a manifest"))
    serve = action("serve", "serve the folder over the Hub's protocol")
    serve.add_argument("root", type=Path, help=_ROOT)
    add_address(serve, 8090)
    push = action("push", "create and update the repositories on the Hub")
    push.add_argument("root", type=Path, help=_ROOT)
    push.several("--only", "NAME", "these repositories")
    push.add_argument("--namespace", default="tstbench", help="your user name or organisation")
    push.switch("--private", "make new repositories private")
    push.switch("--dry-run", "only list what would change")
    _add_results(action("results", "report a system's scores in its model repository"))


def _add_build(build: Parser) -> None:
    build.add_argument("root", type=Path, help=f"{_ROOT}; created if it does not exist")
    build.add_argument(
        "--datasets",
        nargs="*",
        default=list(PUBLISHED),
        metavar="NAME",
        help=f"datasets to publish; default: {' '.join(PUBLISHED)}",
    )
    build.add_argument("--results", type=Path, help="results folder, published as tstbench/results")
    build.add_argument("--judgments", type=Path, help="folder of human judgments (JSONL)")
    build.several(
        "--studies", "STUDY", "published human judgments: li2018 mir2019 pauli2025 tstbench2025"
    )
    build.several(
        "--systems",
        "FOLDER",
        "folders that 'tstbench train ... --out' wrote; trained systems in TSTBENCH_HOME are "
        "published anyway",
        type=Path,
    )
    build.switch("--allow-missing", "leave out splits whose files are missing")
    build.several("--only", "NAME", "these repositories; default: all")
    build.add_argument("--namespace", default="tstbench", help="owner of the repositories")


def _add_results(results: Parser) -> None:
    results.add_argument(
        "results", type=Path, metavar="RESULTS", help="folder that 'evaluate --out' or 'run' wrote"
    )
    results.add_argument(
        "--model", required=True, metavar="USER/MODEL", help="an existing repository on the Hub"
    )
    results.add_argument(
        "--system", metavar="NAME", help="its name in the results, if there are several"
    )
    results.add_argument(
        "--source", metavar="URL", help="a page to follow; default: where the outputs are"
    )
    results.add_argument(
        "--namespace", default="tstbench", help="owner of the benchmark's datasets on the Hub"
    )
    results.switch("--pull-request", "propose it: for somebody else's model")
    results.switch("--dry-run", "print the files, send nothing; needs no token")


def run(arguments: Arguments) -> None:
    """Dispatch."""
    actions = {"build": _build, "serve": _serve, "push": _push, "results": _results}
    actions[arguments.action](arguments)


def _build(arguments: Arguments) -> None:
    from ..pipelines.hub.build import build_all
    from ..pipelines.standings import check_results_folder

    if arguments.results:
        check_results_folder(arguments.results)

    built = build_all(
        arguments.root,
        datasets=arguments.datasets,
        results=arguments.results,
        judgments=arguments.judgments,
        studies=arguments.studies,
        systems=arguments.systems,
        allow_missing=arguments.allow_missing,
        only=arguments.only,
        namespace=arguments.namespace,
        report=_print_built,
    )
    written = sum(one.changed for one in built)
    say(
        f"{len(built)} {'repository' if len(built) == 1 else 'repositories'} in "
        f"{arguments.root}: {written} written, "
        f"{len(built) - written} unchanged. Look at them with `tstbench hub serve "
        f"{arguments.root}`, publish them with `tstbench hub push {arguments.root}`"
    )


def _print_built(one: Built) -> None:
    state = "written" if one.changed else "unchanged"
    show(f"{one.kind}s/{one.repo_id}\t{one.commit}\t{state}")


def _serve(arguments: Arguments) -> None:
    from ..pipelines.hub.serve import serve

    serve(
        arguments.root,
        host=arguments.host,
        port=arguments.port,
        allowed_hosts=arguments.allow_host,
    )


def _push(arguments: Arguments) -> None:
    from ..pipelines.hub.push import push

    push(
        arguments.root,
        namespace=arguments.namespace,
        only=arguments.only,
        private=arguments.private,
        dry_run=arguments.dry_run,
        report=lambda plan: show(str(plan)),
    )


def _results(arguments: Arguments) -> None:
    from ..pipelines.hub.push import send_results

    sent = send_results(
        arguments.results,
        arguments.model,
        system=arguments.system,
        namespace=arguments.namespace,
        source=arguments.source,
        pull_request=arguments.pull_request,
        dry_run=arguments.dry_run,
    )
    for note in sent.notes:
        say(note)
    if arguments.dry_run:
        for path, content in sent.files.items():
            show_data(f"# {path}\n{content.decode()}")
        say(f"dry run: nothing was sent to {sent.model}")
    elif sent.url:
        show(sent.url)
    else:
        say(f"{sent.model} has these scores already: nothing to send")
