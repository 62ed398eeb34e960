"""The fields of every published file, one by one, and the files that it belongs to."""

import hashlib
import json

import pyarrow as pa
import pytest
from places import GOLDEN
from published_files import (
    AT,
    COMPARISON,
    EARLIER,
    FINGERPRINT,
    JUDGMENT,
    ORIGIN,
    OUTPUT_ROW,
    REPLICATES,
    REPO,
    REPORT,
    SAMPLE,
    SCORE_ROW,
    SHA,
    TASKS,
    WHOLE,
    lines,
    parquet,
    refusal,
    whole,
)

from tstbench.errors import TSTBenchError
from tstbench.pipelines.hub import known_records as records
from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.hub.known_records import LicensedTextError, PublishedFile
from tstbench.pipelines.hub.known_schemas import rows_of
from tstbench.pipelines.report import Report

UNLIKE = "is not as TSTBench writes it, so it is not published"
AGAIN = "Write it again with TSTBench, or leave it out"
SCHEMA_1 = GOLDEN / "schema_1" / AT / "copy/report.json"


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


def test_fields_within_fields():
    for name, value in {"name": None, "commit": 5, "git_blob": None}.items():
        for changed in ({**ORIGIN, name: value}, {k: v for k, v in ORIGIN.items() if k != name}):
            files = {"fingerprint.json": whole({**FINGERPRINT, "files": [ORIGIN, changed]})}
            assert f" {UNLIKE}: files.1.{name}: " in refusal(files)
    no_commit = {**FINGERPRINT, "files": [{**ORIGIN, "commit": None}]}
    check_known("dataset", REPO, {"fingerprint.json": whole(no_commit)})
    for task in ({"name": "x"}, {"id": 5}, "x"):
        said = refusal({"eval.yaml": whole({**TASKS, "tasks": [{"id": "mini"}, task]})})
        assert f" {UNLIKE}: tasks.1" in said
    for ranks in ([1], [1, 2, 3], [1, None]):
        said = refusal(
            {f"{AT}/significance.json": whole({"x": {**COMPARISON, "ranks": {"a": ranks}}})}
        )
        assert f" {UNLIKE}: ranks.a" in said


def test_a_comparison_is_of_metrics_by_name():
    path = f"{AT}/significance.json"
    for content in (b"[1]", b"3", b"{", b"\xff", b'{"a":' * 100_000):
        said = refusal({path: content})
        assert said == f"{REPO}: {path} is no comparison of systems: write it again"
    check_known("dataset", REPO, {path: b"{}"})


def test_judgments_line_by_line():
    def files(*rows):
        return {"human.jsonl": lines(JUDGMENT, *rows)}

    check_known("dataset", REPO, files(JUDGMENT))
    at = f"{REPO}: human.jsonl, line 2"
    said = refusal(files({**JUDGMENT, "rater": 5}))
    assert said == f"{at} {UNLIKE}: rater: Input should be a valid string. {AGAIN}"
    licensed = {**JUDGMENT, "dataset": "gyafc_fr", "direction": "gyafc_fr/informal-to-formal"}
    for name in ("source", "output", "note"):
        row = {**licensed, "source": None, "output": None, name: "Why go ?"}
        with pytest.raises(LicensedTextError) as error:
            check_known("dataset", REPO, files(row))
        assert str(error.value) == (
            f"{at}: field {name!r} has text of a licensed dataset, gyafc_fr. Publish the scores "
            "without sources, references, predictions and raters' notes"
        )
    unheard = {**JUDGMENT, "dataset": "unheard", "direction": "unheard/a-to-b"}
    study = {**JUDGMENT, "dataset": "pauli2025", "direction": "pauli2025/a-to-b"}
    check_known("dataset", REPO, files({**unheard, "source": None, "output": None}, study))
    for name in ("source", "output"):  # one of the two is enough
        check_known("dataset", REPO, files({**study, name: None}))
        assert refusal(files({**unheard, name: None})) == (
            f"{at} has sentences of unheard, whose licence is not known. Give its data file "
            "(--data FILE), or leave them out"
        )


