"""What the Hugging Face Space runs."""

import os

from tstbench.spaces.leaderboard import launch
from tstbench.spaces.leaderboard.scoring import PipelineScoring

launch(
    os.environ.get("TSTBENCH_RESULTS", "tstbench/results"),
    host="0.0.0.0",  # noqa: S104
    port=7860,
    score=PipelineScoring(),
)
