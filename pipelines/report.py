"""The report: the scores of one system on one direction, as a file made to last.

``report.json`` has corpus values, intervals and signatures; ``samples.jsonl`` one line per
sentence. A report contains no time and no path, so the same work gives the same bytes.

A report grows: each score has its own recipe, so that adding a metric adds one score and changes
nothing else. A report may have several scores of one metric, with different protocols or scorers;
their keys tell them apart.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    Field,
    RootModel,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from ..datasets_scripts.load import TestSet
from ..errors import InputError
from ..files import write_bytes, write_text
from ..metrics.signature import column_of
from ..records import Strict
from ..trainers.card import Family
from ..untrusted import parse_json, read_json

SCHEMA_VERSION = 2
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
MAX_NAME = 100  # characters of a system's name
# Neither control characters, which a terminal obeys, nor line breaks. An empty name is told apart.
NAME_PATTERN = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"


_BOUND = re.compile(r"copy|random-target|reference-\d+")


def is_bound_name(name: str) -> bool:
    """Whether a name alone says that it is a bound.

    >>> is_bound_name("reference-2"), is_bound_name("delete-retrieve")
    (True, False)
    """
    return _BOUND.fullmatch(name) is not None


WordingId = Annotated[str, Field(pattern="^[A-Za-z0-9._-]{1,40}$")]
Reason = Annotated[str, Field(pattern="^[a-z ]{1,30}$")]  # ``asked``, or why it is no score
SystemName = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=NAME_PATTERN)]


class Sparse(Strict):
    """A record whose later fields are not written where they say nothing.

    Without them it is, byte for byte, what it was before there were any.
    """

    LATER: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_nothing(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = write(self)
        return {name: value for name, value in content.items() if value or name not in self.LATER}


class SeedRun(Strict):
    """Which run of a system this is: it was trained with several seeds.

    Attributes:
        system: the name that its runs share.
        recipe: SHA-256 of all that determines the predictions but the seed: runs with equal ones
            are the same system.
        seed: of this one.
    """

    system: SystemName
    recipe: Sha256
    seed: int


# A year, a month or a day, in the digits that sort.
_DAY = "^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$"


class SystemInfo(Sparse):
    """Who made the predictions."""

    LATER = ("seed_run", "post_processing")

    name: SystemName
    family: Family = "unknown"
    needs_parallel: bool | None = None
    date: Annotated[str, Field(pattern=_DAY)] | None = None
    origin: str | None = None  # where the outputs come from, for a person to follow
    outputs_url: Annotated[str, Field(pattern="^https://")] | None = None
    system_hash: Sha256 | None = None  # of the system's folder, where it is one of ours
    seed_run: SeedRun | None = None  # of a trained system, where its training is seeded
    post_processing: tuple[str, ...] = ()  # what was done to its answers, see trainers.postprocess

    @property
    def is_bound(self) -> bool:
        """Whether it shows what a system could reach, and does not compete: no rank, no bold.

        People's rewrites (metrics of references compare them with one another), the source itself,
        and random sentences of the target style.
        """
        return self.family == "human" or is_bound_name(self.name)


class SystemFacts(SystemInfo):
    """What a user says of a system that already has a name."""

    name: SystemName = "-"  # that it is given elsewhere

    @classmethod
    def of(cls, fields: object) -> SystemFacts:
        """Check what was said in Python.

        Raises:
            InputError: a field that does not exist or is not valid.
        """
        if isinstance(fields, SystemInfo):
            fields = fields.model_dump(exclude_unset=True)
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "info"
            known = ", ".join(name for name in cls.model_fields if name != "name")
            raise InputError(f"{key}: {first['msg']}. The fields are {known}") from error


class SystemsFile(RootModel[dict[str, SystemFacts]]):
    """The file of ``--info``: a table for each system, by its name."""


class DataInfo(Strict):
    """What the system was measured against."""

    fingerprint: Sha256
    cleaning: str
    sentences: Annotated[int, Field(ge=1)]
    references_min: Annotated[int, Field(ge=0)]
    references_max: Annotated[int, Field(ge=0)]

    @classmethod
    def of(cls, test_set: TestSet) -> DataInfo:
        """What a report says of a test set."""
        counts = [len(references) for references in test_set.references]
        return cls(
            fingerprint=test_set.fingerprint,
            cleaning=test_set.cleaning,
            sentences=len(test_set),
            references_min=min(counts, default=0),
            references_max=max(counts, default=0),
        )


class IntervalInfo(Strict):
    """A percentile bootstrap interval."""

    low: float
    high: float
    level: float
    resamples: int
    seed: int


class Score(Sparse):
    """One metric's corpus value.

    Attributes:
        key: names the score's column in samples and replicates: the metric's name, or, for every
            further score of that metric, ``metric@<8 hex digits of its identity's SHA-256>``.
        value: null if it is infinite or undefined.
        signature: its identity: only scores with equal signatures may be compared.
        made_with: its provenance: versions of the libraries that computed it.
        recipe: see :func:`score_recipe`.
        profile: the set of scorers requested when it was computed.
        answers: of a judge, by wording: how many were ``asked``, and how many no score, by reason.
    """

    LATER = ("answers",)

    key: str
    metric: str
    value: float | None
    unit: str
    higher_is_better: bool
    interval: IntervalInfo | None
    signature: str
    made_with: str
    recipe: Sha256
    profile: str
    answers: Mapping[WordingId, Mapping[Reason, Annotated[int, Field(ge=0)]]] = {}

    def __hash__(self) -> int:  # a mapping has none
        return hash(self.key)

    @property
    def unread(self) -> str:
        """Which of a judge's answers were no score, in words; empty if all were read."""
        reasons: dict[str, dict[str, int]] = {}
        for wording, counts in self.answers.items():
            for why, count in counts.items():
                if why != "asked" and count:
                    reasons.setdefault(why, {})[wording] = count
        if not reasons:
            return ""
        asked = sum(counts.get("asked", 0) for counts in self.answers.values())
        lost = sum(sum(some.values()) for some in reasons.values())
        parts = (
            f"{sum(some.values()):,} {why} ({', '.join(f'{w} {n:,}' for w, n in some.items())})"
            for why, some in reasons.items()
        )
        return f"{lost:,} of {asked:,} answers are no score and left out: {', '.join(parts)}"

    @model_validator(mode="after")
    def _check_key(self) -> Score:
        if self.key != self.metric and self.key != further_key(self.metric, self.signature):
            raise ValueError(f"{self.key!r} is not the key of {self.signature!r}")
        return self


