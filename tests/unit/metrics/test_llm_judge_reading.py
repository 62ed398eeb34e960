"""From a chat model's answer to a score, each rule on answers written here by hand."""

import math
import time

import numpy as np
import pytest

from tstbench.chat.answers import Reply
from tstbench.metrics.llm_judge.llm_judge import (
    Reading,
    Scale,
    ensemble,
    expected,
    judge_statistics,
    read,
    unread_statistics,
)

FIVE = Scale(1, 5)


@pytest.mark.parametrize(
    ("text", "finish", "why"),
    [
        ("", "stop", "unparsable"),
        ("four", "stop", "unparsable"),
        ("3 or 4", "stop", "unparsable"),
        ("Score: 3\nScore: 4", "stop", "unparsable"),
        ("3,5", "stop", "unparsable"),
        ("Score: 3-4", "stop", "unparsable"),
        ("Score: 1 means not at all", "stop", "unparsable"),
        ("The 2 sentences differ", "stop", "unparsable"),
        ("4/10", "stop", "unparsable"),
        ("on 4/5/2020", "stop", "unparsable"),
        ("80%", "stop", "unparsable"),
        ("\u0664", "stop", "unparsable"),  # a digit of another script
        ("0", "stop", "out of range"),
        ("Score: 80", "stop", "out of range"),
        ("Two words were", "length", "cut off"),
        ("I cannot rate this: 1", "refusal", "refused"),
        ("", "content_filter", "refused"),
    ],
)
def test_what_is_no_score_is_never_guessed(text, finish, why):
    assert read(text, finish, FIVE) == Reading(why=why)


def test_long_answers_are_read_quickly():
    started = time.monotonic()
    for text in (" " * 200_000 + "4", "score: " + " " * 200_000, "score:" * 40_000, "4 " * 90_000):
        assert read(text, "stop", FIVE).score is None
    assert time.monotonic() - started < 5


def test_the_length_of_a_scale_is_its_greater_end_whichever_is_best():
    for scale in (Scale(1, 5), Scale(5, 1)):
        assert read("2/5", "stop", scale).score == 2
        assert read("Score: 2 out of 5", "stop", scale).score == 2
        assert read("Score: 2/1", "stop", scale).why == "unparsable"


def test_only_what_follows_the_last_thought_is_an_answer():
    text = "<think>2</think>\n3\n<think>no, more</think>\n4"
    assert read(text, "stop", Scale(1, 5)).score == 4
    assert read("<think>\n3\nor 3/5\n</think>", "stop", Scale(1, 5)).why == "unparsable"


def test_wordings_count_equally_whatever_their_scales():
    scales = [Scale(1, 5), Scale(6, 1), Scale(0, 100)]
    none = Reading(why="unparsable")
    rows = [
        [Reading(2), Reading(1), Reading(50)],  # 1/4, 1, 1/2
        [Reading(2), none, Reading(50)],
        [none, none, none],
    ]
    assert ensemble(rows, scales)[:2] == pytest.approx([7 / 12, 3 / 8])
    assert math.isnan(ensemble(rows, scales)[2])


# Each part of the patterns, by an answer that only it can read.
@pytest.mark.parametrize(
    "text",
    [
        *(f"{word}: 4" for word in ("Score", "Rating", "Grade", "Point", "Points", "Answer")),
        *(f"my final {word} is 4." for word in ("mark", "number", "SCORE", "points")),
        "Final  score 4",
        "(score): 4",
        "(score) = 4",
        "(score) is (4)",
        "4;",
        "4 point",
        "(my score: 4) as it is fluent",
        "(my score: 4]",
        "4 points",
        "4.000000000",
        "000000004",
        "[4]",
        "{4}",
        "`4`",
        "_4_",
        "'4'",
        '"4".',
        "**Rating:** 4 / 5",
        "My score: 4 , since it is fluent",
        "My score = 4, since it is fluent",
        "It is 4 Out Of 5 to me",
        *(f"My score: 4{mark} they say" for mark in "\"'*_`"),
        *(f"My score{mark}: 4, they say" for mark in "\"'*_`"),
        "My score: 4; it is fluent",
        'My "score": 4}',
        "My score: 4 \u2013 fluent",
        "My score: 4 \u2014 fluent",
        "My score: 4 - \u00e9",
        "That is 4/5.",
        " " * 199 + "4",
        " **4.** ",
        "I would give it 4 out of 5 for that",
        "4\n\nThe rewrite is cheerful.",
        '{"score": 4}',
        "Two words were changed, 1 was added.\nScore: 4",
        "Score: 4 (nearly all of it)",
        "4\n4",
        "<think>\nScore: 2\n</think>\n4",
        "</think>4",
        "Good.\r\n4\r\n",
        "fluent " * 40 + "\n4",
    ],
)
def test_every_form_of_a_number_that_counts(text):
    reading = read(text, "stop", FIVE)
    assert (reading.score, reading.why) == (4, None)
    assert float(text[reading.start : reading.end]) == 4


