"""Check the data file of your own dataset, and show what was read.

Everything the file refers to is read. All errors that would stop a later command are found here,
with the file and the line. docs/your_data.md explains the format.

Example:
  tstbench data check manners.toml
"""

from __future__ import annotations

from ..console import say
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """Add action and file."""
    parser.add_argument("action", choices=("check",))
    parser.add_argument("file", metavar="FILE.toml")


def run(arguments: Arguments) -> None:
    """Read it, and print counts, removed overlaps and the first example."""
    from ..datasets_scripts.catalog import load_data
    from ..datasets_scripts.load import load_styles, load_test_set
    from ..datasets_scripts.own_check import labels_left_out
    from ..metrics.text import preparation
    from ..pipelines.tables import print_rows

    corpus = load_data(arguments.file)
    facts = corpus.facts
    text = preparation(facts.language)
    styles = load_styles(facts.name)
    rows = [
        ("name", facts.name),
        ("styles", ", ".join(facts.styles)),
        ("language", f"{facts.language}: cleaning {text.clean_name}, BLEU {text.bleu_protocol}"),
        ("licence", facts.licence or "none given: the dataset is not published"),
    ]
    for name, split in styles.splits.items():
        counts = ", ".join(f"{len(split.of(i))} {style}" for i, style in enumerate(facts.styles))
        removed = f"; {split.excluded} removed that are in the test split" if split.excluded else ""
        rows.append((f"{name} sentences", counts + removed))
    for part in corpus.parts:
        if found := labels_left_out(part):
            shown = ", ".join(f"{count} {label!r}" for label, (count, _) in list(found.items())[:9])
            total = sum(count for count, _ in found.values())
            rows.append((f"{part.name} rows left out", f"{total}, by label: {shown}"))
    tests = [load_test_set(direction) for direction in corpus.directions]
    for test in tests:
        given = sorted({len(some) for some in test.references})
        span = str(given[0]) if len(given) == 1 else f"{given[0]} to {given[-1]}"
        rows.append((str(test.direction), f"{len(test)} to rewrite; references each: {span}"))
    rows += [(f"first of {tests[0].direction}", tests[0].sources[0])]
    rows += [("its rewrite", text) for text in tests[0].references[0]]
    print_rows(("what", "read"), rows)
    if styles.learn_from not in styles.splits:
        say("no [train]: metrics that need a trained scorer (acc, ppl, joint) cannot be computed")
    if any(part.name == "train" and part.pairs for part in corpus.parts):
        say("the dataset has training pairs")
