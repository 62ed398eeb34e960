"""What people look at: the leaderboard and the annotation page."""

import os

from ..files import process_folder

# Gradio reads both when it is imported. It sends usage data unless it is told not to; and its own
# folder for uploads is shared by all users of a machine, and removed by nobody.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_TEMP_DIR", str(process_folder()))
