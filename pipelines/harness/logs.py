"""The predictions in a harness's log, for ``tstbench evaluate`` and the leaderboard.

An Inspect log (``.eval`` or ``.json``) holds one or several directions; a log of
lm-evaluation-harness is one task's samples, ``samples_tstbench_...jsonl``, which ``--log_samples``
writes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from ...errors import InputError, MissingFileError, require
from ...files import read_lines, write_text
from ..predictions import one_line

Found = Mapping[str, Mapping[str, str]]  # direction to sentence id to prediction


def read_log(path: Path) -> Found:
    """The predictions in a log, by direction and sentence.

    Raises:
        MissingFileError: no such file.
        InputError: it is no log of our tasks, has a sentence twice, or is an Inspect log of several
            epochs.
        MissingExtraError: Inspect is needed to read its log.
    """
    if not path.is_file():
        raise MissingFileError(f"no such file: {path}")
    found = _lm_eval(path) if path.suffix == ".jsonl" else _inspect(path)
    if not found:
        raise InputError(f"{path} holds no predictions of tstbench's tasks")
    return found


def write_predictions(found: Found, folder: Path, name: str) -> list[Path]:
    """Write ``<folder>/<dataset>/<direction>/<name>.jsonl`` for each direction."""
    written = []
    for direction, predictions in found.items():
        path = folder / direction / f"{name}.jsonl"
        rows = [{"id": i, "prediction": text} for i, text in predictions.items()]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        written.append(path)
    return written


def _lm_eval(path: Path) -> Found:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = json.loads(line)
            item = row[row["metrics"][0]]
            direction, name, prediction = item["direction"], item["id"], item["prediction"]
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise InputError(
                f"{path}, line {number}: not a sample of tstbench's tasks in lm-eval"
            ) from error
        _add(found[direction], name, prediction, f"{path}, line {number}")
    return found


def _inspect(path: Path) -> Found:
    require("inspect_ai", "harness")
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path))
    except Exception as error:  # a zip, JSON or a record that is none: as many errors as libraries
        raise InputError(f"{path} is not a log of Inspect: {error}") from error
    if (log.eval.config.epochs or 1) > 1:
        raise InputError(f"{path} has {log.eval.config.epochs} epochs: one is needed")
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for sample in log.samples or ():
        for score in (sample.scores or {}).values():
            direction = (score.metadata or {}).get("direction")
            if isinstance(direction, str):
                _add(found[direction], str(sample.id), one_line(score.answer or ""), str(path))
    return found


def _add(predictions: dict[str, str], name: str, text: str, where: str) -> None:
    if name in predictions:
        raise InputError(
            f"{where}: a second prediction for {name}: the log is of several runs. Give one of them"
        )
    predictions[name] = text
