"""Everything there is to publish, made ready in folders, then written as repositories."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...datasets_scripts.build import build as build_dataset
from ...datasets_scripts.directions import dataset_facts
from ...errors import MissingFileError
from ...files import write_jsonl, write_text
from ..human import read_judgments
from ..report import read_samples
from ..results import SIGNIFICANCE_FILE, Stored, read_direction
from .build import Built, build, trained_scorers

RESULTS_CARD = """\
---
pretty_name: TSTBench results
license: apache-2.0
language:
- en
tags:
- text-style-transfer
- leaderboard
configs:
- config_name: default
  data_files:
  - split: scores
    path: scores.jsonl
---
# TSTBench results

One row a system, direction and metric: value, 95% interval, unit, and the signature that says
everything the value depends on. Only rows with equal signatures may be compared.

`scores.jsonl` is made from the folders beside it, `<dataset>/<direction>/<system>/`, which hold the
whole reports (`report.json`), every sentence with its scores (`samples.jsonl`), the bootstrap
replicates (`replicates.parquet`) and, a direction, the paired significance (`significance.json`).
Each report names the origin of its outputs. `human.jsonl`, where there is one, holds human
judgments of the same outputs; each study has its own terms.
"""

OUTPUTS_CARD = """\
---
pretty_name: TSTBench system outputs
language:
- en
tags:
- text-style-transfer
configs:
- config_name: default
  data_files:
  - split: test
    path: outputs.jsonl
---
# TSTBench system outputs

The predictions behind tstbench/results: `direction`, `system`, `id` of the test sentence,
`prediction`, and the `origin` of the outputs, whose terms apply to them.
"""

JUDGMENTS_CARD = """\
---
pretty_name: TSTBench human judgments
language:
- en
tags:
- text-style-transfer
configs:
- config_name: default
  data_files:
  - split: judgments
    path: "*.jsonl"
---
# TSTBench human judgments

One row a judgment: `study`, `dataset`, `direction`, `system`, `sample_id`, `source`, `output`,
`aspect`, `scale`, `rater` (a pseudonym) and `score`.

Rows of the study `li2018` are made from the ratings that Li, Jia, He and Liang published with
"Delete, Retrieve, Generate" (2018) under CC BY-SA 4.0, which holds for these rows too.
"""


def build_all(
    root: Path | str,
    *,
    datasets: Sequence[str],
    results: Path | None = None,
    judgments: Path | None = None,
    allow_missing: bool = False,
    only: Collection[str] = (),
    namespace: str = "tstbench",
    report: Callable[[Built], None] | None = None,
) -> list[Built]:
    """Build datasets, metrics, Spaces, trained scorers, results and judgments as repositories.

    Args:
        root: the hub folder.
        datasets: names; GYAFC is refused.
        results: the folder that evaluations wrote: becomes ``results`` and ``outputs``.
        judgments: a folder of exported JSONL: becomes ``human_judgments``.
        allow_missing: leave out dataset splits whose upstream files are not here.
        only: names of repositories; default all.
        namespace: the organisation on the Hub.
        report: called after each repository.

    Raises:
        TSTBenchError: something cannot be built or must not be published.
    """
    with tempfile.TemporaryDirectory(prefix="tstbench-hub-") as scratch:
        staging = Path(scratch)
        folders = {
            name: build_dataset(name, staging / "datasets", allow_missing=allow_missing).folder
            for name in datasets
            if dataset_facts(name) and (not only or name in only)
        }
        if results is not None:
            folders["results"] = _stage_results(results, staging / "results")
            folders["outputs"] = _stage_outputs(results, staging / "outputs")
        if judgments is not None:
            folders["human_judgments"] = _stage_judgments(judgments, staging / "judgments")
        return build(
            root,
            namespace=namespace,
            datasets=folders,
            models=trained_scorers(),
            only=only,
            report=report,
        )


def _stored(results: Path) -> Iterator[Stored]:
    folders = sorted({file.parent.parent for file in results.glob("*/*/*/report.json")})
    if not folders:
        raise MissingFileError(
            f"no results in {results}: <dataset>/<direction>/<system>/report.json"
        )
    for folder in folders:
        yield from read_direction(folder)


def _stage_results(results: Path, staging: Path) -> Path:
    rows = []
    for stored in _stored(results):
        parts = stored.folder.relative_to(results)
        shutil.copytree(stored.folder, staging / parts)
        significance = stored.folder.parent / SIGNIFICANCE_FILE
        if significance.is_file():
            shutil.copy(significance, staging / parts.parent)
        rows += list(_score_rows(stored))
    human = results / "human.jsonl"
    if human.is_file():  # the leaderboard shows people's scores beside the automatic ones
        read_judgments(human)
        shutil.copy(human, staging)
    write_jsonl(staging / "scores.jsonl", rows)
    write_text(staging / "README.md", RESULTS_CARD)
    return staging


def _score_rows(stored: Stored) -> Iterator[dict[str, Any]]:
    report = stored.report
    for score in report.scores:
        yield {
            "direction": report.direction,
            "system": report.system.name,
            "family": report.system.family,
            "date": report.system.date,
            "profile": report.profile,
            "metric": score.metric,
            "value": score.value,
            "low": score.interval.low if score.interval else None,
            "high": score.interval.high if score.interval else None,
            "unit": score.unit,
            "signature": score.signature,
        }


def _stage_outputs(results: Path, staging: Path) -> Path:
    rows = [
        {
            "direction": stored.report.direction,
            "system": stored.report.system.name,
            "id": sample.id,
            "prediction": sample.prediction,
            "origin": stored.report.system.origin,
        }
        for stored in _stored(results)
        for sample in read_samples(stored.folder)
    ]
    write_jsonl(staging / "outputs.jsonl", rows)
    write_text(staging / "README.md", OUTPUTS_CARD)
    return staging


def _stage_judgments(judgments: Path, staging: Path) -> Path:
    files = sorted(judgments.glob("*.jsonl"))
    if not files:
        raise MissingFileError(
            f"no judgments in {judgments}: *.jsonl as 'annotate --export' writes"
        )
    staging.mkdir(parents=True)
    for file in files:
        read_judgments(file)  # refuses what is none
        shutil.copy(file, staging)
    write_text(staging / "README.md", JUDGMENTS_CARD)
    return staging