@pytest.mark.parametrize(
    "text",
    [
        "length: 4",
        "underscore: 4",
        "My score 4",
        "My score is4, I think",
        "My score is\n4, I think",
        "My score: 4(nearly)",
        "My score: 4 -ish",
        "My score: 4- fluent",
        "My score: 4.5.1",
        "My score: 4 - 5",
        "(score) is4",
        "4 pointss",
        "4..",
        "--4",
        "0000000004",
        "4.0000000000",
        "4/5.5",
        "4 of 5",
        "about 4/5/6",
        "about 4/5,5",
        "about .4/5",
        "about 1,4/5",
        "about 1/4/5",
        "about 3-4/5",
        "about 3\u22124/5",
        "about 4/5 or 3/5",
        " " * 200 + "4",
    ],
)
def test_every_form_that_does_not_count(text):
    assert read(text, "stop", FIVE) == Reading(why="unparsable")


@pytest.mark.parametrize(
    "line",
    ["3/5", "3 /5", "3/ 5", "3 out of 5", "3out of5", "3/10", "a score: 3/5.", "3/123456789"],
)
def test_a_second_line_with_another_number_is_heard_with_its_length(line):
    assert read(f"4\n{line}", "stop", FIVE) == Reading(why="unparsable")
    assert read(f"fluent\n{line.replace('3', '4')}", "stop", FIVE).score == (
        None if "/1" in line else 4
    )


def test_the_ends_of_a_scale_are_on_it_and_what_lies_beyond_is_not():
    for scale in (Scale(-3, 7), Scale(7, -3)):
        assert (scale.low, scale.high) == (-3, 7)
        # The sign of the keyboard and the minus of typography.
        texts = ("-3", "\u22123", "Score: \u22123", "7", "-4", "\u22124", "7.1", "8")
        assert [read(text, "stop", scale).score for text in texts] == [-3, -3, -3, 7, *[None] * 4]
        assert read("\u22124", "stop", scale) == Reading(why="out of range")
        assert [scale.normalised(x) for x in (scale.worst, 2, scale.best)] == [0, 0.5, 1]
        assert math.copysign(1, scale.normalised(scale.worst)) == 1  # not -0.0


def test_a_length_of_more_than_nine_digits_is_not_read_in_part():
    scale = Scale(0, 123_456_789)
    assert read("about 4/123456789", "stop", scale).score == 4
    for text in ("about 4/1234567890", "4/1234567890", "My score: 4/1234567890"):
        assert read(text, "stop", scale) == Reading(why="unparsable")


def test_the_place_of_a_number_and_what_was_cut():
    assert read("It is fine.\nMy score: 4/5", "stop", FIVE) == Reading(4, None, 22, 23)
    assert read("They say 4 out of 5 here", "stop", FIVE) == Reading(4, None, 9, 10)
    assert read("Score: 4/5", "length", FIVE) == Reading(4, None, 7, 8)
    assert read("My score is 4", "length", FIVE) == Reading(why="cut off")
    assert read("3\n4", "length", FIVE) == Reading(why="unparsable")  # numbers, but two
    assert read("9", "length", FIVE) == Reading(why="cut off")  # 9 is no score, nor is 90
    assert read("9.", "length", FIVE) == Reading(why="out of range")
    for finish in ("content_filter", "refusal"):
        assert read("4", finish, FIVE) == Reading(why="refused")
    assert read("4", "tool_calls", FIVE) == Reading(4, None, 0, 1)


def test_scales_whose_scores_are_one_token():
    ends = {
        (0, 9): True,
        (9, 0): True,
        (1, 5): True,
        (0, 10): False,
        (10, 1): False,
        (-1, 9): False,
    }
    assert {pair: Scale(*pair).is_single_digit for pair in ends} == ends


