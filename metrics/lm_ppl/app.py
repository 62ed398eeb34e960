from pathlib import Path

from tstbench.spaces.metric_page import launch

if __name__ == "__main__":
    launch(Path(__file__).parent)
