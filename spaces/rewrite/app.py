import os

from tstbench.spaces.rewrite import launch

launch(
    os.environ.get("TSTBENCH_SYSTEMS", "").split(),
    host="0.0.0.0",  # noqa: S104
    port=7860,
    allowed_hosts=("*",),  # public, and reached under the names of the Hub
    strict=False,
)
