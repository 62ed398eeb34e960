"""The leaderboard: a page for a folder of reports, as a Space or on a local machine."""

from .launch import launch

__all__ = ["launch"]
