"""What a path given as a results folder really is, if it is none."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError, MissingFileError

_LAYOUT = "<dataset>/<direction>/<system>/report.json"
_SHOWN = 3  # names in a message


def check_results_folder(path: Path) -> None:
    """Check that a folder has reports where a results folder has them, or has nothing yet.

    Raises:
        MissingFileError: there is no such folder.
        InputError: it is a file, or a folder of something else; the message says which to give.
    """
    if path.is_file():
        folder = _root_of(path)
        raise InputError(
            f"{path} is a file, but a results folder is needed"
            + (f": give {folder}" if folder else f", with {_LAYOUT} in it")
        )
    if not path.is_dir():
        raise MissingFileError(
            f"no such folder: {path}. Give one that 'tstbench evaluate --out' or 'run' wrote"
        )
    visible = sorted(p for p in path.iterdir() if not p.name.startswith("."))
    only_begun = {p.name for p in visible} <= {"predictions", "human.jsonl"}
    if only_begun or _has(path, "*/*/*/report.json"):
        return
    raise InputError(f"{path} is not a results folder: {_instead(path, visible)}")


def _instead(path: Path, visible: list[Path]) -> str:
    """What the folder is, and what to give."""
    for pattern, what, up in (
        ("report.json", "one system's folder", 3),
        ("*/report.json", "one direction's folder", 2),
        ("*/*/report.json", "one dataset's folder", 1),
    ):
        if _has(path, pattern):
            return f"it is {what}. Give the folder above, {_above(path, up)}"
    inside = [folder for folder in visible if folder.is_dir() and _has(folder, "*/*/*/report.json")]
    if inside:
        found = ", ".join(map(str, inside[:_SHOWN]))
        return (
            f"it contains {'one' if len(inside) == 1 else f'{len(inside)} of them'}. Give {found}"
        )
    names = ", ".join(p.name for p in visible[:_SHOWN])
    more = f" and {len(visible) - _SHOWN} more" if len(visible) > _SHOWN else ""
    if _has(path, "*/*/*.card.json") or _has(path, "*.card.json"):
        what = "it contains predictions that are not scored yet"
    elif _has(path, "*.toml") or _has(path, "*.parquet") or _has(path, "*/*.parquet"):
        what = f"it contains data ({names}{more})"
    else:
        what = f"it contains {names}{more}, and no {_LAYOUT}"
    return f"{what}. Score outputs into it with 'tstbench evaluate ... --out FOLDER'"


def _root_of(file: Path) -> Path | None:
    """The results folder of a report or what lies beside it."""
    if file.name == "significance.json" and _has(file.parent, "*/report.json"):
        return _above(file.parent, 2)
    return _above(file.parent, 3) if _has(file.parent, "report.json") else None


def _has(folder: Path, pattern: str) -> bool:
    return next(folder.glob(pattern), None) is not None


def _above(path: Path, levels: int) -> Path:
    """The folder so many levels up, as short as the given path."""
    if path.is_absolute() or len(path.parts) <= levels:
        return path.resolve().parents[levels - 1]
    return path.parents[levels - 1]
