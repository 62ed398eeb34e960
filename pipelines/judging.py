"""What an evaluation would ask a chat model that judges, without asking."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ..chat.estimate import Estimate
from ..datasets_scripts.load import TestSet
from ..errors import InputError
from ..metrics.measure import needs
from .evaluate import inputs_of
from .outputs import Outputs
from .scoring import Scoring

ROLE = "judge"


def judge_estimate(outputs: Sequence[Outputs], test_set: TestSet, how: Scoring) -> Estimate:
    """The judge's requests for some systems: what is asked twice is sent once.

    No other scorer is looked at, trained or downloaded.

    Raises:
        InputError: no metric asks a judge, or none was named.
    """
    scorers = how.scorers(test_set.direction)
    requests: dict[str, None] = {}
    asks = False
    for one in outputs:
        for need in needs(how.metrics, inputs_of(one, test_set), scorers, how.choices):
            if need.role == ROLE:
                asks = True
                requests.update(dict.fromkeys(need.texts))
    if not asks:
        raise InputError(
            "--dry-run: none of these metrics asks a chat model; name llm_judge, or leave it out"
        )
    found: Estimate = scorers.load(ROLE).estimate(tuple(requests))
    return found


def request_lines(found: Estimate) -> Iterator[str]:
    """A line of JSON for each request: its body, its tokens, and whether it is answered already."""
    for one in found.planned:
        row = {
            "request": one.call.body,
            "prompt_tokens": one.prompt_tokens,
            "answered": one.answered,
        }
        yield json.dumps(row)
