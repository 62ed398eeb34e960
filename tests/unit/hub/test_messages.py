"""Every file that is not published, and what a repository or a model's results may not be."""

import pyarrow as pa
from published_files import (
    AT,
    COMPARISON,
    FINGERPRINT,
    JUDGMENT,
    ORIGIN,
    OUTPUT_ROW,
    REPO,
    REPORT,
    SAMPLE,
    SHA,
    TASKS,
    WHOLE,
    lines,
    parquet,
    whole,
)
from refusals import refused, rows

from tstbench.errors import InputError
from tstbench.pipelines.hub.human_judgments import COLUMNS
from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.hub.known_records import LicensedTextError
from tstbench.pipelines.hub.known_schemas import rows_of
from tstbench.pipelines.hub.manifest import write_repository
from tstbench.pipelines.hub.reported import parse_results
from tstbench.pipelines.report import Report

LICENSED = "gyafc_em/informal-to-formal"
SAMPLES, DRAWN, RECORD = (
    f"{AT}/copy/{name}" for name in ("samples.jsonl", "replicates.parquet", "report.json")
)
OF_COPY = {path: content for path, content in WHOLE.items() if path.startswith(f"{AT}/copy")}
STUDY = {"dataset": "gyafc_fr", "direction": "gyafc_fr/informal-to-formal"}
UNHEARD = {**JUDGMENT, "dataset": "unheard", "direction": "unheard/a-to-b"}
ACC, PPL = REPORT["scores"]
ROWS = [row.model_dump() for row in rows_of(Report.model_validate(REPORT))]
CARD = {"README.md": b"# Card\n"}
TASK = b"- dataset: {id: a/b, task_id: c}\n"
WRONG_SCORE = {"value": 71.6, "system": "ours", "high": 75, "signature": "acc|v:2"}
NO_FILES = (*("../x", ".git/hooks/x", "/etc/x", "a\nb", "a\u202eb", "\u200b", 'a"b'),)
TABLE = "a-to-b/test.parquet"


def known(path, content, kind="dataset", **beside):
    """Publishes this file beside others."""
    return lambda _: check_known(kind, REPO, {**beside, path: content})


def fingerprint(**changed):
    return known("fingerprint.json", whole({**FINGERPRINT, **changed}))


def outputs(direction):
    return known("outputs.jsonl", lines(OUTPUT_ROW, {**OUTPUT_ROW, "direction": direction}))


def tasks(**changed):
    return known("eval.yaml", whole({**TASKS, **changed}))


def compared(ranks):
    record = {"x": {**COMPARISON, "ranks": {"a": ranks}}}
    return known(f"{AT}/significance.json", whole(record))


def human(row):
    return known("human.jsonl", lines(JUDGMENT, row))


def table(**changed):
    """Publishes a table of judgments of two rows."""
    row = {**JUDGMENT, **STUDY, "source": None, "output": None, **changed}
    kinds = {"score": pa.float64(), "certain": pa.bool_()}
    columns = {n: pa.array([row.get(n)] * 2, kinds.get(n, pa.string())) for n in COLUMNS}
    return known("human/test.parquet", parquet(columns))


def sentences(columns, metadata=None, **beside):
    return known(TABLE, parquet(columns, metadata), **beside)


def beside_report(path, content, **changed):
    return known(path, content, **{RECORD: whole({**REPORT, **changed})})


def board(content):
    return lambda _: parse_results(content, "here.yaml")


def repository(kind="dataset", repo_id="tstbench/toy", files=CARD, **more):
    return lambda folder: write_repository(folder / "out", kind, repo_id, {**files, **more})


