import os
from pathlib import Path

from tstbench.spaces.annotate import launch

folder = Path(os.environ.get("TSTBENCH_STUDY", "study"))
launch(
    folder if folder.exists() else None,
    host="0.0.0.0",  # noqa: S104
    port=7860,
    allowed_hosts=("*",),  # reached under the names of the Hub; the links' keys protect a study
)
