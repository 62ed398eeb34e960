"""A whole copy of the licensed corpus: its layout, with lines too short to be searched for."""

from pathlib import Path


def lay_out(root: Path, domain: str = "Entertainment_Music") -> Path:
    """Write every file of a domain; returns the folder."""
    for part in ("train", "tune", "test"):
        for style in ("informal", "formal"):
            refs = [f"{style}.ref{k}" for k in range(4)] if part != "train" else []
            for name in (style, *refs):
                file = root / domain / part / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("lol no\n")
    return root
