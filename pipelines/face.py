"""What ``import tstbench`` offers: the evaluation as one call, and its result as one object.

The scores are those of ``tstbench evaluate``, computed by the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..datasets_scripts.catalog import DIRECTIONS
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TestSet, load_test_set
from ..datasets_scripts.strict_toml import read_toml
from ..errors import InputError, unknown_name
from ..metrics.inputs import check_inputs
from ..metrics.options import Settings
from .evaluate import Evaluation
from .evaluate import evaluate as evaluate_systems
from .outputs import Outputs, read_outputs, system_of
from .predictions import made_by
from .ranked_table import COLUMNS, direction_table, values
from .ranking import Rank
from .report import Report, SystemFacts, SystemInfo
from .results import read_direction
from .scoring import scoring
from .standings import Standings, chosen_directions, read_standings
from .tables import RankedTable, fragment
from .terminal_table import plain_table, width_here
from .transfer import baseline_info, predict

if TYPE_CHECKING:
    import pandas as pd

Predictions = Sequence[str] | str | Path


@dataclass(frozen=True)
class Scores:
    """The scores of one or more systems on one direction: prints as a table, shows as HTML."""

    evaluation: Evaluation

    @property
    def reports(self) -> tuple[Report, ...]:
        """One per system, in the order given: values, intervals, signatures."""
        return tuple(system.report for system in self.evaluation.systems)

    @property
    def report(self) -> Report:
        """The report of the only system.

        Raises:
            InputError: there are several systems: use :attr:`reports`.
        """
        if len(self.reports) > 1:
            names = ", ".join(report.system.name for report in self.reports)
            raise InputError(f"several systems were scored ({names}): use .reports")
        return self.reports[0]

    def __getitem__(self, metric: str) -> float | None:
        """The value of a metric for the only system; ``None`` if it has no value."""
        score = self.report.score(metric)
        return None if score is None else score.value

    def rank(self, metric: str | None = None) -> list[Rank]:
        """The systems, best first, by one metric; a rank is a range where the data show no order.

        Args:
            metric: by default the one that orders the table. Systems without its value come last,
                with ``nan`` and every rank: of them nothing is known.

        Raises:
            UnknownNameError: the metric was not requested.
        """
        if metric and metric not in self.evaluation.metrics:
            raise unknown_name("metric here", metric, self.evaluation.metrics)
        found, rows = [*self.evaluation.standings.ranking(metric or "")], self.table.rows
        others = {row.system for row in rows} - {one.system for one in found}
        last = Rank("", math.nan, low=1, high=len(rows), p_best=math.nan)
        return found + [replace(last, system=r.system) for r in rows if r.system in others]

    def to_pandas(self) -> pd.DataFrame:
        """One row per system and metric, with the columns of ``tstbench report --format csv``."""
        return _frame([self.evaluation.standings])

    @property
    def table(self) -> RankedTable:
        """Systems x metrics, best first; bounds are not ranked."""
        return direction_table(self.evaluation.standings)

    def __str__(self) -> str:
        return plain_table(self.table, width=width_here())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table for notebooks; names are escaped."""
        return fragment(self.table)


def load_results(folder: Path | str, *, sentences: bool = False) -> pd.DataFrame:
    """All numbers of a results folder, with the columns of ``tstbench report --format csv``.

    Args:
        folder: what ``out`` of :func:`evaluate`, or ``--out``, has written.
        sentences: a row for each sentence of each system instead, with a column for each score.

    Raises:
        TSTBenchError: it is no results folder, or has no results.
    """
    import pandas as pd

    if not sentences:
        return _frame(read_standings(Path(folder)))
    stored = [
        one for some in chosen_directions(Path(folder)).values() for one in read_direction(some)
    ]
    return pd.DataFrame(
        {
            "direction": one.report.direction,
            "system": one.report.system.name,
            **sample.model_dump(exclude={"scores"}),
            **sample.scores,
        }
        for one in stored
        if one.has_samples
        for sample in one.each_sample()
    )


