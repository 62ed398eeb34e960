"""Every file that is not published, and what a repository or a model's results may not be."""

from refusals import refused, rows

from tstbench.errors import InputError
from tstbench.pipelines.hub.eval_results import parse_results
from tstbench.pipelines.hub.manifest import write_repository

CARD = {"README.md": b"# Card\n"}
TASK = b"- dataset: {id: a/b, task_id: c}\n"
NO_FILES = (*("../x", ".git/hooks/x", "/etc/x", "a\nb", "a\u202eb", "\u200b", 'a"b'),)


def board(content):
    return lambda _: parse_results(content, "here.yaml")


def repository(kind="dataset", repo_id="tstbench/toy", files=CARD, **more):
    return lambda folder: write_repository(folder / "out", kind, repo_id, {**files, **more})


@rows(
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
