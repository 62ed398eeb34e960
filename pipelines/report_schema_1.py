"""Reports of schema 1, which TSTBench wrote until 0.1.0: read, and converted in memory.

They had one recipe and one profile for the whole report, no hashes of the files beside it, and
library versions inside the signatures.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from ..metrics.signature import Signature
from .report import (
    DataInfo,
    IntervalInfo,
    Omission,
    Report,
    Score,
    Sha256,
    Strict,
    SystemInfo,
    omission_identity,
    score_recipe,
)


def _signature(text: str) -> str:
    Signature.parse_schema_1(text)  # whoever reads the file says where it is, if it is none
    return text


class ScoreSchema1(Strict):
    """One metric's corpus value, as schema 1 had it."""

    metric: str
    value: float | None
    unit: str
    higher_is_better: bool
    interval: IntervalInfo | None
    signature: Annotated[str, AfterValidator(_signature)]


class OmissionSchema1(Strict):
    """A metric that did not apply, as schema 1 had it."""

    metric: str
    why: str


class ReportSchema1(Strict):
    """The whole file, as schema 1 had it."""

    schema_version: Literal[1]
    tstbench: str
    direction: str
    profile: str
    system: SystemInfo
    data: DataInfo
    recipe: Sha256 | None = None
    outputs_sha256: Sha256
    scores: tuple[ScoreSchema1, ...]
    left_out: tuple[OmissionSchema1, ...] = ()

    def upgraded(self) -> Report:
        """The same report in today's schema; every metric had version 1 then."""
        return Report(
            tstbench=self.tstbench,
            direction=self.direction,
            system=self.system,
            data=self.data,
            outputs_sha256=self.outputs_sha256,
            scores=tuple(self._score(score) for score in self.scores),
            left_out=tuple(
                Omission(
                    metric=one.metric,
                    why=one.why,
                    recipe=self._recipe(omission_identity(one.metric, 1, one.why)),
                )
                for one in self.left_out
            ),
        )

    def _score(self, score: ScoreSchema1) -> Score:
        signature = Signature.parse_schema_1(score.signature)
        told = score.model_dump(exclude={"signature"})
        return Score(
            **told,
            key=score.metric,
            signature=str(signature),
            made_with=signature.made_with,
            recipe=self._recipe(str(signature)),
            profile=self.profile,
        )

    def _recipe(self, identity: str) -> str:
        return score_recipe(self.outputs_sha256, self.data.fingerprint, identity)
