"""The files of a report: written atomically, read with clear errors."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import InputError
from ..files import decoded, split_lines, write_bytes, write_text
from ..untrusted import MAX_LINES_BYTES, parse_json, read_json, read_small
from .report import SCHEMA_VERSION, NewerReportError, Report, Sample


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
    """Read ``report.json`` (or the folder that contains it).

    Raises:
        InputError: not a report of this schema; the message names the field.
        NewerReportError: a later version of TSTBench wrote it.
    """
    path = path / "report.json" if path.is_dir() else path
    content = read_json(path)
    version = _schema_version(content)
    if version is not None and version > SCHEMA_VERSION:
        raise NewerReportError(
            f"{path} cannot be read: its schema_version is {version}, the newest known here "
            f"is {SCHEMA_VERSION}. A later version of TSTBench wrote it: upgrade"
        )
    if version is not None and version < SCHEMA_VERSION:
        raise InputError(
            f"{path} cannot be read: its schema_version is {version}, from before the first "
            "release. Evaluate the system again"
        )
    try:
        return Report.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "report"
        raise InputError(f"{path} is not a valid report: {where}: {first['msg']}") from error


def read_samples(folder: Path) -> list[Sample]:
    """Read ``samples.jsonl`` of a report folder; an error names the line."""
    path = folder / "samples.jsonl"
    return parse_samples(read_small(path, max_bytes=MAX_LINES_BYTES), path)


def parse_samples(content: bytes, path: Path) -> list[Sample]:
    """The samples in the content of a file.

    Args:
        content: of the file.
        path: for an error, which names the line.

    Raises:
        InputError: a line is not a sample, or two have the same id.
    """
    samples: dict[str, Sample] = {}
    for number, line in enumerate(split_lines(decoded(content, path)), start=1):
        where = f"{path}, line {number}"
        try:
            sample = _sample(line, where)
        except ValidationError as error:
            raise InputError(f"{where}: not a sample: {error}") from error
        if sample.id in samples:
            raise InputError(f"{where}: the sentence {sample.id!r} is there twice")
        samples[sample.id] = sample
    return list(samples.values())


_KEY = re.compile(r'"\s*:')


def _sample(line: str, where: str) -> Sample:
    """The sample on a line, with the checks of :func:`..untrusted.parse_json`.

    Most lines need only pydantic, which is five times as fast: a key that is there twice makes more
    keys than a sample has, and only escapes can have half of a surrogate pair.
    """
    try:
        sample = Sample.model_validate_json(line)
    except ValidationError:
        return Sample.model_validate(parse_json(line, where))  # says more of what is no JSON
    keys = len(Sample.model_fields) + len(sample.scores)
    if "\\u" in line or len(_KEY.findall(line)) != keys:
        return Sample.model_validate(parse_json(line, where))
    return sample


def _schema_version(content: Any) -> int | None:
    """The schema that a report states; ``None`` if it states none."""
    version = content.get("schema_version") if isinstance(content, dict) else None
    return version if type(version) is int else None
