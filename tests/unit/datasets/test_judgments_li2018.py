"""Li et al.'s ratings become judgments: the join, what cannot be joined, what people are told."""

import csv
import json

import pytest
from places import GOLDEN

from tstbench.commands.cli import main
from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.judgments.li2018 import (
    add_outputs,
    judgments,
    read_ratings,
    success_rate,
)
from tstbench.datasets_scripts.judgments.schema import Judgment, read_judgments, write_judgments
from tstbench.datasets_scripts.load import TestSet
from tstbench.spaces.leaderboard.human import read_human

GOLDEN = GOLDEN / "judgments_li2018.json"
HEADER = ("WorkerId", "AssignmentId", "Input.target", "Input.origs", "Input.mods")
WORKER, ASSIGNMENT = "A-WORKER-OF-OURS", "AN-ASSIGNMENT-OF-OURS"

UP, DOWN = map(parse_direction, ("yelp/negative-to-positive", "yelp/positive-to-negative"))


def made_by():
    found = {}
    up = rows_of(UP, ["the soup was cold .", "nobody greeted us ."])
    add_outputs(found, "first", up, ["The soup was warm .", "everybody greeted us ."])
    add_outputs(found, "second", up, ["the soup was warm .", "nobody greeted us ."])
    down = rows_of(DOWN, ["the soup was warm ."])
    add_outputs(found, "first", down, ["the soup was cold ."])
    add_outputs(found, "second", down, ["cold soup ."])
    return found


def rows_of(direction, sources):
    style = int(direction == DOWN)
    ids = tuple(f"yelp-test-{style}-{line:05d}" for line in range(len(sources)))
    return TestSet(direction, "test", ids, tuple(sources), (), "", "raw")


def said(grammaticality, sentiment, topic):
    return f"grammaticality={grammaticality} sentiment={sentiment} topic={topic}"


def shown(target, source, *rated):
    """A row of the export: source, and the outputs with their ratings."""
    outputs, ratings = zip(*rated, strict=True)
    sources = "\t".join([source] * len(rated))
    return (WORKER, ASSIGNMENT, target, sources, "\t".join(outputs), "\t".join(ratings))


