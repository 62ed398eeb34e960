"""Record judgments_li2018.json from the mirror of the upstream files at TSTBENCH_SOURCES.

python tests/golden/record_judgments_li2018.py

The arithmetic is that of the authors' evaluation/run_eval.py: every line of a system's file is
looked up among the rated outputs by source, target style and output as they stand; means over the
lines; success where every rating is above 3. Nothing of the package joins or counts here: what it
joins and counts is what the file is compared with.
"""

import csv
import json
from pathlib import Path

from tstbench.datasets_scripts.sources import LI_2018, fetch, upstream_file
from tstbench.files import write_text

# Suffix in the release -> our name; their "orgin", and the order in which they were recorded first.
SYSTEMS = {
    "fader": "style-embedding",
    "human": "human",
    "label": "delete-only",
    "mit": "cross-aligned",
    "multi_decoder": "multi-decoder",
    "orgin": "delete-and-retrieve",
    "retrieval": "retrieval",
    "rule_base": "template",
}
ASPECTS = {"grammaticality": "fluency", "sentiment": "style", "topic": "content"}
DIRECTIONS = ("yelp/negative-to-positive", "yelp/positive-to-negative")  # test.0, test.1
TARGETS = ("positive", "negative")
A_STYLE = 200  # their --num-per-class: as many lines of each file were rated


def rated() -> dict[tuple[str, str, str], dict[str, int]]:
    """(source, target style, output) -> its ratings; of a text shown twice the last counts."""
    found = {}
    export = fetch(upstream_file(LI_2018, "evaluation/human_ratings/ratings-yelp.csv"))
    with export.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            columns = (row[f"Input.{name}"].split("\t") for name in ("origs", "mods"))
            responses = row["Answer.responses"].split("\t")
            for source, output, response in zip(*columns, responses, strict=True):
                pairs = (part.split("=") for part in response.split(" "))
                scores = {ASPECTS[name]: int(value) for name, value in pairs}
                scores["success"] = int(all(value > 3 for value in scores.values()))
                found[source, row["Input.target"], output] = scores
    return found


def outputs(suffix: str, style: int) -> list[tuple[str, str, str]]:
    """The rated lines of a system's file: (source, target style, output)."""
    path = fetch(upstream_file(LI_2018, f"evaluation/outputs/yelp/sentiment.test.{style}.{suffix}"))
    lines = path.read_text("utf-8").split("\n")[:A_STYLE]
    columns = (line.strip().split("\t") for line in lines)
    return [(one[0].strip().lower(), TARGETS[style], one[1].strip().lower()) for one in columns]


def means(scores: list[dict[str, int]]) -> dict[str, float]:
    """The mean of each aspect and of success."""
    return {name: sum(one[name] for one in scores) / len(scores) for name in scores[0]}


def main() -> None:
    path = Path(__file__).with_name("judgments_li2018.json")
    ratings = rated()
    systems = {}
    for suffix, system in SYSTEMS.items():
        parts = [[ratings[key] for key in outputs(suffix, style)] for style in (0, 1)]
        by_part = {"all": parts[0] + parts[1], **dict(zip(DIRECTIONS, parts, strict=True))}
        systems[system] = {name: means(some) for name, some in by_part.items()}
    origin = json.loads(path.read_text("utf-8"))["origin"]
    content = {"origin": origin, "systems": systems}
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
