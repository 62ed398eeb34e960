"""Record built.json: what `tstbench build` makes of small datasets of our own writing.

The fingerprints in it are checked against other people's files in fingerprints.json; this file
says that nothing else of a built folder moved: rows with their ids, the card's settings.

python tests/golden/record_built.py
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from own_data import write_manners, write_tones

from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.catalog import load_data
from tstbench.files import write_json


def built(name: str, out: Path) -> dict[str, object]:
    """Digests of what is in a dataset's folder, without what depends on Parquet's version."""
    folder = build(name, out).folder
    front = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    infos = front.pop("dataset_info")
    for info in infos if isinstance(infos, list) else [infos]:
        del info["download_size"]  # of the compressed files
    return {
        "rows": {
            file.relative_to(folder).as_posix(): _digest(pq.read_table(file).to_pylist())
            for file in sorted(folder.rglob("*.parquet"))
        },
        "fingerprint.json": _digest(json.loads((folder / "fingerprint.json").read_text("utf-8"))),
        "card": _digest({**front, "dataset_info": infos}),
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        load_data(write_manners(folder / "own"))
        load_data(write_tones(folder))
        found = {name: built(name, folder) for name in ("mini", "manners", "tones")}
    write_json(Path(__file__).with_name("built.json"), found)


if __name__ == "__main__":
    main()