class Omission(Strict):
    """A metric that does not apply here, and why."""

    metric: str
    why: str
    recipe: Sha256


class Report(Sparse):
    """Everything known about one system on one direction.

    Attributes:
        tstbench: the version that wrote the file.
        outputs_sha256: of the predictions, see :func:`predictions_sha256`: shows whether two
            people scored the same text.
        samples_sha256, replicates_sha256: of the files beside the report; null before anything is
            written.
        scores: in the benchmark's order; those of one metric in the order of computation.
        warnings: what looks wrong with the outputs, such as another order than that of the sources.
    """

    LATER = ("warnings",)

    schema_version: Literal[2] = 2
    tstbench: str
    direction: str
    system: SystemInfo
    data: DataInfo
    outputs_sha256: Sha256
    samples_sha256: Sha256 | None = None
    replicates_sha256: Sha256 | None = None
    scores: tuple[Score, ...]
    left_out: tuple[Omission, ...] = ()
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_distinct(self) -> Report:
        for what in ("key", "signature"):
            values = [getattr(score, what) for score in self.scores]
            if len(set(values)) < len(values):
                raise ValueError(f"two scores have the same {what}")
        return self

    @property
    def profile(self) -> str:
        """The profiles of the scores, such as ``embedded`` or ``embedded, paper``."""
        return ", ".join(dict.fromkeys(score.profile for score in self.scores)) or "none"

    def score(self, metric: str) -> Score | None:
        """The first score of that metric, if it was computed."""
        return next((score for score in self.scores if score.metric == metric), None)

    def scores_of(self, metric: str) -> tuple[Score, ...]:
        """All scores of that metric: different options or scorers give different scores."""
        return tuple(score for score in self.scores if score.metric == metric)

    def column(self, score: Score) -> str:
        """The signature of the column that a score stands in.

        People's rewrites stand beside the systems, though they are compared with fewer references.
        """
        return column_of(score.signature) if self.system.is_bound else score.signature

    def only(self, columns: Collection[str]) -> Report:
        """The report as if only the scores of these columns had been requested."""
        kept = tuple(score for score in self.scores if self.column(score) in columns)
        return self.model_copy(update={"scores": kept})


class Sample(Strict):
    """One sentence: its source, references, prediction, and each score's value by key."""

    id: str
    source: str
    references: tuple[str, ...]
    prediction: str
    scores: dict[str, float | None]


class NewerReportError(InputError):
    """A report with a schema that this version does not know: it is never overwritten."""


def predictions_sha256(predictions: Sequence[str]) -> str:
    """SHA-256 over the predictions, one JSON string per line, in test-set order."""
    digest = hashlib.sha256()
    for text in predictions:
        digest.update((json.dumps(text, ensure_ascii=False) + "\n").encode())
    return digest.hexdigest()


def score_recipe(outputs_sha256: str, data_fingerprint: str, identity: str) -> str:
    """SHA-256 hex over everything that determines one score: equal recipes, equal scores.

    Args:
        outputs_sha256: hash of the predictions.
        data_fingerprint: fingerprint of the whole test set, 64 hex digits.
        identity: the score's signature: metric, version, options, and the scorers it used.
    """
    parts = json.dumps([outputs_sha256, data_fingerprint, identity])
    return hashlib.sha256(parts.encode()).hexdigest()


def omission_identity(metric: str, version: int, why: str) -> str:
    """What takes the place of the signature if a metric does not apply to some data."""
    return f"{metric}|v:{version}|left out: {why}"


def further_key(metric: str, identity: str) -> str:
    """The key of a score whose metric already has one.

    >>> further_key("ppl", "ppl|v:1|norm:words+1")
    'ppl@303fbe31'
    """
    return f"{metric}@{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def samples_content(samples: Iterable[Sample]) -> Iterator[bytes]:
    """The lines of ``samples.jsonl``."""
    for one in samples:
        row = {name: getattr(one, name) for name in Sample.model_fields}
        yield (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def write_report(folder: Path, report: Report, samples: Iterable[Sample]) -> None:
    """Write ``report.json`` and ``samples.jsonl``; the report last, to mark completion."""
    content = b"".join(samples_content(samples))
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
    try:
        return Report.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "report"
        raise InputError(f"{path} is not a valid report: {where}: {first['msg']}") from error


def parse_samples(lines: Iterable[bytes], path: Path) -> Iterator[Sample]:
    """The samples in a file, one after the other.

    Args:
        lines: of the file.
        path: for an error, which names the line.

    Raises:
        InputError: a line is not a sample, or two have the same id.
    """
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        try:
            sample = _sample(line.decode(), where)
        except (ValidationError, UnicodeDecodeError) as error:
            raise InputError(f"{where}: not a sample: {error}") from error
        if sample.id in seen:
            raise InputError(f"{where}: the sentence {sample.id!r} is there twice")
        seen.add(sample.id)
        yield sample


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