def export(path, *rows, header=(*HEADER, "Answer.responses", "Approve")):
    """Written as Mechanical Turk does: all quoted, rows shorter than the header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerows([header, *rows])
    return path


SECOND_UP = shown(
    "positive",
    "nobody greeted us .",
    ("nobody greeted us .", said(5, 1, 5)),
    ("everybody greeted us .", said(5, 5, 4)),
)
ONLY_DOWN = shown(
    "negative",
    "the soup was warm .",
    ("cold soup .", said(3, 4, 4)),
    ("the soup was cold .", said(5, 5, 5)),
)


def scores(ratings, system, sample_id):
    return {j.aspect: j.score for j in ratings if (j.system, j.sample_id) == (system, sample_id)}


def test_outputs_are_found_by_their_text_not_their_place(tmp_path):
    ratings = read_ratings(export(tmp_path / "r.csv", SECOND_UP, ONLY_DOWN), made_by())
    assert len(ratings) == 12
    assert not [judgment for judgment in ratings if judgment.note]
    up, down = "yelp-test-0-00001", "yelp-test-1-00000"
    assert scores(ratings, "first", up) == {"fluency": 5, "style": 5, "content": 4}
    assert scores(ratings, "second", up) == {"fluency": 5, "style": 1, "content": 5}
    assert scores(ratings, "first", down) == {"fluency": 5, "style": 5, "content": 5}
    assert scores(ratings, "second", down) == {"fluency": 3, "style": 4, "content": 4}
    assert {j.direction for j in ratings if j.sample_id == down} == {DOWN.name}


def test_a_text_of_two_systems_counts_for_both_with_its_last_rating(tmp_path):
    row = shown(
        "positive",
        "the soup was cold .",
        ("the soup was warm .", said(4, 5, 3)),
        ("the soup was warm .", said(5, 5, 3)),
    )
    ratings = read_ratings(export(tmp_path / "r.csv", row), made_by())
    for system in ("first", "second"):
        found = scores(ratings, system, "yelp-test-0-00000")
        assert found == {"fluency": 5, "style": 5, "content": 3}
    notes = {(j.aspect, j.note) for j in ratings}
    assert notes == {
        ("fluency", "shown 2 times in its row, rated 4, 5: the last counts"),
        ("style", None),
        ("content", None),
    }
    assert len(ratings) == 6


def test_the_text_is_as_it_was_shown_last(tmp_path):
    shapes = ("the soup was warm .", "The soup was  warm .")
    row = shown("positive", "the soup was cold .", *((text, said(4, 5, 3)) for text in shapes))
    found = read_ratings(export(tmp_path / "r.csv", row), made_by())
    assert {one.output for one in found} == {"The soup was  warm ."}
    assert {one.note for one in found} == {None}


def test_no_worker_or_assignment_is_named(tmp_path):
    ratings = read_ratings(export(tmp_path / "r.csv", SECOND_UP, ONLY_DOWN), made_by())
    write_judgments(tmp_path / "human.jsonl", ratings)
    written = (tmp_path / "human.jsonl").read_text("utf-8")
    assert len(read_judgments(tmp_path / "human.jsonl")) == 12
    assert WORKER not in written
    assert ASSIGNMENT not in written


def test_success_needs_four_on_every_aspect(tmp_path):
    ratings = read_ratings(export(tmp_path / "r.csv", SECOND_UP, ONLY_DOWN), made_by())
    by_system = {
        name: success_rate(j for j in ratings if j.system == name) for name in ("first", "second")
    }
    assert by_system == {"first": 1.0, "second": 0.0}  # by hand: (5,5,4), (5,5,5); a 1, a 3
    # An output that was not rated on an aspect is in neither number of the share.
    rows = [j for j in ratings if j.system == "first"]
    first = next(j for j in rows if j.aspect == "style")
    unrated = [first.model_copy(update={"sample_id": "x", "score": s}) for s in (1.0, None)]
    assert success_rate([*rows, *unrated]) == 1.0
    assert success_rate(unrated) is None


# -- the real export -------------------------------------------------------------------------------


@pytest.mark.realdata
@pytest.mark.usefixtures("sources")
def test_the_means_are_those_of_the_authors_own_evaluation():
    ratings = judgments()
    assert len(ratings) == 9600
    assert sum(judgment.note is not None for judgment in ratings) == 58  # as the study says
    assert all(1 <= j.score <= 5 for j in ratings)
    systems = json.loads(GOLDEN.read_text("utf-8"))["systems"]
    assert {j.system for j in ratings} == set(systems)
    for system, parts in systems.items():
        for part, expected in parts.items():
            group = [
                j
                for j in ratings
                if j.system == system and part in ("all", j.direction) and j.score is not None
            ]
            assert len({j.sample_id for j in group}) == (400 if part == "all" else 200)
            for aspect in ("style", "content", "fluency"):
                found = [j.score for j in group if j.aspect == aspect]
                assert sum(found) / len(found) == pytest.approx(expected[aspect], abs=5e-5)
            assert success_rate(group) == pytest.approx(expected["success"], abs=5e-5)


@pytest.mark.realdata
@pytest.mark.usefixtures("sources")
def test_the_command_feeds_the_leaderboard_and_keeps_other_studies(tmp_path, capsys):
    own = Judgment(
        study="ours",
        dataset="yelp",
        direction="yelp/negative-to-positive",
        system="human",
        sample_id="yelp-test-0-00000",
        source=None,
        output=None,
        aspect="style",
        scale="ordinal 1-5",
        rater="rater-1",
        score=4.0,
    )
    out = tmp_path / "human.jsonl"
    write_judgments(out, [own])
    for _ in range(2):  # a second time replaces the study, and does not add it again
        assert main(["judgments", "li2018", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "of the 9,600 judgments" in printed.err
    header, *rows = [line.split("\t") for line in printed.out.splitlines()[:17]]
    assert header[-4:] == ["style", "content", "fluency", "success"]
    assert len(rows) == 16
    judgments = read_judgments(out)
    assert (len(judgments), judgments[0]) == (9601, own)
    assert {j.rater for j in judgments[1:]} == {"one-worker-per-row"}
    human, problems = read_human(out)
    assert problems == []
    for direction in ("yelp/negative-to-positive", "yelp/positive-to-negative"):
        study = [s for s in human[direction] if s.study == "li2018"]
        assert len(study) == 8 * 3
        assert {s.ratings for s in study} == {200}
