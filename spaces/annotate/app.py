import os
from pathlib import Path

from tstbench.spaces.annotate import launch

folder = Path(os.environ.get("TSTBENCH_STUDY", "study"))
launch(folder if folder.exists() else None, host="0.0.0.0", port=7860)  # noqa: S104
