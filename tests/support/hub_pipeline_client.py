"""On another machine: transformers' pipeline with a published system; prints what it says, as JSON.

Arguments: Hub id, target style, sentences.
"""

import json
import sys

from transformers import pipeline

import tstbench.trainers.pipeline  # noqa: F401

if __name__ == "__main__":
    repo_id, style, *sentences = sys.argv[1:]
    rewrite = pipeline("text-style-transfer", model=repo_id, device="cpu")
    print(json.dumps(rewrite(sentences, target_style=style)))  # noqa: T201
