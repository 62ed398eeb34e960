"""The signature: one line that states everything a score depends on, after sacreBLEU.

It has two parts. The *identity* (metric and its version, protocol, options, scorers, data) is what
makes two numbers comparable: they may be compared if, and only if, their identities are equal.
The *provenance* (package and library versions) says what computed a number; it plays no part in
comparisons, since a library release that changes a number raises the metric's version.

Source: Post (2018), "A Call for Clarity in Reporting BLEU Scores", section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..errors import InputError

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Signature:
    """Ordered ``key:value`` pairs of a metric; two are equal if their identities are.

    Attributes:
        metric: its name.
        fields: the identity, ``v`` (the metric's version) first.
        provenance: versions of the libraries that computed the number.

    >>> signature = Signature.of("r_bleu", {"nltk": "3.10.4"}, v=1, protocol="tstbench")
    >>> str(signature), signature.made_with
    ('r_bleu|v:1|protocol:tstbench', 'nltk:3.10.4')
    >>> Signature.parse(str(signature)) == signature
    True
    """

    metric: str
    fields: Pairs
    provenance: Pairs = field(default=(), compare=False)

    @classmethod
    def of(
        cls, metric: str, provenance: Mapping[str, object] | None = None, **fields: object
    ) -> Signature:
        """Build a signature; fields that are ``None`` are left out."""
        return cls(metric, _pairs(fields), _pairs(provenance or {}))

    @classmethod
    def parse(cls, identity: str, made_with: str = "") -> Signature:
        """Read back what ``str`` and ``made_with`` wrote.

        Raises:
            InputError: the text is not a signature.
        """
        metric, *rest = identity.split("|")
        pairs = [tuple(item.split(":", 1)) for item in rest]
        versions = [tuple(item.split(":", 1)) for item in made_with.split("|") if item]
        if not metric or any(len(pair) != 2 for pair in (*pairs, *versions)):
            raise InputError(f"not a signature: {identity!r}")
        return cls(metric, tuple(pairs), tuple(versions))  # type: ignore[arg-type]

    @property
    def made_with(self) -> str:
        """The provenance as one line."""
        return "|".join(f"{key}:{value}" for key, value in self.provenance)

    def as_dict(self) -> Mapping[str, str]:
        """The fields of the identity by name."""
        return dict(self.fields)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.fields)

    def __str__(self) -> str:
        """The identity as one line."""
        return "|".join([self.metric, *(f"{key}:{value}" for key, value in self.fields)])


def column_of(identity: str) -> str:
    """A signature without the reference that was left out: which column of a table a score is in.

    People's rewrites are compared with the other references, and stand beside the systems' scores.

    >>> column_of("r_bleu|v:1|refs:first|without:reference-1|n:40")
    'r_bleu|v:1|refs:first|n:40'
    """
    return "|".join(field for field in identity.split("|") if not field.startswith("without:"))


def exact(number: float) -> str:
    """The shortest text that stands for this number and no other.

    >>> exact(1.0), exact(0.3), exact(1.00000001)
    ('1', '0.3', '1.00000001')
    """
    return repr(float(number)).removesuffix(".0")


def _pairs(fields: Mapping[str, object]) -> Pairs:
    pairs = tuple((k, str(v)) for k, v in fields.items() if v is not None)
    for key, value in pairs:
        if "|" in value or any(c.isspace() for c in value):
            raise InputError(f"signature field {key}={value!r} may not contain spaces or '|'")
    return pairs