@rows(
    # -- records
    (InputError, ("x/a.json", "6 words"), known("x/a.json", b'[["b c d e f g"], "h"]', "space")),
    *(
        (InputError, "x/a.json is not JSON", known("x/a.json", broken, "space"))
        for broken in (b"{", b"[" * 100_000)
    ),
    (InputError, "vocab.txt, line 3", known("vocab.txt", b"a\n\na b c d e f\n", "model")),
    (
        InputError,
        ("files.1.secret sentence", "fingerprint.json"),
        fingerprint(files=[ORIGIN, {**ORIGIN, "secret sentence": "a b c"}]),
    ),
    (InputError, f": {'x' * 100}: is no field", fingerprint(**{"x" * 101: 1})),
    *(
        (InputError, f"files.1.{name}: ", fingerprint(files=[ORIGIN, changed]))
        for name, value in {"name": None, "commit": 5, "git_blob": None}.items()
        for changed in ({**ORIGIN, name: value}, {k: v for k, v in ORIGIN.items() if k != name})
    ),
    *(
        (InputError, "tasks.1", tasks(tasks=[{"id": "a"}, task]))
        for task in ({"name": "x"}, {"id": 5}, "x")
    ),
    (InputError, ("eval.yaml", "line 2"), known("eval.yaml", b"a: [b")),
    (InputError, ("evaluation_framework", "eval.yaml"), tasks(evaluation_framework="ours")),
    *(
        (InputError, f"{AT}/significance.json", known(f"{AT}/significance.json", broken))
        for broken in (b"[1]", b"3", b"{", b"\xff", b'{"a":' * 100_000)
    ),
    *((InputError, "ranks.a", compared(ranks)) for ranks in ([1], [1, 2, 3], [1, None])),
    # -- whose sentences they are
    *(
        (
            LicensedTextError,
            f"line 2 has text of a licensed dataset, {name}.",
            outputs(f"{name}/a-to-b"),
        )
        for name in ("gyafc_em", "gyafc_fr")
    ),
    (InputError, ("wnc", "outputs.jsonl, line 2"), outputs("wnc/subjective-to-neutral")),
    (InputError, ("rater: ", "human.jsonl, line 2"), human({**JUDGMENT, "rater": 5})),
    *(
        (
            LicensedTextError,
            (f"human.jsonl, line 2: field {name!r}", "gyafc_fr."),
            human({**JUDGMENT, **STUDY, "source": None, "output": None, name: "Why go ?"}),
        )
        for name in ("source", "output", "note")
    ),
    *(
        (InputError, "unheard", human({**UNHEARD, name: None}))  # one of the two is enough
        for name in ("source", "output")
    ),
    *(
        (LicensedTextError, f"row 0: field {name!r}", table(**{name: "Why go ?"}))
        for name in ("source", "output")
    ),
    (InputError, "row 0", table(dataset="mini", direction=AT, score=float("nan"), study="")),
    *(
        (error, named, known(TABLE, WHOLE[TABLE], **{"fingerprint.json": whole(record)}))
        for error, named, record in (
            (LicensedTextError, (TABLE, "gyafc_fr."), {**FINGERPRINT, "dataset": "gyafc_fr"}),
            (InputError, f"{TABLE} is", {**FINGERPRINT, "fingerprints": {"a-to-b/train": SHA}}),
            (InputError, ("rows_digest", "fingerprint.json"), {**FINGERPRINT, "rows_digest": None}),
        )
    ),
    (InputError, ("fingerprint.json is missing", TABLE), known(TABLE, WHOLE[TABLE])),
    (InputError, "words (string), style", sentences({"words": ["bad"], "style": [1.5]})),
    (
        InputError,
        ", ".join(f"column{n} (int64)" for n in range(90))[:200],  # what is said has an end
        sentences({f"column{n}": [1] for n in range(90)}),
    ),
    *(
        (InputError, f"others, {said}", sentences({"text": ["a"], "style": [1]}, metadata))
        for metadata, said in (
            ({"b": "c", "a": "d"}, "'a'"),
            ({b"\xff": b"x"}, "'\ufffd'"),
            ({"z": "x", "caf\u00e9": "a b c", "huggingface": "{}"}, "'caf\u00e9'"),
            ({"k" * 90: "x"}, "'" + "k" * 79),
        )
    ),
    (InputError, f"{TABLE} cannot be read", known(TABLE, b"PAR1")),
    # -- what belongs to a report
    (InputError, (SAMPLES, "report.json"), known(SAMPLES, lines(SAMPLE))),
    (InputError, "tstbench: ", beside_report(SAMPLES, lines(SAMPLE), tstbench=None)),
    (InputError, ("mini/a-to-b", AT), beside_report(SAMPLES, b"", direction="mini/a-to-b")),
    (InputError, ("hash", SAMPLES), beside_report(SAMPLES, lines(SAMPLE), samples_sha256="1" * 64)),
    (
        InputError,
        f"{DRAWN} does not match",
        beside_report(DRAWN, WHOLE[DRAWN], replicates_sha256="1" * 64),
    ),
    (
        LicensedTextError,
        f"{LICENSED}/copy/samples.jsonl",
        known(
            f"{LICENSED}/copy/samples.jsonl",
            b"",
            **{f"{LICENSED}/copy/report.json": whole({**REPORT, "direction": LICENSED})},
        ),
    ),
    (
        InputError,
        (f"{SAMPLES} is not published", "predictions"),
        known(SAMPLES, lines(SAMPLE, {**SAMPLE, "prediction": "c"}), **OF_COPY),
    ),
    *(
        (
            InputError,
            "scores.jsonl, line 2",
            known("scores.jsonl", lines(ROWS[1], {**ROWS[0], name: value}), **WHOLE),
        )
        for name, value in WRONG_SCORE.items()
    ),
    *(
        (InputError, (f"{DRAWN} does not have", "score"), beside_report(DRAWN, parquet(columns)))
        for columns in (
            {"acc": [1.0]},
            {"acc": [1.0], "ppl": [1.0], "more": [1.0]},
            {"acc": [1.0], "ppl": [1]},
            {"acc": [1.0], "other": [1.0]},
            {"acc": ["Yes."], "ppl": [1.0]},
        )
    ),
    # -- files of other kinds
    *(
        (InputError, (path, "a Space has"), known(path, b"[]", "space"))
        for path in ("a.jsonl", "notes.txt", "a.yaml", "a.csv", ".json")
    ),
    # -- repositories
    (InputError, "no files", repository(files={})),
    (InputError, "README.md is missing", repository(files={"a.txt": b""})),
    (InputError, ("toy.py", "refuses to load"), repository(**{"toy.py": b""})),
    *(
        (InputError, (repr(name), "namespace/name"), repository(repo_id=name))
        for name in ("toy", "../toy", "t/toy/more", "results", "t/results/deeper", "t/", "a b/c")
    ),
    *((InputError, "not a valid file name", repository(**{name: b""})) for name in NO_FILES),
    # -- scores that others report
    (InputError, ("YAML", "here.yaml"), board(b"[]: {")),
    (InputError, ("list", "here.yaml"), board(b"value: 1")),
    *(
        (InputError, ("not a number", "here.yaml"), board(TASK + b"  value: " + value))
        for value in (b"true", b".nan", b"9" * 400)
    ),
    (InputError, ("nested too deeply", "here.yaml"), board(b"[" * 5000)),
    (InputError, ("alias", "here.yaml"), board(b"- &a {notes: x}\n- *a")),
    (
        InputError,
        ("dataset.id", "here.yaml"),
        board(b"- dataset: {id: ../x, task_id: c}\n  value: 1"),
    ),
    (InputError, ("source.url", "here.yaml"), board(TASK + b"  value: 1\n  source: {name: x}")),
    (InputError, ("not YAML", "here.yaml"), board(b"\xff")),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot):
    refused(act, error, named, tmp_path, snapshot)
    assert list(tmp_path.iterdir()) == []
