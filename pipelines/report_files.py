"""The files of a report: written atomically, read with clear errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from ..errors import InputError
from ..files import read_lines, read_text, write_bytes, write_text
from .report import SCHEMA_VERSION, NewerReportError, Report, Sample
from .report_schema_1 import ReportSchema1


def samples_content(samples: Iterable[Sample]) -> bytes:
    """The content of ``samples.jsonl``."""
    rows = (sample.model_dump(mode="json") for sample in samples)
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return "".join(lines).encode("utf-8")


def write_report(folder: Path, report: Report, samples: list[Sample]) -> None:
    """Write ``report.json`` and ``samples.jsonl``; the report last, to mark completion."""
    content = samples_content(samples)
    digest = hashlib.sha256(content).hexdigest()
    write_bytes(folder / "samples.jsonl", content)
    report = report.model_copy(update={"samples_sha256": digest})
    write_text(folder / "report.json", report.model_dump_json(indent=2) + "\n")


def read_report(path: Path) -> Report:
    """Read ``report.json`` (or the folder that contains it), of this schema or an older one.

    Raises:
        InputError: not a report of a schema we know; the message names the field.
        NewerReportError: a later version of TSTBench wrote it.
    """
    path = path / "report.json" if path.is_dir() else path
    text = read_text(path)
    version = _schema_version(text)
    if version is not None and version > SCHEMA_VERSION:
        raise NewerReportError(
            f"{path} cannot be read: its schema_version is {version}, the newest known here "
            f"is {SCHEMA_VERSION}. A later version of TSTBench wrote it: upgrade"
        )
    try:
        if version == 1:
            return ReportSchema1.model_validate_json(text).upgraded()
        return Report.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "report"
        raise InputError(f"{path} is not a valid report: {where}: {first['msg']}") from error


def read_samples(folder: Path) -> list[Sample]:
    """Read ``samples.jsonl`` of a report folder; an error names the line."""
    path = folder / "samples.jsonl"
    samples = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            samples.append(Sample.model_validate(json.loads(line)))
        except (ValidationError, json.JSONDecodeError) as error:
            raise InputError(f"{path}, line {number}: not a sample: {error}") from error
    return samples


def _schema_version(text: str) -> int | None:
    """The schema that a report states; ``None`` if it states none, or is not JSON."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    version = content.get("schema_version") if isinstance(content, dict) else None
    return version if type(version) is int else None