def test_licensed_text_is_a_wrong_value_and_a_mistake_of_its_own():
    licensed = {**OUTPUT_ROW, "direction": "gyafc_em/informal-to-formal"}
    for kind in (ValueError, TSTBenchError):
        with pytest.raises(kind, match="line 1 has text of a licensed dataset, gyafc_em"):
            check_known("dataset", REPO, {"outputs.jsonl": lines(licensed)})


def test_data_without_a_licence():
    row = {**OUTPUT_ROW, "direction": "wnc/subjective-to-neutral"}
    assert refusal({"outputs.jsonl": lines(OUTPUT_ROW, row)}) == (
        f"{REPO}: outputs.jsonl, line 2 has sentences of wnc, which has no licence: leave them out"
    )


def beside(name, content, report=REPORT, at=AT):
    folder = f"{at}/copy"
    return {f"{folder}/{name}": content, f"{folder}/report.json": whole(report)}


def test_what_belongs_to_a_report():
    path = f"{AT}/copy/samples.jsonl"
    assert refusal({path: lines(SAMPLE)}) == (
        f"{REPO}: {path} has no report.json beside it, so nobody knows what it belongs to: write "
        "both again with `tstbench evaluate --out`, or leave it out"
    )
    at = f"{REPO}: {AT}/copy/report.json"
    said = refusal(beside("samples.jsonl", lines(SAMPLE), {**REPORT, "tstbench": None}))
    assert said == f"{at} {UNLIKE}: tstbench: Input should be a valid string. {AGAIN}"
    said = refusal(beside("samples.jsonl", lines(SAMPLE), {**REPORT, "direction": "mini/a-to-b"}))
    assert said == f"{at} is a report of mini/a-to-b, but is under {AT}"
    for name, content in (
        ("samples.jsonl", lines(SAMPLE, SAMPLE)),
        ("replicates.parquet", WHOLE[f"{AT}/copy/replicates.parquet"]),
    ):
        field = f"{name.partition('.')[0]}_sha256"
        right = {**REPORT, field: hashlib.sha256(content).hexdigest()}
        check_known("dataset", REPO, beside(name, content, right))
        said = refusal(beside(name, content, {**right, field: "1" * 64}))
        assert said == (
            f"{REPO}: {AT}/copy/{name} does not match the hash in its report: evaluate the system "
            "again"
        )
    licensed = "gyafc_em/informal-to-formal"
    with pytest.raises(LicensedTextError) as error:
        check_known(
            "dataset",
            REPO,
            beside("samples.jsonl", b"", {**REPORT, "direction": licensed}, licensed),
        )
    said = f"{REPO}: {licensed}/copy/samples.jsonl has text of a licensed dataset, gyafc_em."
    assert str(error.value).startswith(said)


def test_a_report_says_what_its_replicates_and_predictions_say():
    """Each value that is edited is refused, and so is what was edited beside the report."""
    at, folder = (
        f"{REPO}: {AT}/copy",
        {p: c for p, c in WHOLE.items() if p.startswith(f"{AT}/copy")},
    )
    check_known("dataset", REPO, folder)
    acc, ppl = REPORT["scores"]
    interval = ppl["interval"]
    for scores, what in (
        ([{**acc, "value": 99.9}, ppl], "the value of acc differs from replicates.parquet"),
        ([acc, {**ppl, "value": None}], "the value of ppl differs from replicates.parquet"),
        ([acc, {**ppl, "recipe": SHA}], "the recipe of ppl does not match its signature"),
        (
            [acc, {**ppl, "interval": {**interval, "high": 111}}],
            "the interval of ppl differs from replicates.parquet",
        ),
    ):
        report = whole({**REPORT, "scores": scores})
        assert refusal({**folder, f"{AT}/copy/report.json": report}) == (
            f"{at}/replicates.parquet is not published: {what}, so its report.json was changed. "
            "Evaluate the system again"
        )
    drawn = parquet({**REPLICATES, "acc": REPLICATES["acc"] + 1})
    said = refusal({**folder, f"{AT}/copy/replicates.parquet": drawn})
    assert "the value of acc differs from replicates.parquet" in said
    said = refusal(
        {**folder, f"{AT}/copy/replicates.parquet": parquet({"acc": [1.0], "ppl": [1.0]})}
    )
    assert said.startswith(f"{at}/replicates.parquet is damaged: it does not have one value and")
    other = lines(SAMPLE, {**SAMPLE, "prediction": "c"})
    assert refusal({**folder, f"{AT}/copy/samples.jsonl": other}) == (
        f"{at}/samples.jsonl is not published: its predictions are not those that its report was "
        "computed from. Evaluate the system again"
    )


