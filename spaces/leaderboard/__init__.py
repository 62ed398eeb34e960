"""The leaderboard: a page for a folder of reports, as a Space or on a local machine."""

import os

# Gradio sends usage data unless this is set before it is imported; this page sends none.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from .launch import launch

__all__ = ["launch"]
