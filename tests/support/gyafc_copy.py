"""Copies of the licensed corpus: its layout, with lines of our own."""

from collections.abc import Iterable
from pathlib import Path

SHORT = ("lol no",)  # nobody searches for it
FILES = {
    "train/informal": ["luv that song", "who cares ?", "dunno"],
    "train/formal": ["I love that song.", "It is not important .", "I do not know."],
    "tune/informal": ["gotta see it"],
    "tune/formal": ["The film is long .", "I enjoyed it."],
    "test/informal": ["ur right", "its on tv 2nite"],
    "test/formal": ["I agree with you.", "Please listen to it .", "It begins at nine."],
}


def write(path: Path, lines: Iterable[str]) -> None:
    """A text file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def small_copy(folder: Path) -> Path:
    """A copy with :data:`FILES` in both domains, and four rewrites of each sentence to rewrite."""
    root = folder / "GYAFC_Corpus"
    for domain in ("Entertainment_Music", "Family_Relationships"):
        for name, lines in FILES.items():
            write(root / domain / name, lines)
        for part in ("tune", "test"):
            for source, target in (("informal", "formal"), ("formal", "informal")):
                for k in range(4):
                    lines = [f"{line} , {target} {k}" for line in FILES[f"{part}/{source}"]]
                    write(root / domain / part / f"{target}.ref{k}", lines)
    return root


def lay_out(root: Path, informal: Iterable[str] = SHORT, formal: Iterable[str] = SHORT) -> Path:
    """Every file of a domain with these lines, PART being the part's name; returns the folder."""
    for part in ("train", "tune", "test"):
        for style, lines in (("informal", informal), ("formal", formal)):
            for name in (style, *(f"{style}.ref{k}" for k in range(4) if part != "train")):
                own = (line.replace("PART", part) for line in lines)
                write(root / "Entertainment_Music" / part / name, own)
    return root
