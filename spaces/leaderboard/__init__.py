"""The leaderboard: a page over a folder of reports, as a Space or on one's own machine."""

import os

# Gradio reports to its makers unless told before it is imported; this page talks to nobody.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from .launch import launch

__all__ = ["launch"]
