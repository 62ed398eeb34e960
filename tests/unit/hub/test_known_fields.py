"""The fields of every published file, one by one, and the files that it belongs to."""

import hashlib

import pyarrow as pa
import pytest
from published_files import (
    AT,
    COMPARISON,
    EARLIER,
    FINGERPRINT,
    JUDGMENT,
    ORIGIN,
    OUTPUT_ROW,
    REPO,
    REPORT,
    SAMPLE,
    SCORE_ROW,
    TASKS,
    WHOLE,
    lines,
    parquet,
    refusal,
    whole,
)

from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.hub.known_schemas import rows_of
from tstbench.pipelines.report import Report

UNLIKE = "is not as TSTBench writes it, so it is not published"
AGAIN = "Write it again with TSTBench, or leave it out"


RECORDS = [
    ("eval.yaml", "", TASKS, {"name": 5, "description": None, "evaluation_framework": "inspect",
                              "tasks": {}}),
    ("fingerprint.json", "", FINGERPRINT,
     {"dataset": None, "version": 1.0, "cleaning": None, "decontamination": {"dev": 1},
      "publishable": False, "rows_digest": 0, "fingerprints": {"a": None}, "left_out": [1],
      "files": ORIGIN}),
    ("scores.jsonl", ", line 2", SCORE_ROW,
     {"direction": None, "system": 5, "family": None, "date": 2024, "profile": None, "metric": None,
      "value": "high", "low": "x", "high": [1.0], "unit": None, "signature": None,
      "made_with": None}),
    ("outputs.jsonl", ", line 2", OUTPUT_ROW,
     {"direction": 1, "system": None, "id": 7, "prediction": None, "origin": ["us"]}),
    (f"{AT}/copy/history.jsonl", ", line 2", EARLIER,
     {"until": "yesterday", "why": None, "outputs_sha256": 1, "data": None, "tstbench": 0.5,
      "scores": "acc"}),
    (f"{AT}/copy/samples.jsonl", ", line 2", SAMPLE,
     {"id": 7, "source": None, "references": "a", "prediction": ["b"], "scores": {"acc": "x"}}),
    (f"{AT}/significance.json", "", COMPARISON,
     {"test": "paired bootstrap", "ranks": {"a": [1.5, 2]}, "p_best": {"a": "x"}}),
]  # fmt: skip
IDS = [path.rpartition("/")[2] for path, *_ in RECORDS]
NULLABLE = {"date", "value", "low", "high", "origin"}


@pytest.mark.parametrize(("path", "line", "record", "wrong"), RECORDS, ids=IDS)
def test_each_field_is_there_and_of_its_kind(path, line, record, wrong):
    def content(changed):
        if line:
            return lines(record, changed)
        return whole({"x": record, "y": changed} if path.startswith(AT) else changed)

    # Without reports, scores are compared with nothing.
    beside = {} if path == "scores.jsonl" else WHOLE

    def refused(changed):
        check_known("dataset", REPO, {**WHOLE, path: content(record)})
        return refusal({**beside, path: content(changed)})

    start = f"{REPO}: {path}{line} {UNLIKE}: "
    assert record.keys() == wrong.keys()  # each of them is tried
    for name, value in wrong.items():
        short = {key: item for key, item in record.items() if key != name}
        assert refused(short) == f"{start}{name}: Field required. {AGAIN}"
        said = refused({**record, name: value})
        assert said.startswith(f"{start}{name}")
        assert said.endswith(f". {AGAIN}")
        if name in NULLABLE:
            check_known("dataset", REPO, {**beside, path: content({**record, name: None})})
    said = refused({**record, "more": 1})
    assert said == f"{start}more: is no field of such a file. {AGAIN}"


def test_what_passes():
    """Each beside a row of ``test_messages`` that differs in one thing."""
    unheard = {**JUDGMENT, "dataset": "unheard", "direction": "unheard/a-to-b"}
    study = {**JUDGMENT, "dataset": "pauli2025", "direction": "pauli2025/a-to-b"}
    half = [{**study, name: None} for name in ("source", "output")]
    rows = [row.model_dump() for row in rows_of(Report.model_validate(REPORT))]
    assert [(row["metric"], row["value"], row["low"], row["high"]) for row in rows] == [
        ("acc", 71.5, None, None),
        ("ppl", 200.0, 90.0, 110.0),
    ]
    files = [
        {"fingerprint.json": whole({**FINGERPRINT, "files": [{**ORIGIN, "commit": None}]})},
        {f"{AT}/significance.json": b"{}"},
        {"human.jsonl": lines({**unheard, "source": None, "output": None}, study, *half)},
        {**WHOLE, "scores.jsonl": lines(*rows)},
        {"scores.jsonl": lines(rows[1], {**rows[0], "value": 71.6})},  # there are no reports
    ]
    for name, content in (
        ("samples", lines(SAMPLE, SAMPLE)),
        ("replicates", WHOLE[f"{AT}/copy/replicates.parquet"]),
    ):
        report = {**REPORT, f"{name}_sha256": hashlib.sha256(content).hexdigest()}
        end = "jsonl" if name == "samples" else "parquet"
        at = f"{AT}/copy"
        files.append({f"{at}/{name}.{end}": content, f"{at}/report.json": whole(report)})
    for some in files:
        check_known("dataset", REPO, some)


def test_sentences_have_the_columns_of_a_dataset():
    """What ``datasets`` and Arrow call the items of a list differs by version: item, element."""
    columns = {
        "id": pa.array(["x"]),
        "source": pa.array(["a b"]),
        "references": pa.array([["c"]]),
        "source_style": pa.array(["s"]),
        "target_style": pa.array(["t"]),
    }
    for compliant in (True, False):
        content = parquet(columns, use_compliant_nested_type=compliant)
        check_known("dataset", REPO, {**WHOLE, "a-to-b/test.parquet": content})
    for name in columns:
        for changed in (
            {key: column for key, column in columns.items() if key != name},
            {**columns, name: pa.array([[1]])},
            {**columns, "x": pa.array([1])},
        ):
            said = refusal({**WHOLE, "a-to-b/test.parquet": parquet(changed)})
            assert "which are not those of a dataset or of judgments" in said
    for changed in ({"text": ["a"]}, {"text": ["a"], "style": ["b"]}, {"text": [1], "style": [1]}):
        assert "which are not those" in refusal({"a-to-b/test.parquet": parquet(changed)})
