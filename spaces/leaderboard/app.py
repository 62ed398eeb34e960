"""What the Hugging Face Space runs."""

import os

from tstbench.pipelines.submission import score_submission
from tstbench.spaces.leaderboard import launch

launch(
    os.environ.get("TSTBENCH_RESULTS", "tstbench/results"),
    host="0.0.0.0",  # noqa: S104
    port=7860,
    allowed_hosts=("*",),  # public, and reached under the names of the Hub
    score=score_submission,
    reported=os.environ.get("TSTBENCH_REPORTED", "hub"),
)
