"""Measure how far an embedding keeps style out: a table, a heat map and a map of sentences.

An embedding that compares content should not tell styles apart. For each pair of styles this takes
the mean cosine of their sentences, as Fitzpatrick, Park and Obst do, and counts the styles that are
most similar to themselves; labels are permuted to see how many chance would give.

DATASET is cds (the Corpus of Diverse Styles), or any dataset with labelled styles. Its training
split is used; of larger ones a sample of each style.

Examples:
  tstbench style-invariance cds --embedding word2vec --out invariance
  tstbench style-invariance shakespeare --embedding word2vec --embedding glove.6B.300d.txt
  tstbench style-invariance cds --self-pairs --points 1000 --embedding glove.txt --out paper
  tstbench style-invariance mine --data mine.toml --sentences 300
"""

from __future__ import annotations

from pathlib import Path

from ..console import say, show
from .arguments import Arguments, Parser, add_data_dir

_SENTENCES = 1000
_POINTS = 150


def add_arguments(parser: Parser) -> None:
    """Add dataset, embeddings, how to measure, and output."""
    parser.add_argument("dataset", metavar="DATASET", help="such as cds or shakespeare")
    parser.repeatable(
        "--embedding",
        "SPEC",
        "word2vec (trained on the dataset's training split), a file of word vectors (GloVe, "
        "word2vec or fastText format), or an encoder: HUB_ID_OR_FOLDER@LAYER; repeatable; default: "
        "sentence-transformers/all-MiniLM-L6-v2",
    )
    parser.count(
        "--sentences", f"at most so many of each style; default: {_SENTENCES}", default=_SENTENCES
    )
    parser.count("--permutations", "of labels; default: 1000", default=1000)
    parser.count("--seed", "of sample, permutations and t-SNE", default=0)
    parser.count(
        "--points",
        "of each style on the map, at most; the paper has 1000; 0 draws no map; default: "
        f"{_POINTS}",
        default=_POINTS,
    )
    parser.switch(
        "--self-pairs",
        "compare a sentence with itself too, as the paper does: then more styles are most "
        "similar to themselves by chance",
    )
    parser.add_argument("--device", default="auto", help="auto (default), cpu, cuda or mps")
    add_data_dir(parser)
    parser.path("--out", "DIR", "write CSV, JSON, Markdown and pictures to this folder")


def run(arguments: Arguments) -> None:
    """Check everything, measure, write, and print a summary."""
    from ..metrics.scorers.device import Placement
    from ..pipelines.style_invariance.measure import (
        DEFAULT,
        InvarianceOptions,
        find_embedding,
        measure,
        sample_styles,
    )
    from ..pipelines.style_invariance.report import terminal
    from ..spaces.analysis.write_invariance import check_out, write_invariance

    out: Path | None = arguments.out
    placement = Placement(device=arguments.device)
    options = InvarianceOptions(
        permutations=arguments.permutations,
        seed=arguments.seed,
        self_pairs=arguments.self_pairs,
        points=arguments.points if out else 0,
    )
    if out:
        check_out(out)
    sample = sample_styles(
        arguments.dataset,
        most=arguments.sentences,
        seed=arguments.seed,
        data_dir=arguments.data_dir,
    )
    specs = dict.fromkeys(arguments.embedding or [DEFAULT])
    found = [find_embedding(spec, sample, placement) for spec in specs]
    distinct = {(one.name, one.hash): one for one in found}
    measured = [measure(one, sample, options) for one in distinct.values()]
    if out:  # first: a closed pipe ends the printing
        write_invariance(out, sample, options, measured)
    show(terminal(sample, options, measured))
    if out:
        say(f"wrote tables and pictures; open {out / 'README.md'}")