def test_the_expectation_is_over_the_digits_of_the_scale_ends_included():
    """By hand, shares in sixteenths: 1 gets 2, 3 gets 3 + 1, 5 gets 4; E = (2 + 12 + 20) / 10."""
    shares = (("1", 2), ("3", 3), (" 3", 1), ("5", 4), ("6", 2), ("0", 1), ("55", 1), ("\u0663", 2))
    others = tuple((text, math.log(share / 16)) for text, share in shares)
    decoy = (("2", -0.1),)
    # The text stands twice in what was written, a space before it, and the first one counts.
    tokens = ((" ", decoy), ("Score: ", decoy), ("3", others), ("\n", decoy), ("Score: ", decoy))
    reply = Reply("Score: 3", tokens=(*tokens, ("3", decoy)))
    found = expected(reply, read(reply.text, "stop", FIVE), FIVE)
    assert found == Reading(pytest.approx(3.4), None, 7, 8)
    other = Scale(6, 1)  # 6 is on it: (2 + 12 + 20 + 12) / 12
    assert expected(reply, read(reply.text, "stop", other), other).score == pytest.approx(46 / 12)
    low = Scale(0, 3)  # and here neither 5 nor 6: (0 + 2 + 12) / 7
    assert expected(reply, read(reply.text, "stop", low), low).score == pytest.approx(2)


def test_a_probability_is_at_most_one():
    """A server's rounded logarithm above 0 is one of 1: E = (2 * 1 + 4 / 2) / (3 / 2)."""
    tokens = (("2", (("2", 0.75), ("4", math.log(0.5)))),)
    reply = Reply("2", tokens=tokens)
    found = expected(reply, read("2", "stop", FIVE), FIVE)
    assert found == Reading(pytest.approx(4 / 1.5), None, 0, 1)


def test_an_answer_whose_tokens_are_of_another_text_has_no_probabilities():
    reading = read("4", "stop", FIVE)
    some = (("4", -0.1),)
    # The last one ends in the number, which is no token by itself.
    wrong = ((), (("3", some),), (("44", some),), (("n", some), ("o", some)), ((": 4", some),))
    for tokens in (None, *wrong):
        assert expected(Reply("4", tokens=tokens), reading, FIVE).why == "without probabilities"
    assert expected(Reply("4", tokens=((" 4", some),)), reading, FIVE).score == 4
    nothing = (("4", (("no", -0.1), ("6", -1.0))),)
    assert expected(Reply("4", tokens=nothing), reading, FIVE).why == "without probabilities"
    unread = Reading(why="refused")
    assert expected(Reply("4", tokens=(("4", some),)), unread, FIVE) == unread
    few = (("4", (("4", -1e9),)),)  # no probability is left of it
    assert expected(Reply("4", tokens=few), reading, FIVE) == Reading(why="without probabilities")


def test_an_answer_too_many_or_too_few_is_no_score_of_another_wording():
    scales = [FIVE, Scale(6, 1)]
    for count in (1, 3):
        with pytest.raises(ValueError, match="argument"):
            ensemble([[Reading(2)] * 2, [Reading(2)] * count], scales)
    assert ensemble([], scales).shape == (0,)


def test_statistics_of_judgements_by_hand():
    """Five sentences, of which the second and the last are empty."""
    failed = np.array([False, True, False, False, True])
    scales = {"five": FIVE, "grade": Scale(6, 1)}
    rows = [
        [Reading(2), Reading(1)],
        [Reading(5), Reading(1)],
        [Reading(3), Reading(why="refused")],
    ]
    found = judge_statistics(rows, scales, failed)
    assert found.per_sentence.tolist() == [0.625, 0.0, 1.0, 0.5, 0.0]  # an empty one is worst
    assert found.value == pytest.approx(2.125 / 5)
    five, grade = found.wordings.values()
    assert five.answers == {"asked": 3}
    assert grade.answers == {"asked": 3, "refused": 1}
    assert five.statistics.per_sentence.tolist() == [0.25, 0, 1, 0.5, 0]
    assert grade.statistics.value == pytest.approx(2 / 4)  # what nobody could read does not count
    nobody = judge_statistics([], scales, np.array([True]))
    assert (nobody.value, nobody.wordings) == (0.0, {})  # nothing was asked


def test_statistics_of_answers_that_are_no_score_by_hand():
    """Three sentences with three answers each, and two that nobody was asked about."""
    failed = np.array([True, False, False, True, False])
    one, none = Reading(4), Reading(why="refused")
    rows = [[one, none, none], [one, one, one], [none, one, one]]
    found = unread_statistics(rows, failed)
    np.testing.assert_allclose(
        found.per_sentence, [np.nan, 200 / 3, 0, np.nan, 100 / 3], equal_nan=True
    )
    assert found.value == pytest.approx(100 * (2 / 3 + 1 / 3) / 3)
