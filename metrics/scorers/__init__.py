"""The models that metrics score with, behind small interfaces."""
