"""Results folders for the tests of the leaderboard: made by hand, or by the pipeline itself."""

import hashlib
import io
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tstbench.datasets_scripts.load import load_test_set
from tstbench.files import process_folder
from tstbench.metrics.base import finite
from tstbench.metrics.registry import METRICS, benchmark_metrics
from tstbench.pipelines.evaluate import evaluate
from tstbench.pipelines.outputs import Outputs, read_outputs
from tstbench.pipelines.report import (
    DataInfo,
    IntervalInfo,
    Omission,
    Report,
    Sample,
    Score,
    SystemInfo,
    predictions_sha256,
    score_recipe,
    write_report,
)
from tstbench.pipelines.results import folder_name, submission_folder, system_folder
from tstbench.pipelines.scoring import scoring
from tstbench.pipelines.transfer import baseline_info, predict

THERE = "mini/negative-to-positive"
BACK = "mini/positive-to-negative"
BLEU = ("s_bleu", "r_bleu", "multi_bleu")  # the metrics that need no scorer
HOSTILE = '<script>window.hurt=1</script><img src=x onerror="window.hurt=2">&amp;{{1}}${2}'


def signature(metric, direction=THERE, classifier="linear:mini#aaaaaaaaaaaa", version="1", lm=None):
    scorers = f"classifier:{classifier}"
    if lm and metric in ("joint", "ppl"):
        scorers += f"|lm:{lm}"
    return f"{metric}|v:{version}|direction:{direction}|{scorers}|n:40|data:0123456789ab"


def score(metric, value, direction=THERE, *, key=None, made_with="tstbench:1", **fields):
    facts = METRICS[metric]
    bounds = None
    if value is not None:
        bounds = IntervalInfo(low=value - 1, high=value + 1, level=0.95, resamples=1000, seed=1)
    return Score(
        key=key or metric,
        metric=metric,
        value=value,
        unit=facts.unit,
        higher_is_better=facts.higher_is_better,
        interval=bounds,
        signature=signature(metric, direction, **fields),
        made_with=made_with,
        recipe="0" * 64,
        profile="embedded",
    )


def report(name, values, direction=THERE, *, fingerprint="0", left_out=(), info=None, **fields):
    """A report; ``values`` maps metrics to values, ``fields`` go into the signatures."""
    return Report(
        tstbench="1",
        direction=direction,
        system=SystemInfo(name=name, **(info or {})),
        data=DataInfo(
            fingerprint=fingerprint * 64,
            cleaning="paper-v1",
            sentences=40,
            references_min=1,
            references_max=4,
        ),
        outputs_sha256="0" * 64,
        scores=tuple(score(m, v, direction, **fields) for m, v in values.items()),
        left_out=tuple(Omission(metric=m, why=why, recipe="0" * 64) for m, why in left_out),
    )


def write_whole(direction: Path, one: Report, samples, *, backwards=False) -> Path:
    """Write a report with replicates whose interval is the report's.

    Of two systems, any difference is significant; if the replicates of one of them are
    ``backwards``, only one of about two is.
    """
    places = np.linspace(-1 / 0.95, 1 / 0.95, 1000)  # percentiles 2.5 and 97.5: -1 and 1
    if backwards:
        places = places[::-1]
    values = {s.key: np.nan if s.value is None else finite(s.value) for s in one.scores}
    replicates = io.BytesIO()
    columns = {key: np.append(value, value + places) for key, value in values.items()}
    pq.write_table(pa.table(columns), replicates)
    outputs = predictions_sha256([s.prediction for s in samples]) if samples else one.outputs_sha256
    scores = tuple(
        s.model_copy(
            update={
                "value": None if s.value is None else finite(s.value),
                "recipe": score_recipe(outputs, one.data.fingerprint, s.signature),
            }
        )
        for s in one.scores
    )
    digest = hashlib.sha256(replicates.getvalue()).hexdigest()
    new = {"scores": scores, "outputs_sha256": outputs, "replicates_sha256": digest}
    one = one.model_copy(update=new)
    folder = direction / folder_name(one.system.name)
    if folder.exists():  # a second one by this name
        folder = direction / submission_folder(one)
    folder.mkdir(parents=True)
    (folder / "replicates.parquet").write_bytes(replicates.getvalue())
    write_report(folder, one, list(samples))
    return folder