def test_scores_are_those_of_the_reports_beside_them():
    rows = [row.model_dump() for row in rows_of(Report.model_validate(REPORT))]
    assert [(row["metric"], row["value"], row["low"], row["high"]) for row in rows] == [
        ("acc", 71.5, None, None),
        ("ppl", 200.0, 90.0, 110.0),
    ]
    check_known("dataset", REPO, {**WHOLE, "scores.jsonl": lines(*rows)})
    for name, value in {
        "value": 71.6,
        "system": "ours",
        "high": 75,
        "signature": "acc|v:2",
    }.items():
        content = lines(rows[1], {**rows[0], name: value})
        assert refusal({**WHOLE, "scores.jsonl": content}) == (
            f"{REPO}: scores.jsonl, line 2 is no score of the reports beside it, so it is not "
            "published: run `tstbench hub build` again"
        )
        check_known("dataset", REPO, {"scores.jsonl": content})


def test_replicates_have_a_column_for_each_score():
    for columns in (
        {"acc": [1.0]},
        {"acc": [1.0], "ppl": [1.0], "more": [1.0]},
        {"acc": [1.0], "ppl": [1]},
        {"acc": [1.0], "other": [1.0]},
        {"acc": ["Yes."], "ppl": [1.0]},
    ):
        said = refusal(beside("replicates.parquet", parquet(columns)))
        assert said == (
            f"{REPO}: {AT}/copy/replicates.parquet does not have one column of numbers for each "
            "score of its report, so it is not published: evaluate the system again"
        )


def old_report(**changed):
    return {**json.loads(SCHEMA_1.read_bytes()), **changed}


def test_reports_of_the_first_release():
    """The file was written by TSTBench 0.1.0."""
    path = f"{AT}/copy/report.json"
    check_known("dataset", REPO, {path: SCHEMA_1.read_bytes()})
    found = records.report(PublishedFile(REPO, path, {path: SCHEMA_1.read_bytes()}))
    assert (found.schema_version, found.tstbench, found.profile) == (2, "0.1.0", "embedded")
    assert refusal(beside("history.jsonl", b"{}", old_report())).startswith(
        f"{REPO}: {AT}/copy/history.jsonl, line 1"
    )
    at = f"{REPO}: {path} {UNLIKE}: "
    assert refusal({path: whole(old_report(tstbench=None))}).startswith(f"{at}tstbench: ")
    scores = old_report()["scores"]
    said = refusal({path: whole(old_report(scores=[scores[0], scores[1], scores[0]]))})
    assert said == f"{at}the record: Value error, two scores have the same key. {AGAIN}"
    for signature in ("", "acc|n"):
        wrong = [scores[1], {**scores[0], "signature": signature}]
        said = refusal({path: whole(old_report(scores=wrong))})
        assert said.startswith(f"{at}scores.1.signature: Value error, not a signature: ")


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
    for metadata, said in (
        ({b"\xff": b"x"}, "'\ufffd'"),
        ({"z": "x", "caf\u00e9": "a b c", "huggingface": "{}"}, "'caf\u00e9'"),
        ({"k" * 90: "x"}, "'" + "k" * 79),
    ):
        content = parquet({"text": ["a"], "style": [1]}, metadata)
        assert refusal({**WHOLE, "a-to-b/test.parquet": content}) == (
            f"{REPO}: a-to-b/test.parquet is not published: it has metadata of others, {said}"
        )
    # What is said of them has an end.
    many = parquet({f"column{n}": [1] for n in range(90)})
    said = refusal({"a-to-b/test.parquet": many})
    listed = ", ".join(f"column{n} (int64)" for n in range(90))[:200]
    assert f"its columns are {listed}, which are not" in said
    named = whole({**FINGERPRINT, "fingerprints": {"styles/test": SHA}})
    wrong = {**WHOLE, "fingerprint.json": named}
    assert "a-to-b/test.parquet is not published: fingerprint.json does not" in refusal(wrong)
