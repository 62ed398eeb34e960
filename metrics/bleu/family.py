"""s-BLEU, r-BLEU and multi-BLEU: n-gram overlap with the source and with human rewrites.

Sources: Papineni et al. (2002); Post (2018); the views are the TSTBench paper's, section 3.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ..contract import Context, Family, Options
from ..facts import MetricFacts
from ..functional.bleu_protocols import BleuProtocol, bleu_protocol
from ..text import preparation
from ..views import compared_with, reference_count, view_facts, view_left_out

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


@dataclass(frozen=True, kw_only=True)
class BleuOptions(Options):
    """Options of ``bleu``.

    Attributes:
        protocol: a name of :data:`~tstbench.metrics.functional.bleu_protocols.PROTOCOLS`; by default the one
            of the texts' language, ``tstbench`` for English.
    """

    protocol: str | None = None

    def __post_init__(self) -> None:
        if self.protocol is not None:
            bleu_protocol(self.protocol)


class Bleu(Family[BleuOptions]):
    """BLEU under a named protocol."""

    name = "bleu"
    title = "BLEU"
    options = BleuOptions
    libraries = ("nltk", "sacrebleu")
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts("bleu", "BLEU", "BLEU", "percent")

    def left_out(self, metric: str, inputs: Inputs, options: BleuOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def fields(self, metric: str, inputs: Inputs, options: BleuOptions) -> dict[str, object]:
        """Everything that the protocol fixes, how texts are prepared, and the number of references."""
        protocol = _protocol(inputs, options)
        return {
            "protocol": protocol.name,
            "tok": protocol.tokenize,
            "case": "lower" if protocol.lowercase else "mixed",
            "smooth": protocol.smooth,
            "text": preparation(inputs.language).compared_name(clean=not protocol.english),
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: BleuOptions, context: Context
    ) -> Statistics:
        """Corpus BLEU, in percent."""
        from ..functional.bleu import bleu_statistics  # needs nltk

        protocol = _protocol(inputs, options)
        # NLTK's tokens of "great ." and "great." are the same; other tokenisers leave it to us.
        prepare = partial(preparation(inputs.language).compared, clean=not protocol.english)
        against = [prepare(some) for some in compared_with(metric, inputs)]
        return bleu_statistics(prepare(inputs.predictions), against, protocol)


def _protocol(inputs: Inputs, options: BleuOptions) -> BleuProtocol:
    text = preparation(inputs.language)
    protocol = bleu_protocol(options.protocol or text.bleu_protocol)
    if protocol.english:
        text.check_english("bleu", protocol.name, text.bleu_protocol)
    return protocol


FAMILY = Bleu()
