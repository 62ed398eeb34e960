"""GYAFC on entertainment and music, and how each domain of GYAFC is laid out."""

from ..corpus import Corpus, Part
from ..directions import DatasetFacts
from ..sources import UserFile

_STYLES = ("informal", "formal")


def gyafc_corpus(name: str, title: str, domain: str) -> Corpus:
    """One domain of GYAFC (Rao and Tetreault 2018), from the user's own copy.

    Training pairs are aligned files; ``tune`` and ``test`` have separate sentences in ``informal``
    and ``formal``, each with four rewrites in ``formal.ref*`` and ``informal.ref*``. Files are
    taken by name: other distributions number the two styles the other way round.
    """

    def file(path: str) -> UserFile:
        return UserFile(
            f"{domain}/{path}",
            corpus="GYAFC_Corpus",
            variable="TSTBENCH_GYAFC",
            howto="It is available for research only: https://github.com/raosudha89/GYAFC-corpus",
        )

    def rewrites(folder: str, style: str) -> tuple[UserFile, ...]:
        return tuple(file(f"{folder}/{style}.ref{k}") for k in range(4))

    informal, formal = ((file(f"train/{style}"),) for style in _STYLES)
    parts = [Part("train", (informal, formal), {(0, 1): formal, (1, 0): informal})]
    for part, folder in (("validation", "tune"), ("test", "test")):
        sentences = tuple((file(f"{folder}/{style}"),) for style in _STYLES)
        references = {(0, 1): rewrites(folder, "formal"), (1, 0): rewrites(folder, "informal")}
        parts.append(Part(part, sentences, references))
    facts = DatasetFacts(
        name,
        f"GYAFC {title}",
        "formality",
        _STYLES,
        references=4,
        parallel=True,
        licensed=True,
        licence="gyafc-research-only",
    )
    return Corpus(facts, "1.0.0", tuple(parts))


CORPUS = gyafc_corpus("gyafc_em", "Entertainment & Music", "Entertainment_Music")
