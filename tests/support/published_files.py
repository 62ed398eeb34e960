"""One published file of each kind, as TSTBench writes it, and what is said of one that is not."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.report import DataInfo, predictions_sha256, score_recipe

REPO = "us/things"
SHA = "0" * 64
AT = "mini/negative-to-positive"
DATA = DataInfo.of(load_test_set(AT, cleaning="paper-v1"))
OUTPUTS = predictions_sha256(["b", "b"])
ORIGIN = {"name": "a.txt", "commit": "1" * 40, "git_blob": "2" * 40}
FINGERPRINT = {
    "dataset": "mini",
    "version": "1.0.0",
    "cleaning": "paper-v1",
    "decontamination": {"dev": "1.0.0"},
    "publishable": True,
    "rows_digest": SHA,
    "fingerprints": {"a-to-b/test": SHA},
    "left_out": ["x"],
    "files": [ORIGIN],
}
SCORE_ROW = {
    "direction": AT,
    "system": "copy",
    "family": "rule",
    "date": "2024-05",
    "profile": "embedded",
    "metric": "acc",
    "value": 71.5,
    "low": None,
    "high": None,
    "unit": "percent",
    "signature": "acc|v:1",
    "made_with": "numpy:2",
}
OUTPUT_ROW = {"direction": AT, "system": "ours", "id": "7", "prediction": "ok", "origin": "us"}
COMPARISON = {
    "test": "paired bootstrap, two-sided, alpha 0.05, uncorrected",
    "ranks": {"copy": [2, 3], "ours": [1, 1]},
    "p_best": {"copy": 0.25, "ours": 0.75},
}
JUDGMENT = {
    "study": "ours",
    "dataset": "mini",
    "direction": AT,
    "system": "copy",
    "sample_id": "mini-test-0-00001",
    "source": "bad soup",
    "output": "good soup",
    "aspect": "style",
    "scale": "ordinal 1-5",
    "rater": "rater-1",
    "score": 3.0,
}
EARLIER = {
    "until": "2025-01-31",
    "why": "its predictions changed",
    "outputs_sha256": SHA,
    "data": SHA,
    "tstbench": "0.5.0",
    "scores": [{"metric": "acc", "value": None, "unit": "percent", "signature": "acc|v:1"}],
}
SCORE = {
    "key": "acc",
    "metric": "acc",
    "value": 71.5,
    "unit": "percent",
    "higher_is_better": True,
    "interval": None,
    "signature": "acc|v:1",
    "made_with": "numpy:2",
    "recipe": score_recipe(OUTPUTS, DATA.fingerprint, "acc|v:1"),
    "profile": "embedded",
}
PPL = {
    **SCORE,
    "key": "ppl",
    "metric": "ppl",
    "unit": "perplexity",
    "higher_is_better": False,
    "value": 200.0,
    "signature": "ppl|v:2",
    "recipe": score_recipe(OUTPUTS, DATA.fingerprint, "ppl|v:2"),
    "interval": {"low": 90, "high": 110, "level": 0.95, "resamples": 1000, "seed": 12345},
}
REPORT = {
    "schema_version": 2,
    "tstbench": "0.5.0",
    "direction": AT,
    "system": {"name": "copy", "family": "rule", "date": "2024-05"},
    "data": DATA.model_dump(),
    "outputs_sha256": OUTPUTS,
    "scores": [SCORE, PPL],
}
SAMPLE = {"id": "7", "source": "a", "references": [], "prediction": "b", "scores": {"acc": None}}
TASKS = {
    "name": "TSTBench",
    "description": "text style transfer",
    "evaluation_framework": "tstbench",
    "tasks": [{"id": "mini", "config": "a-to-b", "split": "test"}],
}


def parquet(columns, metadata=None, **options):
    stream = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), stream, **options)
    return stream.getvalue()


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def whole(row):
    return json.dumps(row).encode()


DRAWN = np.repeat([90.0, 110.0], 500)
REPLICATES = {"ppl": np.r_[200.0, DRAWN], "acc": np.r_[71.5, DRAWN]}
WHOLE = {
    "eval.yaml": whole(TASKS),
    "fingerprint.json": whole(FINGERPRINT),
    "scores.jsonl": lines(SCORE_ROW),
    "outputs.jsonl": lines(OUTPUT_ROW),
    "human.jsonl": lines(JUDGMENT),
    f"{AT}/significance.json": whole({"acc": COMPARISON}),
    f"{AT}/copy/report.json": whole(REPORT),
    f"{AT}/copy/samples.jsonl": lines(SAMPLE, SAMPLE),
    f"{AT}/copy/history.jsonl": lines(EARLIER),
    f"{AT}/copy/replicates.parquet": parquet(REPLICATES),
    "a-to-b/test.parquet": parquet({"text": ["a"], "style": [1]}),
}


def refusal(files, kind="dataset"):
    with pytest.raises(InputError) as error:
        check_known(kind, REPO, files)
    return str(error.value)