def write(root: Path, one: Report, samples=(), *, backwards=False) -> Path:
    """Write a report where it belongs; without samples, without ``samples.jsonl``."""
    folder = write_whole(root / one.direction, one, samples, backwards=backwards)
    if not samples:
        (folder / "samples.jsonl").unlink()
    return folder


def sample(number, source, prediction, references=(), **scores):
    return Sample(
        id=f"s-{number}",
        source=source,
        references=tuple(references),
        prediction=prediction,
        scores=scores,
    )


def real_results(root: Path, directions=(THERE, BACK), hostile=True) -> Path:
    """What ``tstbench evaluate`` writes for baselines of ``mini``, by BLEU alone: a copy."""
    return shutil.copytree(_evaluated(directions, hostile), root, dirs_exist_ok=True)


@cache
def _evaluated(directions: tuple[str, ...], hostile: bool) -> Path:
    root = Path(mkdtemp(dir=process_folder()))
    for direction in directions:
        test_set = load_test_set(direction)
        names = ("copy", "random-target", "delete-retrieve", "reference-1")
        outputs = [Outputs(name, tuple(predict(name, test_set))) for name in names]
        infos = {name: baseline_info(name) for name in names}
        if hostile and direction == THERE:
            outputs.append(Outputs(HOSTILE, tuple(f"{HOSTILE} {s}" for s in test_set.sources)))
            infos[HOSTILE] = SystemInfo(
                name=HOSTILE, origin=HOSTILE, outputs_url=f"https://example.org/{HOSTILE}"
            )
        evaluate(outputs, test_set, scoring(BLEU), infos, root)
    return root


SEVERAL = (
    "yelp/negative-to-positive",
    "amazon/negative-to-positive",
    "shakespeare/shakespearean-to-modern",
    "styptb_tfu/present-to-future",
)


def several_directions(root: Path) -> Path:
    """Every metric on several datasets, each with a language model and classifier of its own.

    ``half`` has half of the directions, where it is the best; bounds have all.
    """
    systems = {
        "delete-retrieve": (1, {"family": "rule", "needs_parallel": False, "origin": "made by us"}),
        "delete-and-retrieve": (
            2,
            {"family": "fpft", "needs_parallel": False, "date": "2018", "origin": "Li et al."},
        ),
        "half": (9, {"family": "prompted", "needs_parallel": True, "date": "2023-11"}),
        "reference-1": (20, {"family": "human", "date": "2017"}),
        "copy": (8, {"family": "rule", "needs_parallel": False}),
    }
    for number, direction in enumerate(SEVERAL):
        dataset, style = direction.split("/")[0], direction.rpartition("-to-")[2]
        scorers = {
            "classifier": f"linear:{dataset}#{number:012}",
            "lm": f"kn5-{style}:{dataset}#{number:012}",
        }
        for name, (strength, info) in systems.items():
            if name == "half" and number > 1:
                continue
            values = {
                metric: 0.03 * strength + number / 100
                if facts.unit == "fraction"
                else 3.0 * strength + number
                if facts.higher_is_better
                else 900.0 - 30 * strength
                for metric, facts in ((name, METRICS[name]) for name in benchmark_metrics())
            }
            write(root, report(name, values, direction, info=info, **scorers))
    return root


def score_by_bleu(path, direction, system, out, progress):
    """As ``tstbench.pipelines.submission.score_submission``, by the metrics that need no scorer."""
    test_set = load_test_set(direction)
    outputs = read_outputs(path, test_set, system.name)
    progress(0.5, "scoring")
    infos = {system.name: system}
    evaluate([outputs], test_set, scoring(BLEU), infos, out)
    return system_folder(out, test_set.direction, system.name)
