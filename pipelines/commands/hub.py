"""Build, serve or push everything as Hub repositories.

For example::
  tstbench hub build hub --datasets mini yelp --results demo
  tstbench hub serve hub                 # prints the HF_ENDPOINT line
  tstbench hub push hub --dry-run
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..talk import say

PUBLISHED = ("mini", "yelp", "amazon", "shakespeare", "styptb_tfu", "styptb_arr")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Three actions on one folder."""
    actions = parser.add_subparsers(dest="action", required=True)
    build = actions.add_parser("build", help="write every artefact as a git repository")
    build.add_argument("root", type=Path)
    build.add_argument("--datasets", nargs="*", default=list(PUBLISHED))
    build.add_argument("--results", type=Path, help="results folder, becomes tstbench/results")
    build.add_argument("--judgments", type=Path, help="folder of human judgments (JSONL)")
    build.add_argument("--allow-missing", action="store_true", help="splits that are not here")
    build.add_argument("--only", nargs="+", default=[], metavar="NAME")
    build.add_argument("--namespace", default="tstbench")
    serve = actions.add_parser("serve", help="serve the folder over the Hub's protocol")
    serve.add_argument("root", type=Path)
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8090)
    push = actions.add_parser("push", help="create and update the repositories on the Hub")
    push.add_argument("root", type=Path)
    push.add_argument("--only", nargs="+", default=[], metavar="NAME")
    push.add_argument("--namespace", default="tstbench")
    push.add_argument("--private", action="store_true")
    push.add_argument("--dry-run", action="store_true", help="only list what would change")


def run(arguments: argparse.Namespace) -> None:
    """Dispatch."""
    {"build": _build, "serve": _serve, "push": _push}[arguments.action](arguments)


def _build(arguments: argparse.Namespace) -> None:
    from ..hub.artefacts import build_all

    for built in build_all(
        arguments.root,
        datasets=arguments.datasets,
        results=arguments.results,
        judgments=arguments.judgments,
        allow_missing=arguments.allow_missing,
        only=arguments.only,
        namespace=arguments.namespace,
        report=lambda one: say(str(one)),
    ):
        print(f"{built.kind}s/{built.repo_id}\t{built.commit}")  # noqa: T201


def _serve(arguments: argparse.Namespace) -> None:
    from ..hub.serve import serve

    serve(arguments.root, host=arguments.host, port=arguments.port)


def _push(arguments: argparse.Namespace) -> None:
    from ..hub.push import push

    push(
        arguments.root,
        namespace=arguments.namespace,
        only=arguments.only,
        private=arguments.private,
        dry_run=arguments.dry_run,
        report=lambda plan: print(str(plan)),  # noqa: T201
    )
