"""The signature: one line that says everything a score depends on, after sacreBLEU.

Two numbers may be compared when their signatures are equal, and only then.
Source: Post (2018), "A Call for Clarity in Reporting BLEU Scores", section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import InputError


@dataclass(frozen=True)
class Signature:
    """Ordered ``key:value`` pairs, the first being ``metric``.

    >>> signature = Signature.of("r_bleu", protocol="tstbench", case="lower")
    >>> str(signature)
    'r_bleu|protocol:tstbench|case:lower'
    >>> Signature.parse(str(signature)) == signature
    True
    """

    metric: str
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, metric: str, **fields: object) -> Signature:
        """Build one; a field that is ``None`` is left out."""
        pairs = tuple((k, str(v)) for k, v in fields.items() if v is not None)
        for key, value in pairs:
            if "|" in value or any(c.isspace() for c in value):
                raise InputError(f"signature field {key}={value!r} may not hold blanks or '|'")
        return cls(metric, pairs)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read back what ``str`` wrote."""
        metric, *rest = text.split("|")
        pairs = tuple(tuple(item.split(":", 1)) for item in rest)
        if not metric or any(len(pair) != 2 for pair in pairs):
            raise InputError(f"not a signature: {text!r}")
        return cls(metric, pairs)  # type: ignore[arg-type]

    def as_dict(self) -> Mapping[str, str]:
        """The fields by name."""
        return dict(self.fields)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.fields)

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{key}:{value}" for key, value in self.fields)])
