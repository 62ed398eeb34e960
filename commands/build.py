"""Write datasets as folders (Parquet and card) that datasets.load_dataset reads.

Upstream files come from TSTBENCH_SOURCES (a local mirror) or are downloaded, and are verified
either way. GYAFC is licensed: it is built from your own copy, for your own use.

Examples:
  tstbench build mini yelp --out data
  tstbench build manners --data manners.toml --out data
  tstbench build gyafc_fr --data-dir GYAFC_Corpus --accept-licence gyafc-research-only --out data
"""

from __future__ import annotations

from ..console import say
from .arguments import Arguments, Parser, add_data_dir


def add_arguments(parser: Parser) -> None:
    """Add datasets, folder, and what may be missing."""
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.path("--out", "DIR", None, required=True)
    parser.add_argument(
        "--cleaning", help="such as raw; default: the cleaning of the dataset's language"
    )
    add_data_dir(parser)
    parser.switch("--allow-missing", "leave out splits whose files are missing")
    parser.add_argument("--accept-licence", metavar="NAME", help="name of the licence you have")


def run(arguments: Arguments) -> None:
    """Build each dataset."""
    from ..datasets_scripts.build import build
    from ..datasets_scripts.catalog import dataset_facts

    for dataset in arguments.datasets:
        dataset_facts(dataset)
    for dataset in arguments.datasets:
        report = build(
            dataset,
            arguments.out,
            cleaning=arguments.cleaning,
            data_dir=arguments.data_dir,
            allow_missing=arguments.allow_missing,
            accept_licence=arguments.accept_licence,
        )
        rows = "; ".join(
            f"{view}: " + ", ".join(f"{split} {number}" for split, number in splits.items())
            for view, splits in report.rows.items()
        )
        say(f"wrote {dataset} ({report.cleaning}) to {report.folder}; rows of {rows}")
        for part, why in report.left_out.items():
            say(f"{part} is left out: {why}")
