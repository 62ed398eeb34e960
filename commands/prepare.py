"""Train the scorers that a dataset's metrics need, and show how good they are.

Scorers are kept in TSTBENCH_HOME. 'tstbench evaluate' prepares what it needs by itself.

Example:
  tstbench prepare yelp shakespeare
"""

from __future__ import annotations

from .arguments import Arguments, Parser, add_data_dir


def add_arguments(parser: Parser) -> None:
    """Add datasets and profile."""
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--profile", default="embedded", help="embedded (default), lm or paper")
    add_data_dir(parser)


def run(arguments: Arguments) -> None:
    """Prepare each dataset and list its scorers."""
    from ..datasets_scripts.catalog import dataset_facts
    from ..metrics.scorers.prepare import prepare_dataset
    from ..metrics.scorers.profile import parse_profile
    from ..pipelines.tables import print_rows

    profile = parse_profile(arguments.profile)
    for dataset in arguments.datasets:
        dataset_facts(dataset)
    rows: list[tuple[str, ...]] = []
    try:
        for dataset in arguments.datasets:
            for artefact in prepare_dataset(dataset, profile, data_dir=arguments.data_dir):
                card = artefact.card
                scores = ", ".join(f"{name} {value:.3f}" for name, value in card.scores.items())
                scorer = f"{card.role} {card.name}"
                rows.append((dataset, scorer, card.trained_on, scores, artefact.hash[:12]))
    finally:  # what one dataset lacks takes nothing from those before it
        if rows:
            print_rows(("dataset", "scorer", "trained on", "measured", "hash"), rows)
