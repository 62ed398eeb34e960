"""The published studies of human judgments, with their terms and where they are from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ...errors import unknown_name
from ..sources import BENCHMARK, LI_2018, MIR_2019, PAULI_2025
from .schema import Judgment


@dataclass(frozen=True, kw_only=True)
class Study:
    """One published study.

    Attributes:
        name: the same in every row.
        citation: authors, year and title.
        repository: where the ratings are from, on GitHub.
        licence: of the ratings; empty if the authors state none.
        terms: what that means for a copy of the rows, in one sentence.
        provenance: how the ratings were made and joined, and what to beware of.
        reader: module and function that read them.
    """

    name: str
    citation: str
    repository: str
    licence: str
    terms: str
    provenance: str
    reader: tuple[str, str]

    def judgments(self) -> list[Judgment]:
        """All rows, read from the pinned files.

        Raises:
            MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
            InputError: a file is not as its reader expects.
        """
        module, function = self.reader
        read: Callable[[], list[Judgment]] = getattr(import_module(module, __package__), function)
        return read()

    def __str__(self) -> str:
        """Citation, licence and provenance, for people."""
        return f"{self.citation} {self.terms} {self.provenance}"


_ALL = (
    Study(
        name="li2018",
        citation='Li, Jia, He and Liang (2018), "Delete, Retrieve, Generate".',
        repository=LI_2018,
        licence="CC-BY-SA-4.0",
        terms="CC BY-SA 4.0: if you share the rows, credit the authors and keep the licence.",
        provenance="Eight systems on 400 Yelp sentences, style, content and fluency from 1 to 5, "
        "one Mechanical Turk worker for each sentence, so that no agreement of raters can be "
        "computed. Joined to the released outputs by text; ids of workers are left out.",
        reader=(".li2018", "li2018_rows"),
    ),
    Study(
        name="mir2019",
        citation='Mir, Felbo, Obradovich and Rahwan (2019), "Evaluating Style Transfer for Text".',
        repository=MIR_2019,
        licence="",
        terms="The authors state no licence; the sentences are Yelp's, under its dataset terms.",
        provenance="Twelve settings of three models on 244 Yelp sentences, means of three "
        "Mechanical Turk workers: difference of style, content with style words masked, "
        "naturalness (absolute, and relative to the source as a majority). Line-aligned with the "
        "outputs. Single ratings are not published. The raters' content scores are of masked "
        "texts, which are not the texts in these rows.",
        reader=(".mir2019", "mir2019_judgments"),
    ),
    Study(
        name="pauli2025",
        citation="Pauli, Augenstein and Assent (2025), style-aware content preservation.",
        repository=PAULI_2025,
        licence="CC-BY-4.0",
        terms="CC BY 4.0: if you share the rows, credit the authors.",
        provenance="200 rewrites constructed for the study, half of them with a change of "
        "meaning hidden in the change of style (the column condition), three raters each, style "
        "and content from 1 to 5. Ids of people are replaced by pseudonyms.",
        reader=(".pauli2025", "pauli2025_judgments"),
    ),
    Study(
        name="tstbench2025",
        citation="The TSTBench paper (2025), human evaluation.",
        repository=BENCHMARK,
        licence="",
        terms="The authors state no licence; the rows have no text.",
        provenance="8 to 13 systems on 50 sentences of each of seven directions, averages of the "
        "raters: style, content, fluency, overall. Which sentences is not published, so only means "
        "of systems can be compared with anything else; the column item is the place in the "
        "published list. Only the public outputs of ChatGPT are certainly the rated ones (the "
        "column certain).",
        reader=(".tstbench2025", "tstbench2025_judgments"),
    ),
)
STUDIES: dict[str, Study] = {study.name: study for study in _ALL}


def parse_study(name: str) -> Study:
    """The study with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in STUDIES:
        raise unknown_name("study", name, STUDIES)
    return STUDIES[name]
