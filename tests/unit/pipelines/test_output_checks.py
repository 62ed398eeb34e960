"""Outputs that cannot be what they should be: each kind is noticed, and no real system is."""

import csv
import html
import json
import random
import re
from dataclasses import replace

import pytest
from prepared import DIRECTION, command_line, refusal, success

from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.system_outputs import SYSTEM_OUTPUTS, read_output
from tstbench.files import read_lines
from tstbench.pipelines import output_checks
from tstbench.pipelines.output_checks import find_suspicions
from tstbench.pipelines.outputs import fitting_directions
from tstbench.pipelines.report import read_report
from tstbench.pipelines.transfer import predict

OPPOSITE = "mini/positive-to-negative"
GERMAN = (
    "das essen war leider kalt und der kellner kam nie",
    "wir haben lange gewartet und niemand hat uns geholfen",
    "ich werde dieses hotel bestimmt nicht noch einmal besuchen",
    "alles schmeckte wunderbar und die bedienung lächelte immer",
)


@pytest.fixture(scope="module")
def good(test_set):
    return predict("delete-retrieve", test_set)


def shuffled(texts):
    return random.Random(1).sample(texts, len(texts))


WRONG = {
    "source, output, score": (lambda t: [f"{x}\t{x}\t0.9" for x in t], "40 of 40 .* contain a tab"),
    "JSON": (lambda t: [json.dumps({"prediction": x}) for x in t], "are JSON"),
    "quotation marks": (lambda t: [f'"{x}"' for x in t], "are in quotation marks"),
    "low and corner marks": (
        lambda t: [f"„{x}“" if n % 2 else f"「{x}」" for n, x in enumerate(t)],
        "are in quotation marks",
    ),
    "numbers": (lambda t: [f"{n}. {x}" for n, x in enumerate(t, 1)], "begin with a number"),
    "entities": (lambda t: [html.escape(f"it's {x}") for x in t], "HTML or its entities"),
    "special tokens": (lambda t: [f"{x}</s>" for x in t], "special tokens"),
    "broken UTF-8": (
        lambda t: [f"{x} café".encode().decode("latin1") for x in t],
        "broken characters",
    ),
    "Windows-1252 as Latin-1": (
        lambda t: [f"it\u2019s {x}".encode("cp1252").decode("latin1") for x in t],
        "broken characters",
    ),
    "chat": (
        lambda t: ["Sure, here is a positive version: " + t[0], "Here's one: x", *t[2:]],
        "chat",
    ),
    "label": (lambda t: [f"Positive: {x}" for x in t], "begin with a label"),
    "header": (lambda t: ["prediction", *t[:-1]], r"a header \(line 1\): remove 'prediction'"),
    "decomposed": (lambda t: [f"{x} cafe\u0301" for x in t], "write letters and their marks apart"),
    "empty": (lambda t: ["", "", *t[2:]], r"2 of 40 outputs are empty \(lines 1, 2\)"),
    "endless": (
        lambda t: [x if n % 4 else f"{x} " * 60 for n, x in enumerate(t)],
        r"10 of 40 outputs are 5 times as long as their source, or longer \(lines 1, 5, 9",
    ),
    "all empty": (lambda t: [" "] * len(t), "40 of 40 outputs are empty"),
    "all the same": (lambda t: ["great food ."] * len(t), "40 of 40 outputs are the same"),
    "three texts": (lambda t: [t[n % 3] for n in range(len(t))], "only 3 of 40 outputs"),
    "sorted": (sorted, "sorted by the alphabet"),
    "reversed": (lambda t: t[::-1], "in reverse order"),
    "shuffled": (shuffled, "in another order"),
    "half shuffled": (lambda t: [*t[:20], *shuffled(t[20:])], "nearer to the source of another"),
    "one too late": (
        lambda t: [*t[:11], t[0], *t[11:-1]],
        "1 line too late .from line 1[12] to line 40",
    ),
    "one too early": (lambda t: [*t[:10], *t[11:], "x"], "1 line too early .from line 11"),
    "another language": (
        lambda t: [GERMAN[n % 4] + " " * n + f"{n}x" for n in range(len(t))],
        "of the words in the outputs are in the test set's vocabulary",
    ),
    "wrong direction": (
        lambda t: predict("delete-retrieve", load_test_set(OPPOSITE)),
        f"rewrites of the sources of {OPPOSITE}",
    ),
    "the sources": (lambda t: predict("copy", load_test_set(DIRECTION)), "are the source itself"),
    "the references": (
        lambda t: predict("reference-1", load_test_set(DIRECTION)),
        "a human reference, word for word",
    ),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_named(test_set, good, change, message):
    found = [str(one) for one in find_suspicions(change(list(good)), test_set)]
    assert any(re.search(message, one) for one in found), found


def test_nothing_is_said_of_a_system_or_of_a_bound(test_set, good):
    assert find_suspicions(good, test_set) == []
    for name in ("copy", "random-target", "reference-1"):
        assert find_suspicions(predict(name, test_set), test_set, bound=True) == []
    rewrites = tuple(tuple(f'"{x}"' for x in some) for some in test_set.references)
    quoting = replace(test_set, sources=tuple(f'"{x}"' for x in good), references=rewrites)
    assert find_suspicions([some[0] for some in rewrites], quoting, bound=True) == []


@pytest.mark.realdata
@pytest.mark.parametrize("output", SYSTEM_OUTPUTS, ids=lambda o: f"{o.system}-{o.direction}")
def test_no_released_output_is_suspected(sources, output):
    test_set = load_test_set(output.direction)
    outputs = read_output(output, test_set.sources)
    assert find_suspicions(outputs, test_set, bound=output.system == "human") == []


@pytest.mark.realdata
def test_real_outputs_in_the_wrong_place_are_noticed(sources):
    output = next(
        o for o in SYSTEM_OUTPUTS if o.system == "retrieval"
    )  # the least like its sources
    test_set = load_test_set(output.direction)
    outputs = list(read_output(output, test_set.sources))
    for wrong, message in (
        (read_lines(sources / output.file.repository / output.file.path), "contain a tab"),
        (sorted(outputs), "sorted by the alphabet"),
        (
            [*outputs[:36], outputs[0], *outputs[36:-1]],
            "1 line too late (from line 37 to line 500)",
        ),
        ([*outputs[:-30], *outputs[-29:], "x"], "1 line too early (from line 471 to line 499)"),
        (outputs[::-1], "no more words in common"),
    ):
        assert any(message in str(one) for one in find_suspicions(wrong, test_set)), message


class TestCommandLine:
    def test_evaluate_says_it_and_scores(self, tmp_path, capsys, test_set, good):
        for name, texts in (("ours", good), ("theirs", good), ("sorted", sorted(good))):
            (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n")
        out, err = success(
            capsys, "evaluate", tmp_path, "--direction", DIRECTION, "--metrics", "s_bleu"
        )
        careful = [line for line in err.splitlines() if line.startswith("careful: ")]
        assert len(careful) == 2, careful
        assert careful[0].startswith("careful: sorted: the outputs are sorted by the alphabet")
        assert careful[1].startswith("careful: theirs: every output is that of ours")
        assert "sorted" in out

    def test_it_stays_with_the_results_until_the_outputs_change(self, tmp_path, capsys, good):
        path, out = tmp_path / "ours.txt", tmp_path / "results"

        def evaluate(texts, *more):
            path.write_text("\n".join(texts) + "\n")
            asked = ("evaluate", path, "--direction", DIRECTION, "--out", out, *more)
            table, err = success(capsys, *asked)
            return table, err, read_report(out / DIRECTION / "ours").warnings

        wrong = shuffled(good)
        table, err, (kept,) = evaluate(wrong, "--metrics", "s_bleu")
        assert kept.startswith("the outputs are in another order than the sources")
        assert f"careful: ours: {kept}: " in err
        assert "ours§" in table
        assert f"§ ours: {kept}." in " ".join(table.split())
        table, err, again = evaluate(wrong, "--metrics", "r_bleu", "--format", "latex")
        assert again == (kept,)
        assert "careful" not in err  # said already
        assert r"ours\textsuperscript{\S}" in table
        numbers = tmp_path / "numbers.csv"
        assert command_line(capsys, "report", out, "--out", numbers)[0] == 0
        rows = list(csv.DictReader(numbers.read_text().splitlines()))
        assert [row["warnings"] for row in rows] == [kept] * 2
        asked = ("evaluate", "--baseline", "copy", "--direction", DIRECTION, "--metrics", "s_bleu")
        assert command_line(capsys, *asked, "--out", out)[0] == 0
        _, compared, _ = command_line(capsys, "compare", "ours", "copy", out)
        assert f"careful: A: {kept}." in " ".join(compared.split())
        table, _, none = evaluate(good, "--metrics", "s_bleu")
        assert none == ()
        assert "§" not in table

    def test_without_a_direction_the_fitting_one_is_suggested(self, tmp_path, capsys, good):
        path = tmp_path / "ours.txt"
        path.write_text("\n".join(good) + "\n")
        assert f"fits --direction {DIRECTION}" in refusal(capsys, "evaluate", path)
        path.write_text("one\n")
        assert refusal(capsys, "evaluate", path).startswith("--direction is missing")

    def test_ids_tell_the_direction(self, tmp_path):
        path = tmp_path / "ours.jsonl"
        test_set = load_test_set(OPPOSITE)
        rows = ({"id": name, "prediction": "x"} for name in test_set.ids)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert fitting_directions(path) == [OPPOSITE]


def test_of_many_lines_the_first_are_compared_with_all_sources(monkeypatch, test_set, good):
    monkeypatch.setattr(output_checks, "_ENOUGH", 30)
    (found,) = find_suspicions(shuffled(good[:30]) + list(good[30:]), test_set)
    assert "in another order" in found.what
    assert find_suspicions([*good[:30], *shuffled(good[30:])], test_set) == []
    (found,) = find_suspicions([*good[:20], *["the same"] * 20], test_set)  # all are counted
    assert "20 of 40" in found.short
