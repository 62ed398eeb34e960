"""Small artefacts of every kind that is published, and subprocesses that act as users."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from analysis_results import judgment
from huggingface_hub import DatasetCard

from tstbench.datasets_scripts.build import build as build_dataset
from tstbench.pipelines.hub.build import Artefact

SERVER = "import sys; from tstbench.pipelines.hub.serve import serve; serve(sys.argv[1], port=0)"
JUDGED = judgment("copy", 1, 1, output="the soup was warm .").model_copy(
    update={"source": "the soup was cold ."}
)


def dataset_folder(parent: Path) -> Path:
    """The benchmark's own small dataset, as it is published."""
    return build_dataset("mini", parent).folder


METRIC = '''
import datasets
import evaluate

from .counting import count_words


class Words(evaluate.Metric):
    """The mean number of words of the predictions."""

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=self.__doc__,
            citation="",
            inputs_description="",
            features=datasets.Features({"predictions": text}),
        )

    def _compute(self, predictions):
        return {"words": count_words(predictions)}
'''


def artefacts(folder: Path) -> list[Artefact]:
    """A dataset, a metric and a model."""
    metric = metric_folder(folder / "wordcount")
    return [
        Artefact("dataset", "mini", "dataset", dataset_folder(folder)),
        Artefact("space", "wordcount", "metric", metric, ("v0.4.6",)),
        Artefact("model", "classifier", "model", model_folder(folder / "classifier")),
    ]


def metric_folder(metric: Path) -> Path:
    """A metric of nobody's package: its script, and a helper beside it."""
    metric.mkdir(parents=True)
    (metric / "wordcount.py").write_text(METRIC)
    (metric / "counting.py").write_text(
        "def count_words(texts):\n    return sum(len(t.split()) for t in texts) / len(texts)\n"
    )
    (metric / "README.md").write_text(
        "---\ntitle: Words\nsdk: gradio\ntags: [evaluate]\n---\n# Words\n"
    )
    (metric / "app.py").write_text("# a page\n")
    (metric / "requirements.txt").write_text("evaluate\n")
    (metric / "__init__.py").write_text("")
    return metric


def model_folder(folder: Path) -> Path:
    """A style classifier of a few thousand weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "soup", "bread", "cold", "lovely"]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        num_labels=2,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n# A classifier\n")
    return folder


def published_views(root: Path) -> dict[str, dict[str, list]]:
    """The rows of every view and split of ``tstbench/mini``, from the Parquet files alone."""
    folder = root / "datasets/tstbench/mini"
    card = DatasetCard.load(folder / "README.md").data.to_dict()
    return {
        config["config_name"]: {
            file["split"]: pq.read_table(folder / file["path"]).to_pylist()
            for file in config["data_files"]
        }
        for config in card["configs"]
    }


def run_user(script: Path, arguments: list[str], *, cwd: Path, **environment: str) -> dict:
    """What a user's program says: its JSON result."""
    done = _alone([str(script), *arguments], cwd, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def tstbench(cwd: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line of a user who is online."""
    return _alone(["-m", "tstbench", *map(str, arguments)], cwd, {**ONLINE, **environment})


def _alone(
    command: list[str], cwd: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Python as on a machine of its own: an empty home, own caches, nothing of the test's settings.

    A setting of ``""`` is removed from the environment.
    """
    cwd.mkdir(parents=True, exist_ok=True)
    own = {"HF_HOME": str(cwd / "hf"), "TSTBENCH_HOME": str(cwd / "home")}
    settings = {**os.environ, **own, **environment}
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={name: value for name, value in settings.items() if value},
        capture_output=True,
        text=True,
        timeout=120,
    )


ONLINE = {"HF_HUB_OFFLINE": "", "HF_DATASETS_OFFLINE": "", "HF_EVALUATE_OFFLINE": ""}


def start_server(root: Path) -> subprocess.Popen[str]:
    """``tstbench hub serve`` of a folder, on a free port that its first line names."""
    command = [sys.executable, "-u", "-c", SERVER, str(root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