def _frame(standings: Iterable[Standings]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([row for one in standings for row in values(one)], columns=list(COLUMNS))


def evaluate(
    predictions: Predictions | Mapping[str, Predictions],
    direction: str | Direction,
    *,
    metrics: str | Iterable[str] | None = None,
    profile: str = "embedded",
    scorers: Mapping[str, str] | None = None,
    options: Settings | None = None,
    baselines: str | Iterable[str] = (),
    out: Path | str | None = None,
    data_dir: Path | str | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    info: Mapping[str, object] | None = None,
) -> Scores:
    """Score rewrites of a direction's test set.

    Scorers that do not exist yet are trained first; progress is reported on standard error.

    Args:
        predictions: N texts in the order of the test set, or a file of them (text, JSON Lines or
            CSV); for several systems, a mapping from name to either.
        direction: ``yelp/negative-to-positive``; see :func:`tstbench.directions`.
        metrics: a name of a metric or family, or several; by default the benchmark's ten.
        profile: ``embedded`` or ``paper``.
        scorers: scorers to use instead of the profile's, by role: ``{"encoder": "my/model@6"}``.
        options: metric options, by family: ``{"bleu": {"protocol": "13a"}}``.
        baselines: a baseline to score as well, or several: ``copy``, ``reference-1``...
        out: a results folder to add to; what it already has is not computed again.
        data_dir: the user's copy of a licensed corpus.
        device: ``auto``, ``cpu`` or ``cuda``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        batch_size: the most sentences that a model scores at once; it does not change a score.
        info: who made the predictions: fields of :class:`.report.SystemInfo`, such as
            ``{"family": "prompted", "date": "2026-01", "origin": "our paper"}``; of several systems
            by name. A TOML file beside a file of predictions says the same.

    Raises:
        InputError: the predictions do not fit the test set, or a file is not valid.
        UnknownNameError: no such direction, metric, option, scorer role...
        MissingFileError: a file of the dataset, or of predictions, is missing.
    """
    how = scoring(
        metrics,
        profile=profile,
        scorers=[f"{role}={spec}" for role, spec in (scorers or {}).items()],
        settings=options,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
    )
    folder = None if data_dir is None else Path(data_dir)
    test_set = load_test_set(direction, data_dir=folder)
    told = info or {}
    if isinstance(predictions, Mapping):
        given = predictions
    else:
        given, told = {"predictions": predictions}, {"predictions": info} if info else {}
    baselines = (baselines,) if isinstance(baselines, str) else tuple(baselines)
    systems, infos = read_systems(given, baselines, test_set, told, folder, device)
    root = None if out is None else Path(out)
    evaluation = evaluate_systems(systems, test_set, how, infos, root, data_dir=folder)
    return Scores(evaluation)


def read_systems(
    given: Mapping[str, Predictions],
    baselines: Iterable[str],
    test_set: TestSet,
    told: Mapping[str, object],
    data_dir: Path | None = None,
    device: str = "auto",
) -> tuple[list[Outputs], dict[str, SystemInfo]]:
    """The outputs of systems and baselines, and what is known about those who made them.

    Args:
        given: texts or a file by system.
        baselines: names of baselines.
        test_set: what is rewritten.
        told: what the user says of systems, by name: it counts for more than the file beside the
            outputs (``<name>.toml``), and that for more than the card that ``transfer`` writes.
        data_dir: the user's copy of a licensed corpus.
        device: for baselines that are networks: ``auto``, ``cpu`` or ``cuda``.

    Raises:
        InputError: predictions that do not fit, or a field that does not exist or is not valid.
        UnknownNameError: something is told of a system that is not given.
    """
    systems: list[Outputs] = []
    infos: dict[str, SystemInfo] = {}
    for name in told:
        if name not in given:
            raise unknown_name("system", name, given)
    for name, some in given.items():
        facts: list[SystemFacts] = []
        known = None
        if isinstance(some, str | Path):
            path = Path(some)
            systems.append(read_outputs(path, test_set, name))
            known = made_by(path, systems[-1])
            if (beside := path.with_name(f"{system_of(path)}.toml")).is_file():
                facts.append(read_toml(beside, SystemFacts))
        else:
            check_inputs(some, test_set.sources)
            systems.append(Outputs(name, tuple(some)))
        if name in told:
            facts.append(SystemFacts.of(told[name]))
        if known or facts:
            update = {k: getattr(one, k) for one in facts for k in one.model_fields_set}
            known = known or SystemInfo(name=name)
            infos[name] = known.model_copy(update=update | {"name": name})
    for name in baselines:
        systems.append(
            Outputs(name, tuple(predict(name, test_set, data_dir=data_dir, device=device)))
        )
        infos[name] = baseline_info(name)
    return systems, infos


def directions() -> tuple[str, ...]:
    """The names of all known directions: the benchmark's, other packages' and the user's own."""
    return tuple(DIRECTIONS)
