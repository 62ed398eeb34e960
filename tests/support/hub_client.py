"""What a user does with published artefacts, by name; prints what came out as one line of JSON.

Run as a program of its own: the Hub's libraries read HF_ENDPOINT when they are imported. With the
argument ``api``, the questions that only a server can answer are asked too.
"""

import hashlib
import json
import sys
from pathlib import Path

import datasets
import evaluate
import huggingface_hub
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

datasets.disable_progress_bars()
huggingface_hub.utils.disable_progress_bars()


def main() -> dict:
    views = datasets.get_dataset_config_names("tstbench/mini")
    loaded = {view: datasets.load_dataset("tstbench/mini", view) for view in views}
    result = {
        "views": {v: {s: list(rows) for s, rows in splits.items()} for v, splits in loaded.items()},
        "class": loaded["styles"]["train"].features["style"].names,
        "streamed": {view: stream(view) for view in views},
        "words": evaluate.load("tstbench/wordcount").compute(predictions=["a b", "c d e f"]),
        "logits": classify(),
    }
    if "api" in sys.argv:
        result["api"] = ask()
    return result


def stream(view: str) -> dict:
    splits = datasets.load_dataset("tstbench/mini", view, streaming=True)
    return {split: list(rows) for split, rows in splits.items()}


def classify() -> list:
    tokenizer = AutoTokenizer.from_pretrained("tstbench/classifier")
    model = AutoModelForSequenceClassification.from_pretrained("tstbench/classifier").eval()
    with torch.no_grad():
        return model(**tokenizer("lovely soup", return_tensors="pt")).logits[0].tolist()


def ask() -> dict:
    api = huggingface_hub.HfApi()
    copy = Path(huggingface_hub.snapshot_download("tstbench/mini", repo_type="dataset"))
    files = {p.relative_to(copy).as_posix(): p.read_bytes() for p in copy.rglob("*") if p.is_file()}
    card = huggingface_hub.hf_hub_download("tstbench/classifier", "README.md")
    info = api.dataset_info("tstbench/mini", files_metadata=True)
    with huggingface_hub.HfFileSystem().open("datasets/tstbench/mini/styles/train.parquet") as file:
        file.seek(-4, 2)
        end = file.read()
    return {
        "snapshot": {path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
        "card": Path(card).read_text(),
        "exists": [api.repo_exists("tstbench/classifier"), api.repo_exists("tstbench/nothing")],
        "file": [api.file_exists("tstbench/classifier", f) for f in ("config.json", "none.json")],
        "models": api.list_repo_files("tstbench/classifier"),
        "sha": info.sha,
        "sizes": {s.rfilename: s.size for s in info.siblings},
        "at_sha": api.dataset_info("tstbench/mini", revision=info.sha).sha,
        "tree": [item.path for item in api.list_repo_tree("tstbench/mini", repo_type="dataset")],
        "folder": [
            item.path for item in api.list_repo_tree("tstbench/mini", "styles", repo_type="dataset")
        ],
        "large": api.get_paths_info("tstbench/classifier", ["model.safetensors"])[0].lfs.sha256,
        "tags": [t.name for t in api.list_repo_refs("tstbench/wordcount", repo_type="space").tags],
        "commits": [c.title for c in api.list_repo_commits("tstbench/mini", repo_type="dataset")],
        "datasets": [d.id for d in api.list_datasets(author="tstbench")],
        "end_of_file": end.decode(),
        "unknown": [
            name_of_error(api.model_info, "tstbench/nothing"),
            name_of_error(api.model_info, "tstbench/classifier", revision="v9"),
            name_of_error(huggingface_hub.hf_hub_download, "tstbench/classifier", "none.json"),
            name_of_error(datasets.load_dataset, "tstbench/nothing"),
            name_of_error(AutoTokenizer.from_pretrained, "tstbench/nothing"),
        ],
    }


def name_of_error(function, *arguments, **options) -> str:
    try:
        function(*arguments, **options)
    except Exception as error:
        return type(error).__name__
    return "none"


if __name__ == "__main__":
    print(json.dumps(main()))  # noqa: T201
